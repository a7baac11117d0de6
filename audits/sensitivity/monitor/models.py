"""An audited model without a gradient that a monitor carries along, asked for scores.

People are measured as the audit measured them: finite differences of numbers, swaps of categories weighted
by how common values were among the people audited, so that neither the order of rows nor the size of a
batch changes a result. What is carried is a model file (ONNX, XGBoost, LightGBM, CatBoost, skops), or the
trees of a forest or of boosting trained here as plain arrays.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.data.row_encoder import moment_of
from audits.data.values import text_of
from audits.errors import InputError
from audits.models.files import reopen
from audits.models.trees.plain import PlainTrees
from audits.sensitivity.measurement.blackbox import level_counts, measure_blackbox
from audits.sensitivity.measurement.gradients import Measured, Status

if TYPE_CHECKING:
    from audits.models import Model, Subject


@dataclass(frozen=True, eq=False)
class CarriedModel:
    """A model file, opened at the first score (in a server only in a worker process), or plain trees.

    Attributes
    ----------
    own : dict
        Plain data: ``counts`` (from `level_counts`), ``step`` (of finite differences, in standard
        deviations), and ``trees`` (how rows become the matrix that they read) or ``feeding`` (from the
        model's own: which format the file has, and what columns and answers mean).
    arrays : dict of str to array
        The trees, or the bytes of the file.
    favorable : (k,) bool
        Which of the model's scores count for the person.
    encoding : list of dict
        From `FeatureSpace.described`.
    """

    own: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(repr=False)
    favorable: np.ndarray
    encoding: list[dict[str, Any]]

    @cached_property
    def space(self) -> FeatureSpace:
        """The feature space of the audit."""
        return FeatureSpace.restored(self.encoding)

    @property
    def feeding(self) -> dict[str, Any] | None:
        """How a model file is fed; None for trees."""
        return self.own.get("feeding")

    @cached_property
    def model(self) -> Any:
        """The trees, or the opened file."""
        if self.feeding is None:
            return PlainTrees.restore(self.own["trees"], self.arrays)
        return reopen(self.arrays[_file_name(self.feeding)].tobytes(), self.feeding)

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that the model reads."""
        return tuple(self.model.columns if self.feeding is None else self.feeding["columns"])

    def _by_text(self, column: str) -> bool:
        """Whether the model tells the levels of a column apart by their text."""
        return self.feeding is None and self.model.inputs[self.columns.index(column)].levels is not None

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favorable outcome of raw rows, (n,)."""
        return self.chance(self.model.score(frame))

    def chance(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of the favorable outcome from those of all classes, (…, k) -> (…,)."""
        if scores.shape[-1] == 1 and len(self.favorable) == 1:
            return scores[..., 0]
        if scores.shape[-1] == 1:  # of the second of two classes
            scores = np.concatenate([1.0 - scores, scores], axis=-1)
        return np.clip(scores[..., self.favorable].sum(axis=-1), 0.0, 1.0)

    def raw(self, values: Sequence[Any], entry: Mapping[str, Any]) -> pd.Series:
        """Return values, checked before, as the column that the model was fed with in the audit."""
        if entry["kind"] == "datetime":
            return pd.Series([moment_of(value) for value in values], dtype="datetime64[us]")
        if entry["kind"] != "categorical" and not entry["levels"]:
            return pd.Series([math.nan if value is None else value for value in values], dtype=float)
        if self._by_text(entry["column"]):
            return pd.Series([None if value is None else text_of(value) for value in values], dtype=object)
        known = {text: value for text, value in zip(entry["levels"], entry["values"], strict=True) if text}
        found = [None if value is None else known.get(text_of(value), value) for value in values]
        if any(isinstance(value, str) for value in known.values()) or not known:
            return pd.Series([None if value is None else text_of(value) for value in found], dtype=object)
        if None in found and {type(value) for value in found} <= {bool, type(None)}:
            return pd.Series(found, dtype="boolean")  # else yes and no become 1 and 0 beside a missing value
        # a word among numbers was never seen: as good as missing
        return pd.to_numeric(pd.Series(found, dtype=object), errors="coerce")

    def frame(self, columns: Mapping[str, Sequence[Any]], n: int) -> pd.DataFrame:
        """Return `n` rows given as columns of values, as the model was fed with them in the audit."""
        entries = {str(entry["column"]): entry for entry in self.encoding}
        return pd.DataFrame(
            {name: self.raw(columns[name], entries[name]) for name in self.columns}, index=pd.RangeIndex(n)
        )

    def measure(
        self,
        columns: Mapping[str, Sequence[Any]],
        z: np.ndarray,
        statuses: Sequence[Status],
        *,
        literal: bool,
    ) -> Measured:
        """Measure rows given as columns of values, at points `z` (n, d)."""
        return measure_blackbox(
            self.frame(columns, len(z)),
            z,
            self.score,
            self.columns,
            statuses,
            self.space,
            step=self.own["step"],
            literal=literal,
            counts=self.own["counts"],
        )


MAX_BYTES = 20_000_000
"""Size of a file, or of a result's trees, up to which it is kept for a monitor."""

_EXACT = 1e-12
_CHECKED = 2000  # people of whom a file, which may hold thousands of trees, is asked twice


def carry(subject: Subject, z: np.ndarray, step: float) -> dict[str, Any]:
    """Return as plain data what a monitor needs to ask the model of `subject`, or why there is no such thing.

    Parameters
    ----------
    z : (n, d)
        Points of the people audited.

    Returns
    -------
    dict
        `CarriedModel.own`, its arrays packed as text under ``arrays``; or ``refused``, a sentence.
    """
    model, space = subject.model, subject.space
    own, described = {"counts": level_counts(z, space), "step": step}, space.described()
    favorable = np.ones(1, dtype=bool) if model.classes is None else subject.favorable_classes
    content = b"" if model.classes is None else getattr(model, "content", b"")
    why = _why_not(subject)
    trees = _trees_of(model)
    if trees is not None:
        carried = CarriedModel({"trees": trees.describe(), **own}, trees.arrays(), favorable, described)
        packed = _pack(carried)
        if len(packed["arrays"]) > MAX_BYTES:
            why = f"The trees of the {model.name} take more than {MAX_BYTES // 10**6} MB."
        elif _scores_as(carried, subject, len(subject.scores)):
            return packed
        else:
            why = f"The {model.name} rebuilt from plain arrays gives other scores than the original."
    if not content:
        return {"refused": why}
    if len(content) > MAX_BYTES:
        return {"refused": f"The {model.name} has more than {MAX_BYTES // 10**6} MB."}
    feeding = model.feeding()  # type: ignore[attr-defined]
    file = {_file_name(feeding): np.frombuffer(content, dtype=np.uint8)}
    carried = CarriedModel({"feeding": feeding, **own}, file, favorable, described)
    if not _scores_as(carried, subject, _CHECKED):
        return {"refused": f"The {model.name}, asked about people by their values, gives other scores."}
    return _pack(carried)


def _scores_as(carried: CarriedModel, subject: Subject, most: int) -> bool:
    """Tell whether what is carried says of people's values what the model says of their rows."""
    # as of rows that nobody has in the data: what else single cells hold is not sent
    rows = subject.data.frame.head(most).rename_axis(index=None)
    sent = rows[list(carried.columns)].astype(object)
    columns = {str(name): values.where(values.notna(), None).tolist() for name, values in sent.items()}
    apart = carried.score(carried.frame(columns, len(rows))) - subject.probability_of(rows)
    return bool(np.abs(apart).max(initial=0.0) <= _EXACT)


def _trees_of(model: Model) -> PlainTrees | None:
    """Return the trees of a forest or boosting of chances that was trained here."""
    pipeline = getattr(model, "pipeline", None)
    if pipeline is None or not hasattr(pipeline[-1], "predict_proba") or hasattr(pipeline[-1], "coef_"):
        return None
    from audits.models.trees.plain import plain_trees

    return plain_trees(pipeline, model.numbers, model.levels)  # type: ignore[attr-defined]


def _why_not(subject: Subject) -> str:
    name = subject.model.name
    if hasattr(subject.model, "number"):
        return f"The {name} predicts a number; a monitor can only include models that give probabilities."
    if hasattr(getattr(subject.model, "source", None), "options"):
        return f"The {name} runs elsewhere; a monitor includes the model itself."
    return (
        f"The {name} cannot be written as plain arrays; a monitor can include networks, logistic "
        "regressions, forests and boosting trained here, and model files."
    )


def _file_name(feeding: Mapping[str, Any]) -> str:
    """Return what a file is called among the arrays: that of ONNX, which came first, has no format."""
    return "file" if "format" in feeding else "onnx"


def _pack(carried: CarriedModel) -> dict[str, Any]:
    from safetensors.numpy import save

    weights = save({name: np.ascontiguousarray(array) for name, array in carried.arrays.items()})
    return {
        **carried.own,
        "favorable": carried.favorable.tolist(),
        "arrays": base64.b64encode(zlib.compress(weights, 6)).decode("ascii"),
    }


def unpack(kept: Mapping[str, Any], encoding: list[dict[str, Any]]) -> CarriedModel:
    """Return what `carry` kept."""
    from safetensors.numpy import load

    if "onnx" in kept:  # as results were kept before trees were
        arrays = {"onnx": np.frombuffer(base64.b64decode(kept["onnx"]), dtype=np.uint8)}
    else:
        arrays = load(zlib.decompress(base64.b64decode(kept["arrays"])))
    return restore(kept, arrays, np.array(kept["favorable"], dtype=bool), encoding)


def restore(
    own: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    favorable: np.ndarray,
    encoding: list[dict[str, Any]],
) -> CarriedModel:
    """Rebuild a model; its space and trees too, so that what is damaged is told at once.

    Raises
    ------
    InputError, KeyError, TypeError, ValueError
        If it is damaged.
    """
    kind = "trees" if "trees" in own else "feeding"
    if kind == "trees":
        mine = {name: array for name, array in arrays.items() if name.startswith(("trees.", "codes."))}
    else:
        name = _file_name(own["feeding"])
        mine = {name: arrays[name]}
    made = CarriedModel({name: own[name] for name in (kind, "counts", "step")}, mine, favorable, encoding)
    lacking = [name for name in made.columns if name not in made.space.columns]
    if lacking:
        raise InputError("bundle", "must encode every column that its model reads", lacking)
    return made
