"""Who is asking: nobody has to say (``off``), a provider of identities says (``oidc``), or a proxy.

What is verified travels to the pages in a header of our own, which nobody outside can set: `SignIn` drops
what a client sends under its name. Whoever is not known yet gets what he needs to sign in, and nothing else.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import json
import os
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, unquote

import streamlit as st
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.serving.middleware import path_of
from audits.checks import list_from
from audits.errors import InputError

WAYS = ("off", "oidc", "proxy")
ROLES = ("viewer", "auditor", "admin")
"""What a person may do: look at what is shared; audit; see to the server as well."""

_HEADER = "x-evenhand-person"
_OIDC = ("URL", "CLIENT_ID", "CLIENT_SECRET", "REDIRECT", "COOKIE_SECRET")
_MIN_SECRET = 32
# with tokens of their own, or about nobody
_PUBLIC = ("/api/", "/metrics", "/docs", "/_stcore/health")
# what a browser loads to show the button that signs in
_BEFORE_SIGNING_IN = ("/static/", "/favicon", "/auth/", "/oauth2callback", "/_stcore/host-config")
_SOCKET = "/_stcore/stream"


@dataclass(frozen=True)
class Person:
    """Someone who has signed in: the name by which the provider or proxy knows them, and their role."""

    name: str
    role: str

    @property
    def audits(self) -> bool:
        """Whether the person may upload data, run, share and delete."""
        return self.role != "viewer"

    @property
    def administers(self) -> bool:
        """Whether the person may administer the server."""
        return self.role == "admin"


@dataclass(frozen=True)
class Settings:
    """How people are known, from the environment.

    Attributes
    ----------
    way : {"off", "oidc", "proxy"}
    header : str
        Under which a proxy names the person.
    proxies : tuple of networks
        From where that header is believed.
    claim : str
        What of an identity is the name.
    admins, auditors : tuple of str
        Patterns of names; whoever matches neither is a viewer.
    """

    way: str
    header: str
    proxies: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]
    claim: str
    admins: tuple[str, ...]
    auditors: tuple[str, ...]

    def person(self, name: str) -> Person:
        """Return the person of that name, with their role."""
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.admins):
            return Person(name, "admin")
        audits = any(fnmatch.fnmatchcase(name, pattern) for pattern in self.auditors)
        return Person(name, "auditor" if audits else "viewer")


def settings() -> Settings:
    """Return what the environment says.

    Raises
    ------
    InputError
        If it says what there is not.
    """
    way = os.environ.get("EVENHAND_AUTH", "").strip().lower() or "off"
    if way not in WAYS:
        raise InputError("EVENHAND_AUTH", f"must be one of {', '.join(WAYS)}", way)
    proxies = []
    for each in list_from("EVENHAND_PROXIES", "127.0.0.1,::1"):
        try:
            proxies.append(ipaddress.ip_network(each, strict=False))
        except ValueError:
            raise InputError("EVENHAND_PROXIES", "must be addresses or networks", each) from None
    return Settings(
        way,
        os.environ.get("EVENHAND_PROXY_HEADER", "X-Forwarded-User").strip().lower(),
        tuple(proxies),
        os.environ.get("EVENHAND_OIDC_CLAIM", "email").strip(),
        tuple(each.casefold() for each in list_from("EVENHAND_ADMINS")),
        tuple(each.casefold() for each in list_from("EVENHAND_AUDITORS", "*")),
    )


def secrets() -> dict[str, dict[str, str]] | None:
    """Return what streamlit needs to have people sign in; None unless ``EVENHAND_AUTH=oidc``.

    Raises
    ------
    InputError
        If some of it is missing.
    """
    if settings().way != "oidc":
        return None
    given = {name: os.environ.get(f"EVENHAND_OIDC_{name}", "").strip() for name in _OIDC}
    missing = [f"EVENHAND_OIDC_{name}" for name, value in given.items() if not value]
    if missing:
        raise InputError("EVENHAND_AUTH=oidc", f"needs {', '.join(missing)}")
    if len(given["COOKIE_SECRET"]) < _MIN_SECRET:
        rule = f"must have at least {_MIN_SECRET} characters: anyone who guesses it can impersonate any user"
        raise InputError("EVENHAND_OIDC_COOKIE_SECRET", rule)
    return {
        "auth": {
            "redirect_uri": given["REDIRECT"],
            "cookie_secret": given["COOKIE_SECRET"],
            "client_id": given["CLIENT_ID"],
            "client_secret": given["CLIENT_SECRET"],
            "server_metadata_url": given["URL"],
        }
    }


def person() -> Person | None:
    """Return who looks at the page that is being drawn; None where nobody is asked, or nobody has said."""
    chosen = settings()
    if chosen.way == "off":
        return None
    name = st.context.headers.get(_HEADER)
    return chosen.person(unquote(name)) if name else None


def name_of(scope: Scope) -> str:
    """Return the verified name in a request that `SignIn` has let through; empty for nobody."""
    return unquote(next(iter(_headers(scope, _HEADER)), ""))


class _Refusal(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class SignIn:
    """Lets through who is known, or on his way to sign in; tells the pages who it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with the verified name."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        given = [(name, value) for name, value in scope["headers"] if name.lower() != _HEADER.encode()]
        path = path_of(scope)
        if not path.startswith(_PUBLIC):
            try:
                name = _verify(scope, settings(), path)
            except _Refusal as refused:
                await _refuse(scope, receive, send, refused)
                return
            if name:
                given.append((_HEADER.encode(), quote(name).encode("ascii")))
        await self._app({**scope, "headers": given}, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: _Refusal) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": str(refused)})
        return
    answer = JSONResponse({"error": str(refused)}, refused.status, {"Cache-Control": "no-store"})
    await answer(scope, receive, send)


