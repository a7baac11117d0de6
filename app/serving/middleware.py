"""What middleware of ours has in common: it looks at HTTP requests, by their path below the server."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class HttpMiddleware:
    """Passes on what is no HTTP request, as the server's start and end; `answer` sees to the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer."""
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        raise NotImplementedError


def path_of(scope: Scope) -> str:
    """Return a request's path without that at which a proxy shows the server."""
    return scope.get("path", "").removeprefix(scope.get("root_path", "")) or "/"
