"""Two models' flips under one matching: who is decided otherwise than the same counterpart, with either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from audits.comparison.intervals import Moved, People, share_moved
from audits.comparison.pairs import (
    Pairing,
    Pairs,
    estimates_of,
    limit_on_rates,
    other_people,
    people_of,
    same_people,
)
from audits.flipset.result import FlipsetResult
from audits.stats.text import people_in

_GIVEN = (
    "Intervals of flips take as given who is matched with whom, which is the same for both models; people "
    "who share a counterpart count as one cluster."
)
_WHY = {
    "": "it is not a sum over people matched alike for both models",
    "above_chance": "chance is simulated separately for each model",
    "noise": "chance is simulated separately for each model",
    "positive.expected": "chance is simulated separately for each model",
    "negative.expected": "chance is simulated separately for each model",
    "positive.transparency": "it describes the people who flip, and these differ between the models",
    "negative.transparency": "it describes the people who flip, and these differ between the models",
}


def compare(first: FlipsetResult, second: FlipsetResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how flips moved from the first model to the second; see `audits.comparison.pairs`."""
    before, after = first.people, second.people
    if not (same_people(before, after) and same_people(first.counterparts, second.counterparts)):
        return other_people()
    both, people, others = (first, second), people_of(after), people_of(second.counterparts)
    source, target = people_in(second.source), people_in(second.target)
    tables = [(before, first.counterparts), (after, second.counterparts)]
    decided = [np.concatenate([_decisions(table) for table in side]) for side in tables]
    sizes = np.concatenate([table["people"].to_numpy(dtype=float) for table in tables[1]])
    pairs = Pairs(people, **limit_on_rates(second.options, sizes, decided))
    own, other = (
        share_moved(whom, *((np.ones(len(table), dtype=bool), _decisions(table)) for table in tables))
        for whom, tables in ((people, (before, after)), (others, (first.counterparts, second.counterparts)))
    )
    # the two groups share nobody, so what either adds is independent: no correlation to look for
    alone = replace(other, influence=np.zeros_like(own.influence))
    words = f"gap in favorable decisions between {source} and {target}"
    pairs.gap("net", words, estimates_of(both, "net"), alone, own)
    pairs.add("source_rate", f"favorable share of {source}", estimates_of(both, "source_rate"), own, "share")
    pairs.add(
        "target_rate", f"favorable share of {target}", estimates_of(both, "target_rate"), other, "share"
    )
    if not _same_matching(first, second):
        why = {"": "people were not matched with the same counterparts for both models"}
        return pairs.pairing(why=why)
    for name, better in (("positive", "better"), ("negative", "worse")):
        words = f"share of {source} decided {better} than their counterparts among {target}"
        moved = _flips(before, after, name)
        pairs.add(f"{name}.share", words, estimates_of(both, f"{name}.share"), moved, "share", judged=True)
    return pairs.pairing(given=_GIVEN, why=_WHY)


def _flips(before: pd.DataFrame, after: pd.DataFrame, name: str) -> Moved:
    """How the share of flips moved; of a person whose counterparts disagree a part flips."""
    flips = [table[name].to_numpy(dtype=float) for table in (before, after)]
    counterpart = after["counterpart"]
    cluster = None if counterpart.isna().any() else pd.factorize(counterpart)[0]
    people = People.counted(after["people"].to_numpy(dtype=float), cluster)
    everyone = np.ones(len(after), dtype=bool)
    return share_moved(people, (everyone, flips[0]), (everyone, flips[1]))


def _same_matching(first: FlipsetResult, second: FlipsetResult) -> bool:
    return all(
        getattr(first, name).equals(getattr(second, name)) for name in ("links", "invented")
    ) and first.people["atom"].equals(second.people["atom"])


def _decisions(table: pd.DataFrame) -> np.ndarray:
    return table["decision"].to_numpy(dtype=bool)
