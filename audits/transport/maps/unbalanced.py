"""Transport that may leave people unmatched, for groups that differ starkly.

Balanced transport finds everyone a counterpart, however far (section 5.2.2 of FlipTest shows older people
mapped to young ones only because the groups' ages differ). Here a counterpart has its price:

* relaxed: each group's shares may be missed at the price ρ · KL (Chizat et al. 2018, "Scaling algorithms for
  unbalanced optimal transport problems", Mathematics of Computation 87);
* partial: only a given share of people is matched, those who are cheapest to match together (Caffarelli,
  McCann 2010; in entropic form Benamou et al. 2015, SIAM J. Scientific Computing 37, section 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from audits.checks import generator
from audits.progress import Progress, silent
from audits.transport.costs import Cost
from audits.transport.maps.entropic import chosen, ending
from audits.transport.maps.potentials import ARRAYS, Potentials, Projection, cost_scales, thin
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

__all__ = ["UnbalancedMap", "UnbalancedOptions"]


@dataclass(frozen=True, kw_only=True)
class UnbalancedOptions:
    """Options of the unbalanced map; those of `EntropicOptions`, and:

    Attributes
    ----------
    relaxation : {"relaxed", "partial"}
        Miss the groups' shares at a price, or match a given share of people.
    price : float
        ρ of the relaxed form, as a multiple of the mean cost of pairing the groups at random. Large values
        match everyone.
    share : float
        Share of people that the partial form matches, in (0, 1].
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    cost: Cost = "l1_squared"
    relaxation: Literal["relaxed", "partial"] = "relaxed"
    price: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    share: Annotated[float, Field(gt=0, le=1)] = 0.9
    epsilon: Annotated[float, Field(ge=1e-5, le=1e3)] = 0.05
    projection: Projection = "automatic"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-3
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    max_people: Annotated[int, Field(ge=1, le=30_000)] = 20_000


@dataclass(frozen=True, eq=False)
class UnbalancedMap:
    """A relaxed or partial coupling fitted by `UnbalancedMap.fit`; see `FittedMap` for the shared attributes.

    Attributes
    ----------
    potentials : Potentials
        The coupling.
    unmatched_source, unmatched_target : float
        Share of each group, in [0, 1], that finds no counterpart.
    projection, error, iterations
        As in `EntropicMap`.
    """

    kind: ClassVar[str] = "unbalanced"
    potentials: Potentials
    projection: Projection
    options: UnbalancedOptions
    error: float
    iterations: int
    converged: bool
    unmatched_source: float
    unmatched_target: float
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
        options: UnbalancedOptions = UnbalancedOptions(),
        watch: Watch = unwatched,  # noqa: ARG003 - all maps are fitted alike
        progress: Progress = silent,
        rng: np.random.Generator | int | None = None,
    ) -> UnbalancedMap:
        """Couple those of `source` (n, d) with those of `target` (m, d) who are worth the price.

        Parameters and errors are those of `EntropicMap.fit`.
        """
        people = groups(source, target, a, b)
        weights = check_feature_weights(feature_weights, people.x.shape[1])
        rng = generator(rng)
        drawn = thin(people, options.max_people, rng)
        scales = cost_scales(drawn[0], options.cost, weights, rng)
        amount = options.price * scales.mean if options.relaxation == "relaxed" else options.share
        balance = Balance(options.relaxation, amount)
        duals = solve(
            drawn[0],
            cost=options.cost,
            feature_weights=weights,
            epsilon=options.epsilon * scales.contrast,
            balance=balance,
            tolerance=options.tolerance,
            most=options.iterations,
            progress=progress,
            rng=rng,
        )
        return cls(
            potentials=Potentials.of(duals, drawn, options.cost, weights, balance),
            projection=chosen(options.projection, drawn[0].y, drawn[0].b),
            options=options,
            error=duals.error,
            iterations=duals.iterations,
            converged=duals.converged,
            unmatched_source=_missed(duals.source_mass, drawn[0].a),
            unmatched_target=_missed(duals.target_mass, drawn[0].b),
        )

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended, one on whom it leaves out."""
        left_out = (
            f"No counterpart is found for {self.unmatched_source:.1%} of the source group "
            f"and {self.unmatched_target:.1%} of the target group."
        )
        return f"{ending(self.converged, self.iterations, self.error, self.potentials)} {left_out}"

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d), hardly matched ones too: see `matched_share`."""
        x = check_people("x", x, features=self.potentials.x.shape[1], empty=True)
        return self.potentials.carry(x, self.projection)

    def matched_share(self, x: np.ndarray) -> np.ndarray:
        """Share (n,) of each person of `x` that finds a counterpart; see `Potentials.matched_share`."""
        x = check_people("x", x, features=self.potentials.x.shape[1], empty=True)
        return self.potentials.matched_share(x)

    def plan(self, drop: float = 0.01) -> sparse.csr_array:
        """The coupling as a sparse array, of total mass below 1; see `Potentials.plan`."""
        return self.potentials.plan(drop)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that `from_arrays` needs, as plain arrays."""
        arrays, facts = self.potentials.to_arrays()
        names = ("projection", "error", "iterations", "converged", "unmatched_source", "unmatched_target")
        own = {name: getattr(self, name) for name in names}
        return {**pack(self.kind, self.options, potentials=facts, **own), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> UnbalancedMap:
        """Rebuild a map from `to_arrays`; anything else is an `InputError`."""
        options, _, facts, saved = unpack(cls.kind, UnbalancedOptions, arrays, ARRAYS)
        return cls(
            potentials=Potentials.from_arrays(saved, facts.pop("potentials")), options=options, **facts
        )


def _missed(mass: np.ndarray, weights: np.ndarray) -> float:
    return float(np.maximum(weights - mass, 0).sum())
