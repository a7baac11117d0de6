"""Points that coincide, merged into weighted atoms; and weights as whole numbers.

Real tables hold hundreds of equal rows. Merged, the problem is smaller, its answer does not depend on the
order of the rows, and every person of an atom gets the same shares of the same counterparts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.checks import finite
from audits.errors import InputError

_EXACT = 2.0**53  # whole numbers below this are exact in float64
_ROUNDING = 1e-14  # relative: what a division and a sum leave of a whole number
_GRID = 2.0**52  # total of weights that are no whole numbers: rounding moves under 1e-15 of the mass


@dataclass(frozen=True, eq=False)
class Atoms:
    """The k different points among n, in an order that does not depend on the order of the rows.

    Attributes
    ----------
    first : (k,) int array
        Position of the first point of each atom.
    weights : (k,) array
        Summed weights of the merged points; some may be 0.
    of : (n,) int array
        Atom of each point.
    shares : (n,) array
        Part of its atom's weight that each point has; 0 where the atom's weight is 0.
    """

    first: np.ndarray
    weights: np.ndarray
    of: np.ndarray
    shares: np.ndarray

    @classmethod
    def merge(cls, points: np.ndarray, weights: np.ndarray) -> Atoms:
        """Merge equal rows of `points` (n, d) with `weights` (n,)."""
        points = np.ascontiguousarray(points + 0.0)  # -0.0 becomes 0.0, so that equal rows have equal bytes
        if points.shape[1] == 1:
            key = points[:, 0]  # in order of value
        elif points.shape[1]:
            key = points.view(np.dtype((np.void, points.itemsize * points.shape[1])))[:, 0]
        else:
            key = np.zeros(len(points))
        _, first, of = np.unique(key, return_index=True, return_inverse=True)
        total = np.bincount(of, weights=weights)
        shares = np.divide(weights, total[of], out=np.zeros(len(weights)), where=total[of] > 0)
        return cls(first=first, weights=total, of=of, shares=shares)


def checked_weights(name: str, weights: np.ndarray | None, n: int) -> np.ndarray:
    """Return the weights of `n` points, (n,), 1 each if not given; whole numbers where they are counts.

    Weights such as ``1 / n`` or counts divided by their total come back as the counts.

    Raises
    ------
    InputError
        If a weight is not finite or negative, none is above 0, or there are not `n` of them.
    """
    if weights is None:
        return np.ones(n)
    weights = finite(name, weights)
    if weights.shape != (n,):
        raise InputError(name, f"must hold one weight for each of the {n:,} points", weights.shape)
    if (weights < 0).any():
        raise InputError(name, "must be at least 0", float(weights.min()))
    if not weights.any():
        raise InputError(name, "must hold at least one weight above 0", 0.0)
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise InputError(name, "must have a finite sum", advice="divide the weights by the largest")
    counts = weights / weights[weights > 0].min()
    whole = np.round(counts)
    return whole if (np.abs(counts - whole) <= _ROUNDING * whole).all() else weights


def supplies(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers proportional to the weights `a` (n,) and `b` (m,), all above 0, with equal sums.

    Counts, and so equal weights, are represented exactly. Other weights are rounded to a grid that moves
    less than 1e-15 of the mass for each point. Whole numbers keep every sum of flows exact in float64, so
    that ties between masses stay ties.
    """
    if all((w == np.round(w)).all() and w.sum() < _EXACT for w in (a, b)):
        total_a, total_b = int(a.sum()), int(b.sum())
        divisor = int(np.gcd.reduce(np.array([total_a, total_b])))
        total = float(total_a // divisor * total_b)
        scaled_a, scaled_b = a * (total_b // divisor), b * (total_a // divisor)
        # ot.emd multiplies and divides by the total: that must give the same numbers back
        if total < _EXACT and all(np.array_equal(w * total / total, w) for w in (scaled_a, scaled_b)):
            return scaled_a, scaled_b
    return _on_grid(a), _on_grid(b)


def _on_grid(weights: np.ndarray) -> np.ndarray:
    """Round to whole numbers of at least 1 that sum to the grid's total."""
    exact = weights / weights.sum() * _GRID
    units = np.maximum(np.floor(exact), 1.0)
    missing = int(_GRID - units.sum())
    order = np.argsort(units - exact, kind="stable")  # largest remainder first
    if missing >= 0:
        np.add.at(units, order[np.arange(missing) % len(units)], 1.0)
    else:
        units[units.argmax()] += missing
    return units