def _verify(scope: Scope, chosen: Settings, path: str) -> str:
    """Return the name of who asks; empty where nobody needs to be known."""
    if chosen.way == "off":
        return ""
    if chosen.way == "proxy":
        return _named_by_proxy(scope, chosen)
    name = name_in_cookie(_headers(scope, "cookie"), chosen.claim)
    if not name and path != _SOCKET and not _is_page(path) and not path.startswith(_BEFORE_SIGNING_IN):
        raise _Refusal(401, "Sign in first.")
    return name


def _named_by_proxy(scope: Scope, chosen: Settings) -> str:
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:  # a socket of this machine's has no address
        address = None
    if address is None or not any(address in network for network in chosen.proxies):
        raise _Refusal(403, "This server can only be reached through its proxy.")
    names = _headers(scope, chosen.header)
    if len(names) != 1 or not names[0].strip():
        raise _Refusal(401, "The proxy did not say who is signed in.")
    return names[0].strip().casefold()


def name_in_cookie(cookies: list[str], claim: str) -> str:
    """Return the name in streamlit's signed cookie; empty without one, or where it is not to be believed."""
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.server_util import get_cookie_secret
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    found: dict[str, str] = {}
    for text in cookies:
        try:
            found |= {name: each.value for name, each in SimpleCookie(text).items()}
        except CookieError:
            return ""
    secret = get_cookie_secret()

    def one(name: str) -> bytes | None:
        return decode_signed_value(secret, name, found[name]) if name in found else None

    content = get_cookie_with_chunks(one, USER_COOKIE_NAME)
    try:
        claims = json.loads(content) if content else {}
    except ValueError:
        return ""
    name = claims.get(claim)
    if not isinstance(name, str) or not claims.get("is_logged_in"):
        return ""
    if claim == "email" and claims.get("email_verified") is False:
        return ""
    return name.strip().casefold()


def _headers(scope: Scope, name: str) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name.encode()]


def _is_page(path: str) -> bool:
    return path.count("/") == 1 and "." not in path and not path.startswith("/_")
