"""The maps that are read off an entropic coupling: the entropic map, and one that may leave people unmatched.

Source
------
M. Cuturi, "Sinkhorn distances", NeurIPS 2013; V. Seguy et al., "Large-scale optimal transport and
mapping estimation", ICLR 2018 (the barycentric projection); A. Genevay et al., "Stochastic optimization for
large-scale optimal transport", NeurIPS 2016 (potentials for people outside the sample).

Departure: counterparts are drawn from the coupling instead of averaged over it, unless asked for otherwise;
see `audits.transport.maps.potentials` for why.

Balanced transport finds everyone a counterpart, however far (section 5.2.2 of FlipTest shows older people
mapped to young ones only because the groups' ages differ). Here a counterpart has its price:

* relaxed: each group's shares may be missed at the price ρ · KL (Chizat et al. 2018, "Scaling algorithms for
  unbalanced optimal transport problems", Mathematics of Computation 87);
* partial: only a given share of people is matched, those who are cheapest to match together (Caffarelli,
  McCann 2010; in entropic form Benamou et al. 2015, SIAM J. Scientific Computing 37, section 5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from audits.transport.maps.options import CoupledOptions, EntropicOptions, UnbalancedOptions
from audits.transport.maps.potentials import (
    CostScales,
    Potentials,
    cost_scales,
)
from audits.transport.maps.protocol import (
    CheckedGroups,
    FittedMap,
    Sample,
    TrainingPoint,
    check_people,
    thin,
)
from audits.transport.maps.sinkhorn import BALANCED, Balance, Duals, solve

__all__ = ["CoupledMap", "EntropicMap", "UnbalancedMap"]


@dataclass(frozen=True, eq=False)
class CoupledMap(FittedMap):
    """A fitted coupling; see `FittedMap` for the shared attributes.

    Attributes
    ----------
    potentials : Potentials
        The coupling.
    options : CoupledOptions
    error : float
        Share of people misplaced in the target group, at most 2; the source group's shares are exact.
    iterations : int
        Iterations at the final ε.
    """

    asked: ClassVar[type[CoupledOptions]]
    potentials: Potentials
    options: CoupledOptions
    error: float
    iterations: int
    converged: bool
    history: ClassVar[tuple[TrainingPoint, ...]] = ()
    diverged_at: ClassVar[None] = None

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended."""
        n, m = len(self.potentials.x), len(self.potentials.y)
        on = f"on {n:,} source and {m:,} target people"
        if self.converged:
            return f"The coupling {on} converged in {self.iterations:,} iterations."
        return (
            f"The coupling {on} did not converge in {self.iterations:,} iterations: {self.error:.2%} of "
            "people are still misplaced. Raise epsilon or the number of iterations."
        )

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d), in the sample or not, however hardly matched."""
        x = check_people("x", x, features=self.potentials.x.shape[1], empty=True)
        return self.potentials.carry(x, self.options.projection)

    def plan(self, drop: float = 0.01) -> sparse.csr_array:
        """The coupling as a sparse array; see `Potentials.plan`."""
        return self.potentials.plan(drop)


def _couple(
    sample: Sample, options: CoupledOptions, balance: Callable[[CostScales], Balance]
) -> tuple[dict[str, Any], CheckedGroups, Duals]:
    """Couple the groups of `sample`: the fields of a `CoupledMap`, and what they come from.

    Parameters
    ----------
    balance : callable
        Which marginals to meet, given what costs amount to between the groups.
    """
    people, weights, _, progress, rng = sample
    drawn, x_rows, y_rows = thin(people, options.max_people, rng)
    scales = cost_scales(drawn, options.cost, weights, rng)
    wanted = balance(scales)
    duals = solve(
        drawn,
        cost=options.cost,
        feature_weights=weights,
        epsilon=options.epsilon * scales.contrast,
        balance=wanted,
        tolerance=options.tolerance,
        most=options.iterations,
        progress=progress,
        rng=rng,
    )
    found = {
        "potentials": Potentials(
            *drawn,
            x_rows,
            y_rows,
            duals.source,
            duals.target,
            weights,
            duals.level,
            duals.epsilon,
            options.cost,
            wanted,
        ),
        "options": options,
        "error": duals.error,
        "iterations": duals.iterations,
        "converged": duals.converged,
    }
    return found, drawn, duals


@dataclass(frozen=True, eq=False)
class EntropicMap(CoupledMap):
    """An entropic coupling fitted by `fit`; its attributes are those of `CoupledMap`."""

    kind: ClassVar[str] = "entropic"
    asked: ClassVar[type[CoupledOptions]] = EntropicOptions

    @classmethod
    def _fitted(cls, sample: Sample, options: EntropicOptions) -> EntropicMap:
        found, _, _ = _couple(sample, options, lambda _: BALANCED)
        return cls(**found)


@dataclass(frozen=True, eq=False)
class UnbalancedMap(CoupledMap):
    """A relaxed or partial coupling fitted by `fit`; attributes of `CoupledMap`, and:

    Attributes
    ----------
    unmatched_source, unmatched_target : float
        Share of each group, in [0, 1], that finds no counterpart.
    """

    kind: ClassVar[str] = "unbalanced"
    asked: ClassVar[type[CoupledOptions]] = UnbalancedOptions
    unmatched_source: float
    unmatched_target: float

    @classmethod
    def _fitted(cls, sample: Sample, options: UnbalancedOptions) -> UnbalancedMap:
        found, people, duals = _couple(sample, options, lambda scales: _balance(options, scales))
        return cls(
            **found,
            unmatched_source=_missing_mass(duals.source_mass, people.a),
            unmatched_target=_missing_mass(duals.target_mass, people.b),
        )

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended, one on whom it leaves out."""
        left_out = (
            f"No counterpart is found for {self.unmatched_source:.1%} of the source group "
            f"and {self.unmatched_target:.1%} of the target group."
        )
        return f"{super().finding} {left_out}"

    def matched_share(self, x: np.ndarray) -> np.ndarray:
        """Share (n,) of each person of `x` that finds a counterpart; see `Potentials.matched_share`."""
        x = check_people("x", x, features=self.potentials.x.shape[1], empty=True)
        return self.potentials.matched_share(x)


def _balance(options: UnbalancedOptions, scales: CostScales) -> Balance:
    """Which marginals to meet where costs amount to `scales`."""
    amount = options.price * scales.mean if options.relaxation == "relaxed" else options.share
    return Balance(options.relaxation, amount)


def _missing_mass(mass: np.ndarray, weights: np.ndarray) -> float:
    return float(np.maximum(weights - mass, 0).sum())
