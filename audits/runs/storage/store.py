"""Where finished runs lie: ``EVENHAND_HOME/runs/<owner>/<key>``, each whole or not there at all.

Runs without an owner lie in ``runs/<key>``. What one owner has computed is not handed out to another, even
where file and spec agree: who has not run it has no way to know that someone did.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from audits.errors import InputError, os_refusal

STALE_SECONDS = 86_400.0
"""After which what a process left unfinished is deleted."""


def home() -> Path:
    """Return the folder of saved runs and settings: ``EVENHAND_HOME``, or ``~/.evenhand``."""
    text = os.environ.get("EVENHAND_HOME") or "~/.evenhand"
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise InputError("EVENHAND_HOME", "must be set if the user has no home folder") from None


def write_json(path: Path, value: object) -> None:
    """Write a file of JSON, which is there whole or as it was before; its folder is made."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        partial.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder where it is not there, for its owner alone: results hold people's data.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    with os_refusal("EVENHAND_HOME", "must be a folder that can be written to", str(folder)):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private(base: Path) -> None:
    """Take a home folder from everyone but its owner: results hold people's data.

    A folder that was there before keeps the mode it was made with, unless someone does this.
    """
    try:
        mode = base.stat().st_mode
        if mode & 0o077:
            base.chmod(mode & 0o700)
    except FileNotFoundError:
        return
    except OSError as error:
        log = logging.getLogger("evenhand")
        log.warning("Others can read %s, and this process cannot change that (%s)", base, error.strerror)


class RunStore:
    """The finished runs of a home folder, by key.

    A run is written into a folder of its own beside the finished ones and renamed when it is whole.

    Parameters
    ----------
    base : Path
        Home folder; made if absent.
    writes : bool
        Whether anything is written: who only looks up results can while the disk is read-only.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    """

    def __init__(self, base: Path, *, writes: bool = True) -> None:
        self._runs = base / "runs"
        if not writes:
            return
        make_folder(base)
        make_private(base)
        make_folder(self._runs)
        if not os.access(self._runs, os.W_OK | os.X_OK):
            raise InputError("EVENHAND_HOME", "must be a folder that can be written to", str(base))
        take_stale(self._runs.glob("*.partial"), STALE_SECONDS)

    def folder(self, key: str, owner: str | None = None) -> Path:
        """Return where the finished run `key` of `owner` lies or would lie."""
        return self._of(owner) / key

    def partial(self, key: str, run: str) -> Path:
        """Return where the run with id `run` writes until it is whole."""
        return self._runs / f"{key}.{run}.partial"

    def finished(self, key: str, owner: str | None = None) -> bool:
        """Tell whether a whole result is there."""
        return (self.folder(key, owner) / "results.json").is_file()

    def forget(self, owner: str, key: str | None = None) -> None:
        """Remove the results of an owner, or the one under `key`."""
        self.discard(self._of(owner) if key is None else self.folder(key, owner))

    def _of(self, owner: str | None) -> Path:
        if not owner:
            return self._runs
        return self._runs / f"of-{hashlib.sha256(owner.encode()).hexdigest()[:32]}"

    def discard(self, folder: Path) -> None:
        """Remove what a run has written."""
        shutil.rmtree(folder, ignore_errors=True)


def commit(partial: Path, folder: Path) -> None:
    """Rename a whole result into place; if another run with the same key was faster, its result stays."""
    try:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        partial.rename(folder)
    except OSError:
        if not (folder / "results.json").is_file():
            raise
        shutil.rmtree(partial, ignore_errors=True)


def take_stale(folders: Iterable[Path], seconds: float) -> None:
    """Delete folders that a process which was killed left unfinished, `seconds` ago or more.

    One that another process finishes or deletes meanwhile is not there any more, which is no error.
    """
    for folder in folders:
        with suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)
