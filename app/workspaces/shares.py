"""Links by which others view a workspace or one report: they change nothing, expire, and can be revoked.

The link's secret is kept nowhere, only its digest: ``EVENHAND_HOME/shares/<digest>.json``, and beside it
``<digest>.html`` where the link shows one report and nothing else of the workspace.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app.workspaces.workspace import Workspace
from audits.errors import InputError, os_refusal
from audits.runs.storage.store import home, write_json

MAX_DAYS = 365
_DAY = 86_400.0


@dataclass(frozen=True)
class SharedLink:
    """A link: its id, its workspace, who made it, when, and until when it holds.

    Where `report` names a saved audit, the link shows that report and nothing else.
    """

    id: str
    workspace: str
    by: str
    made: float
    expires: float
    report: str = ""


class Shares:
    """The links of a home folder."""

    def __init__(self, base: Path | None = None) -> None:
        self._folder = (base or home()) / "shares"

    def make(
        self, space: Workspace, days: int, by: str = "", *, report: Path | None = None, run: str = ""
    ) -> tuple[SharedLink, str]:
        """Return a new link to `space`, or to the `report` (HTML) of one saved audit, and its secret.

        Raises
        ------
        InputError
            If it is to hold for no day or more than a year, or `space` is itself looked at by a link.
        """
        space.check_writable()
        if not 1 <= days <= MAX_DAYS:
            raise InputError("days", f"must be from 1 to {MAX_DAYS}", days)
        secret, now = secrets.token_urlsafe(24), time.time()
        share = SharedLink(_digest(secret), space.token, by, now, now + days * _DAY, run)
        with os_refusal("the link", "could not be kept"):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if report is not None:
                shutil.copyfile(report, self._folder / f"{share.id}.html")
            write_json(self._folder / f"{share.id}.json", asdict(share))
        return share, secret

    def find(self, secret: str) -> SharedLink | None:
        """Return the link to a workspace of that secret; None if there is none, or not any more."""
        found = self._valid(secret)
        return None if found is None or found.report else found

    def report(self, secret: str) -> Path | None:
        """Return the file (HTML) of the report that the link of that secret shows; None if there is none."""
        found = self._valid(secret)
        return None if found is None or not found.report else self._folder / f"{found.id}.html"

    def _valid(self, secret: str) -> SharedLink | None:
        found = self._read(self._folder / f"{_digest(secret)}.json")
        return found if found is not None and time.time() < found.expires else None

    def of(self, space: Workspace) -> list[SharedLink]:
        """Return the links to `space` that hold, latest first."""
        found = [share for share in map(self._read, self._folder.glob("*.json")) if share is not None]
        mine = [each for each in found if each.workspace == space.token and time.time() < each.expires]
        return sorted(mine, key=lambda share: -share.made)

    def revoke(self, share: SharedLink) -> None:
        """Have a link lead nowhere from now on."""
        for ending in ("json", "html"):
            (self._folder / f"{share.id}.{ending}").unlink(missing_ok=True)

    def forget(self, token: str, run: str = "") -> None:
        """Remove all links to a workspace, or to the reports of one of its saved audits."""
        for path in self._folder.glob("*.json"):
            found = self._read(path)
            if found is not None and found.workspace == token and run in ("", found.report):
                self.revoke(found)

    def tidy(self) -> None:
        """Remove links that have expired."""
        for path in self._folder.glob("*.json"):
            found = self._read(path)
            if found is not None and time.time() >= found.expires:
                self.revoke(found)

    def _read(self, path: Path) -> SharedLink | None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return SharedLink(**json.loads(path.read_text(encoding="utf-8")))
        return None


def _digest(secret: str) -> str:
    return hashlib.sha256(f"share {secret}".encode("utf-8", "surrogatepass")).hexdigest()
