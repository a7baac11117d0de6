"""Which formats of model files are read, and what is said of the others: told by content, then by name.

A format is read by one module, named in `READERS`: its ``load(path, data, spec, number)`` gives a model.
Nothing here opens a file further than its first bytes and, of an archive, its list of names: a pickle can
run code hidden in it as soon as it is loaded.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from audits.errors import InputError

if TYPE_CHECKING:
    from audits.models.protocol import Model

__all__ = ["FILES_READ", "READERS", "SUFFIXES", "check_format", "format_of", "is_mlflow", "reader_of"]

READERS: Mapping[str, str] = {
    "ONNX": "audits.models.onnx.model",
    "XGBoost": "audits.models.native.xgboost_file",
    "LightGBM": "audits.models.native.lightgbm_file",
    "CatBoost": "audits.models.native.catboost_file",
    "skops": "audits.models.native.skops_file",
}
"""Format and the module that reads it."""

SUFFIXES: Mapping[str, str] = {
    ".onnx": "ONNX",
    ".json": "XGBoost",
    ".ubj": "XGBoost",
    ".txt": "LightGBM",
    ".cbm": "CatBoost",
    ".skops": "skops",
}
"""Usual endings of the formats read; the content decides."""

_FIRST = 4096
FILES_READ = "ONNX, XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm) or skops"
"""The same in words, for sentences."""
_SERVE = "or run it where you trust it, with evenhand serve FILE, and audit that address"
_SKLEARN = (
    "convert it with skl2onnx.to_onnx(model, first_rows, options={'zipmap': False}), save it with "
    f"skops.io.dump(model, 'model.skops'), {_SERVE}"
)
_TORCH = f"convert it with torch.onnx.export(model, example_input, 'model.onnx'), {_SERVE}"
_KERAS = f"convert it with tf2onnx: python -m tf2onnx.convert --output model.onnx, {_SERVE}"
_RUNS_CODE = "is refused because loading that format can run code hidden in the file"
_WEIGHTS = f"weights alone are no model; load them in torch and {_TORCH}"
# what it is, why it is refused, what to do
_REFUSED: Mapping[str, tuple[str, str]] = {
    "a pickle": (f"holds a pickle and {_RUNS_CODE}", _SKLEARN),
    "a torch file": (f"holds a torch model and {_RUNS_CODE}", _TORCH),
    "Keras": (f"holds a Keras or HDF5 model and {_RUNS_CODE}", _KERAS),
    "TensorFlow": (f"holds a TensorFlow graph and {_RUNS_CODE}", _KERAS),
    "MLflow": (
        "is an MLflow artefact, refused because loading it can run code hidden in its pickles",
        _SKLEARN,
    ),
    "safetensors": ("holds weights without the network that they belong to", _WEIGHTS),
}
_REFUSED_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".dill", ".sav", ".cloudpickle"), "a pickle"),
    **dict.fromkeys((".pt", ".pth", ".pt2", ".ckpt", ".torchscript", ".ptl"), "a torch file"),
    **dict.fromkeys((".h5", ".hdf5", ".keras"), "Keras"),
    ".pb": "TensorFlow",
    ".safetensors": "safetensors",
}


def reader_of(path: Path) -> Callable[..., Model]:
    """Return what loads a file and matches it to data: ``load(path, data, spec, number=…)`` of its module.

    Call that only from a worker process: the file is a stranger's.

    Raises
    ------
    InputError
        If its content is of a format that is refused or not known.
    """
    reader: Callable[..., Model] = import_module(READERS[format_of(path)]).load
    return reader


def format_of(path: Path) -> str:
    """Return which of `READERS` reads a file, by its content.

    Raises
    ------
    InputError
        If it is of a format that is refused, or of none that is known: the reason, and how to convert.
    """
    with path.open("rb") as file:
        first = file.read(_FIRST)
    found = _by_content(path, first) or SUFFIXES.get(path.suffix.lower())
    if found in READERS:
        return str(found)
    _refuse(found, path.name, "model.path")
    raise InputError(
        "model.path", f"must be a model file: {FILES_READ}", path.name, _SERVE.removeprefix("or ")
    )


def _by_content(path: Path, first: bytes) -> str | None:
    """Return the format that the first bytes show, read or refused; None where they show none."""
    if first.startswith(b"PK\x03\x04"):
        return _by_names(path)
    text = first.lstrip()
    if first.startswith(b"tree\n") or first.startswith(b"tree\r\n"):
        return "LightGBM"
    if first.startswith(b"CBM1"):
        return "CatBoost"
    if first.startswith(b"{L\x00\x00") or (text.startswith(b"{") and b'"learner"' in first):
        return "XGBoost"
    if first[8:9] == b"{" and int.from_bytes(first[:8], "little") < 2**27 and b'"dtype"' in first:
        return "safetensors"
    if first.startswith(b"\x89HDF"):
        return "Keras"
    if b"flavors:" in first and b"artifact_path" in first:
        return "MLflow"
    packed = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
    if (first[:1] == b"\x80" and first[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"}) or first.startswith(
        packed
    ):
        return "a pickle"
    return None


def _by_names(path: Path) -> str | None:
    """Return the format that the names in an archive show; nothing in it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.rsplit("/", 1)[-1] for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, EOFError, struct.error):
        return None
    if "schema.json" in names:
        return "skops"
    if names & {"data.pkl", "constants.pkl", "archive_format", "serialized_exported_program.json"}:
        return "a torch file"
    if names & {"config.json", "model.weights.h5"}:
        return "Keras"
    return "a pickle" if any(name.endswith((".pkl", ".pickle", ".joblib")) for name in names) else None


def _refuse(found: str | None, path: str, where: str) -> None:
    if found is not None and found in _REFUSED:
        rule, advice = _REFUSED[found]
        raise InputError(where, rule, path, advice)


def check_format(path: str, where: str, *, folder: bool = False) -> None:
    """Raise `InputError` for a name that says that the file is refused: the reason, and how to convert."""
    _refuse("MLflow" if is_mlflow(path) else _REFUSED_SUFFIXES.get(Path(path).suffix.lower()), path, where)
    if folder:
        _refuse("MLflow", path, where)


def is_mlflow(path: str) -> bool:
    """Return whether a path is one of MLflow's."""
    return path.endswith(("MLmodel", ".mlmodel")) or path.startswith(("models:/", "runs:/"))
