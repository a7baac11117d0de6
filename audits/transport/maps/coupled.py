"""What the maps share that are read off an entropic coupling: options, fitting, carrying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from audits.transport.maps.balance import Balance
from audits.transport.maps.options import CoupledOptions
from audits.transport.maps.potentials import (
    CostScales,
    Potentials,
    cost_scales,
    thin,
)
from audits.transport.maps.protocol import CheckedGroups, FittedMap, Sample, TrainingPoint, check_people
from audits.transport.maps.sinkhorn import Duals, solve

__all__ = ["CoupledMap", "couple"]


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


def couple(
    sample: Sample, options: CoupledOptions, balance: Callable[[CostScales], Balance]
) -> tuple[dict[str, Any], CheckedGroups, Duals]:
    """Couple the groups of `sample`: the fields of a `CoupledMap`, and what they come from.

    Parameters
    ----------
    balance : callable
        Which marginals to meet, given what costs amount to between the groups.
    """
    people, weights, _, progress, rng = sample
    drawn = thin(people, options.max_people, rng)
    scales = cost_scales(drawn[0], options.cost, weights, rng)
    wanted = balance(scales)
    duals = solve(
        drawn[0],
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
        "potentials": Potentials.of(duals, drawn, options.cost, weights, wanted),
        "options": options,
        "error": duals.error,
        "iterations": duals.iterations,
        "converged": duals.converged,
    }
    return found, drawn[0], duals
