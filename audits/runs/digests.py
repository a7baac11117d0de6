"""Digests of files and of plain data: what cache keys are made of.

A file's digest is of its bytes, every one of them read once: afterwards the file is known by what the system
says of it, as long as that stays the same. Size, place on disk, and the times of its last change and of its
entry's last change, which no program can set back, all change with its content, unless it is changed within
the same tick of the clock: so a file is known only if it was at rest for some seconds when it was read. Two
things can still be missed, and results then name the digest that a file had before: what is written through
a memory map, until the system writes it to disk, and changes on a server of files whose clock is behind.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import mmap
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audits.errors import InputError, os_refusal

_AT_REST = 5e9  # nanoseconds
_MAX_KNOWN = 100_000
_known: dict[str, str] = {}
_knowing = threading.Lock()


def digest_of(value: Any) -> str:
    """Return the SHA-256 of plain data, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which are read now."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _missing_file_text(path: Path) -> str:
    """Say where a file was looked for, and which one of a like name lies there."""
    names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"looked for {path}" + (f"; did you mean {near[0]!r}" if near else "")


def _bytes_digest(path: Path) -> str:
    seen = _look(path)
    known = _known.get(seen)
    if known is not None:
        return known
    begun, found = time.time_ns(), path.stat()
    digest = file_digest(path)
    if begun - max(found.st_mtime_ns, found.st_ctime_ns) > _AT_REST and _look(path) == seen:
        know_files({seen: digest})
    return digest


def _look(path: Path) -> str:
    """Return what the system says of a file, which changes with its content."""
    found = path.stat()
    told = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
    return f"{path.resolve()} {' '.join(map(str, told))}"


def known_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return what is known of files, and of those in folders, for a process that did not read them."""
    found = {}
    for path in paths:
        for file in sorted(path.rglob("*.parquet")) if path.is_dir() else [path]:
            seen = _look(file) if file.is_file() else ""
            if seen in _known:
                found[seen] = _known[seen]
    return found


def know_files(known: Mapping[str, str]) -> None:
    """Take over what `known_files` of another process on this machine returned."""
    with _knowing:
        _known.update(known)
        while len(_known) > _MAX_KNOWN:
            del _known[next(iter(_known))]


def _weights_beside(path: Path) -> list[Path]:
    """Return the files beside an ONNX model whose names stand in it: its weights may lie there.

    The model is a stranger's and is not parsed: a file that is named by chance only makes the key longer.
    """
    if path.suffix.lower() != ".onnx" or not path.stat().st_size:
        return []
    others = sorted(each for each in path.parent.iterdir() if each != path and each.is_file())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return [each for each in others if content.find(os.fsencode(each.name)) >= 0]


def path_digest(path: Path, where: str, value: str, *, most: int | None = None) -> str:
    """Return the SHA-256 of a file's bytes, or of the names and bytes of a folder's Parquet files.

    Of an ONNX model whose weights lie beside it, the digest is of all these files.

    Parameters
    ----------
    path : Path
        Regular file, or folder of Parquet files.
    where, value : str
        Spec key that names the path, and the path as it stands there, for messages.
    most : int, optional
        Bytes above which a file is not read: whoever reads it later refuses it.

    Raises
    ------
    InputError
        If there is no such file or folder, it cannot be read, or the folder has no Parquet file.
    """
    if "://" in value:
        advice = "fetch the file, and name it by its path"
        raise InputError(where, "must be a file on this machine, not an address", value, advice)
    with os_refusal(where, "cannot be read", value):
        if path.is_file():
            size = path.stat().st_size
            if most is not None and size > most:
                return f"{size} bytes"
            beside = _weights_beside(path) if where == "model.path" else []
            if beside:
                return digest_of([_bytes_digest(each) for each in (path, *beside)])
            return _bytes_digest(path)
        if not path.exists():
            raise InputError(where, "must name an existing file", value, _missing_file_text(path))
        if not path.is_dir():
            raise InputError(where, "must name a file or a folder of Parquet files", value)
        parts = sorted(part for part in path.rglob("*.parquet") if part.is_file())
        if not parts:
            raise InputError(where, "names a folder without a .parquet file", value)
        return digest_of(
            [
                [part.relative_to(path).as_posix(), path_digest(part, where, value, most=most)]
                for part in parts
            ]
        )
