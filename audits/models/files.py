"""Model files as models: opened by what reads their format, and matched to data."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.errors import InputError, not_installed
from audits.models.formats import format_of, formats
from audits.models.native.opened import ModelFile, match, reopen_feeding

if TYPE_CHECKING:
    from audits.data import AuditData
    from audits.models.protocol import Model
    from audits.models.spec import ModelSpec


def load(path: Path, data: AuditData, spec: ModelSpec, *, number: bool) -> Model:
    """Load a file and match it to `data`; as a model of the `number` that the label cuts, or of a chance.

    Call it only from a worker process: the file is a stranger's.

    Raises
    ------
    InputError
        If its content is of a format that is refused or not known, what opens it is not installed, or it does
        not fit the data.
    """
    kind = format_of(path)
    module = _reader(kind, "model.path")
    if hasattr(module, "load"):
        return module.load(path, data, spec, number=number)
    opened = module.open_file(ModelFile.at(path, kind), log_odds=spec.output == "logits")
    return match(opened, data, spec, number=number)


def reopen(content: bytes, feeding: Mapping[str, Any]) -> Model:
    """Open a file again as it was matched to data before; its classes are known by number only.

    Call it only from a worker process, unless the file is your own.

    Parameters
    ----------
    content : bytes
        The file.
    feeding : mapping
        From the model's own ``feeding``; without a format it is of an ONNX file.

    Raises
    ------
    InputError
        If the file is refused, is another one, or what opens it is not installed.
    """
    kind, name = feeding.get("format", "ONNX"), str(feeding["name"])
    if kind not in formats():
        raise InputError(name, "has a format that nothing installed here can read", kind)
    module = _reader(kind, name)
    if hasattr(module, "reopen"):
        return module.reopen(content, feeding)
    opened = module.open_file(ModelFile.kept(content, feeding), log_odds=feeding["logits"])
    return reopen_feeding(opened, feeding)


def _reader(kind: str, where: str) -> Any:
    try:
        return import_module(formats()[kind].reader)
    except ModuleNotFoundError as error:
        raise not_installed(where, str(error.name)) from None
