"""What model files of other libraries share: how columns feed them, and what their answers mean.

A format's module opens a file as an `Opened`; `match` makes a model of it. The file's own names bind to
columns of the table, whatever their order. Categories are given as the levels that the file was trained on,
compared as text; one that it never saw counts as missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.missing_markers import Written
from audits.data.values import as_text, places_of
from audits.errors import InputError
from audits.models.onnx.file import check_size
from audits.models.onnx.inputs import check_columns, column_for
from audits.models.outputs import (
    Numbers,
    class_scores,
    name_classes,
    named_by_data,
    number_sign,
    probabilities_of,
    read_probabilities,
)
from audits.models.protocol import class_text, need_columns

if TYPE_CHECKING:
    from pathlib import Path

    from audits.data import AuditData
    from audits.models.spec import ModelSpec

__all__ = [
    "Feature",
    "ModelFile",
    "NativeModel",
    "NativeNumbers",
    "Opened",
    "match",
    "refed",
    "splits_by_feature",
]

Gives = Literal["probabilities", "logits", "labels", "numbers"]


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A file that was read and not opened yet.

    Attributes
    ----------
    kind : str
        Its format, by the name in `audits.models.formats`.
    name : str
        In words.
    content : bytes
    where : str
        What lacks a library that is not installed.
    """

    kind: str
    name: str
    content: bytes = field(repr=False)
    where: str = "model.path"

    @classmethod
    def at(cls, path: Path, kind: str) -> ModelFile:
        """Read a file; raise `InputError` if it is over the limit for any file."""
        name = f"{kind} model {path.name}"
        check_size(path.stat().st_size, name)
        return cls(kind, name, path.read_bytes())

    @classmethod
    def kept(cls, content: bytes, feeding: Mapping[str, Any]) -> ModelFile:
        """Return a file that was kept with `NativeModel.feeding`; raise `InputError` if it is another one."""
        made = cls(feeding["format"], feeding["name"], content, feeding["name"])
        if made.sha256 != feeding["sha256"]:
            raise InputError(made.name, "must be the file that was audited", made.sha256)
        return made

    @cached_property
    def sha256(self) -> str:
        """Digest of the content."""
        return hashlib.sha256(self.content).hexdigest()

    def library(self, module: str, package: str) -> Any:
        """Return the library that opens it, an optional extra.

        Raises
        ------
        InputError
            If it is not installed, or a library of the system that it needs is not.
        MemoryError
            If it does not fit into what this process may take.
        """
        from importlib import import_module
        from importlib.util import find_spec

        try:
            return import_module(module)
        except (ImportError, OSError) as error:
            if "failed to map segment" in str(error):
                raise MemoryError(str(error)) from None
            if find_spec(module) is None:
                raise InputError(
                    self.where,
                    f"needs {package}, which is not installed",
                    advice="pip install 'evenhand[boosters]'",
                ) from None
            rule = f"needs {package}, which does not load here ({error})"
            advice = "install what it says (libgomp.so.1: libgomp1 on Debian and Ubuntu)"
            raise InputError(self.where, rule, advice=advice) from None


@dataclass(frozen=True)
class Feature:
    """One feature of a file: its name there, and what it takes.

    `levels` are the categories as trained, None where it takes numbers; ``()`` takes any text.
    """

    name: str
    levels: tuple[object, ...] | None = None

    def fed(self, raw: pd.Series) -> Any:
        """Return a column as the library takes it.

        Raises
        ------
        ValueError
            If it takes numbers and the column holds none.
        """
        if self.levels is None:
            if not pd.api.types.is_numeric_dtype(raw.dtype):
                raise ValueError("no numbers")
            return raw.to_numpy(np.float64, na_value=np.nan)
        if self.levels:
            return pd.Categorical.from_codes(places_of(raw, self.levels), categories=pd.Index(self.levels))
        return as_text(raw).fillna("").to_numpy(dtype=object)


