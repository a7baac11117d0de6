"""The cells in which people are counted, column by column: sixteenths of the audited numbers, or levels."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.stats.change import CELLS

__all__ = ["ColumnCells", "cells_of", "counted", "edges_of", "number_cells", "numbers", "padded", "range_of"]

_PARTS = 16


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """How the cell of one person in one column is found.

    Attributes
    ----------
    at : int
        The column's first place in a row of points.
    sd, mean : float
    least, most : float
        A number's range among the people audited.
    low, high : float
        The range of the column, in its own units, with some slack for rounding.
    edges : list of float
    levels : int
        How many the column has; 0 of a number.
    is_category : bool
        Whether each level has a place of its own.
    places : list of int
        The cell by level; then of a missing one.
    marks_missing : bool
    """

    at: int
    sd: float
    mean: float
    least: float
    most: float
    low: float
    high: float
    edges: list[float]
    levels: int
    is_category: bool
    places: list[int]
    marks_missing: bool

    @classmethod
    def of(cls, entry: Mapping[str, Any], at: int, own: Mapping[str, Any]) -> ColumnCells:
        """Make ready what `cells_of` and `range_of` look up."""
        levels = len(entry["levels"]) if "levels" in own else 0
        places = [] if "levels" not in own else _places(entry, own).tolist()
        is_category = entry["kind"] == "categorical"
        low, high, slack = (0.0, 0.0, 0.0) if "levels" in own else range_of(entry)
        return cls(
            at,
            float(entry.get("sd") or 1.0),
            float(entry.get("mean") or 0.0),
            float(own.get("low", 0.0)),
            float(own.get("high", 0.0)),
            low - slack,
            high + slack,
            [float(edge) for edge in own.get("edges", ())],
            levels,
            is_category,
            places,
            bool(entry.get("marks_missing")),
        )

    def ordinary(self, row: Sequence[float]) -> int | None:
        """Return the cell of a person (d,); None of one of whom more is to be said."""
        value = row[self.at]
        if self.places and self.is_category:
            own = row[self.at : self.at + self.levels]
            return self._known(own.index(max(own))) if any(own) else None
        if self.marks_missing and row[self.at + 1] > 0:
            return None
        x = value * self.sd + self.mean
        if self.places:
            return self._known(round(x)) if 0 <= round(x) < self.levels else None
        if self.least <= value <= self.most and self.low <= x <= self.high:
            return 1 + bisect_right(self.edges, value)
        return None

    def _known(self, level: int) -> int | None:
        cell = self.places[level]
        return None if cell == self.places[-1] else cell


def cells_of(
    z: np.ndarray, entry: Mapping[str, Any], at: int, own: Mapping[str, Any], strange: np.ndarray
) -> np.ndarray:
    """Return the cell of each person in one column; `strange` are rows whose value was never seen."""
    if "levels" in own:
        if entry["kind"] == "categorical":
            block = z[:, at : at + len(entry["levels"])]
            codes = np.where(block.any(axis=1), block.argmax(axis=1), -1)
        else:
            codes = np.rint(z[:, at] * entry["sd"] + entry["mean"]).astype(int)
            if entry["marks_missing"]:
                codes[z[:, at + 1] > 0] = len(entry["levels"])
            codes[strange] = -1
        return _places(entry, own)[np.clip(codes, -1, len(entry["levels"]))]
    cells = number_cells(z[:, at], own)
    gone = len(own["edges"]) + 3
    cells[strange] = gone
    if entry["marks_missing"]:
        cells[z[:, at + 1] > 0] = gone
    return cells


def _places(entry: Mapping[str, Any], own: Mapping[str, Any]) -> np.ndarray:
    """Return the cell of each level of a column, of a missing one, and last of one never seen."""
    place = np.full(len(entry["levels"]) + 2, len(own["levels"]))  # a rare one
    place[own["levels"]] = np.arange(len(own["levels"]))
    place[-1] = len(own["levels"]) + 1  # never seen
    return place


def range_of(entry: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the range of a column's numbers, and what rounding may add to it."""
    low, high = float(entry["low"]), float(entry["high"])
    return low, high, 1e-9 * max(abs(low), abs(high), high - low)


def number_cells(values: np.ndarray, own: Mapping[str, Any]) -> np.ndarray:
    """Return cells of numbers: below the audited ones, sixteenths of them, above."""
    edges = np.asarray(own["edges"], dtype=float)
    cells = 1 + np.searchsorted(edges, values, side="right")
    cells[values < own["low"]] = 0
    cells[values > own["high"]] = len(edges) + 2
    return cells


def counted(cells: np.ndarray, own: Mapping[str, Any]) -> dict[str, int]:
    """Return how many people a column shows as never seen, or below, above or without numbers."""
    if "levels" in own:
        return {"unseen": int((cells == len(own["levels"]) + 1).sum())}
    top = len(own["edges"]) + 2
    named = {"below": 0, "above": top, "missing": top + 1}
    return {name: int((cells == cell).sum()) for name, cell in named.items()}


def edges_of(values: np.ndarray) -> dict[str, Any]:
    """Return the range of numbers and the edges inside of it; the smallest number is none."""
    if not len(values):
        return {"edges": [], "low": 0.0, "high": 0.0}
    inner = np.unique(np.quantile(values, np.arange(1, _PARTS) / _PARTS, method="inverted_cdf"))
    return {
        "edges": inner[inner > values.min()].tolist(),
        "low": float(values.min()),
        "high": float(values.max()),
    }


def numbers(values: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Return edges and counts of numbers that are never missing."""
    own = edges_of(values)
    own["counts"] = np.bincount(number_cells(values, own), weights, minlength=len(own["edges"]) + 3).tolist()
    return own


def padded(counts: Sequence[Sequence[float]]) -> np.ndarray:
    """Return counts as rows of CELLS."""
    found = np.zeros((len(counts), CELLS))
    for row, own in zip(found, counts, strict=True):
        row[: len(own)] = own
    return found
