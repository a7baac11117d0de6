"""The folders that a spec of someone else's may name files in: ``run --untrusted``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from audits.errors import InputError


def confine(paths: Iterable[tuple[str, Path]], folders: Sequence[Path]) -> None:
    """Refuse each path, and each file below it, that lies outside `folders`, links followed.

    Parameters
    ----------
    paths : iterable of (str, Path)
        The key that names each, and where it lies.
    folders : sequence of Path
        None: every path is let through.

    Raises
    ------
    InputError
        If one lies outside: names the key.
    """
    allowed = [folder.resolve() for folder in folders]
    for where, path in paths if allowed else ():
        for each in (path, *(path.rglob("*") if path.is_dir() else ())):
            if not any(each.resolve().is_relative_to(folder) for folder in allowed):
                raise InputError(
                    where, "must lie in the spec's folder or one named by --allow", str(path),
                    "name its folder by --allow, or run a spec that you trust without --untrusted",
                )  # fmt: skip
