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

from audits.transport.maps.balance import BALANCED
from audits.transport.maps.coupled import CoupledMap, couple
from audits.transport.maps.options import CoupledOptions, EntropicOptions
from audits.transport.maps.protocol import Sample

__all__ = ["EntropicMap"]


@dataclass(frozen=True, eq=False)
class EntropicMap(CoupledMap):
    """An entropic coupling fitted by `fit`; its attributes are those of `CoupledMap`."""

    kind: ClassVar[str] = "entropic"
    asked: ClassVar[type[CoupledOptions]] = EntropicOptions

    @classmethod
    def _fitted(cls, sample: Sample, options: EntropicOptions) -> EntropicMap:
        found, _, _ = couple(sample, options, lambda _: BALANCED)
        return cls(**found)
