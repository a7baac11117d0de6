"""What a bar of a marginal says of the people in it: in words, and as row filters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from audits.data.values import MISSING
from audits.flipset.result import Marginal
from audits.text import value_words


def bar_words(item: Marginal, word: Callable[[float], str] = value_words) -> list[str]:
    """Word each bar: its value, or the ends of its range; ends between whole numbers are those inside.

    Examples
    --------
    >>> numbers = {"categories": None, "population": (), "flipset": (), "distance": 0.0, "adjusted_p": None}
    >>> bar_words(Marginal("work", (-2.5, 7.5, 8.5, 12000.0, 18400.0), missing=(1, 0), **numbers))
    ['-2 to 7', '8', '8.5–12,000', '12,000–18,400', '(missing)']
    """
    if item.edges is None:
        return list(item.categories or ())
    if item.dates:
        return list(item.labels)
    found = []
    for low, high in itertools.pairwise(item.edges):
        ends = (math.ceil(low), math.floor(high)) if low % 1 == high % 1 == 0.5 else (low, high)
        found.append((" to " if low < 0 else "–").join(dict.fromkeys(map(word, ends))))
    return found if item.missing is None else [*found, MISSING]


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
