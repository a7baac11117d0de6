"""What a test of groups says whichever optimal coupling is taken.

Groups' mean biases depend on the coupling, and only their ranges over all optimal couplings are known. Within
those the means are put as near to each other as they can be (a linear program): what chance makes of that is
the p-value which holds for every one of them. Ranges of single groups are taken as if each could be chosen
freely, so the p-value errs on the safe side.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

__all__ = ["Ranges", "least_apart"]

Ranges = tuple[np.ndarray, np.ndarray]  # lowest and highest mean of each group, (k,) and (k,)


def least_apart(ranges: Ranges, share: np.ndarray, unit: np.ndarray) -> float:
    """Least that the most distant group can be from everybody, in its unit.

    Parameters
    ----------
    ranges : pair of arrays (k,)
    share : array (k,)
        Groups' shares of all people; they sum to 1.
    unit : array (k,)
        Standard error of each group's distance, above 0.
    """
    low, high = ranges
    k = len(share)
    apart = np.eye(k) - share  # (k, k): each group's mean minus everybody's
    scale = max(float(np.abs([low, high]).max()), 1e-300)
    unit = unit / scale
    found = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.vstack([np.column_stack([apart, -unit]), np.column_stack([-apart, -unit])]),
        b_ub=np.zeros(2 * k),
        bounds=[*zip(low / scale, high / scale, strict=True), (0, None)],
        method="highs",
    )
    return float(found.x[-1]) if found.success else 0.0
