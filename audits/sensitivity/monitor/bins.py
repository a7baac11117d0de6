"""The cells in which people are counted, column by column: sixteenths of the audited numbers, or levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from audits.stats.change import CELLS

FACTOR = 3.0
"""A number that is this many widths beyond the audited range counts as impossible."""

_PARTS = 16


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


def out_of_range_counts(cells: np.ndarray, own: Mapping[str, Any]) -> dict[str, int]:
    """Return how many people a column shows as never seen, or below, above or without numbers."""
    if "levels" in own:
        return {"unseen": int((cells == len(own["levels"]) + 1).sum())}
    top = len(own["edges"]) + 2
    named = {"below": 0, "above": top, "missing": top + 1}
    return {name: int((cells == cell).sum()) for name, cell in named.items()}


def edges_of(values: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Return the range of numbers and the edges inside of it; the smallest number is none."""
    if not len(values):
        return {"edges": [], "low": 0.0, "high": 0.0}
    shares = np.arange(1, _PARTS) / _PARTS
    inner = np.unique(np.quantile(values, shares, weights=weights, method="inverted_cdf"))
    return {
        "edges": inner[inner > values.min()].tolist(),
        "low": float(values.min()),
        "high": float(values.max()),
    }


def numbers(
    values: np.ndarray, weights: np.ndarray, between: tuple[np.ndarray, np.ndarray] | None = None
) -> dict[str, Any]:
    """Return edges and counts of numbers that are never missing.

    `between` are the lowest and the highest place of each number: no edge lies there.
    """
    own = edges_of(values, weights)
    if between is not None:
        order = np.argsort(between[0], kind="stable")
        starts, reached = between[0][order][1:], np.maximum.accumulate(between[1][order])[:-1]
        free = np.append(-np.inf, (0.5 * (starts + reached))[starts > reached])
        edges = np.unique(free[np.searchsorted(free, own["edges"], side="right") - 1])
        ends = {"low": float(between[0].min()), "high": float(between[1].max())}
        own = {"edges": edges[np.isfinite(edges)].tolist(), **ends}
    own["counts"] = np.bincount(number_cells(values, own), weights, minlength=len(own["edges"]) + 3).tolist()
    return own


def pad(counts: Sequence[Sequence[float]]) -> np.ndarray:
    """Return counts as rows of CELLS."""
    found = np.zeros((len(counts), CELLS))
    for row, own in zip(found, counts, strict=True):
        row[: len(own)] = own
    return found


def row_hashes(z: np.ndarray) -> np.ndarray:
    """Return a number a row, (n,), equal for equal rows."""
    odd = _odd_numbers(z.shape[1])
    bits = np.ascontiguousarray(z + 0.0).view(np.uint64)  # no minus zero
    with np.errstate(over="ignore"):
        mixed = (bits ^ (bits >> np.uint64(29))) * odd
        return ((mixed ^ (mixed >> np.uint64(31))) * odd[::-1]).sum(axis=1, dtype=np.uint64)


@lru_cache(maxsize=64)
def _odd_numbers(width: int) -> np.ndarray:
    numbers = np.asarray(np.random.default_rng(7).integers(1 << 62, size=width)).astype(np.uint64)
    odd: np.ndarray = numbers | np.uint64(1)
    return odd
