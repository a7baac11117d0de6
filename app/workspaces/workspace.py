"""A workspace: everything one visitor brings, in one folder whose random name is the only way in.

``EVENHAND_HOME/workspaces/<token>/`` holds ``files/`` (what was uploaded, under the digest of its bytes),
``draft.json`` (the spec being edited), ``runs.json`` (the last runs) and ``owner.json``. Where nobody has to
say who they are, whoever has the token, from a link, sees it all; else only its owner does, and anyone they
give a link (`app.workspaces.shares`). Nothing lists tokens but ``EVENHAND_HOME/people/<digest>.json``, those
of one person.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from audits.checks import number_from
from audits.errors import InputError, os_refusal
from audits.runs.executors import system
from audits.runs.storage.store import home, write_json

MAX_FILE_MB = int(os.environ.get("EVENHAND_MAX_FILE_MB", "200"))
_CHUNK = 1 << 20
_NO_ROOM = "the server's disk may be full or read-only; tell whoever runs it"
_MAX_NAME = 100
_REMEMBERED_RUNS = 30
_REMEMBERED_TOKENS = 10_000
_TOKEN = re.compile(r"[0-9a-f]{32}")
# pictures and signs of money stay; what a pattern or another system's names give a meaning goes
_UNSAFE = re.compile("[^\\w.\\- ()+=@,$€£&!'~\u2600-\u27bf\U0001f300-\U0001faff]", re.UNICODE)


def new_token() -> str:
    """Return a fresh token: 128 random bits."""
    return secrets.token_hex(16)


_issued: OrderedDict[str, None] = OrderedDict()
_issuing = threading.Lock()


def issue_token() -> str:
    """Return a fresh token that `was_issued` knows: of the last 10,000 that nobody has used yet."""
    token = new_token()
    with _issuing:
        _issued[token] = None
        while len(_issued) > _REMEMBERED_TOKENS:
            _issued.popitem(last=False)
    return token


def was_issued(token: str) -> bool:
    """Tell whether `token` is one of ours, not one that a link has made up."""
    return token in _issued


def is_token(text: str | None) -> bool:
    """Tell whether `text` can be a token."""
    return text is not None and _TOKEN.fullmatch(text) is not None


def safe_name(name: str) -> str:
    r"""Return a file name that stays in its folder, close to the one the user gave.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\data\\löhne 2024.csv"), safe_name("...")
    ('passwd', 'löhne 2024.csv', 'file')
    """
    base = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    base = _UNSAFE.sub("_", base).strip(" .")
    stem, dot, ending = base.rpartition(".")
    if len(base.encode()) > _MAX_NAME:
        ending = ending[-12:]
        kept = (stem or base).encode()[: _MAX_NAME - len(ending.encode()) - 1].decode("utf-8", "ignore")
        base = kept + (dot + ending if stem else "")
    return base or "file"


class Workspace:
    """The folder behind one token.

    Parameters
    ----------
    token : str
        32 hexadecimal digits.
    base : Path, optional
        Home folder; by default ``EVENHAND_HOME``.
    person : str
        Name of whoever looks at it; it becomes his as soon as something is kept in it.
    read_only : bool
        Whether it is only looked at.
    """

    def __init__(
        self, token: str, base: Path | None = None, *, person: str = "", read_only: bool = False
    ) -> None:
        if not is_token(token):
            raise InputError("workspace", "must be named by 32 hexadecimal digits", token)
        self.token, self.person, self.read_only = token, person, read_only
        self._base = base or home()
        self.folder = self._base / "workspaces" / token

    def check_writable(self) -> None:
        """Raise `InputError` where it is only looked at."""
        if self.read_only:
            advice = "open your own workspace, or ask whoever runs the server to let you audit"
            raise InputError("this workspace", "is read-only here", advice=advice)

    @property
    def owner(self) -> str:
        """Whose it is; empty where nobody was asked who they are when it was made."""
        found = self._read("owner.json")
        return str(found.get("person", "")) if isinstance(found, dict) else ""

    def claim(self) -> None:
        """Make it that of whoever looks at it, unless it is someone's."""
        if self.person and not self.read_only and not self.owner:
            mine = _of_person(self._base, self.person)
            mine.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with system.alone(self._base / "people.lock"):
                if self.owner:  # of someone who was quicker
                    return
                self._write("owner.json", {"person": self.person})
                tokens = [token for token in workspaces_of(self.person, self._base) if token != self.token]
                write_json(mine, {"person": self.person, "workspaces": [self.token, *tokens]})

    def touch(self) -> None:
        """Note that it was opened now: what nobody opens grows old."""
        with contextlib.suppress(OSError):
            os.utime(self.folder)

    @property
    def size(self) -> int:
        """Bytes of the files in it."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    @property
    def exists(self) -> bool:
        """Whether anything was ever kept in it."""
        return self.folder.is_dir()

    @property
    def last_change(self) -> float:
        """When something was last kept in it, in seconds since 1970; 0 where nothing was."""
        kept = [path.stat().st_mtime for path in self.folder.glob("*.json")]
        return max(kept, default=0.0)

    def draft(self) -> dict[str, Any] | None:
        """Return the spec being edited, with where its data came from; None before there are data."""
        return self._read("draft.json")

    def save_draft(self, draft: dict[str, Any] | None) -> None:
        """Keep `draft`, plain data; None forgets it."""
        self._write("draft.json", draft)

    def runs(self) -> list[dict[str, Any]]:
        """Return the last runs, latest first: plain records as given to `note_run`."""
        return self._read("runs.json") or []

    def note_run(self, record: dict[str, Any]) -> None:
        """Keep a record of a run: ``id``, ``key``, ``spec``, ``submitted``, ``address``."""
        with self._alone():
            others = [run for run in self.runs() if run["key"] != record["key"]]
            self._write("runs.json", [record, *others][:_REMEMBERED_RUNS])

    def forget_run(self, key: str) -> None:
        """Drop the record of the run `key`."""
        if not self.exists:
            return
        with self._alone():
            runs = self.runs()
            kept = [run for run in runs if run["key"] != key]
            if len(kept) < len(runs):
                self._write("runs.json", kept)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let nobody else change the list of runs: another tab, or another server on this home folder."""
        self.check_writable()
        self._make(self.folder)
        with contextlib.ExitStack() as held:
            with os_refusal("the run", "could not be kept", advice=_NO_ROOM):
                held.enter_context(system.alone(self.folder / "runs.lock"))
            yield

    def add_file(self, name: str, content: IO[bytes]) -> Path:
        """Write a file in chunks and return its path relative to the workspace.

        Raises
        ------
        InputError
            If it is empty or too large, or the workspace is full.
        """
        self.check_writable()
        return self.add_files([(name, content)])[0]

    def add_files(self, given: Sequence[tuple[str, IO[bytes]]]) -> list[Path]:
        """Write files that belong together into one folder; return their paths in the order given.

        Raises
        ------
        InputError
            If one is empty, two have one name, they are together too large, or the workspace is full.
        """
        self.check_writable()
        names = [safe_name(name) for name, _ in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(twice, "was given twice")
        files = self.folder / "files"
        self._make(files)
        mine = [Workspace(token, self._base) for token in workspaces_of(self.owner, self._base)]
        room = max_bytes() - sum(space.size for space in mine or [self])
        most = MAX_FILE_MB * 1_000_000
        partial = [files / f"{secrets.token_hex(8)}.partial" for _ in given]
        digests = []
        try:
            for name, (_, content), path in zip(names, given, partial, strict=True):
                digest, size = self._write_chunks(name, content, path, most, room)
                most, room = most - size, room - size
                digests.append(digest)
            whole = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
            folder = files / whole[:16]
            folder.mkdir(exist_ok=True)
            for name, path in zip(names, partial, strict=True):
                path.replace(folder / name)
        except OSError as error:
            raise InputError(names[0], f"could not be kept ({error.strerror})", advice=_NO_ROOM) from None
        finally:
            for path in partial:
                path.unlink(missing_ok=True)
        return [(folder / name).relative_to(self.folder) for name in names]

    def _write_chunks(
        self, name: str, content: IO[bytes], path: Path, most: int, room: int
    ) -> tuple[str, int]:
        digest, size = hashlib.sha256(), 0
        with path.open("wb") as file:
            while chunk := content.read(_CHUNK):
                size += len(chunk)
                if size > most:
                    advice = "leave out columns or rows that the audit does not need, or save it as Parquet"
                    raise InputError(name, f"must be at most {MAX_FILE_MB} MB", advice=advice)
                if size > room:
                    full = f"is full ({max_bytes() / 1e6:,.0f} MB)"
                    raise InputError("workspace", full, advice="delete uploads that are not needed")
                digest.update(chunk)
                file.write(chunk)
        if not size:
            raise InputError(name, "is empty", advice="choose a file with a header line and rows")
        return digest.hexdigest(), size

    def files(self) -> list[Path]:
        """Return the files brought, relative to the workspace, latest first."""
        found = [path for path in (self.folder / "files").glob("*/*") if path.is_file()]
        found.sort(key=lambda path: -path.stat().st_mtime)
        return [path.relative_to(self.folder) for path in found]

    def remove_file(self, path: Path) -> None:
        """Remove a file that was brought, one of `files`."""
        self.check_writable()
        if path not in self.files():
            raise InputError("the file", "must be one of this workspace", str(path))
        (self.folder / path).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # another file of the same bytes
            (self.folder / path).parent.rmdir()

    def copy_file(self, source: Path) -> Path:
        """Copy a file of ours into the workspace; return its path relative to it."""
        with source.open("rb") as content:
            return self.add_file(source.name, content)

    def forget(self) -> None:
        """Remove everything in it."""
        self.check_writable()
        owner = self.owner
        shutil.rmtree(self.folder, ignore_errors=True)
        if owner:
            mine = _of_person(self._base, owner)
            with system.alone(self._base / "people.lock"):
                left = [token for token in workspaces_of(owner, self._base) if token != self.token]
                if left:
                    write_json(mine, {"person": owner, "workspaces": left})
                else:
                    mine.unlink(missing_ok=True)

    def _make(self, folder: Path) -> None:
        with os_refusal("EVENHAND_HOME", "must be a folder that can be written to"):
            fresh = not self.folder.exists()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if fresh:
                self.claim()

    def _read(self, name: str) -> Any:
        with contextlib.suppress(FileNotFoundError, ValueError):  # damaged, its letters too
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        return None

    def _write(self, name: str, value: Any) -> None:
        self.check_writable()
        self._make(self.folder)
        with os_refusal("the choice", "could not be kept", advice=_NO_ROOM):
            write_json(self.folder / name, value)


def max_bytes() -> int:
    """Return how many bytes the uploads of one person may have: ``EVENHAND_DISK_MB``."""
    return int(1e6 * number_from("EVENHAND_DISK_MB", 2000, least=1, most=1e9))


def workspaces_of(person: str, base: Path | None = None) -> list[str]:
    """Return the tokens of a person's workspaces, latest first."""
    if not person:
        return []
    with contextlib.suppress(OSError, ValueError, KeyError):
        found = json.loads(_of_person(base or home(), person).read_text(encoding="utf-8"))
        return [str(token) for token in found["workspaces"] if is_token(str(token))]
    return []


def _of_person(base: Path, person: str) -> Path:
    return base / "people" / f"{hashlib.sha256(f'person {person}'.encode()).hexdigest()}.json"
