"""The entropic map: everyone's counterpart under the entropic coupling, for people in the sample or not.

Source
------
M. Cuturi, "Sinkhorn distances", NeurIPS 2013; V. Seguy et al., "Large-scale optimal transport and
mapping estimation", ICLR 2018 (the barycentric projection); A. Genevay et al., "Stochastic optimization for
large-scale optimal transport", NeurIPS 2016 (potentials for people outside the sample).

Departure: counterparts are drawn from the coupling instead of averaged over it, unless asked for otherwise;
see `audits.transport.maps.potentials` for why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audits.progress import Progress, silent
from audits.transport.maps.balance import BALANCED
from audits.transport.maps.coupled import CoupledMap, CoupledOptions, couple
from audits.transport.maps.protocol import Watch, unwatched

__all__ = ["EntropicMap", "EntropicOptions"]


@dataclass(frozen=True, kw_only=True)
class EntropicOptions(CoupledOptions):
    """Options of the entropic map: those of `CoupledOptions`."""


@dataclass(frozen=True, eq=False)
class EntropicMap(CoupledMap):
    """An entropic coupling fitted by `EntropicMap.fit`; its attributes are those of `CoupledMap`."""

    kind: ClassVar[str] = "entropic"
    asked: ClassVar[type[CoupledOptions]] = EntropicOptions

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
        found, _, _ = couple(
            source,
            target,
            a=a,
            b=b,
            feature_weights=feature_weights,
            options=options,
            balance=lambda _: BALANCED,
            progress=progress,
            rng=rng,
        )
        return cls(**found)
