from .costs import Cost as Cost
from .costs import paired_cost as paired_cost
from .costs import pairwise_cost as pairwise_cost
from .coupling import Coupling as Coupling
from .exact import exact_coupling as exact_coupling
from .matrix import plan_for_costs as plan_for_costs
from .sizes import estimated_bytes as estimated_bytes
from .sizes import estimated_seconds as estimated_seconds
