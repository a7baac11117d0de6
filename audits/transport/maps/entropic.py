"""The entropic coupling of two groups, and the map it gives anyone (Cuturi 2013; Seguy et al. 2018).

Sources: M. Cuturi, "Sinkhorn distances", NeurIPS 2013; V. Seguy et al., "Large-scale optimal transport and
mapping estimation", ICLR 2018 (the barycentric projection); A. Genevay et al., "Stochastic optimization for
large-scale optimal transport", NeurIPS 2016 (potentials for people outside the sample).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from audits.checks import generator
from audits.progress import Progress, silent
from audits.transport.costs import Cost
from audits.transport.maps.potentials import ARRAYS, Potentials, Projection, cost_scales, has_atoms, thin
from audits.transport.maps.protocol import (
    TrainingPoint,
    Watch,
    check_feature_weights,
    check_people,
    groups,
    pack,
    unpack,
    unwatched,
)
from audits.transport.maps.sinkhorn import Balance, solve

__all__ = ["EntropicMap", "EntropicOptions"]


@dataclass(frozen=True, kw_only=True)
class EntropicOptions:
    """Options of the entropic map.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    epsilon : float
        Regularisation, as a share of how much it matters who is paired with whom (`CostScales.contrast`).
        Towards 0 the coupling becomes the exact one and takes longer; large values pair everyone with
        everyone.
    projection : {"automatic", "barycentre", "likeliest"}
        Counterpart of a person: the mean of those they are paired with, or the likeliest one of them.
        Automatic takes the likeliest where some feature of the target group has one value for 5 % of the
        people or more (categories, counts, zeros), else the mean.
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
    epsilon: Annotated[float, Field(ge=1e-5, le=1e3)] = 0.05
    projection: Projection = "automatic"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-3
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    max_people: Annotated[int, Field(ge=1, le=30_000)] = 20_000


@dataclass(frozen=True, eq=False)
class EntropicMap:
    """An entropic coupling fitted by `EntropicMap.fit`; see `FittedMap` for the shared attributes.

    Attributes
    ----------
    potentials : Potentials
        The coupling.
    projection : {"barycentre", "likeliest"}
        The one in use.
    error : float
        Share of people misplaced in the target group, at most 2; the source group's shares are exact.
    iterations : int
        Iterations at the final ε.
    """

    kind: ClassVar[str] = "entropic"
    potentials: Potentials
    projection: Projection
    options: EntropicOptions
    error: float
    iterations: int
    converged: bool
    history: ClassVar[tuple[TrainingPoint, ...]] = ()
    diverged_at: ClassVar[None] = None

    @classmethod
    def fit(
        cls,
        source: np.ndarray,
        target: np.ndarray,
        *,
        a: np.ndarray | None = None,
        b: np.ndarray | None = None,
        feature_weights: np.ndarray | None = None,
        options: EntropicOptions = EntropicOptions(),
        watch: Watch = unwatched,  # noqa: ARG003 - all maps are fitted alike
        progress: Progress = silent,
        rng: np.random.Generator | int | None = None,
    ) -> EntropicMap:
        """Couple `source` (n, d) with `target` (m, d).

        Parameters
        ----------
        source, target : arrays (n, d), (m, d)
            Encoded people.
        a, b : arrays (n,), (m,), optional
            Weights of people; equal by default.
        feature_weights : array (d,), optional
            Weights of features in the cost, at least 0; 1 by default.
        rng : Generator or int
            Draws people where a group exceeds `max_people`, and the sample that large problems start from.

        Raises
        ------
        InputError
            For tables or weights that `groups` refuses.
        """
        people = groups(source, target, a, b)
        weights = check_feature_weights(feature_weights, people.x.shape[1])
        rng = generator(rng)
        drawn = thin(people, options.max_people, rng)
        epsilon = options.epsilon * cost_scales(drawn[0], options.cost, weights, rng).contrast
        duals = solve(
            drawn[0],
            cost=options.cost,
            feature_weights=weights,
            epsilon=epsilon,
            tolerance=options.tolerance,
            most=options.iterations,
            progress=progress,
            rng=rng,
        )
        return cls(
            potentials=Potentials.of(duals, drawn, options.cost, weights, Balance()),
            projection=chosen(options.projection, drawn[0].y, drawn[0].b),
            options=options,
            error=duals.error,
            iterations=duals.iterations,
            converged=duals.converged,
        )

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended."""
        return ending(self.converged, self.iterations, self.error, self.potentials)

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d), in the sample or not."""
        x = check_people("x", x, features=self.potentials.x.shape[1], empty=True)
        return self.potentials.carry(x, self.projection)

    def plan(self, drop: float = 0.01) -> sparse.csr_array:
        """The coupling as a sparse array; see `Potentials.plan`."""
        return self.potentials.plan(drop)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that `from_arrays` needs, as plain arrays."""
        arrays, facts = self.potentials.to_arrays()
        own = {name: getattr(self, name) for name in ("projection", "error", "iterations", "converged")}
        return {**pack(self.kind, self.options, potentials=facts, **own), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> EntropicMap:
        """Rebuild a map from `to_arrays`; anything else is an `InputError`."""
        options, _, facts, saved = unpack(cls.kind, EntropicOptions, arrays, ARRAYS)
        return cls(
            potentials=Potentials.from_arrays(saved, facts.pop("potentials")), options=options, **facts
        )


def chosen(projection: Projection, target: np.ndarray, weights: np.ndarray) -> Projection:
    """Resolve an automatic projection by whether the `target` people's features have atoms."""
    if projection != "automatic":
        return projection
    return "likeliest" if has_atoms(target, weights) else "barycentre"


def ending(converged: bool, iterations: int, error: float, potentials: Potentials) -> str:
    """Word how Sinkhorn's iterations ended, and on whom."""
    n, m = len(potentials.x), len(potentials.y)
    on = f"on {n:,} source and {m:,} target people"
    if converged:
        return f"The coupling {on} converged in {iterations:,} iterations."
    return (
        f"The coupling {on} did not converge in {iterations:,} iterations: {error:.2%} of people are still "
        "misplaced. Raise epsilon or the number of iterations."
    )
