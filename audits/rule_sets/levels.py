"""Levels of one column of a table larger than memory: met batch by batch, then given to every row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.data.building.groups import bin_names
from audits.data.files.columns import convert_text
from audits.data.values import MISSING, as_text, text_of
from audits.errors import InputError
from audits.mining.attributes import Attribute, End, category, interval
from audits.mining.reading import MOST_LEVELS, MOST_SUBSET_LEVELS, number_edges

__all__ = ["Levels", "Ruled"]

_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Ruled:
    """A column that rules may constrain, and how.

    Attributes
    ----------
    bins : int or tuple of float
        Bins of equal width of a number, or their edges.
    subsets : bool
        Rules on a category: its subsets, or its single values.
    intervals : {"runs", "thresholds", "bins"}
        Rules on bins.
    """

    name: str
    bins: int | tuple[float, ...] = 10
    subsets: bool = True
    intervals: str = "runs"
    protected: bool = True


class Levels:
    """Meets every batch of a column once, settles its levels, then says each row's.

    Parameters
    ----------
    ruled : Ruled
    kind : DataType
        Of the column.
    """

    def __init__(self, ruled: Ruled, kind: pa.DataType) -> None:
        self.ruled, self.name = ruled, ruled.name
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        self.number = numeric
        self.whole = numeric  # until a fraction is met
        if not numeric and isinstance(ruled.bins, tuple):
            raise InputError(f"bins of {self.name!r}", "can only cut a column of numbers", str(kind))
        self.low, self.high, self.missing = np.inf, -np.inf, False
        # numbers with no more values than bins are not cut
        self.few = not self.number or isinstance(ruled.bins, int)
        self.values: set[Any] = set()
        self.levels: list[str] = []

    def meet(self, column: pa.Array) -> None:
        """Take note of the values of one batch."""
        known = pc.drop_null(column)
        if pa.types.is_floating(known.type):
            if pc.any(pc.is_inf(known)).as_py():
                raise InputError(f"column {self.name!r}", "must hold finite numbers")
            known = known.filter(pc.is_finite(known))
            self.whole = self.whole and pc.all(pc.equal(known, pc.floor(known))).as_py() is not False
        if self.number:
            ends = pc.min_max(known)
            if ends["min"].is_valid:
                self.low, self.high = min(self.low, ends["min"].as_py()), max(self.high, ends["max"].as_py())
        self.missing |= len(known) < len(column)
        if self.few:
            self.values.update(pc.unique(known).to_pylist())
            self.few = not self.number or len(self.values) <= self._most_bins
        if not self.number and len(self.values) > MOST_LEVELS:
            raise InputError(
                f"rule_sets.protected: {self.name!r}" if self.ruled.protected else f"context: {self.name!r}",
                f"must have at most {MOST_LEVELS} values, but has more",
                advice="group its values in the file, or leave it out",
            )

    @property
    def _most_bins(self) -> int:
        return self.ruled.bins if isinstance(self.ruled.bins, int) else 0

    def settle(self) -> int:
        """Return the number of levels, once every batch has been met."""
        if self.number and not self.few:
            self._settle_edges()
            return len(self.ends) + self.missing
        raw = sorted(self.values, key=None if self.number else text_of)
        if self.number:
            self.levels = [f"{value:.12g}" for value in raw]
            self.places = {value: place for place, value in enumerate(raw)}
            self.places[None] = len(raw)
            return len(self.levels) + self.missing
        # the same words for a missing value as in a table that is read whole
        texts: pd.Series = pd.Series(raw, dtype=object)
        if raw and all(isinstance(value, str) for value in raw):
            words = convert_text(self.name, pa.chunked_array([pa.array(raw)])).values
            texts = as_text(words) if words.notna().any() else pd.Series([None] * len(raw), dtype=object)
        named = [MISSING if pd.isna(text) else text_of(text) for text in texts]
        self.levels = sorted({*named, MISSING} if self.missing else {*named})
        at = {text: place for place, text in enumerate(self.levels)}
        self.places = {value: at[text] for value, text in zip(raw, named, strict=True)}
        self.places[None] = at.get(MISSING, 0)
        return len(self.levels)

    def _settle_edges(self) -> None:
        if isinstance(self.ruled.bins, tuple):
            self.edges = np.array(self.ruled.bins, dtype=float)
            if self.low < self.edges[0] or self.high > self.edges[-1]:
                raise InputError(
                    f"rule_sets.bins.{self.name}",
                    f"must hold everyone, but values run from {self.low:g} to {self.high:g}",
                    list(self.ruled.bins),
                    "widen the first or the last bin",
                )
        else:
            both = np.array([self.low, self.high], dtype=float)
            self.edges = number_edges(both, self.ruled.bins, "width", whole=self.whole)
        texts = [f"{edge:.12g}" for edge in self.edges]
        self.ends = [End(low, high) for low, high in pairwise(texts)]
        self.levels = bin_names(self.edges.tolist())[1:-1]

    def codes(self, column: pa.Array) -> np.ndarray:
        """Return the level of every row of a batch, (n,)."""
        if self.few:
            return self._places(column)
        gone = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
        found = np.searchsorted(self.edges, values, side="right")
        found = np.clip(found - 1, 0, len(self.edges) - 2)
        return np.where(gone, len(self.ends), found)

    def _places(self, column: pa.Array) -> np.ndarray:
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        gone = self.places[None]  # NaN is no value that was met
        table = [self.places.get(value, gone) for value in column.dictionary.to_pylist()]
        indices = column.indices.fill_null(len(table)).to_numpy()
        return np.array([*table, gone], dtype=np.int64)[indices]

    def attribute(self) -> Attribute:
        """Return the attribute with its rules; its `codes` are empty, because no row is kept."""
        gone, ruled = [MISSING] if self.missing else [], self.ruled
        if not self.number:
            subsets = ruled.subsets and len(self.levels) <= MOST_SUBSET_LEVELS
            return category(self.name, _NOBODY, self.levels, subsets=subsets, protected=ruled.protected)
        ends = [End(text, text, closes=True) for text in self.levels] if self.few else self.ends
        return interval(
            self.name, _NOBODY, [*self.levels, *gone], ends,
            missing=self.missing, shape=ruled.intervals, protected=ruled.protected,
        )  # fmt: skip
