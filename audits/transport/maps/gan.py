"""FlipTest's map: a Wasserstein GAN whose generator also pays for how far it moves people.

Source
------
E. Black, S. Yeom, M. Fredrikson, "FlipTest: fairness testing via optimal transport", FAT* 2020: section 3.1
(equation 1), Appendix C (the configuration) and its public code (what the appendix leaves open: uniform
Glorot weights, RMSProp's ρ = 0.9 and ε = 1e-7, 20,001 passes of the loop, one RMSProp update each for the
real and the generated batch of a critic step, clipping of weights and biases alike).

Departures
----------
* The generator runs once for the five source batches of a pass, not once for each: it does not change
  between them.
* Weighted people are drawn with chances in proportion to their weights.
* ``early_stopping`` and ``residual`` are additions, off by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audits.errors import RunFailed
from audits.models.networks.dense import Dense
from audits.transport.maps.gan_training import GanTraining
from audits.transport.maps.networks import predict
from audits.transport.maps.options import GanOptions
from audits.transport.maps.protocol import FittedMap, Sample, TrainingPoint, check_people


@dataclass(frozen=True, eq=False)
class GanMap(FittedMap):
    """A generator trained by `fit`; see `FittedMap` for the shared attributes.

    Attributes
    ----------
    generator : Dense
        In float32, from d features to d.
    chosen_at : int
        Passes after which these parameters were taken.
    """

    kind: ClassVar[str] = "gan"
    asked: ClassVar[type[GanOptions]] = GanOptions
    generator: Dense
    options: GanOptions
    history: tuple[TrainingPoint, ...]
    chosen_at: int
    converged: bool | None
    diverged_at: int | None

    @classmethod
    def _fitted(cls, sample: Sample, options: GanOptions) -> GanMap:
        with np.errstate(over="ignore", invalid="ignore"):
            run = GanTraining(sample, options)
            run.train()
        return cls(
            generator=run.best,
            options=options,
            history=tuple(run.history),
            chosen_at=run.best_at,
            converged=run.settled if options.early_stopping else None,
            diverged_at=run.diverged_at,
        )

    @property
    def finding(self) -> str:
        """One sentence on how training ended."""
        if self.diverged_at is not None:
            return (
                f"The GAN diverged at iteration {self.diverged_at:,}: its losses or moves grew without "
                f"bound. Lower the learning rate ({self.options.learning_rate:g}) or the transport weight "
                f"({self.options.transport_weight:g}), or use another map."
            )
        if self.converged is None:
            return (
                f"The GAN ran its schedule of {self.options.iterations:,} iterations; its features were "
                f"then {self.history[-1].ks:.3f} from the target group's on average (KS distance, 0 is "
                "identical)."
            )
        ended = "stopped improving" if self.converged else "was still improving when its iterations ran out"
        return (
            f"On held-out people the GAN {ended}; its best state, at iteration {self.chosen_at:,}, is used."
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
        x = check_people("x", x, features=self.generator.inputs, empty=True)
        return predict(self.generator, x, residual=self.options.residual)
