"""Transport that may leave people unmatched, for groups that differ starkly.

Balanced transport finds everyone a counterpart, however far (section 5.2.2 of FlipTest shows older people
mapped to young ones only because the groups' ages differ). Here a counterpart has its price:

* relaxed: each group's shares may be missed at the price ρ · KL (Chizat et al. 2018, "Scaling algorithms for
  unbalanced optimal transport problems", Mathematics of Computation 87);
* partial: only a given share of people is matched, those who are cheapest to match together (Caffarelli,
  McCann 2010; in entropic form Benamou et al. 2015, SIAM J. Scientific Computing 37, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audits.transport.maps.balance import Balance
from audits.transport.maps.coupled import CoupledMap, couple
from audits.transport.maps.options import CoupledOptions, UnbalancedOptions
from audits.transport.maps.potentials import CostScales
from audits.transport.maps.protocol import Sample, check_people

__all__ = ["UnbalancedMap"]


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
        found, people, duals = couple(sample, options, lambda scales: _balance(options, scales))
        return cls(
            **found,
            unmatched_source=_missed(duals.source_mass, people.a),
            unmatched_target=_missed(duals.target_mass, people.b),
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


def _missed(mass: np.ndarray, weights: np.ndarray) -> float:
    return float(np.maximum(weights - mass, 0).sum())
