"""Two models' recourse: who of those whom either rejects is accepted on the way, and how far that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.paired.moved import People, apart, ratio_moved, share_moved
from audits.paired.pairing import Pairing, Row
from audits.recourse.result import RecourseResult
from audits.recourse.text import way_to
from audits.stats import Estimate
from audits.stats.words import people_in

__all__ = ["paired"]

_GIVEN = (
    "Shares are of those whom each model rejects, who need not be the same people; intervals take as given "
    "whom each is matched with."
)
_DRAWN = "not drawn into the subsample"
_WHY = {
    "": "it is about what those change whom each model rejects, who need not be the same people",
    "ways_summary": "ways were looked for with each model for people of its own",
    "group_actions": "each model has an action of its own",
}


def paired(first: RecourseResult, second: RecourseResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how recourse moved from the first model to the second; see `audits.paired.pairing`."""
    if any(_DRAWN in result.rows["left_out"] for result in (first, second)) or first.steps != second.steps:
        return Pairing(why={"": "not everybody rejected was looked at: raise max_people"})
    both = first.people.index.union(second.people.index)
    if not len(both) or first.rows["audited"] != second.rows["audited"]:
        return Pairing(why={"": "nobody is rejected, or the two were not measured on the same people"})
    sides = [_side(result, both) for result in (first, second)]
    sizes = np.where(sides[1].rejected, sides[1].sizes, sides[0].sizes)
    return Pairing(tuple(_rows(first, second, sides, People.counted(sizes))), given=_GIVEN, why=_WHY)


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


def _rows(first: RecourseResult, second: RecourseResult, sides: list[_Side], people: People) -> Iterator[Row]:
    material, last = float(second.options["material"]), len(second.steps) - 1
    rejected = [side.rejected for side in sides]
    for k, (one, two) in enumerate(zip(first.by_alpha, second.by_alpha, strict=True)):
        place = f"by_alpha[{two.alpha}]"
        moved = share_moved(people, *((side.rejected, side.accepted[k]) for side in sides))
        words = f"share of rejected people accepted {way_to(two.alpha)}"
        judged = k == last
        yield Row(
            f"{place}.reclassified", words, one.reclassified, two.reclassified, moved, "share",
            judged=judged, material=material,
        )  # fmt: skip
        means = ratio_moved(people, *((side.rejected * side.scores[k], side.rejected) for side in sides))
        words = f"mean score of rejected people {way_to(two.alpha)}"
        yield Row(f"{place}.mean_score", words, one.mean_score, two.mean_score, means, "number", judged=False)
    never = share_moved(people, *((side.rejected, np.isnan(side.cost)) for side in sides))
    if first.never is not None and second.never is not None:
        words = "share of rejected people whom no step helps"
        yield Row("never", words, first.never, second.never, never, "share", judged=False)
    then = {row.group: row for row in first.by_group}
    for now in second.by_group:
        if now.group not in then:
            continue
        place, earlier = f"by_group[{now.group}]", then[now.group]
        inside = [side.rejected & (side.group == now.group) for side in sides]
        others = [mask & ~part for mask, part in zip(rejected, inside, strict=True)]
        who = f"rejected {people_in(now.group)}"
        own = share_moved(
            people, *((part, side.accepted[last]) for part, side in zip(inside, sides, strict=True))
        )
        rest = share_moved(
            people, *((part, side.accepted[last]) for part, side in zip(others, sides, strict=True))
        )
        stated = (earlier.reclassified[-1], now.reclassified[-1])
        words = f"share of {who} accepted at the last step"
        yield Row(f"{place}.reclassified[{last}]", words, *stated, own, "share", judged=False)
        if earlier.accepted_judged is not None and now.accepted_judged is not None:
            gaps = (earlier.accepted_judged.interval, now.accepted_judged.interval)
            words = f"gap in acceptance at the last step between {who} and the other rejected"
            moved = apart(rest, own, people)
            yield Row(f"{place}.accepted_judged.interval", words, *gaps, moved, "gap", material=material)
        burden = ratio_moved(people, *_burdens(sides, inside))
        words = f"burden of {who} whom some step helps"
        yield Row(f"{place}.burden", words, earlier.burden, now.burden, burden, "number", judged=False)
        lost = share_moved(
            people, *((part, np.isnan(side.cost)) for part, side in zip(inside, sides, strict=True))
        )
        words = f"share of {who} whom no step helps"
        yield Row(f"{place}.never", words, earlier.never, now.never, lost, "share", judged=False)
        if _has(earlier.burden_difference) and _has(now.burden_difference):
            more = apart(ratio_moved(people, *_burdens(sides, others)), burden, people)
            words = f"burden of {who} beyond the others'"
            where, stated = f"{place}.burden_difference", (earlier.burden_difference, now.burden_difference)
            scale = material * abs(now.burden.value or 0.0)
            yield Row(where, words, *stated, more, "number", judged=scale > 0, material=scale)


def _burdens(sides: list[_Side], members: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for side, inside in zip(sides, members, strict=True):
        helped = inside & ~np.isnan(side.cost)
        yield np.where(helped, np.nan_to_num(side.cost), 0.0), helped.astype(float)


def _has(estimate: Estimate) -> bool:
    return estimate.value is not None
