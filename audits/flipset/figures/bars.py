"""What a bar of a marginal says of the people in it, as row filters."""

from __future__ import annotations

import math
from typing import Any

from audits.data.values import MISSING
from audits.flipset.result import Marginal

__all__ = ["bar_rules"]


def bar_rules(item: Marginal, name: str) -> list[dict[str, Any]]:
    """Return the row filters that choose the people of a bar of the marginal, or of its ranges joined.

    Values beyond the first and last edge lie in the end bars, which are therefore open.
    """
    column = {"column": item.feature}
    if name == MISSING:
        return [{**column, "missing": True}]
    if item.edges is None:
        return [{**column, "in": [name]}]
    low, high = _ends(item, name)
    first, last = item.edges[0], item.edges[-1]
    whole = all(edge % 1 == 0.5 for edge in (low, high))  # edges of whole numbers lie between them
    if whole and first < low and high < last:
        least, most = math.ceil(low), math.floor(high)
        return [{**column, **({"in": [least]} if least == most else {"between": [least, most]})}]
    rules = []
    if low > first:
        rules.append({**column, "at_least": math.ceil(low) if whole else low})
    if high < last:
        rules.append({**column, "at_most": math.floor(high)} if whole else {**column, "below": high})
    return rules or [{**column, "not_missing": True}]


def _ends(item: Marginal, name: str) -> tuple[float, float]:
    """Return the edges between which a bar lies, or several that were joined."""
    item = item if name in item.labels else item.joined
    place, edges = item.labels.index(name), item.edges or ()
    return edges[place], edges[place + 1]
