"""Which formats of model files are read, and what is said of the others: told by content, then by name.

A format is one module, which opens files, and a `Format` that says how
its files are known; installed packages bring theirs by the entry-point group `GROUP`. Nothing here opens a
file further than its first bytes and, of an archive, its list of names: a pickle can run code hidden in it as
soon as it is loaded.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from audits.data import Limits
from audits.errors import InputError
from audits.plugins import load_plugin

GROUP = "evenhand.formats"
"""Entry points of installed packages that name a `Format`."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of model files.

    Attributes
    ----------
    name : str
        As sentences have it.
    reader : str
        The module that reads it, imported where a file is read; it runs no code from the file. Its
        ``load(path, data, spec, number=…)`` returns what `audits.models.protocol` says a model must have,
        and ``reopen(content, feeding)`` returns one again that has its ``content`` and ``feeding``. Instead
        of the two, ``open_file(file, log_odds=…)`` may return an `audits.models.native.opened.Opened`.
    suffixes : tuple of str
        Usual endings; the content decides.
    begins : callable, optional
        Whether the first bytes of a file, some thousands, show it.
    holds : str
        The name of a file by which an archive is known.
    """

    name: str
    reader: str
    suffixes: tuple[str, ...]
    begins: Callable[[bytes], bool] | None = None
    holds: str = ""


def _is_xgboost(first: bytes) -> bool:
    return first.startswith(b"{L\x00\x00") or (first.lstrip().startswith(b"{") and b'"learner"' in first)


_NATIVE = "audits.models.native"
_OURS = (
    Format(name="ONNX", reader="audits.models.onnx.model", suffixes=(".onnx",)),
    Format(name="XGBoost", reader=f"{_NATIVE}.xgboost_file", suffixes=(".json", ".ubj"), begins=_is_xgboost),
    Format(
        name="LightGBM",
        reader=f"{_NATIVE}.lightgbm_file",
        suffixes=(".txt",),
        begins=lambda first: first.startswith((b"tree\n", b"tree\r\n")),
    ),
    Format(
        name="CatBoost",
        reader=f"{_NATIVE}.catboost_file",
        suffixes=(".cbm",),
        begins=lambda first: first.startswith(b"CBM1"),
    ),
    Format(name="skops", reader=f"{_NATIVE}.skops_file", suffixes=(".skops",), holds="schema.json"),
)


@cache
def formats() -> Mapping[str, Format]:
    """Return every format that is read, by name: ours, then those of installed packages."""
    ours = {each.name: each for each in _OURS}
    brought = (load_plugin(entry, Format, ours) for entry in entry_points(group=GROUP))
    return ours | {each.name: each for each in brought}


def files_read() -> str:
    """Return the formats in words, for sentences.

    Examples
    --------
    >>> files_read()
    'ONNX, XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm) or skops'
    """
    found = [
        each.name
        if each.suffixes == (f".{each.name.lower()}",)
        else f"{each.name} ({', '.join(each.suffixes)})"
        for each in formats().values()
    ]
    return f"{', '.join(found[:-1])} or {found[-1]}"


_FIRST = 4096
_SERVE = "or run it where you trust it, with evenhand serve FILE, and audit that address"
_SKLEARN = (
    "convert it with skl2onnx.to_onnx(model, first_rows, options={'zipmap': False}), save it with "
    f"skops.io.dump(model, 'model.skops'), {_SERVE}"
)
_TORCH = f"convert it with torch.onnx.export(model, example_input, 'model.onnx'), {_SERVE}"
_KERAS = f"convert it with tf2onnx: python -m tf2onnx.convert --output model.onnx, {_SERVE}"
_RUNS_CODE = "is refused because loading that format can run code hidden in the file"
_WEIGHTS = f"weights alone are not a model; load them in torch and {_TORCH}"
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
    "safetensors": ("holds weights without the network they belong to", _WEIGHTS),
}
_REFUSED_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".dill", ".sav", ".cloudpickle"), "a pickle"),
    **dict.fromkeys((".pt", ".pth", ".pt2", ".ckpt", ".torchscript", ".ptl"), "a torch file"),
    **dict.fromkeys((".h5", ".hdf5", ".keras"), "Keras"),
    ".pb": "TensorFlow",
    ".safetensors": "safetensors",
}


def check_size(size: int, name: str) -> None:
    """Raise `InputError` if a file of `size` bytes is over the limit for any uploaded file."""
    limit = Limits().file_bytes
    if size > limit:
        raise InputError(
            name,
            f"must be at most {limit / 1e6:,.0f} MB, but has {size / 1e6:,.1f} MB",
            advice="set EVENHAND_MAX_FILE_MB to raise the limit",
        )


def format_of(path: Path) -> str:
    """Return the name of the format of a file, by its content.

    Raises
    ------
    InputError
        If it is of a format that is refused, or of none that is known: the reason, and how to convert.
    """
    with path.open("rb") as file:
        first = file.read(_FIRST)
    by_name = (each.name for each in formats().values() if path.suffix.lower() in each.suffixes)
    found = _by_content(path, first) or next(by_name, None)
    if found is not None and found in formats():
        return found
    _refuse(found, path.name, "model.path")
    raise InputError(
        "model.path", f"must be a model file: {files_read()}", path.name, _SERVE.removeprefix("or ")
    )


def _by_content(path: Path, first: bytes) -> str | None:
    """Return the format that the first bytes show, read or refused; None where they show none."""
    if first.startswith(b"PK\x03\x04"):
        return _by_names(path)
    for each in formats().values():
        if each.begins is not None and each.begins(first):
            return each.name
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
    for each in formats().values():
        if each.holds and each.holds in names:
            return each.name
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
