"""What is shown of a barycenter audit."""

from __future__ import annotations

from functools import partial

from audits.barycenter import figures
from audits.barycenter.result import BarycenterResult
from audits.barycenter.words import COSTS, direction, interval_words
from audits.records import Exhibit, Section
from audits.stats.words import p_words, people_in, percent

__all__ = ["marginals_exhibit", "section", "transparency_exhibit"]


def section(result: BarycenterResult) -> Section:
    """Arrange a barycenter audit."""
    exhibits = [
        Exhibit(
            "judged",
            "What decides",
            "Thick line: the interval that decides. Circle: difference of rates from the other groups. "
            "Diamond: flips above chance. Intervals are corrected for all groups.",
            lambda: figures.judged(result),
            result.to_frame,
        ),
        Exhibit(
            "flips",
            "Favored only as themselves, or only as counterparts",
            "Right: favored, while their matches in the other groups are not. Left: the reverse. Chance "
            "alone makes a part of both.",
            lambda: figures.flips(result),
            result.to_frame,
        ),
    ]
    if any(row.group == result.rests_on for row in result.marginals):
        exhibits.append(marginals_exhibit(result, result.rests_on))
    worst = result.group(result.rests_on)
    if result.report(worst.group, worst.way):
        exhibits.append(transparency_exhibit(result, worst.group, worst.way))
    if all(each.everybody is not None for each in result.groups):
        exhibits.append(_everybody(result))
    exhibits.append(
        Exhibit(
            "distances",
            "How far each group is moved",
            "How unlike a group's people are to those whom they meet. As near as people drawn from "
            "everybody: "
            "the group is like the rest; far from them: its counterparts are people unlike it.",
            lambda: figures.distances(result),
            result.distances_frame,
        )
    )
    near = result.nearness
    rounds = f"{near.rounds} round{'' if near.rounds == 1 else 's'}"
    above = "–" if near.above is None else f"at most {100 * max(near.above, 0.0):.1f} %"
    return Section(
        title=f"All groups by {' and '.join(result.by)} at once",
        exhibits=tuple(exhibits),
        facts={
            "Verdict": f"{result.verdict}: {interval_words(result.judged, result.group(result.rests_on))}",
            "Favorable where all groups meet": percent(result.reference_rate, result.n),
            "Equal rates and features": "not tested"
            if result.differ_p is None
            else f"p {p_words(result.differ_p)}",
            "Level of chance": result.chance,
            "Cost": f"{COSTS[result.cost]} ({result.cost})",
            "Distance above the least possible": f"{above} ({near.points:,} points, {rounds})",
        },
    )


def marginals_exhibit(result: BarycenterResult, group: str) -> Exhibit:
    """Show who flips in one group."""
    each = result.group(group)
    return Exhibit(
        "marginals",
        f"Who flips among {people_in(group)}",
        f"Those favored only {direction(each)} beside all of the group, in the features in which they differ "
        "most. Longer coloured bars: values that people who flip have more often.",
        partial(figures.marginals, result, group),
        partial(result.marginals_frame, group),
    )


def transparency_exhibit(result: BarycenterResult, group: str, way: str, *, by_sign: bool = False) -> Exhibit:
    """Show which features move between the people of a group who flip one way and their counterparts."""
    what = "themselves" if way == "only_self" else "counterparts"
    return Exhibit(
        "transparency",
        f"How {people_in(group)} who flip differ from their counterparts",
        f"Of those favored only as {what}: person minus counterpart, feature by feature, and how "
        "consistently it has that sign (1: always more than the counterpart). Without intervals: "
        "among other people, others would meet.",
        partial(figures.transparency, result, group, way, by_sign=by_sign),
        partial(result.transparency_frame, group, way, by_sign=by_sign),
    )


def _everybody(result: BarycenterResult) -> Exhibit:
    return Exhibit(
        "everybody",
        "The same against everybody",
        "Every group matched with the people of all groups together, its own too, instead of with the others "
        "alone: the larger a group, the more of its people meet people of their own.",
        lambda: figures.everybody(result),
        result.to_frame,
    )
