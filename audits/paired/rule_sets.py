"""Two models' treatment of the same groups: every group that either leaderboard names, under both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from audits.paired.moved import People, apart, share_moved
from audits.paired.pairing import Pairing, Row, other_people, same_people
from audits.rule_sets.browsing import members
from audits.rule_sets.result import LeaderRow, RuleSetsResult
from audits.stats import Estimate
from audits.stats.intervals import cautious_difference

__all__ = ["paired"]


def paired(first: RuleSetsResult, second: RuleSetsResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how groups' differences from everyone else moved; see `audits.paired.pairing`.

    A group is on a leaderboard because it looked worst of all: the correction is for all groups looked at.
    """
    same = same_people(first.people, second.people) and first.people["cell"].equals(second.people["cell"])
    if not same:
        return other_people()
    sizes = _sizes(first)
    if sizes is None:
        return Pairing(why={"": "people stand for others, and the table does not say for how many each"})
    people = People.counted(sizes)
    rows: list[Row] = []
    seen: set[str] = set()
    for result in (first, second):
        for row in result.leaderboard:
            if row.rule_set not in seen:
                seen.add(row.rule_set)
                rows += _rows(row, members(result, row.number), (first, second), people, sizes)
    looked_at = max(first.n_distinct, second.n_distinct, 1)
    return Pairing(tuple(rows), looked_at=looked_at, why={"": "see how the difference of each group moved"})


def _rows(
    row: LeaderRow,
    inside: np.ndarray,
    both: tuple[RuleSetsResult, RuleSetsResult],
    people: People,
    sizes: np.ndarray,
) -> Iterator[Row]:
    before, after = (result.people["favorable"].to_numpy(dtype=bool) for result in both)
    own, rest = (share_moved(people, (part, before), (part, after)) for part in (inside, ~inside))
    place = f"leaderboard[{row.rule_set}]"
    stated = [_stated(result, row.rule_set, inside, sizes) for result in both]
    who = f"people with {row.rule_set}"
    words = f"gap in favorable decisions between {who} and everyone else"
    material = float(both[1].options["material"])
    moved = apart(rest, own, people)
    yield Row(f"{place}.difference", words, stated[0][0], stated[1][0], moved, "gap", material=material)
    yield Row(
        f"{place}.favorable_in", f"favorable share of {who}", stated[0][1], stated[1][1], own, "share",
        judged=False,
    )  # fmt: skip


def _stated(
    result: RuleSetsResult, rule_set: str, inside: np.ndarray, sizes: np.ndarray
) -> tuple[Estimate, Estimate]:
    """Return a group's difference and favourable share as a result states them, or measured here."""
    from audits.stats import wilson

    for row in result.leaderboard:
        if row.rule_set == rule_set:
            return row.difference, row.favorable_in
    favored = result.people["favorable"].to_numpy(dtype=bool)
    counts = [float(sizes[part].sum()) for part in (inside & favored, inside, ~inside & favored, ~inside)]
    level = float(result.options["level"])
    return cautious_difference(*counts, level=level), wilson(counts[0], counts[1], level=level)


def _sizes(result: RuleSetsResult) -> np.ndarray | None:
    """How many people each row stands for; None where that is not told."""
    if abs(result.n - len(result.people)) < 0.5:
        return np.ones(len(result.people))
    if "people" in result.people:
        return result.people["people"].to_numpy(dtype=float)
    return None
