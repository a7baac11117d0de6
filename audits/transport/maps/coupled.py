"""What the maps share that are read off an entropic coupling: options, fitting, carrying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from audits.transport.costs import Cost
from audits.transport.maps.balance import Balance
from audits.transport.maps.potentials import (
    CostScales,
    Potentials,
    Projection,
    cost_scales,
    thin,
)
from audits.transport.maps.protocol import FittedMap, Groups, Sample, TrainingPoint, check_people
from audits.transport.maps.sinkhorn import Duals, solve

__all__ = ["CoupledMap", "CoupledOptions", "couple"]


@dataclass(frozen=True, kw_only=True)
class CoupledOptions:
    """Options of every map read off an entropic coupling.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    epsilon : float
        Regularisation, as a share of how much it matters who is paired with whom (`CostScales.contrast`).
        Towards 0 the coupling becomes the exact one and takes longer; large values pair everyone with
        everyone. 0.02 blurs little: at 0.03 and above COMPAS shows flips, two or three people in a hundred,
        that the exact coupling does not have.
    projection : {"drawn", "barycentre", "likeliest"}
        Counterpart of a person: one of those they are paired with, drawn by the coupling's shares (the same
        one for the same person); the mean of them; or the likeliest. Drawn counterparts are real people of
        the target group and are distributed as it is. Means lie nearer the middle than anyone they are means
        of, likeliest ones leave people out: with either, the two directions need not agree.
    tolerance : float
        Share of people who may still be misplaced in the target group when iterations stop. Beyond 4 million
        pairs single precision is used, and shares below 1e-5 are out of reach.
    iterations : int
        Iterations at most.
    max_people : int
        People of each group the coupling is fitted on; of larger groups that many are drawn. Memory is
        4 bytes a pair: 1.6 GB at 20,000.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    cost: Cost = "l1_squared"
    epsilon: Annotated[float, Field(ge=1e-5, le=1e3)] = 0.02
    projection: Projection = "drawn"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-3
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    max_people: Annotated[int, Field(ge=1, le=30_000)] = 20_000


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
) -> tuple[dict[str, Any], Groups, Duals]:
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
