"""An entropic plan held by its potentials: whom it pairs, where it carries anyone, seen or unseen.

For a new person x the plan's conditional weights are ``w_j ∝ b_j exp((g_j − c(x, y_j)) / ε)`` (Seguy et al.
2018, section 4; Pooladian, Niles-Weed 2021, "Entropic estimation of optimal transport maps", equation 8).
Their mean ``Σ_j w_j y_j`` is the barycentric projection. On features with few values a mean of people is a
person whom no one resembles (capital gains of 90 where nine in ten have none), so the likeliest ``y_j`` can
be taken instead: a real person of the target group. Neither gives the mapped people the target group's
distribution: means lie nearer its middle, and under squared L1 costs, which are flat along whole diamonds
around x, they tie features together that hang together in neither group. A ``y_j`` drawn with the chances
``w_j`` does, for the plan's marginals are the groups themselves. The draw depends on x alone, so that a
person has the same counterpart whoever else is mapped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.errors import InputError
from audits.transport.blocks import threads
from audits.transport.costs import Cost
from audits.transport.maps.options import Projection
from audits.transport.maps.pairs import PairCosts, pair_costs
from audits.transport.maps.protocol import CheckedGroups, blocks_of_pairs, one_thread, thin
from audits.transport.maps.sinkhorn import Balance, log_sums

__all__ = ["CostScales", "Potentials", "cost_scales"]


_DOUBLE = 2048  # target people up to which double precision costs nothing worth saving
_TYPICAL = 2000  # people of each group behind the scales of costs
_FLAT = 1e-6  # contrast, as a share of the mean cost, below which it is rounding


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


@one_thread
def cost_scales(
    people: CheckedGroups, cost: Cost, weights: np.ndarray, rng: np.random.Generator
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


@dataclass(frozen=True, eq=False)
class Potentials:
    """The plan ``P_ij = a_i b_j exp((f_i + g_j + level − c_ij) / epsilon)`` between people of two groups.

    Attributes
    ----------
    x, y : arrays (n, d), (m, d)
        The people it was fitted on, encoded.
    a, b : arrays (n,), (m,)
        Their weights, each summing to 1.
    x_rows, y_rows : arrays (n,), (m,) of int
        Their positions in the groups that were handed over; people of weight 0, and those beyond
        `max_people`, are not among them.
    f, g : arrays (n,), (m,)
        Potentials in units of cost.
    feature_weights : array (d,)
    """

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    x_rows: np.ndarray
    y_rows: np.ndarray
    f: np.ndarray
    g: np.ndarray
    feature_weights: np.ndarray
    level: float
    epsilon: float
    cost: Cost
    balance: Balance

    def carry(self, x: np.ndarray, projection: Projection) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d), by the `projection` named."""
        out = np.empty(x.shape)
        if len(x) == 0:
            return out
        pairs = self._pairs(x)
        marks = _marks(x)

        def place(rows: slice) -> None:
            logs = self._log_weights(pairs, rows)
            if projection == "likeliest":
                out[rows] = self.y[logs.argmax(axis=1)]
                return
            logs -= logs.max(axis=1, keepdims=True)
            np.exp(logs, out=logs)
            if projection == "drawn":
                reach = np.cumsum(logs, axis=1, dtype=float)
                reached = (reach <= (marks[rows] * reach[:, -1])[:, None]).sum(axis=1)
                out[rows] = self.y[reached]
                return
            logs /= logs.sum(axis=1, keepdims=True)
            out[rows] = logs @ self.y.astype(logs.dtype)

        with threads() as pool:
            list(pool.map(place, blocks_of_pairs(len(x), len(self.y))))
        return out

    @one_thread
    def matched_share(self, x: np.ndarray) -> np.ndarray:
        """Share (n,) of each person of `x` that finds a counterpart; 1 for balanced plans.

        A relaxed plan may match a person more than once over (a share above 1) where the target group has
        more people of a kind than the source group.
        """
        if len(x) == 0:
            return np.empty(0)
        sums = log_sums(self._pairs(x), (self.g + self.level) / self.epsilon + np.log(self.b), self.epsilon)
        return np.exp(self.balance.potential(sums, self.epsilon) + sums)

    @one_thread
    def plan(self, drop: float = 0.01) -> sparse.csr_array:
        """The plan (n, m) as a sparse array between the people of `x_rows` and of `y_rows`.

        Entries too small to matter are left out, at most a share `drop` of each row, and the row's other
        entries raised so that each person keeps their mass.

        Raises
        ------
        InputError
            If `drop` lies outside [0, 1).
        """
        if not 0 <= drop < 1:
            raise InputError("drop", "must be at least 0 and below 1", drop)
        pairs, parts = self._pairs(self.x), []
        lift = (self.f + self.level) / self.epsilon + np.log(self.a)
        for rows in blocks_of_pairs(len(self.x), len(self.y)):
            mass = np.exp(self._log_weights(pairs, rows) + lift[rows, None])
            total = mass.sum(axis=1, keepdims=True)
            mass[mass < total * (drop / mass.shape[1])] = 0  # together below drop · total
            kept = mass.sum(axis=1, keepdims=True)
            parts.append(sparse.csr_array(mass * (total / np.where(kept > 0, kept, 1))))
        return sparse.csr_array(sparse.vstack(parts))

    def _pairs(self, x: np.ndarray) -> PairCosts:
        dtype = np.float64 if len(self.y) <= _DOUBLE else np.float32
        return pair_costs(x, self.y, cost=self.cost, weights=self.feature_weights, dtype=dtype)

    def _log_weights(self, pairs: PairCosts, rows: slice) -> np.ndarray:
        """``(g_j − c_ij) / ε + log b_j`` (k, m)."""
        logs = pairs.rows(rows)
        logs *= logs.dtype.type(-1 / self.epsilon)
        logs += (self.g / self.epsilon + np.log(self.b)).astype(logs.dtype)
        return logs


def _marks(x: np.ndarray) -> np.ndarray:
    """A number in [0, 1) (n,) for each row of `x` (n, d): evenly spread, and the same for the same row."""
    words = np.ascontiguousarray(x + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    mixed = np.zeros(len(x), dtype=np.uint64)
    for column in words.T:  # splitmix64, a word at a time
        mixed = mixed + column + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(float) * 2.0**-53
