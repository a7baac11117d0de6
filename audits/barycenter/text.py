"""The finding of a barycenter audit in sentences, and what to beware of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audits.barycenter.options import BarycenterOptions
from audits.barycenter.result import BarycenterResult, GroupFlips, Nearness
from audits.flipset.text import answer, closing
from audits.stats import EVIDENCE, NO_MATERIAL, Judgment
from audits.stats.text import in_words, out_of, people_in, percent
from audits.stats.vocabulary import vocabulary
from audits.text import begun, between, brief, in_points, join_names, of_people, points_words, shortest

if TYPE_CHECKING:
    from audits.flipset.null_distribution import NullDistribution

_FAR = 0.1  # above the least possible, relative
_FEW = 100  # people of a group below which a warning says what simulations found


COSTS = {
    "l1_squared": "squared city-block distance",
    "l1": "city-block distance",
    "l2_squared": "squared Euclidean distance",
    "l2": "Euclidean distance",
}


def headline(result: BarycenterResult) -> str:
    """Say in one sentence which group gets other answers than its matches."""
    worst, words = result.group(result.rests_on), vocabulary()
    two = len(result.groups) == 2
    which = "both groups get" if two else f"all {len(result.groups)} groups get"
    them = f"their matches in the other{'' if two else 's'}"
    if result.verdict == NO_MATERIAL:
        return f"On average, {which} about the same answers as {them}."
    if result.verdict != EVIDENCE:
        return f"We can't tell whether {which} the same answers as {them}."
    told = begun(of_people(out_of(getattr(worst, worst.way) * worst.people, worst.people)))
    mine = answer("positive" if worst.way == "only_self" else "negative", one=told.startswith("1 of"))
    theirs = words.are_yes if words.yes else "do"
    if worst.way == "only_self":
        theirs = "are not" if words.yes else "do not"
    more = "more than the other way round" if _by_rates(worst) else "more than chance"
    end = f"{mine} while their matches {theirs}: {more}."
    who, of = people_in(worst.group), len(result.by)
    return shortest(*(f"{told} {name} {end}" for name in (who, brief(who, of=of), brief(who, 9, of=of))))


def _by_rates(worst: GroupFlips) -> bool:
    """Whether the two ways of flipping differ, but neither surely exceeds what chance gives."""
    low = worst.excess.low
    return worst.judged.interval == worst.net and (low is None or low <= 0)


def way_words(way: str) -> str:
    """Name the people who flip one way: ``declined, matches approved``."""
    words = vocabulary()
    yes, no = words.yes or "favorable", words.no or "unfavorable"
    return f"{yes}, matches {no}" if way == "only_self" else f"{no}, matches {yes}"


def finding(
    worst: GroupFlips, groups: tuple[GroupFlips, ...], by: tuple[str, ...], material: float, at_once: int
) -> str:
    """Say how many flip in the group that the verdict rests on, what chance gives, and which groups differ.

    Parameters
    ----------
    at_once : int
        People among whom flips and chance were counted at a time; 0 for everyone.
    """
    judged, n, words = worst.judged, worst.people, vocabulary()
    attributes = " and ".join(f"“{name}”" for name in by)
    them = f"their matches in the other group{'s' if len(groups) > 2 else ''} by {attributes}"
    said = [
        f"{percent(worst.only_self, n)} of {people_in(worst.group)} {words.are_yes} while {them} "
        f"{'are' if words.yes else 'do'} not. For {percent(worst.only_counterpart, n)} it is the reverse: a "
        f"difference of {points(worst.net.value)} ({between(worst.net)})."
    ]
    if worst.larger is not None and worst.by_chance is not None:
        who = (
            f"Among {at_once:,} people sampled at a time, the larger" if at_once else "The larger of the two"
        )
        said.append(
            f"{who} is {percent(worst.larger, n)}. Chance alone gives {percent(worst.by_chance, n)}. The "
            f"difference is {points(worst.excess.value)} ({between(worst.excess)})."
        )
    others = [
        people_in(each.group) for each in groups if each.judged.verdict == EVIDENCE and each is not worst
    ]
    if judged.verdict == EVIDENCE and others:
        said.append(f"There is evidence for {join_names(others)}, too.")
    if judged.verdict != EVIDENCE and judged.decided_by.startswith("level: "):
        said.append(f"What decides is {interval_words(judged, worst)}.")
    said.append(closing(judged, material, over="every group", whose="in all"))
    return " ".join(filter(None, said))


def interval_words(judged: Judgment, each: GroupFlips) -> str:
    """Word the one interval that the verdict follows from."""
    value = judged.interval
    who = people_in(each.group)
    if value.value is None or value.low is None:
        return f"flips of {who} above chance: no interval"
    if judged.decided_by.startswith("level: "):
        level = judged.decided_by.removeprefix("level: ")
        return f"{points(value.value)} ({between(value)}) among people with {level}, of {who}"
    if value == each.net:
        return f"{points(value.value)} between both directions ({between(value)}), of {who}"
    return f"{points(value.value)} above chance ({between(value)}), of {who}"


def points(share: float | None) -> str:
    """Word a difference of shares: ``4.7 points``."""
    return "an unknown number of points" if share is None else points_words(in_points(share))


def chance_words(chance: NullDistribution | None, options: BarycenterOptions) -> str:
    """Word how the level of chance was measured."""
    if chance is None:
        return "not measured without permutations"
    who = (
        "everybody matched again each time"
        if chance.everybody
        else (
            f"{int(chance.people.sum()):,} people sampled each time, as many as {options.seconds:g} "
            "seconds allow"
        )
    )
    return f"{len(chance.null):,} permutations of membership among all people, {who}"


def warnings_for(groups: tuple[GroupFlips, ...], nearness: Nearness) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    if nearness.above is not None and nearness.above > _FAR:
        found.append(
            f"The groups meet at points up to {100 * nearness.above:.0f}% farther from their people than the "
            "nearest possible (squared distance). More rounds may bring them nearer."
        )
    few = [f"“{in_words(each.group)}”" for each in groups if each.people < _FEW]
    if few:
        found.append(
            f"Groups of fewer than {_FEW} people show only large differences, because their intervals are "
            f"wide: {join_names(few)}."
        )
    return tuple(found)
