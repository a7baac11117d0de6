"""The barycentric map of Seguy et al.: two networks price the groups, a third learns where people go.

Source
------
V. Seguy, B. B. Damodaran, R. Flamary, N. Courty, A. Rolet, M. Blondel, "Large-scale optimal transport and
mapping estimation", ICLR 2018: the regularised dual (equations 3 to 6), its stochastic optimisation
(algorithm 1) and the regression on the barycentric projection (equation 12, algorithm 2).

With potentials u, v (networks), cost c and regularization ε the dual is the mean over pairs of
``u(x) + v(y) − F(u(x) + v(y) − c(x, y))`` with ``F(s) = ε exp(s / ε)`` (entropic) or ``max(s, 0)² / 4ε``
(L2), and the plan's density is ``h(x, y) = F'(…)``. The map f minimises the mean of ``h(x, y) |f(x) − y|²``.

Departures
----------
* Adam instead of plain stochastic gradients.
* What a person costs on average is taken out of the costs before, and they are divided by what is left on
  average. That moves u and v by known amounts, changes no plan, and spares the networks to learn it.
* The entropic F goes on as a straight line beyond s = 10 ε: early overshoots would overflow.
* The regression is done on the projection over 4,096 target people at a time, which has the gradient of
  algorithm 2 with less noise, and f learns the move, f(x) − x.
* ``restore_marginals``: a mean of people has values that nobody has wherever many share one value (0 capital
  gains, 40 hours). Each feature with more than two values is therefore sent through the increasing function
  that takes the distribution of f to the target's, learned on the source group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audits.errors import RunFailed
from audits.models.networks.dense import Dense
from audits.transport.maps.marginals import fit_marginals, restore
from audits.transport.maps.networks import predict
from audits.transport.maps.options import NeuralOptions
from audits.transport.maps.pairs import cost_scales
from audits.transport.maps.protocol import FittedMap, Sample, TrainingPoint, check_people, thin

_LOOSE = 0.5  # error of the plan's marginals beyond which a map learned from it is no transport map


@dataclass(frozen=True, eq=False)
class NeuralMap(FittedMap):
    """A network trained by `fit`; see `FittedMap` for the shared attributes.

    Attributes
    ----------
    network : Dense
        In float32; gives the move.
    edges, values : arrays (d, k), (d, k + 1)
        Step functions that restore the marginals: a raw coordinate between ``edges[:, i - 1]`` and
        ``edges[:, i]`` becomes ``values[:, i]``; NaN for features left as they are.
    marginal_error : float or None
        By how much, on average over validation people, the plan gives a person more or less than their
        weight, as a share of it: 0 for an exact coupling.
    device : str
        Where it was trained.
    """

    kind: ClassVar[str] = "neural"
    asked: ClassVar[type[NeuralOptions]] = NeuralOptions
    network: Dense
    edges: np.ndarray
    values: np.ndarray
    options: NeuralOptions
    history: tuple[TrainingPoint, ...]
    marginal_error: float | None
    device: str
    diverged_at: int | None

    @classmethod
    def _fitted(cls, sample: Sample, options: NeuralOptions) -> NeuralMap:
        from audits.transport.maps.seguy import train  # torch, which takes a second to import

        people, weights, _, _, rng = sample
        features = people.x.shape[1]
        kept = thin(people, max(people.shape), rng)[0]
        unit = cost_scales(kept, options.cost, weights, rng).contrast
        trained = train(sample._replace(people=kept), unit, options)
        edges, values = np.full((features, 0), np.nan), np.full((features, 1), np.nan)
        if options.restore_marginals and trained.diverged_at is None:
            raw = predict(trained.network, kept.x, residual=True)
            edges, values = fit_marginals(raw, kept.y, kept.a, kept.b)
        return cls(edges=edges, values=values, options=options, **vars(trained))

    @property
    def converged(self) -> bool:
        """Whether the plan behind the map meets people's weights to within a half, on average."""
        return self.marginal_error is not None and self.marginal_error <= _LOOSE

    @property
    def finding(self) -> str:
        """One sentence on how training ended."""
        if self.diverged_at is not None:
            return (
                f"The neural map diverged at step {self.diverged_at:,}: its loss is no longer a finite "
                f"number. Lower the learning rate ({self.options.learning_rate:g}) or raise epsilon."
            )
        steps = self.options.dual_steps + self.options.map_steps
        advice = "" if self.converged else " That is a lot: use more dual steps, or raise epsilon."
        return (
            f"The neural map ran its schedule of {steps:,} steps; its plan misses people's weights by "
            f"{self.marginal_error:.0%} on average.{advice}"
        )

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d).

        Raises
        ------
        RunFailed
            If training diverged.
        """
        if self.diverged_at is not None:
            raise RunFailed(self.finding)
        x = check_people("x", x, features=self.network.inputs, empty=True)
        return restore(predict(self.network, x, residual=True), self.edges, self.values)
