"""An audited model without a gradient that a monitor carries along: an ONNX file, asked for scores.

People are measured as the audit measured them: finite differences of numbers, swaps of categories weighted
by how common values were among the people audited, so that neither the order of rows nor the size of a
batch changes a result.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.data.values import text_of
from audits.sensitivity.blackbox import level_counts, measure_blackbox
from audits.sensitivity.encoding import restore_space
from audits.sensitivity.measuring import Measured, Status

if TYPE_CHECKING:
    from audits.models import Model
    from audits.models.onnx import OnnxModel

__all__ = ["MOST_BYTES", "Carried", "carry"]

MOST_BYTES = 20_000_000
"""Size of a file up to which a result keeps it for a monitor."""


def carry(
    model: Model, favorable: np.ndarray | None, space: FeatureSpace, z: np.ndarray, step: float
) -> dict[str, Any] | None:
    """Return as plain data what a monitor needs to ask `model`; None for one that is no small ONNX file.

    Parameters
    ----------
    favorable : (k,) bool
        Which of the model's classes are good for the person.
    z : (n, d)
        Points of the people audited.
    """
    content = getattr(model, "content", b"")  # only an ONNX model has its file
    if favorable is None or not 0 < len(content) <= MOST_BYTES:
        return None
    return {
        "feeding": model.feeding(),  # type: ignore[attr-defined]
        "favorable": favorable.tolist(),
        "counts": level_counts(z, space),
        "step": step,
        "onnx": base64.b64encode(content).decode("ascii"),
    }


@dataclass(frozen=True, eq=False)
class Carried:
    """The model, how it is fed, and how common values were.

    Attributes
    ----------
    content : bytes
        The ONNX file. It is opened at the first score: in a server only in a worker process.
    feeding : dict
        From `OnnxModel.feeding`.
    favorable : (k,) bool
    counts : dict of str to list of float
        From `level_counts`.
    step : float
        Of finite differences, in standard deviations.
    encoding : list of dict
        From `describe_space`.
    """

    content: bytes = field(repr=False)
    feeding: dict[str, Any]
    favorable: np.ndarray
    counts: dict[str, list[float]]
    step: float
    encoding: list[dict[str, Any]]

    @cached_property
    def space(self) -> FeatureSpace:
        """The feature space of the audit."""
        return restore_space(self.encoding)

    @cached_property
    def model(self) -> OnnxModel:
        """The opened file."""
        from audits.models.onnx import reopen_onnx  # the runtime is loaded only where one is asked

        return reopen_onnx(self.content, self.feeding)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favourable outcome of raw rows, (n,)."""
        return np.clip(self.model.score(frame)[:, self.favorable].sum(axis=1), 0.0, 1.0)

    def measure(
        self,
        columns: Mapping[str, Sequence[Any]],
        z: np.ndarray,
        statuses: Sequence[Status],
        *,
        literal: bool,
    ) -> Measured:
        """Measure rows given as columns of values, at points `z` (n, d)."""
        entries = {str(entry["column"]): entry for entry in self.encoding}
        frame = pd.DataFrame(
            {name: _raw(columns[name], entries[name]) for name in self.feeding["columns"]},
            index=pd.RangeIndex(len(z)),
        )
        return measure_blackbox(
            frame,
            z,
            self.score,
            tuple(self.feeding["columns"]),
            statuses,
            self.space,
            step=self.step,
            literal=literal,
            counts=self.counts,
        )


def _raw(values: Sequence[Any], entry: Mapping[str, Any]) -> pd.Series:
    """Return values, checked before, as the column of a table that the model was fed with in the audit."""
    if entry["kind"] == "datetime":
        return pd.to_datetime(pd.Series(values, dtype=object)).astype("datetime64[us]")
    if entry["kind"] != "categorical" and not entry["levels"]:
        return pd.Series([math.nan if value is None else value for value in values], dtype=float)
    known = {text: value for text, value in zip(entry["levels"], entry["values"], strict=True) if text}
    found = [None if value is None else known.get(text_of(value), value) for value in values]
    if any(isinstance(value, str) for value in known.values()) or not known:
        return pd.Series([None if value is None else text_of(value) for value in found], dtype=object)
    # a word among numbers was never seen: as good as missing
    return pd.to_numeric(pd.Series(found, dtype=object), errors="coerce")
