"""Links by which others look at a workspace: they show, change nothing, expire, and can be revoked.

The link's secret is kept nowhere, only its digest: ``EVENHAND_HOME/shares/<digest>.json``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app.workspaces.workspace import Workspace
from audits.errors import InputError
from audits.runs.storage.store import home

__all__ = ["MAX_DAYS", "SharedLink", "Shares"]

MAX_DAYS = 365
_DAY = 86_400.0


@dataclass(frozen=True)
class SharedLink:
    """A link: its id, the workspace that it shows, who made it, when, and until when it holds."""

    id: str
    workspace: str
    by: str
    made: float
    expires: float


class Shares:
    """The links of a home folder."""

    def __init__(self, base: Path | None = None) -> None:
        self._folder = (base or home()) / "shares"

    def make(self, space: Workspace, days: int, by: str = "") -> tuple[SharedLink, str]:
        """Return a new link to `space`, and its secret.

        Raises
        ------
        InputError
            If it is to hold for no day or more than a year, or `space` is itself looked at by a link.
        """
        space.check_writable()
        if not 1 <= days <= MAX_DAYS:
            raise InputError("days", f"must be from 1 to {MAX_DAYS}", days)
        secret, now = secrets.token_urlsafe(24), time.time()
        share = SharedLink(_digest(secret), space.token, by, now, now + days * _DAY)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial = self._folder / f"{share.id}.partial"
            partial.write_text(json.dumps(asdict(share)), encoding="utf-8")
            partial.replace(self._folder / f"{share.id}.json")
        except OSError as error:
            raise InputError("the link", f"could not be kept ({error.strerror})") from None
        return share, secret

    def find(self, secret: str) -> SharedLink | None:
        """Return the link of that secret; None if there is none, or not any more."""
        found = self._read(self._folder / f"{_digest(secret)}.json")
        return found if found is not None and time.time() < found.expires else None

    def of(self, space: Workspace) -> list[SharedLink]:
        """Return the links to `space` that hold, latest first."""
        found = [share for share in map(self._read, self._folder.glob("*.json")) if share is not None]
        mine = [each for each in found if each.workspace == space.token and time.time() < each.expires]
        return sorted(mine, key=lambda share: -share.made)

    def revoke(self, share: SharedLink) -> None:
        """Have a link lead nowhere from now on."""
        (self._folder / f"{share.id}.json").unlink(missing_ok=True)

    def forget(self, token: str) -> None:
        """Remove all links to a workspace."""
        for path in self._folder.glob("*.json"):
            found = self._read(path)
            if found is not None and found.workspace == token:
                path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove links that have expired."""
        for path in self._folder.glob("*.json"):
            found = self._read(path)
            if found is not None and time.time() >= found.expires:
                path.unlink(missing_ok=True)

    def _read(self, path: Path) -> SharedLink | None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return SharedLink(**json.loads(path.read_text(encoding="utf-8")))
        return None


def _digest(secret: str) -> str:
    return hashlib.sha256(f"share {secret}".encode("utf-8", "surrogatepass")).hexdigest()
