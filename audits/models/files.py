"""Model files of any format that is read: each by its own module."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from audits.models.formats import READERS, format_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from audits.data import AuditData
    from audits.models.protocol import Model
    from audits.models.spec import ModelSpec

__all__ = ["load_file"]


def load_file(path: Path, data: AuditData, spec: ModelSpec, *, number: bool = False) -> Model:
    """Load a model file of any format that is read, and match it to `data`.

    Call it only from a worker process: the file is a stranger's.

    Parameters
    ----------
    path : Path
        The file.
    data : AuditData
        Its columns feed the model.
    spec : ModelSpec
        Its classes, columns and output.
    number : bool
        Whether it predicts the number that the label is cut from.

    Raises
    ------
    InputError
        If its content is of a format that is refused or not known, or its reader refuses it.
    """
    kind = format_of(path)
    reader: Callable[..., Model] = import_module(READERS[kind]).load
    return reader(path, data, spec, number=number)
