"""An audited model without a gradient that a monitor carries along, asked for scores.

People are measured as the audit measured them: finite differences of numbers, swaps of categories weighted
by how common values were among the people audited, so that neither the order of rows nor the size of a
batch changes a result. What is carried is an ONNX file (`carried_onnx`), or the trees of a forest or of
boosting trained here as plain arrays (`carried_trees`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.data.values import text_of
from audits.sensitivity.blackbox import Ask, measure_blackbox
from audits.sensitivity.encoding import restore_space
from audits.sensitivity.measuring import Measured, Status
from audits.sensitivity.rows import moment_of

__all__ = ["Carried"]


@dataclass(frozen=True, eq=False)
class Carried:
    """What every model that is carried along has.

    Attributes
    ----------
    favorable : (k,) bool
        Which of the model's scores count for the person.
    counts : dict of str to list of float
        From `level_counts`.
    step : float
        Of finite differences, in standard deviations.
    encoding : list of dict
        From `describe_space`.
    """

    levels_as_text: ClassVar[bool] = False
    """Whether the model tells categories apart by their text."""

    favorable: np.ndarray
    counts: dict[str, list[float]]
    step: float
    encoding: list[dict[str, Any]]

    @cached_property
    def space(self) -> FeatureSpace:
        """The feature space of the audit."""
        return restore_space(self.encoding)

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that the model reads."""
        raise NotImplementedError

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favourable outcome of raw rows, (n,)."""
        raise NotImplementedError

    def raw(self, values: Sequence[Any], entry: Mapping[str, Any]) -> pd.Series:
        """Return values, checked before, as the column that the model was fed with in the audit."""
        if entry["kind"] == "datetime":
            return pd.Series([moment_of(value) for value in values], dtype="datetime64[us]")
        if entry["kind"] != "categorical" and not entry["levels"]:
            return pd.Series([math.nan if value is None else value for value in values], dtype=float)
        if self.levels_as_text:
            return pd.Series([None if value is None else text_of(value) for value in values], dtype=object)
        known = {text: value for text, value in zip(entry["levels"], entry["values"], strict=True) if text}
        found = [None if value is None else known.get(text_of(value), value) for value in values]
        if any(isinstance(value, str) for value in known.values()) or not known:
            return pd.Series([None if value is None else text_of(value) for value in found], dtype=object)
        # a word among numbers was never seen: as good as missing
        return pd.to_numeric(pd.Series(found, dtype=object), errors="coerce")

    @property
    def ask(self) -> Ask | None:
        """A faster way to score moved copies, where there is one."""
        return None

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
            {name: self.raw(columns[name], entries[name]) for name in self.columns},
            index=pd.RangeIndex(len(z)),
        )
        return measure_blackbox(
            frame,
            z,
            self.score,
            self.columns,
            statuses,
            self.space,
            step=self.step,
            literal=literal,
            counts=self.counts,
            ask=self.ask,
        )

    def dump(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all but `favorable` and `encoding` as plain data and arrays."""
        raise NotImplementedError