@dataclass(frozen=True, eq=False)
class Opened:
    """A file opened by its library.

    Attributes
    ----------
    name : str
        In words.
    sha256 : str
    features : tuple of Feature
        In the file's order.
    named : bool
        Whether the file names its features.
    predict : callable
        From a frame with these features, in their order and types, to what it `gives`.
    gives : {"probabilities", "logits", "labels", "numbers"}
    classes : tuple, optional
        Label values in the order of the outputs, where the file says.
    model : object
        The library's own, for exact gradients.
    splits : callable
        Gives, of trees, the numbers at which they split each feature, sorted; None for what is no tree or
        must be asked about rows (see `split_points`).
    file : ModelFile, optional
        Where it can be opened again from its content: see `refed`.
    """

    name: str
    sha256: str
    features: tuple[Feature, ...]
    named: bool
    predict: Callable[[pd.DataFrame], np.ndarray] = field(repr=False)
    gives: Gives
    classes: tuple[object, ...] | None = None
    model: Any = field(default=None, repr=False)
    splits: Callable[[], Mapping[str, np.ndarray] | None] = field(default=lambda: None, repr=False)
    file: ModelFile | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class _Fed:
    """An opened file and the columns that feed its features."""

    opened: Opened
    columns: tuple[str, ...]
    written: Written = field(repr=False)
    notes: tuple[str, ...]

    invents = True

    @property
    def name(self) -> str:
        """The model in words."""
        return self.opened.name

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return self.opened.sha256

    @property
    def splits(self) -> dict[str, np.ndarray] | None:
        """The numbers at which trees split each column of numbers, sorted; None if the file does not say."""
        known, fed = self.opened.splits(), zip(self.columns, self.opened.features, strict=True)
        if known is None:
            return None
        return {column: known[feature.name] for column, feature in fed if feature.name in known}

    def given(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows as the library takes them.

        Raises
        ------
        InputError
            If a column is missing, or holds text where the file takes numbers.
        """
        need_columns(frame, self.columns, self.name)
        texts = [c for c, f in zip(self.columns, self.opened.features, strict=True) if f.levels is not None]
        raw = self.written.restore(frame[list(self.columns)], texts=texts)
        made = {
            feature.name: _fed(raw[column], feature, self.name)
            for column, feature in zip(self.columns, self.opened.features, strict=True)
        }
        return pd.DataFrame(made, index=raw.index)


@dataclass(frozen=True, eq=False)
class NativeModel(_Fed):
    """A classifier; `score` gives the probability of each of its `classes`, (n, k)."""

    classes: tuple[object, ...]
    labels: Mapping[str, int] | None
    logits: bool

    @property
    def file(self) -> ModelFile | None:
        """The file, where it can be opened again."""
        return self.opened.file

    @property
    def content(self) -> bytes:
        """Its bytes; none where it cannot be opened again."""
        return self.file.content if self.file else b""

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file and what its answers mean: see `refed`."""
        return {
            "format": self.file.kind if self.file else "",
            "name": self.name,
            "sha256": self.sha256,
            "columns": list(self.columns),
            **self.written.described(self.columns),
            "classes": len(self.classes),
            "labels": None if self.labels is None else dict(self.labels),
            "logits": self.logits,
        }

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k) in [0, 1], rows summing to 1."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty((0, len(self.classes)))
        values, width = self.opened.predict(self.given(frame)), len(self.classes)
        return class_scores(values, frame, self.name, width=width, labels=self.labels, logits=self.logits)


