"""The sentences of a group comparison: the first one for everybody, and the finding with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from audits.brief import begun, brief, of_people, shortest
from audits.data import group_name, named_with
from audits.groups.by_probability import ASSUMPTION, ProbableGroup
from audits.groups.judging import most_telling
from audits.groups.metrics import METRICS
from audits.groups.options import GroupsOptions
from audits.groups.result import GroupRow, GroupsResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judged
from audits.stats.words import (
    count,
    in_words,
    named_group,
    number,
    out_of,
    people_in,
    percent,
    several,
    so_many,
    stated,
)

__all__ = [
    "few_people",
    "finding_known",
    "finding_probable",
    "headline",
    "interval_words",
    "people_of",
    "points",
    "spread_words",
]


def headline(result: GroupsResult) -> str:
    """Say which group the favorable decision is rarer for, or that it is rarer for none, or open."""
    if any(each.difference_bounds == result.judged.interval for each in result.probable):
        return _probable(result)
    row, reference, rate = most_telling(result.table)
    gap = row.differences[rate].estimate  # also of results from before verdicts stated their interval
    if gap.value is None:
        return f"Nobody can be compared: there are no {people_of(row)}, or no others."
    if (all_same := {each.selection_rate.value for each in result.table}) in ({0.0}, {1.0}):
        who = "Everybody" if 1.0 in all_same else "Nobody"
        return f"{who} in any group gets the favorable decision, so there is nothing to compare."
    rarer, other = (row, reference) if gap.value <= 0 else (reference, row)
    numbers = f"{_counted(rarer, rate)} against {_counted(other, rate)}"
    about = METRICS[rate].about.replace(" with", "given", 1)
    whose = f"{about.capitalize()}, the" if about else "The"
    if result.verdict == EVIDENCE:
        small = "" if result.judged.material is not False else " (less than matters)"
        rare = f"{whose} favorable decision is rarer for"
        return shortest(*(f"{rare} {both}: {numbers}{small}." for both in _both(rarer, other, "than for")))
    if result.verdict == NO_MATERIAL:
        alike = f"{whose} favorable decision is about as frequent for"
        return shortest(*(f"{alike} {both}: {numbers}." for both in _both(rarer, other, "as for")))
    tail = f", {about}" if about else ""
    how, link = ("as frequent", "as for") if gap.value == 0 else ("rarer", "than for")
    cannot = f"These data cannot tell whether the favorable decision is {how} for"
    return shortest(
        *(f"{cannot} {both}{tail}: {numbers}." for both in _both(rarer, other, link)),
        *(f"{cannot} {both}." for both in _both(rarer, other, link)[1:]),
    )


def interval_words(result: GroupsResult) -> str:
    """Say between whom, and of which rate, the one interval is that the verdict follows from."""
    judged = result.judged.interval
    row, reference, rate = most_telling(result.table)
    if judged != row.differences[rate].estimate:  # of a group known by probability
        return judged.method
    return f"{begun(METRICS[rate].words)} of {_minus(row, reference)}: {points(judged)} · {judged.method}"


def spread_words(gap: Estimate) -> str:
    """Word a spread between groups with its interval, or why there is none."""
    return f"{stated(gap)}; {gap.method}"


def _probable(result: GroupsResult) -> str:
    """Say the same of a group that each person belongs to with a probability."""
    group = next(each for each in result.probable if each.difference_bounds == result.judged.interval)
    low, high = (out_of((end or 0.0) * group.n, group.n) for end in (group.bounds.low, group.bounds.high))
    whom = people_in(group_name({group.attribute: group.group}))
    told = f"Probabilities of {group.attribute} put the favorable decisions of {whom}"
    sure = {EVIDENCE: "too far from the others' for chance", NO_MATERIAL: "close to the others'"}
    rest = sure.get(result.verdict, "no surer than that")
    return f"{told} between {low} and {high}: {rest}."


def people_of(row: GroupRow) -> str:
    """Word the people of a group, whose value is told with its attribute where it says nothing alone."""
    return people_in(named_with(row.attribute, row.group))


def _minus(row: GroupRow, reference: GroupRow) -> str:
    return f"{people_of(row)} minus that of {people_of(reference)}"


def _both(first: GroupRow, second: GroupRow, link: str) -> list[str]:
    """Name two groups, in ever fewer words."""
    ours, theirs = (named_group(named_with(row.attribute, row.group)) for row in (first, second))
    theirs_short = "the reference group" if second.is_reference else brief(theirs, 5)
    return [
        f"{ours} {link} {theirs}",
        f"{brief(ours, 99)} {link} {brief(theirs, 99)}",
        f"{brief(ours)} {link} {theirs_short}",
        f"{brief(ours, 6)} {link} {theirs_short}",
    ]


def _counted(row: GroupRow, rate: str) -> str:
    estimate = row.metric(rate)
    assert estimate is not None  # noqa: S101  (judged rates are always counted)
    return of_people(out_of((estimate.value or 0.0) * estimate.n, estimate.n))


def finding_probable(
    group: ProbableGroup, reference: ProbableGroup, options: GroupsOptions, looks: int
) -> str:
    """Say what the probabilities leave possible, and what they make of it on terms."""
    assert group.difference is not None and group.difference_bounds is not None  # noqa: S101, PT018
    low, high = (number(100 * (end or 0.0)) for end in (group.bounds.low, group.bounds.high))
    first, second = (people_in(group_name({each.attribute: each.group})) for each in (group, reference))
    text = (
        f"Between {low} and {high} % of about {count(group.n)} {first} are decided "
        f"favorably, as far as probabilities of {group.attribute} can tell; if {ASSUMPTION}, "
        f"{percent(group.selection_rate.value, group.n)}, against "
        f"{percent(reference.selection_rate.value, reference.n)} of {second}."
    )
    ends = (group.difference_bounds.low, group.difference_bounds.high)
    least, most = (number(100 * (end or 0.0)).replace("-", "−") for end in ends)
    compared = f", corrected for {looks} comparisons" if looks > 1 else ""
    text += f" The difference lies between {least} and {most} points{compared}."
    if group.verdict == NO_MATERIAL:
        return f"{text} That is within {100 * options.material:.3g} points, with chance allowed for."
    return text if not group.reason else f"{text} More people would not settle it: {group.reason}."


def finding_known(
    table: Sequence[GroupRow], outcome: str, judged: Judged, material: float, looks: int
) -> str:
    """Say who, how many of how many, against whom; then the interval that the verdict follows from."""
    row, reference, rate = most_telling(table)
    gap = row.differences[rate].estimate
    first, second = (row, reference) if (gap.value or 0.0) <= 0 else (reference, row)
    share, one = _share_of(first, rate)
    are = "is" if one else "are"
    text = f"{share} {are} decided favorably ({outcome}), against {_share_of(second, rate)[0]}."
    if gap.value is not None:
        compared = f", corrected for {looks} comparisons" if looks > 1 else ""
        text += f" Share of {_minus(row, reference)}: {points(gap)}{compared}."
    others = [item for item in table if not item.is_reference]
    if judged.verdict == EVIDENCE:
        small = (
            ""
            if judged.material is not False
            else f" It is smaller than the {100 * material:.3g} that matter."
        )
        seen = sum(item.verdict == EVIDENCE for item in others)
        if len(others) == 1:
            return text + small
        differ = "differs from its" if seen == 1 else "differ from their"
        return f"{text}{small} {seen} of {len(others)} groups {differ} reference."
    if judged.verdict == NO_MATERIAL:
        every = {1: "", 2: " Both groups lie"}.get(len(others), f" All {len(others)} groups lie")
        within = f"within {100 * material:.3g} points of the reference, with chance allowed for"
        return f"{text}{every or ' It lies'} {within}."
    if judged.reason:
        return f"{text} More people would not settle it: {judged.reason}."
    if judged.people_needed is None:
        return text
    settle = "an interval short enough to settle it"
    return f"{text} About {judged.people_needed:,} such people, not {count(row.n)}, would give {settle}."


def _share_of(row: GroupRow, rate: str) -> tuple[str, bool]:
    """Say how many of whom, and whether that is one person."""
    estimate = row.metric(rate)
    assert estimate is not None  # noqa: S101  (judged rates are always counted)
    some = count((estimate.value or 0) * estimate.n)
    share = percent(estimate.value, estimate.n) if estimate.value is not None else "no share"
    whom = so_many(estimate.n, named_with(row.attribute, row.group))
    return f"{some} of {whom}{METRICS[rate].about} ({share})", some == "1"


def few_people(attribute: str, groups: Sequence[str]) -> str:
    """Warn of groups with few people.

    Examples
    --------
    >>> few_people("sex × age", ["f & age [18, 30)"])
    '1 group of sex × age with fewer than 10 people (“f & age 18 to under 30”): rates say little there.'
    """
    named = ", ".join(f"“{in_words(group)}”" for group in groups[:4]) + " …" * (len(groups) > 4)
    some = several(len(groups), "group")
    return f"{some} of {attribute} with fewer than 10 people ({named}): rates say little there."


def points(gap: Estimate) -> str:
    """Word a difference of shares with its interval, in percentage points.

    Examples
    --------
    >>> points(Estimate(-0.27, -0.39, -0.14, 1080, "Newcombe 95 %"))
    '−27.0 points (−39.0 to −14.0)'
    """
    return stated(gap, 100, " points")
