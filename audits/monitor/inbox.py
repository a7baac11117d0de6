"""The folders into which batches of predictions are dropped as files, one folder a monitor."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from audits.errors import InputError
from audits.runs.storage.database import is_unreachable

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather", ".gz")
_SETTLED_SECONDS = 2.0
_MAX_TRIES = 3
_MAX_NAME = 200  # bytes; a file system takes 255
_log = logging.getLogger("evenhand")


def inbox(root: Path, monitor: str) -> Path:
    """Return the folder of a monitor into which files are dropped."""
    return root / monitor / "inbox"


def take_files(folder: Path, take: Callable[[Path], object]) -> list[Path]:
    """Have `take` measure and store the files in an inbox; return where each went.

    A file goes to ``done``, or to ``failed`` beside a text that says why. One that is still being written
    (changed in the last two seconds) stays. A file on which whatever measures it ended, this process
    included, is tried three times.

    Raises
    ------
    RunFailed
        If the database cannot be used; the files stay.
    """
    moved = []
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.is_symlink() or not path.name.endswith(SUFFIXES):
            continue
        if abs(time.time() - path.stat().st_mtime) < _SETTLED_SECONDS:
            continue
        tries = _tries(folder, path.name)
        try:
            if not _tried(path, take, tries):
                continue
            place = _free(folder.parent / "done", path.name)
        except InputError as error:
            place = _free(folder.parent / "failed", path.name)
            place.with_name(f"{place.name}.txt").write_text(f"{error}\n", encoding="utf-8")
        path.rename(place)
        tries.unlink(missing_ok=True)
        moved.append(place)
    return moved


def _tried(path: Path, take: Callable[[Path], object], tries: Path) -> bool:
    """Have a file measured and stored; return whether that went well this time."""
    errors = tries.read_text(encoding="utf-8", errors="replace").splitlines() if tries.exists() else []
    if len(errors) >= _MAX_TRIES:
        raise InputError(
            path.name, f"could not be measured in {_MAX_TRIES} tries. The last error: {errors[-1]}"
        )
    _note(tries, [*errors, "the server ended meanwhile"])  # before it is tried
    try:
        take(path)
    except InputError:
        raise
    except Exception as error:
        if is_unreachable(error):  # the database failed, not the file
            tries.unlink(missing_ok=True)
            raise
        _log.warning("The file %s could not be measured: %s", path, error)
        _note(tries, [*errors, str(error).rstrip(".") or type(error).__name__])
        return False
    return True


def _tries(folder: Path, name: str) -> Path:
    """Return where it is noted how often a file was tried: one that ends this process must be known after."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
    return folder.parent / "tries" / f"{digest}.txt"


def _note(tries: Path, errors: list[str]) -> None:
    """Keep what came of each try, a line each."""
    tries.parent.mkdir(exist_ok=True, mode=0o700)
    tries.write_text("".join(f"{' '.join(error.split())}\n" for error in errors), encoding="utf-8")


def _free(folder: Path, name: str) -> Path:
    """Return a path in `folder` that is not taken; of a very long name the end is kept."""
    folder.mkdir(exist_ok=True)
    name = name if len(os.fsencode(name)) <= _MAX_NAME else name[-_MAX_NAME // 4 :]
    place, turn = folder / name, 1
    while place.exists():
        place, turn = folder / f"{turn}-{name}", turn + 1
    return place
