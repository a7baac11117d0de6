"""Smallest and largest mean of a function of pairs over all flows on given pairs: what every optimum has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.progress import Progress, silent
from audits.transport.atoms import supplies
from audits.transport.blocks import threads
from audits.transport.simplex import solve_pairs

_DOING = "Bounding bias over all optimal couplings"


class Ends(NamedTuple):
    """Smallest and largest mean per unit of mass."""

    low: float
    high: float


def extreme(
    supply: np.ndarray,
    demand: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    values: np.ndarray,
    *,
    progress: Progress = silent,
) -> Ends | None:
    """Find the ends of ``sum(flow * values)`` per unit of mass over all flows on the pairs ``(i, j)``, (p,).

    Parameters
    ----------
    supply, demand : arrays (n,), (m,)
        Above 0, with sums that agree; every row and column has a pair. Whole numbers of equal sums stay so.
    values : array (p,)
    progress : callable
        Told before the work; may raise to stop it.

    Returns
    -------
    Ends or None
        None if there is no such flow, or the network simplex finds none.
    """
    settled = supply.sum() == demand.sum() and all((w == np.rint(w)).all() for w in (supply, demand))
    whole, other = (supply, demand) if settled else supplies(supply, demand)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Ends(low, high)
    progress(0.0, _DOING)

    def least(costs: np.ndarray) -> float | None:
        basis = solve_pairs(whole, other, i, j, costs)
        if basis is None:
            return None
        price = sparse.csr_array((costs, (i, j)), shape=(len(whole), len(other)))
        return float(np.asarray(price[basis.i, basis.j]).ravel() @ basis.flow / whole.sum())

    with threads() as pool:
        smallest, largest = pool.map(least, (values - low, high - values))
    if smallest is None or largest is None:
        return None
    ends = low + smallest, high - largest
    return Ends(min(ends), max(ends))
