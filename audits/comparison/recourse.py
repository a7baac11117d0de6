"""Two models' recourse: who of those whom either rejects is accepted on the way, and how far that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.comparison.intervals import People, ratio_moved, share_moved
from audits.comparison.pairs import Pairing, Pairs, common, estimates_of, limit_on_rates
from audits.recourse.result import NOT_DRAWN, GroupRecourse, RecourseResult
from audits.recourse.text import way_to
from audits.stats.text import people_in

_GIVEN = (
    "Shares are of the people each model rejects, who need not be the same. Intervals take each person's "
    "match as given."
)
_WHY = {
    "": "it is about the people each model rejects, who need not be the same",
    "ways_summary": "each model's ways are for different people",
    "group_actions": "each model has its own action",
}


def compare(first: RecourseResult, second: RecourseResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how recourse moved from the first model to the second; see `audits.comparison.pairs`."""
    if any(NOT_DRAWN in result.rows["left_out"] for result in (first, second)) or first.steps != second.steps:
        return Pairing(why={"": "not all rejected people were included: raise max_people"})
    both = first.people.index.union(second.people.index)
    if not len(both) or first.rows["audited"] != second.rows["audited"]:
        return Pairing(why={"": "nobody is rejected, or the two were not measured on the same people"})
    sides = [_side(result, both) for result in (first, second)]
    sizes = np.where(sides[1].rejected, sides[1].sizes, sides[0].sizes)
    limits = [limit_on_rates(second.options, sizes * side.rejected, [side.accepted[-1]]) for side in sides]
    pairs = Pairs(People.counted(sizes), **min(limits, key=lambda limit: limit["material"]))
    _everyone(pairs, first, second, sides)
    for rows in common(first.by_group, second.by_group, "group"):
        _group(pairs, rows, sides, float(second.options["material"]))
    return pairs.pairing(given=_GIVEN, why=_WHY)


@dataclass(frozen=True, eq=False)
class _Side:
    """One model's rejected people among all whom either rejects (n,), and what becomes of them."""

    rejected: np.ndarray
    group: np.ndarray
    sizes: np.ndarray
    cost: np.ndarray  # NaN where no step helps
    accepted: tuple[np.ndarray, ...]  # one a step
    scores: tuple[np.ndarray, ...]


def _side(result: RecourseResult, both: pd.Index) -> _Side:
    table = result.people.reindex(both)
    paths = [result.paths[result.paths["alpha"] == step].reindex(both) for step in result.steps]
    return _Side(
        rejected=both.isin(result.people.index),
        group=table["group"].to_numpy(dtype=object),
        sizes=table["people"].fillna(1.0).to_numpy(dtype=float),
        cost=table["cost"].to_numpy(dtype=float),
        accepted=tuple((each["decision"] == True).to_numpy(dtype=bool) for each in paths),  # noqa: E712
        scores=tuple(each["score"].fillna(0.0).to_numpy(dtype=float) for each in paths),
    )


def _everyone(pairs: Pairs, first: RecourseResult, second: RecourseResult, sides: list[_Side]) -> None:
    """Pair who of all rejected people is accepted, and how far they are from it, step by step."""
    for k, both in enumerate(zip(first.by_alpha, second.by_alpha, strict=True)):
        place, way = f"by_alpha[{both[1].alpha}]", way_to(both[1].alpha)
        accepted = [(side.rejected, side.accepted[k]) for side in sides]
        words, last = f"share of rejected people accepted {way}", k == len(second.steps) - 1
        pairs.share(
            f"{place}.reclassified", words, estimates_of(both, "reclassified"), *accepted, judged=last
        )
        scores = [(side.rejected * side.scores[k], side.rejected) for side in sides]
        words = f"mean score of rejected people {way}"
        pairs.ratio(f"{place}.mean_score", words, estimates_of(both, "mean_score"), *scores)
    if first.never is not None and second.never is not None:
        lost, never = [(side.rejected, np.isnan(side.cost)) for side in sides], (first.never, second.never)
        pairs.share("never", "share of rejected people for whom no step helps", never, *lost)


def _group(
    pairs: Pairs, both: tuple[GroupRecourse, GroupRecourse], sides: list[_Side], material: float
) -> None:
    """Pair what becomes of one group's rejected people, and how that lies from the others'."""
    earlier, now = both
    place, who = f"by_group[{now.group}]", f"rejected {people_in(now.group)}"
    last = len(sides[0].accepted) - 1
    inside = [side.rejected & (side.group == now.group) for side in sides]
    others = [side.rejected & ~part for side, part in zip(sides, inside, strict=True)]
    masks = list(zip(inside, sides, strict=True))
    words, reached = f"share of {who} accepted at the last step", [row.reclassified[-1] for row in both]
    accepted = [(part, side.accepted[last]) for part, side in masks]
    own = pairs.share(f"{place}.reclassified[{last}]", words, reached, *accepted)
    if earlier.accepted_judged is not None and now.accepted_judged is not None:
        rest = share_moved(
            pairs.people, *((part, side.accepted[last]) for part, side in zip(others, sides, strict=True))
        )
        words = f"gap in acceptance at the last step between {who} and the other rejected"
        where = f"{place}.accepted_judged.interval"
        pairs.gap(where, words, estimates_of(both, "accepted_judged.interval"), rest, own)
    words = f"burden of {who} for whom some step helps"
    burden = pairs.ratio(f"{place}.burden", words, estimates_of(both, "burden"), *_burdens(sides, inside))
    lost = [(part, np.isnan(side.cost)) for part, side in masks]
    pairs.share(
        f"{place}.never", f"share of {who} for whom no step helps", estimates_of(both, "never"), *lost
    )
    further = estimates_of(both, "burden_difference")
    if all(each.value is not None for each in further):
        scale, words = material * abs(now.burden.value or 0.0), f"burden of {who} beyond the others'"
        how = {"kind": "number", "judged": scale > 0, "material": scale}
        rest = ratio_moved(pairs.people, *_burdens(sides, others))
        pairs.gap(f"{place}.burden_difference", words, further, rest, burden, **how)


def _burdens(sides: list[_Side], members: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for side, inside in zip(sides, members, strict=True):
        helped = inside & ~np.isnan(side.cost)
        yield np.where(helped, np.nan_to_num(side.cost), 0.0), helped.astype(float)
