"""Groups narrowed by ordinary columns, held against the others in the same context.

Men in department F differ from everybody for what the department does to all who apply there. Beside that
stands how they fare next to the others of department F.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audits.mining.attributes import Attribute
from audits.mining.cells import Cells
from audits.mining.sums import GroupSums
from audits.stats.shares import newcombe_ends

__all__ = ["within_context"]


def within_context(
    cells: Cells,
    attributes: Sequence[Attribute],
    rules: np.ndarray,
    n: np.ndarray,
    favorable: np.ndarray,
    *,
    level: float,
) -> dict[str, np.ndarray]:
    """Return how each rule set (S,) differs from the others of its context; NaN where there is no such.

    The others satisfy the rules on ordinary columns, and not those on protected ones. Empty without ordinary
    columns.

    Parameters
    ----------
    level : float
        Error rate of one interval, corrected for all rule sets.
    """
    ordinary = np.array([not attribute.protected for attribute in attributes])
    if not ordinary.any():
        return {}
    context = np.where(ordinary, rules, -1)
    narrowed = (context >= 0).any(axis=1)
    everyone, good = np.zeros(len(rules)), np.zeros(len(rules))
    if narrowed.any():
        patterns, place = np.unique(context[narrowed], axis=0, return_inverse=True)
        sums = GroupSums(cells, attributes, patterns).of(np.column_stack([cells.n, cells.favorable]))
        everyone[narrowed], good[narrowed] = sums[place.reshape(-1)].T
    others, rest = everyone - n, good - favorable
    narrowed &= others > 1e-9
    found = {
        f"context_{key}": np.full(len(rules), np.nan) for key in ("others", "favorable", "gap", "low", "high")
    }
    if narrowed.any():
        own = favorable[narrowed], n[narrowed], rest[narrowed], others[narrowed]
        low, high = newcombe_ends(*own, level=level)
        values = own[3], own[2] / own[3], own[0] / own[1] - own[2] / own[3], low, high
        for key, value in zip(found, values, strict=True):
            found[key][narrowed] = value
    return found
