"""The files that a spec names: whether the workspace may read them, and what changes when one is replaced."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.drafts.drafts import server_folder
from app.workspaces.workspace import Workspace
from audits.data import DataSpec
from audits.errors import InputError
from audits.runs.digests import digest_of
from audits.runs.spec import parse_spec


def files_of(spec: Mapping[str, Any]) -> set[str]:
    """Return the files that a spec names: tables and models, a second model among an audit's options too."""
    paths = spec.get("data", {}).get("path") or ()
    found = {paths} if isinstance(paths, str) else set(paths)
    models = [spec.get("model") or {}, (spec.get("compare") or {}).get("model") or {}]
    for each in spec.get("audits", ()):
        models += [
            options["against"] for options in each.values() if isinstance(options.get("against"), dict)
        ]
    return found | {str(model["path"]) for model in models if model.get("path")}


def table_paths(space: Workspace, spec: DataSpec) -> list[Path]:
    """Return the files of a data section, each checked to be one that the workspace may read."""
    written = [spec.path] if isinstance(spec.path, str) else list(spec.path or ())
    if not written:
        raise InputError("data.path", "is missing", advice="choose a file first")
    found = [space.folder / path for path in written]
    for path, name in zip(found, written, strict=True):
        check_inside(space, path, "data.path", name)
    return found


def check_paths(space: Workspace, spec: Mapping[str, Any]) -> None:
    """Raise `InputError` where a spec names a file that the workspace may not read."""
    try:
        named = parse_spec(spec, space.folder).paths()
    except InputError:
        return  # another mistake is the run's to tell
    for where, written, path in named:
        check_inside(space, path, where, written)


def check_inside(space: Workspace, path: Path, where: str, written: str) -> str:
    """Return the `stamp_of` a file that lies in the workspace, or in the folder that the server offers.

    Raises
    ------
    InputError
        If it lies elsewhere.
    """
    stamp = stamp_of(path)
    offered = server_folder()
    folders = [space.folder] + ([offered] if offered is not None else [])
    try:
        real = path.resolve()
    except (OSError, ValueError):  # what is wrong with it is told where it is opened
        return stamp
    if not any(real.is_relative_to(folder.resolve()) for folder in folders):
        raise InputError(where, "must be a file of this workspace", written)
    return stamp


def stamp_of(path: Path) -> str:
    """Return what changes when a file, or one in a folder, is replaced."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            return digest_of([str(path), [stamp_of(file) for file in sorted(path.rglob("*.parquet"))]])
    except (OSError, ValueError):
        return f"{path} absent"
    return f"{path} {found.st_size} {found.st_mtime_ns} {found.st_ino}"
