"""Two models' flips under one matching: who is decided otherwise than the same counterpart, with either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audits.flipset.result import FlipsetResult
from audits.paired.moved import Moved, People, apart, share_moved
from audits.paired.pairing import Pairing, Row, other_people, same_people
from audits.stats.words import people_in

__all__ = ["paired"]

_GIVEN = (
    "Intervals of flips take as given who is matched with whom, which is the same for both models; people "
    "who share a counterpart count as one cluster."
)
_WHY = {
    "": "it is not a sum over people matched alike for both models",
    "above_chance": "chance is drawn anew for each model",
    "noise": "chance is drawn anew for each model",
    "positive.expected": "chance is drawn anew for each model",
    "negative.expected": "chance is drawn anew for each model",
    "positive.transparency": "it describes those who flip, who are other people with the other model",
    "negative.transparency": "it describes those who flip, who are other people with the other model",
}


def paired(first: FlipsetResult, second: FlipsetResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how flips moved from the first model to the second; see `audits.paired.pairing`."""
    before, after = first.people, second.people
    same = same_people(before, after) and same_people(first.counterparts, second.counterparts)
    if not same:
        return other_people()
    material, rows = float(second.options["material"]), []
    everyone = np.ones(len(after), dtype=bool)
    people = People.counted(after["people"].to_numpy(dtype=float))
    others = People.counted(second.counterparts["people"].to_numpy(dtype=float))
    sides = [_decided(table) for table in (before, after)]
    theirs = [_decided(result.counterparts) for result in (first, second)]
    there = np.ones(len(second.counterparts), dtype=bool)
    own = share_moved(people, (everyone, sides[0]), (everyone, sides[1]))
    other = share_moved(others, (there, theirs[0]), (there, theirs[1]))
    source, target = people_in(second.source), people_in(second.target)
    # the two groups share nobody, so what either adds is independent: no correlation to look for
    gap = _unshared(other, own, people)
    words = f"gap in favorable decisions between {source} and {target}"
    rows.append(Row("net", words, first.net, second.net, gap, "gap", material=material))
    for where, words, one, two, moved in (
        ("source_rate", f"favorable share of {source}", first.source_rate, second.source_rate, own),
        ("target_rate", f"favorable share of {target}", first.target_rate, second.target_rate, other),
    ):
        rows.append(Row(where, words, one, two, moved, "share", judged=False))
    if not _matched_alike(first, second):
        why = {"": "the two models' people were not matched with the same counterparts"}
        return Pairing(tuple(rows), why=why)
    for name, better in (("positive", "better"), ("negative", "worse")):
        moved = _flips(before, after, name)
        words = f"share of {source} decided {better} than their counterparts among {target}"
        stated = (getattr(first, name).share, getattr(second, name).share)
        rows.append(Row(f"{name}.share", words, *stated, moved, "share", material=material))
    return Pairing(tuple(rows), given=_GIVEN, why=_WHY)


def _flips(before: pd.DataFrame, after: pd.DataFrame, name: str) -> Moved:
    """How the share of flips moved; of a person whose counterparts disagree a part flips."""
    flips = [table[name].to_numpy(dtype=float) for table in (before, after)]
    counterpart = after["counterpart"]
    cluster = None if counterpart.isna().any() else pd.factorize(counterpart)[0]
    people = People.counted(after["people"].to_numpy(dtype=float), cluster)
    everyone = np.ones(len(after), dtype=bool)
    return share_moved(people, (everyone, flips[0]), (everyone, flips[1]))


def _matched_alike(first: FlipsetResult, second: FlipsetResult) -> bool:
    return all(
        getattr(first, name).equals(getattr(second, name)) for name in ("links", "invented")
    ) and first.people["atom"].equals(second.people["atom"])


def _unshared(first: Moved, second: Moved, people: People) -> Moved:
    """Return how far the second moved more than the first, which is about other people."""
    nobody = np.zeros_like(second.influence)
    alone = Moved(first.value, first.n, nobody, first.ends, first.method)
    return apart(alone, second, people)


def _decided(table: pd.DataFrame) -> np.ndarray:
    return table["decision"].to_numpy(dtype=bool)
