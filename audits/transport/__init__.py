"""Moving one group of people onto another at least cost: couplings of weighted points, exact and proved."""

from audits.transport.costs import Cost, paired_cost, pairwise_cost
from audits.transport.coupling import Certificate, Coupling, certify
from audits.transport.exact import exact_coupling
from audits.transport.matrix import plan_for_costs
from audits.transport.sizes import estimated_bytes, estimated_seconds

__all__ = [
    "Certificate",
    "Cost",
    "Coupling",
    "certify",
    "estimated_bytes",
    "estimated_seconds",
    "exact_coupling",
    "paired_cost",
    "pairwise_cost",
    "plan_for_costs",
]
