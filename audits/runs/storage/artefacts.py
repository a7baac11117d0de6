"""Files of saved audits under the SHA-256 of their content: equal files of many runs are kept once."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from audits.errors import RunFailed
from audits.runs.digests import file_digest
from audits.runs.storage.store import STALE_SECONDS, make_folder, take_stale


@dataclass(frozen=True)
class Artefact:
    """A file: its name within the run, the digest of its content, and its bytes."""

    name: str
    digest: str
    size: int


class Artefacts:
    """The files in a home folder's ``artefacts``.

    Raises
    ------
    InputError
        If the folder cannot be made.
    """

    def __init__(self, base: Path) -> None:
        self._folder = base / "artefacts"
        make_folder(self._folder)
        take_stale(self._folder.glob(".incoming-*"), STALE_SECONDS)

    @contextmanager
    def aside(self) -> Iterator[Path]:
        """Make a folder on the same disk to write into; what is not moved out of it goes with it."""
        folder = self._folder / f".incoming-{uuid.uuid4().hex}"
        try:
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def look_at(self, folder: Path) -> list[Artefact]:
        """Return the files below `folder`."""
        return [
            Artefact(path.relative_to(folder).as_posix(), file_digest(path), path.stat().st_size)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        ]

    def take_in(self, files: list[Artefact], folder: Path) -> None:
        """Move files from `folder` to where their content belongs."""
        for file in files:
            place = self._place(file.digest)
            place.parent.mkdir(exist_ok=True)
            (folder / file.name).replace(place)

    def read(self, file: Artefact, title: str) -> bytes:
        """Return a file's content, compared with its digest.

        Raises
        ------
        RunFailed
            If it is gone or damaged; `title` names the run that it belongs to.
        """
        try:
            content = self._place(file.digest).read_bytes()
        except OSError:
            raise RunFailed(f"The files of {title!r} are gone; it may have been deleted elsewhere.") from None
        if hashlib.sha256(content).hexdigest() != file.digest:
            raise RunFailed(f"The saved file {file.name} of {title!r} is damaged; run the audit again.")
        return content

    def forget(self, digest: str) -> None:
        """Remove a file that no run has any more."""
        self._place(digest).unlink(missing_ok=True)

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest
