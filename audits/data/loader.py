"""From the `data` section of a spec to the rows of an audit, in one call."""

from __future__ import annotations

from pathlib import Path

from audits.data.audit_data import AuditData
from audits.data.io.reader import read_table
from audits.data.io.tables import Limits
from audits.data.preprocessing.build import build_data
from audits.data.spec import DataSpec
from audits.errors import InputError


def data_paths(spec: DataSpec, base_dir: Path = Path()) -> tuple[Path, ...]:
    """Return the paths that a spec names; relative ones start at `base_dir`, the spec file's folder.

    Raises
    ------
    InputError
        If the spec names none.
    """
    if not spec.path:
        raise InputError(
            "data.path", "is missing", advice="name a file, or a list of files with the same columns"
        )
    named = spec.path if isinstance(spec.path, tuple) else (spec.path,)
    return tuple(base_dir / path for path in named)


def load_data(spec: DataSpec, base_dir: Path = Path(), *, limits: Limits | None = None) -> AuditData:
    """Read the files a spec names and build the data it describes.

    Raises
    ------
    InputError
        From reading (see `read_table`) or building (see `build_data`).
    """
    table = read_table(data_paths(spec, base_dir), format=spec.format, options=spec.read, limits=limits)
    return build_data(table, spec)