@dataclass(frozen=True, eq=False)
class NativeNumbers(Numbers, _Fed):
    """A regression."""

    sign: float

    def answers(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the file gives for rows, at least one."""
        return np.asarray(self.opened.predict(self.given(frame)), dtype=np.float64)


def match(opened: Opened, data: AuditData, spec: ModelSpec, *, number: bool) -> NativeModel | NativeNumbers:
    """Return a model of an opened file, its features fed by columns of `data`.

    Raises
    ------
    InputError
        If a feature has no column, nobody named the columns, or the answers are not what is asked for.
    """
    columns = _columns(opened, data, spec)
    notes = list(_notes(opened, columns, data))
    fed = (opened, columns, data.written)
    if number:
        sign = number_sign(data)
        if opened.gives == "labels":
            raise InputError(opened.name, "must predict numbers, but it gives labels only")
        return NativeNumbers(*fed, tuple(notes), sign)
    if opened.gives == "numbers" and spec.output is None:
        raise InputError(
            opened.name,
            "predicts a number, not a chance",
            advice="write predict: label under model with a label cut from that number; or output: "
            "probabilities if it is a chance, output: logits if it is a log-odds",
        )
    logits = spec.output == "logits" or (opened.gives == "logits" and spec.output is None)
    if opened.gives == "labels":
        notes.append("The model gives labels only: its scores are 0 or 1.")
        found = tuple(spec.classes or opened.classes or named_by_data(data, opened.name))
        codes = {class_text(value): column for column, value in enumerate(found)}
        return NativeModel(*fed, tuple(notes), found, codes, False)
    sample = data.frame.iloc[:1000]
    values = opened.predict(_Fed(*fed, ()).given(sample))
    scores = read_probabilities(
        probabilities_of(values, opened.name) if logits else values, sample, opened.name
    )
    width = 2 if scores.ndim == 1 else scores.shape[1]
    found = name_classes(width, spec.classes, opened.classes, data, opened.name)
    if spec.classes is None and found is not opened.classes:
        notes.append(
            f"The file does not name its classes: they were taken to be {choices(found)}, in this order."
        )
    return NativeModel(*fed, tuple(notes), found, None, logits)


def refed(opened: Opened, feeding: Mapping[str, Any]) -> NativeModel:
    """Return the model that a file was before, its classes known by number only.

    Parameters
    ----------
    feeding : mapping
        From `NativeModel.feeding`.
    """
    columns, written = tuple(feeding["columns"]), Written.restored(feeding)
    if len(columns) != len(opened.features):
        raise InputError(opened.name, "must read as many columns as when it was audited", list(columns))
    labels = None if feeding["labels"] is None else dict(feeding["labels"])
    classes = tuple(range(feeding["classes"]))
    return NativeModel(opened, columns, written, (), classes, labels, bool(feeding["logits"]))


def _columns(opened: Opened, data: AuditData, spec: ModelSpec) -> tuple[str, ...]:
    """Return the column that feeds each feature: by name, or as the spec lists them."""
    names = [each.name for each in opened.features]
    given = spec.columns
    if isinstance(given, dict):
        if any(len(columns) != 1 for columns in given.values()):
            raise InputError("model.columns", "must name one column a feature", dict(given))
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InputError("model.columns", f"must name features of the {opened.name}", unknown)
        own = {name: columns[0] for name, columns in given.items()}
        found = [own.get(name) or column_for(name, data) for name in names]
    elif given is not None:
        if len(given) != len(names):
            raise InputError(
                "model.columns", f"must name the {len(names)} columns of the {opened.name}", given
            )
        found = list(given)
    elif opened.named:
        found = [column_for(name, data) for name in names]
    else:
        raise InputError(
            opened.name,
            f"reads {len(names)} features and does not name them",
            advice="add under model, in the order it was trained on: columns: [FIRST, SECOND, …]",
        )
    absent = [name for name, column in zip(names, found, strict=True) if column is None]
    if absent:
        raise InputError(
            opened.name,
            f"reads features that no column is named after: {choices(absent)}",
            advice=f"say which column feeds each: add under model, columns: {{{absent[0]}: [COLUMN]}}",
        )
    columns = tuple(column for column in found if column is not None)
    check_columns(columns, data, "model.columns")
    return columns


def _notes(opened: Opened, columns: tuple[str, ...], data: AuditData) -> list[str]:
    notes = []
    unread = [name for name in data.features if name not in columns]
    if unread:
        notes.append(f"The model does not read the features {choices(unread)}.")
    for column, feature in zip(columns, opened.features, strict=True):
        if not feature.levels:
            continue
        raw = data.written.restore(data.frame[[column]], texts=[column])[column]
        strange = (places_of(raw, feature.levels) < 0) & raw.notna().to_numpy()
        if strange.any():
            shown = choices(as_text(raw[strange]).unique().tolist(), most=4)
            notes.append(
                f"{int(strange.sum()):,} people have a value of {column!r} that the model was not trained on "
                f"({shown}): it was given none."
            )
    return notes


def _fed(raw: pd.Series, feature: Feature, name: str) -> Any:
    try:
        return feature.fed(raw)
    except ValueError:
        raise InputError(
            name, f"takes numbers as {feature.name!r}, but column {raw.name!r} holds none", raw.iloc[0]
        ) from None


def splits_by_feature(features: pd.Series, thresholds: pd.Series) -> dict[str, np.ndarray]:
    """Return the sorted numbers at which each feature is split, from the splits one by one."""
    known = pd.to_numeric(thresholds, errors="coerce")
    found = known[known.notna() & np.isfinite(known)].groupby(features)
    return {str(name): np.unique(each.to_numpy(np.float64)) for name, each in found}
