"""Costs of all pairs of two groups, a block of rows at a time, at the speed of a matrix product.

Between two values that are all there is of a feature (a one-hot entry, a yes/no), the absolute difference is
a scaled squared difference, and squared differences of many features at once are one matrix product. Only
features with more values are compared one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from audits.transport.maps.protocol import CheckedGroups, one_thread, thin

_TYPICAL = 2000  # people of each group behind the scales of costs
_FLAT = 1e-6  # contrast, as a share of the mean cost, below which it is rounding


@dataclass(frozen=True, eq=False)
class PairCosts:
    """Costs between the rows of two groups: ``root_or_square(|x − y|²(squares) + |x − y|₁(gaps))``.

    Attributes
    ----------
    cost : str
        One of ``l1_squared``, ``l2_squared``, ``l1``, ``l2``.
    x_squares, y_squares : arrays (n, p), (m, p)
        Coordinates compared by squared difference, scaled by the root of their weight.
    x_gaps, y_gaps : arrays (n, q), (m, q)
        Coordinates compared by absolute difference, scaled by their weight.
    """

    cost: str
    x_squares: np.ndarray
    y_squares: np.ndarray
    x_gaps: np.ndarray
    y_gaps: np.ndarray

    def rows(self, chosen: slice) -> np.ndarray:
        """Costs (k, m) from the people `chosen` of the first group to all of the second."""
        x, y = self.x_squares[chosen], self.y_squares
        out = x @ y.T
        out *= -2
        out += np.einsum("np,np->n", x, x)[:, None]
        out += np.einsum("mp,mp->m", y, y)
        np.maximum(out, 0, out=out)  # rounding may leave a hair below 0
        scratch = np.empty_like(out)
        for k in range(self.x_gaps.shape[1]):
            np.subtract(self.x_gaps[chosen, k, None], self.y_gaps[:, k], out=scratch)
            np.abs(scratch, out=scratch)
            out += scratch
        if self.cost == "l1_squared":
            out *= out
        elif self.cost == "l2":
            np.sqrt(out, out=out)
        return out


def pair_costs(
    x: np.ndarray, y: np.ndarray, *, cost: str, weights: np.ndarray, dtype: type[np.floating] = np.float64
) -> PairCosts:
    """Prepare the costs between `x` (n, d) and `y` (m, d) in the precision `dtype`."""
    middle = y.mean(axis=0)  # small numbers lose less in the matrix product
    x, y = x - middle, y - middle
    if cost in ("l2_squared", "l2"):
        squared, scale = np.ones(x.shape[1], dtype=bool), np.sqrt(weights)
    else:
        low = np.minimum(x.min(axis=0), y.min(axis=0))
        high = np.maximum(x.max(axis=0), y.max(axis=0))
        squared = np.all((x == low) | (x == high), axis=0) & np.all((y == low) | (y == high), axis=0)
        # |u − v| = (u − v)² / (high − low) for u, v in {low, high}; a constant feature costs nothing
        span = np.where(high > low, high - low, 1)
        scale = np.where(squared, np.sqrt(weights / span), weights)
    x, y = (x * scale).astype(dtype), (y * scale).astype(dtype)
    parts = (
        np.ascontiguousarray(part) for part in (x[:, squared], y[:, squared], x[:, ~squared], y[:, ~squared])
    )
    return PairCosts(cost, *parts)


class CostScales(NamedTuple):
    """What costs amount to between two groups.

    Attributes
    ----------
    mean : float
        Mean cost of pairing people at random; 1 if it is 0.
    contrast : float
        Mean of ``|c_ij − c_i. − c_.j + c_..|``, how much it matters who is paired with whom: what lies
        between the groups as a whole is not in it. A millionth of the mean at least.
    """

    mean: float
    contrast: float


@one_thread()
def cost_scales(
    people: CheckedGroups, cost: str, weights: np.ndarray, rng: np.random.Generator
) -> CostScales:
    """Measure the costs between two groups, of larger ones between 2,000 people of each."""
    few = thin(people, _TYPICAL, rng)[0]
    pairs = pair_costs(few.x, few.y, cost=cost, weights=weights).rows(slice(None))
    by_source, by_target = pairs @ few.b, few.a @ pairs
    mean = float(few.a @ by_source)
    pairs -= by_source[:, None]
    pairs -= by_target - mean
    contrast = float(few.a @ np.abs(pairs, out=pairs) @ few.b)
    mean = mean if mean > 0 else 1.0
    return CostScales(mean, max(contrast, _FLAT * mean))
