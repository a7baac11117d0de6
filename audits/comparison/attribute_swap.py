"""Two models asked about the same changed people: how much more one of them hangs on the word changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from audits.attribute_swap.result import AttributeSwapResult
from audits.attribute_swap.text import EXACT
from audits.comparison.intervals import Moved, People, apart, exactly_0, mean_moved, share_moved
from audits.comparison.pairs import (
    Pairing,
    Pairs,
    common,
    estimates_of,
    limit_on_rates,
    other_people,
    people_of,
)
from audits.stats.text import people_in

_WHY = {"": "it is part of the net share beside it, or of texts with both terms"}


def compare(first: AttributeSwapResult, second: AttributeSwapResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how net shares moved from the first model to the second; see `audits.comparison.pairs`."""
    theirs, ours = (result.people.sort_index() for result in (first, second))
    if not len(ours) or not theirs.index.equals(ours.index):
        return other_people()
    sizes, decisions = ours["people"].to_numpy(dtype=float), (side["decision"] for side in (theirs, ours))
    pairs = Pairs(people_of(ours), **limit_on_rates(second.options, sizes, decisions))
    for both in common(first.swaps, second.swaps, "name"):
        row = both[1]
        column = f"{row.attribute} = {row.target}"
        if not row.where or column not in theirs:
            continue
        inside = [(ours[f"group: {name}"] == value).to_numpy() for name, value in row.where.items()]
        mask = np.logical_and.reduce(inside) & ours[column].notna().to_numpy()
        moved = _moved(pairs.people, mask, *(_net(side, column) for side in (theirs, ours)))
        if not (both[0].read or row.read):
            moved = exactly_0(moved, EXACT)
        change = f"{row.target} instead of {row.source}"  # a sentence states the size, whichever way it goes
        words = f"net share of {people_in(row.group)} who gain or lose with {change}"
        pairs.add(f"swaps[{row.name}].net", words, estimates_of(both, "net"), moved, "gap")
    return pairs.pairing(why=_WHY)


def _moved(people: People, mask: np.ndarray, before: np.ndarray, after: np.ndarray) -> Moved:
    """How a net share moved; where nobody's does, how far it may have moved among others."""
    moved = mean_moved(people, mask, before, after)
    if moved.value != 0 or moved.ends is not None:
        return moved
    lost, gained = (
        share_moved(people, (mask, sign * before > 0), (mask, sign * after > 0)) for sign in (-1, 1)
    )
    return replace(apart(lost, gained, people), n=moved.n)


def _net(side: pd.DataFrame, column: str) -> np.ndarray:
    """Return 1 where the change brings the favorable decision, −1 where it takes it, else 0."""
    after = side[column].fillna(side["decision"]).to_numpy(dtype=float)
    return np.asarray(after - side["decision"].to_numpy(dtype=float))
