"""Who is in a rule set that is known by its words alone, frequent or not: as figures around one have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audits.rule_sets.leaders.tables import read_counted
from audits.rule_sets.result import RuleSetsResult
from audits.subgroups.attributes import Attribute
from audits.subgroups.cells import memberships


def members_by_words(result: RuleSetsResult, words: str) -> np.ndarray | None:
    """Return who is in the rule set of these words, bool (n,), in the order of ``people``; None of no such.

    Parameters
    ----------
    words : str
        Conditions as results have them: ``"sex = Male, 40 ≤ age < 60"``.
    """
    cells = read_counted(result)
    chosen = _read(cells.attributes, words, ())
    if chosen is None:
        return None
    return memberships(cells, np.array([chosen]))[0][cells.row_cell]


def _read(attributes: Sequence[Attribute], words: str, before: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the rule of each attribute, -1 for none; as values may hold commas, all readings are tried."""
    if len(before) == len(attributes):
        return None if words else before
    for place, own in enumerate(attributes[len(before)].words):
        if words == own or words.startswith(f"{own}, "):
            found = _read(attributes, words[len(own) + 2 :], (*before, place))
            if found is not None:
                return found
    return _read(attributes, words, (*before, -1))
