"""The maps that are read off an entropic coupling: the entropic map, and one that may leave people unmatched.

Source
------
M. Cuturi, "Sinkhorn distances", NeurIPS 2013; V. Seguy et al., "Large-scale optimal transport and
mapping estimation", ICLR 2018 (the barycentric projection); A. Genevay et al., "Stochastic optimization for
large-scale optimal transport", NeurIPS 2016 (potentials for people outside the sample).

Balanced transport finds everyone a counterpart, however far (section 5.2.2 of FlipTest shows older people
mapped to young ones only because the groups' ages differ). Here a counterpart has its price:

* relaxed: each group's shares may be missed at the price ρ · KL (Chizat et al. 2018, "Scaling algorithms for
  unbalanced optimal transport problems", Mathematics of Computation 87);
* partial: only a given share of people is matched, those who are cheapest to match together (Caffarelli,
  McCann 2010; in entropic form Benamou et al. 2015, SIAM J. Scientific Computing 37, section 5).

Whom the plan pairs, seen or unseen
-----------------------------------
For a new person x the plan's conditional weights are ``w_j ∝ b_j exp((g_j − c(x, y_j)) / ε)`` (Seguy et al.
2018, section 4; Pooladian, Niles-Weed 2021, "Entropic estimation of optimal transport maps", equation 8).
Their mean ``Σ_j w_j y_j`` is the barycentric projection. On features with few values a mean of people is a
person whom no one resembles (capital gains of 90 where nine in ten have none), so the likeliest ``y_j`` can
be taken instead: a real person of the target group. Neither gives the mapped people the target group's
distribution: means lie nearer its middle, and under squared L1 costs, which are flat along whole diamonds
around x, they tie features together that hang together in neither group. A ``y_j`` drawn with the chances
``w_j`` does, for the plan's marginals are the groups themselves, and is what is done unless asked for
otherwise: a departure from the sources. The draw depends on x alone, so that a person has the same
counterpart whoever else is mapped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from audits.errors import InputError
from audits.transport.blocks import threads
from audits.transport.maps.options import CoupledOptions, EntropicOptions, UnbalancedOptions
from audits.transport.maps.pairs import PairCosts, cost_scales, pair_costs
from audits.transport.maps.protocol import (
    CheckedGroups,
    FittedMap,
    Sample,
    TrainingPoint,
    blocks_of_pairs,
    check_people,
    one_thread,
    thin,
)
from audits.transport.maps.sinkhorn import BALANCED, Balance, Duals, log_sums, solve

_DOUBLE = 2048  # target people up to which double precision costs nothing worth saving


@dataclass(frozen=True, eq=False)
class CoupledMap(FittedMap):
    """The plan ``P_ij = a_i b_j exp((f_i + g_j + level − c_ij) / epsilon)``; see also `FittedMap`.

    Attributes
    ----------
    people : CheckedGroups
        Whom it was fitted on, encoded, with weights that sum to 1.
    x_rows, y_rows : arrays (n,), (m,) of int
        Their positions in the groups that were handed over; people of weight 0, and those beyond
        `max_people`, are not among them.
    duals : Duals
        The potentials, and how the iterations ended.
    feature_weights : array (d,)
    balance : Balance
        Which marginals were asked for.
    options : CoupledOptions
    """

    asked: ClassVar[type[CoupledOptions]]
    people: CheckedGroups
    x_rows: np.ndarray
    y_rows: np.ndarray
    duals: Duals
    feature_weights: np.ndarray
    balance: Balance
    options: CoupledOptions
    history: ClassVar[tuple[TrainingPoint, ...]] = ()
    diverged_at: ClassVar[None] = None

    @classmethod
    def _fitted(cls, sample: Sample, options: CoupledOptions) -> CoupledMap:
        people, weights, _, progress, rng = sample
        drawn, x_rows, y_rows = thin(people, options.max_people, rng)
        scales = cost_scales(drawn, options.cost, weights, rng)
        balance = cls._balance(options, scales.mean)
        duals = solve(
            drawn,
            cost=options.cost,
            feature_weights=weights,
            epsilon=options.epsilon * scales.contrast,
            balance=balance,
            tolerance=options.tolerance,
            most=options.iterations,
            progress=progress,
            rng=rng,
        )
        return cls(drawn, x_rows, y_rows, duals, weights, balance, options)

    @staticmethod
    def _balance(options: CoupledOptions, mean_cost: float) -> Balance:  # noqa: ARG004
        """Which marginals to meet where pairing people at random costs `mean_cost`."""
        return BALANCED

    @property
    def converged(self) -> bool:
        """Whether the iterations reached the tolerance."""
        return self.duals.converged

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended."""
        on = f"on {len(self.people.x):,} source and {len(self.people.y):,} target people"
        if self.converged:
            return f"The coupling {on} converged in {self.duals.iterations:,} iterations."
        return (
            f"The coupling {on} did not converge in {self.duals.iterations:,} iterations: "
            f"{self.duals.error:.2%} of people are still misplaced. Raise epsilon or the number of "
            "iterations."
        )

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d), in the sample or not, however hardly matched."""
        y = self.people.y
        x = check_people("x", x, features=y.shape[1], empty=True)
        out = np.empty(x.shape)
        if len(x) == 0:
            return out
        pairs, marks, projection = self._pairs(x), _marks(x), self.options.projection

        def place(rows: slice) -> None:
            logs = self._log_weights(pairs, rows)
            if projection == "likeliest":
                out[rows] = y[logs.argmax(axis=1)]
                return
            logs -= logs.max(axis=1, keepdims=True)
            np.exp(logs, out=logs)
            if projection == "drawn":
                reach = np.cumsum(logs, axis=1, dtype=float)
                reached = (reach <= (marks[rows] * reach[:, -1])[:, None]).sum(axis=1)
                out[rows] = y[reached]
                return
            logs /= logs.sum(axis=1, keepdims=True)
            out[rows] = logs @ y.astype(logs.dtype)

        with threads() as pool:
            list(pool.map(place, blocks_of_pairs(len(x), len(y))))
        return out

    @one_thread()
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
        x, _, a, _ = self.people
        pairs, parts = self._pairs(x), []
        lift = (self.duals.source + self.duals.level) / self.duals.epsilon + np.log(a)
        for rows in blocks_of_pairs(*self.people.shape):
            mass = np.exp(self._log_weights(pairs, rows) + lift[rows, None])
            total = mass.sum(axis=1, keepdims=True)
            mass[mass < total * (drop / mass.shape[1])] = 0  # together below drop · total
            kept = mass.sum(axis=1, keepdims=True)
            parts.append(sparse.csr_array(mass * (total / np.where(kept > 0, kept, 1))))
        return sparse.csr_array(sparse.vstack(parts))

    def _pairs(self, x: np.ndarray) -> PairCosts:
        y = self.people.y
        dtype = np.float64 if len(y) <= _DOUBLE else np.float32
        return pair_costs(x, y, cost=self.options.cost, weights=self.feature_weights, dtype=dtype)

    def _log_weights(self, pairs: PairCosts, rows: slice) -> np.ndarray:
        """``(g_j − c_ij) / ε + log b_j`` (k, m)."""
        logs = pairs.rows(rows)
        logs *= logs.dtype.type(-1 / self.duals.epsilon)
        logs += (self.duals.target / self.duals.epsilon + np.log(self.people.b)).astype(logs.dtype)
        return logs


class EntropicMap(CoupledMap):
    """An entropic coupling fitted by `fit`; its attributes are those of `CoupledMap`."""

    kind: ClassVar[str] = "entropic"
    asked: ClassVar[type[CoupledOptions]] = EntropicOptions


class UnbalancedMap(CoupledMap):
    """A relaxed or partial coupling fitted by `fit`; its attributes are those of `CoupledMap`."""

    kind: ClassVar[str] = "unbalanced"
    asked: ClassVar[type[CoupledOptions]] = UnbalancedOptions

    @staticmethod
    def _balance(options: UnbalancedOptions, mean_cost: float) -> Balance:  # type: ignore[override]
        amount = options.price * mean_cost if options.relaxation == "relaxed" else options.share
        return Balance(options.relaxation, amount)

    @property
    def unmatched(self) -> tuple[float, float]:
        """Share of source and of target group, in [0, 1], that finds no counterpart."""
        source = np.maximum(self.people.a - self.duals.source_mass, 0).sum()
        target = np.maximum(self.people.b - self.duals.target_mass, 0).sum()
        return float(source), float(target)

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended, one on whom it leaves out."""
        source, target = self.unmatched
        return (
            f"{super().finding} No counterpart is found for {source:.1%} of the source group "
            f"and {target:.1%} of the target group."
        )

    @one_thread()
    def matched_share(self, x: np.ndarray) -> np.ndarray:
        """Share (n,) of each person of `x` that finds a counterpart.

        A relaxed plan may match a person more than once over (a share above 1) where the target group has
        more people of a kind than the source group.
        """
        x = check_people("x", x, features=self.people.y.shape[1], empty=True)
        if len(x) == 0:
            return np.empty(0)
        epsilon = self.duals.epsilon
        prices = (self.duals.target + self.duals.level) / epsilon + np.log(self.people.b)
        sums = log_sums(self._pairs(x), prices, epsilon)
        return np.exp(self.balance.potential(sums, epsilon) + sums)


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
