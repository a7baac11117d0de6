"""Maps between two groups that carry anyone, seen or unseen, and the checks that they can be trusted.

``MAPS[name].fit(source, target, a=…, b=…, feature_weights=…, options=…, watch=…, progress=…, rng=…)`` fits;
the fitted map's ``transform`` carries people.
Coordinates are encoded ones; decoding is the caller's.
"""

from __future__ import annotations

from audits.transport.maps.coupled import CoupledOptions
from audits.transport.maps.entropic import EntropicMap, EntropicOptions
from audits.transport.maps.gan import GanMap
from audits.transport.maps.linear import LinearMap, LinearOptions
from audits.transport.maps.neural import NeuralMap
from audits.transport.maps.options import GanOptions, NeuralOptions
from audits.transport.maps.protocol import FittedMap, TrainingPoint
from audits.transport.maps.unbalanced import UnbalancedMap, UnbalancedOptions
from audits.transport.maps.validation import (
    composition_error,
    exact_cost,
    ks_distances,
    mean_cost,
    regression_gaps,
)

__all__ = [
    "MAPS",
    "OPTIONS",
    "CoupledOptions",
    "EntropicMap",
    "EntropicOptions",
    "FittedMap",
    "GanMap",
    "GanOptions",
    "LinearMap",
    "LinearOptions",
    "NeuralMap",
    "NeuralOptions",
    "TrainingPoint",
    "UnbalancedMap",
    "UnbalancedOptions",
    "composition_error",
    "exact_cost",
    "ks_distances",
    "mean_cost",
    "regression_gaps",
]

MAPS = {kind.kind: kind for kind in (GanMap, EntropicMap, NeuralMap, LinearMap, UnbalancedMap)}
"""Name of a method, as specs name it, to its class; all are fitted with the same keywords."""

OPTIONS = {name: kind.asked for name, kind in MAPS.items()}
"""Name of a method to the class of its options."""
