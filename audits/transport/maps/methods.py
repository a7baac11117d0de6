"""The maps by the names that specs give them."""

from __future__ import annotations

from audits.transport.maps.coupled import EntropicMap, UnbalancedMap
from audits.transport.maps.gan import GanMap
from audits.transport.maps.linear import LinearMap
from audits.transport.maps.neural import NeuralMap

MAPS = {kind.kind: kind for kind in (GanMap, EntropicMap, NeuralMap, LinearMap, UnbalancedMap)}
"""Name of a method to its class; all are fitted with the same keywords."""
