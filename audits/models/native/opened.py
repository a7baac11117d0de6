"""What model files of other libraries share: how columns feed them, and what their answers mean.

A format's module opens a file as an `Opened`; `match` makes a model of it. The file's own names bind to
columns of the table, whatever their order. Categories are given as the levels that the file was trained on,
compared as text; one that it never saw counts as missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.missing_markers import MissingCells
from audits.data.values import as_text, places_of, truth_values
from audits.errors import InputError
from audits.models.columns import check_columns, given_as_texts, match_columns, unread
from audits.models.formats import check_size
from audits.models.outputs import Classifier, Regressor, classifier, number_sign, restored_classifier
from audits.models.protocol import need_columns

if TYPE_CHECKING:
    from pathlib import Path

    from audits.data import AuditData
    from audits.models.spec import ModelSpec

_TRIED_FIRST = 1000
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
        """Return a file that was kept with `Classifier.feeding`; raise `InputError` if it is another one."""
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
            raw = truth_values(raw)
            if not pd.api.types.is_numeric_dtype(raw.dtype):
                raise ValueError("no numbers")
            return raw.to_numpy(np.float64, na_value=np.nan)
        if self.levels:
            return pd.Categorical.from_codes(places_of(raw, self.levels), categories=pd.Index(self.levels))
        if pd.api.types.is_bool_dtype(raw.dtype):  # CatBoost, which has such features, makes it 1 and 0
            raw = raw.astype("Int64")
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
        The library's own, for exact gradients and for the numbers at which trees split.
    file : ModelFile, optional
        Where it can be opened again from its content: see `reopen_feeding`.
    """

    name: str
    sha256: str
    features: tuple[Feature, ...]
    named: bool
    predict: Callable[[pd.DataFrame], np.ndarray] = field(repr=False)
    gives: Gives
    classes: tuple[object, ...] | None = None
    model: Any = field(default=None, repr=False)
    file: ModelFile | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class FeatureFeed:
    """An opened file and the columns that feed its features: a source of answers.

    Attributes
    ----------
    opened : Opened
    columns : tuple of str
        By feature.
    written : Written
        What stood in cells that count as missing: it is given that.
    """

    opened: Opened
    columns: tuple[str, ...]
    written: MissingCells = field(repr=False)

    @property
    def name(self) -> str:
        """The model in words."""
        return self.opened.name

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return self.opened.sha256

    @property
    def content(self) -> bytes:
        """The file; nothing where it cannot be opened again."""
        return self.opened.file.content if self.opened.file else b""

    @property
    def pairs(self) -> list[tuple[Feature, str]]:
        """Each feature with the column that feeds it."""
        return list(zip(self.opened.features, self.columns, strict=True))

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file: see `reopen_feeding`."""
        return {
            "format": self.opened.file.kind if self.opened.file else "",
            "name": self.name,
            "sha256": self.sha256,
            "columns": list(self.columns),
            **self.written.described(self.columns),
        }

    def given(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows as the library takes them.

        Raises
        ------
        InputError
            If a column is missing, or holds text where the file takes numbers.
        """
        need_columns(frame, self.columns, self.name)
        texts = [column for feature, column in self.pairs if feature.levels is not None]
        raw = self.written.restore(frame[list(self.columns)], texts=texts)
        made = {}
        for feature, column in self.pairs:
            try:
                made[feature.name] = feature.fed(raw[column])
            except ValueError:
                rule = f"takes numbers as {feature.name!r}, but column {column!r} holds none"
                raise InputError(self.name, rule, raw[column].iloc[0]) from None
        return pd.DataFrame(made, index=raw.index)

    def ask(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the file gives for rows, at least one."""
        return self.opened.predict(self.given(frame))

    def notes(self, data: AuditData) -> Iterator[str]:
        """Yield, in sentences, what the user should know about how the file is fed."""
        yield from unread(self.columns, data)
        yield from given_as_texts([column for feature, column in self.pairs if feature.levels == ()], data)
        for feature, column in self.pairs:
            if not feature.levels:
                continue
            raw = data.written.restore(data.frame[[column]], texts=[column])[column]
            strange = (places_of(raw, feature.levels) < 0) & raw.notna().to_numpy()
            if strange.any():
                shown = choices(as_text(raw[strange]).unique().tolist(), most=4)
                yield (
                    f"{int(strange.sum()):,} people have a value of {column!r} that the model was not "
                    f"trained on ({shown}). It was treated as missing."
                )


def match(opened: Opened, data: AuditData, spec: ModelSpec, *, number: bool) -> Classifier | Regressor:
    """Return a model of an opened file, its features fed by columns of `data`.

    Raises
    ------
    InputError
        If a feature has no column, nobody named the columns, or the answers are not what is asked for.
    """
    widths: dict[str, int | None] = {feature.name: 1 for feature in opened.features}
    if len(widths) < len(opened.features):
        raise InputError(opened.name, "must not have two features of one name")
    found = match_columns(widths, data, opened.name, spec.columns, named=opened.named)
    columns = tuple(column for (column,) in found)
    check_columns(columns, data, "model.columns")
    source = FeatureFeed(opened, columns, data.written)
    notes = tuple(source.notes(data))
    if number:
        sign = number_sign(data)
        if opened.gives == "labels":
            raise InputError(opened.name, "must predict numbers, but it gives labels only")
        return Regressor(source=source, notes=notes, sign=sign)
    if opened.gives == "numbers" and spec.output is None:
        raise InputError(
            opened.name,
            "predicts a number, not a chance",
            advice="write predict: label under model with a label cut from that number; or output: "
            "probabilities if it is a chance, output: logits if it is a log-odds",
        )
    return classifier(
        source,
        data,
        source.ask(data.frame.iloc[:_TRIED_FIRST]),
        classes=spec.classes,
        stated=opened.classes,
        labels=opened.gives == "labels",
        logits=spec.output == "logits" or (opened.gives == "logits" and spec.output is None),
        notes=notes,
    )


def reopen_feeding(opened: Opened, feeding: Mapping[str, Any]) -> Classifier:
    """Return the model that a file was before, its classes known by number only.

    Parameters
    ----------
    feeding : mapping
        From `Classifier.feeding`.
    """
    columns = tuple(feeding["columns"])
    if len(columns) != len(opened.features):
        raise InputError(opened.name, "must read as many columns as when it was audited", list(columns))
    return restored_classifier(FeatureFeed(opened, columns, MissingCells.restored(feeding)), feeding)


def first_line(error: Exception) -> str:
    """Return what a library says first, without the place in its own source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0].split(": ", 1)[-1] if lines else type(error).__name__)[:200].rstrip(".")


def splits_by_feature(features: pd.Series, thresholds: pd.Series) -> dict[str, np.ndarray]:
    """Return the sorted numbers at which each feature is split, from the splits one by one."""
    known = pd.to_numeric(thresholds, errors="coerce")
    found = known[known.notna() & np.isfinite(known)].groupby(features)
    return {str(name): np.unique(each.to_numpy(np.float64)) for name, each in found}
