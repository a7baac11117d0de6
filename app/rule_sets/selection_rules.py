"""People selected by a rule set: its number, its words where it has none, or levels of a combination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from app.selection import WHERE, Kind, SelectionRules
from audits.data import group_name
from audits.errors import InputError
from audits.rule_sets import RuleSetsResult, members, row_of
from audits.rule_sets.leaders.tables import read_counted
from audits.subgroups.attributes import read_rule_set
from audits.subgroups.cells import memberships


def _of_rule(result: RuleSetsResult, rule: int) -> pd.Index:
    if rule not in result.rule_sets.index:
        raise InputError(WHERE, "is of a rule set that this audit did not find", rule)
    return result.people.index[members(result, rule)]


def _rule_words(result: RuleSetsResult, rule: int) -> str:
    _of_rule(result, rule)
    return str(row_of(result, rule).rule_set)


def _of_words(result: RuleSetsResult, words: str) -> pd.Index:
    """Return the people of a rule set that need not be in the table of frequent ones, by its words."""
    cells = read_counted(result)
    known = {own: (k, rule) for k, each in enumerate(cells.attributes) for rule, own in enumerate(each.words)}
    places, rules = read_rule_set(known, words), np.full((1, len(cells.attributes)), -1)
    if places is None:
        raise InputError(WHERE, "is of a rule set that this audit did not find", words)
    for place, rule in places:
        rules[0, place] = rule
    return result.people.index[memberships(cells, rules)[0][cells.row_cell]]


def _at_levels(result: RuleSetsResult, levels: Mapping[str, str]) -> pd.Index:
    """Return the people at these levels of the attributes that rule sets are about."""
    names = {item["name"]: place for place, item in enumerate(result.attributes)}
    inside = pd.Series(True, index=result.cells.index)
    for name, level in levels.items():
        known = list(map(str, result.attributes[names[name]]["levels"])) if name in names else []
        if level not in known:
            raise InputError(WHERE, "is of a group that this audit did not look at", f"{name} {level}")
        inside &= result.cells[f"level {names[name]}"] == known.index(level)
    return result.people.index[inside.to_numpy()[result.people["cell"].to_numpy()]]


def _are_levels(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(each, str) for each in value.values())


OWN = SelectionRules(
    {
        "rule": Kind(lambda value: type(value) is int, _of_rule, _rule_words),
        "rules": Kind(lambda value: isinstance(value, str), _of_words, lambda _, words: str(words)),
        "levels": Kind(_are_levels, _at_levels, lambda _, levels: group_name(levels)),
    }
)
