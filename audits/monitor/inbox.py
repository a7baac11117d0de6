"""The folders into which batches of predictions are dropped as files, one folder a monitor."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from pathlib import Path

from audits.errors import InputError
from audits.monitor.ingestion import FileReader, file_batches, read_file_here
from audits.monitor.monitors import Batch, Monitors, StoredMonitor
from audits.monitor.scoring import Scorer

__all__ = ["SUFFIXES", "inbox", "take_files"]

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather", ".gz")
_SETTLED_SECONDS = 2.0
_MAX_TRIES = 3
_MAX_NAME = 200  # bytes; a file system takes 255
_log = logging.getLogger("evenhand")


def inbox(root: Path, monitor: str) -> Path:
    """Return the folder of a monitor into which files are dropped."""
    return root / monitor / "inbox"


def take_files(
    monitors: Monitors, identity: str, root: Path, scorer: Scorer, read: FileReader = read_file_here
) -> list[Path]:
    """Have `scorer` measure the files in a monitor's inbox, and store them; return where each went.

    A file goes to ``done``, or to ``failed`` beside a text that says why. One that is still being written
    (changed in the last two seconds) stays. The same content is counted once. A file on which whatever
    measures it ended, this process included, is tried three times. `read` opens the files.

    Raises
    ------
    RunFailed
        If the database cannot be used; the files stay.
    """
    folder = inbox(root, identity)
    monitor = monitors.get(identity)
    moved = []
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.is_symlink() or not path.name.endswith(SUFFIXES):
            continue
        if abs(time.time() - path.stat().st_mtime) < _SETTLED_SECONDS:
            continue
        tries = _Tries(folder.parent / "tries", path.name)
        try:
            batches = _measure_file(monitor, path, scorer, tries, read)
            if batches is None:
                continue
            _store(monitors, batches, tries)
            place = _free(folder.parent / "done", path.name)
        except InputError as error:
            place = _free(folder.parent / "failed", path.name)
            place.with_name(f"{place.name}.txt").write_text(f"{error}\n", encoding="utf-8")
        path.rename(place)
        tries.forget()
        moved.append(place)
    return moved


def _measure_file(
    monitor: StoredMonitor, path: Path, scorer: Scorer, tries: _Tries, read: FileReader
) -> list[Batch] | None:
    """Return a file's people, measured; None if that failed this time."""
    if tries.number >= _MAX_TRIES:
        raise InputError(
            path.name,
            f"could not be measured in {_MAX_TRIES} tries. The last error: {tries.error}",
        )
    tries.begin()
    try:
        return file_batches(monitor, path, scorer, read)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  (no file may keep the others waiting)
        _log.warning("The file %s could not be measured: %s", path, error)
        tries.failed(str(error).rstrip(".") or type(error).__name__)
        return None


def _store(monitors: Monitors, batches: list[Batch], tries: _Tries) -> None:
    try:
        outcomes = monitors.store(batches)
    except Exception:
        tries.forget()  # the database failed, not the file
        raise
    for outcome in outcomes:
        if isinstance(outcome, InputError):
            raise outcome


class _Tries:
    """How often a file was tried, on disk: a file that ends this process must be known after a restart."""

    def __init__(self, folder: Path, name: str) -> None:
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        self._path = folder / f"{digest}.json"
        self.number, self.error = 0, ""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            self.number, self.error = int(found["tries"]), str(found["error"])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError):  # cut off by a full disk
            self.number, self.error = 1, "the note of earlier tries cannot be read"

    def begin(self) -> None:
        """Count a try before it is made."""
        self.number += 1
        self._write("the server ended meanwhile")

    def failed(self, error: str) -> None:
        """Note how the try ended."""
        self._write(error)

    def forget(self) -> None:
        """Begin again with the next file of this name."""
        self._path.unlink(missing_ok=True)

    def _write(self, error: str) -> None:
        self.error = error
        self._path.parent.mkdir(exist_ok=True, mode=0o700)
        self._path.write_text(json.dumps({"tries": self.number, "error": error}), encoding="utf-8")


def _free(folder: Path, name: str) -> Path:
    """Return a path in `folder` that is not taken; of a very long name the end is kept."""
    folder.mkdir(exist_ok=True)
    name = name if len(os.fsencode(name)) <= _MAX_NAME else name[-_MAX_NAME // 4 :]
    place, turn = folder / name, 1
    while place.exists():
        place, turn = folder / f"{turn}-{name}", turn + 1
    return place
