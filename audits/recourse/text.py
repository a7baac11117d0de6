"""The finding of a recourse audit in words, and what to beware of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from audits.recourse.result import NOT_DRAWN, GroupRecourse, RecourseResult
from audits.stats import EVIDENCE, NO_MATERIAL, Judgment
from audits.stats.text import count, in_words, number, out_of, p_words, people_in, percent, percent_interval
from audits.stats.vocabulary import vocabulary
from audits.text import begun, brief, in_points, join_names, of_people, shortest

_MAX_NAMED = 6  # groups in a warning


def headline(result: RecourseResult) -> str:
    """Say how many could turn the decision, and whether that is harder for one group."""
    done = result.by_alpha[-1]
    share = of_people(out_of((done.reclassified.value or 0.0) * result.n_rejected, result.n_rejected))
    words = vocabulary()
    match = f"someone who {words.is_yes}" if words.yes else "an accepted person"
    if _is_word(words.yes):
        match = f"{'an' if words.yes[:1] in 'aeiou' else 'a'} {words.yes} {words.person}"
    if done.alpha != 1:
        match = f"{match} {way_to(done.alpha)}"
    would = f"would be {yes_word()} if they matched {match} on what they can change"
    said = f"{begun(share)} {rejected()}{_sampled(result)} {would}."
    found, alone = _apart(result), _apart(result, alone=True)
    if result.judged.verdict != EVIDENCE:  # a difference that was found is what the badge is about
        alone = [said]
    return shortest(*(f"{said} {apart}" for apart in found), *alone) if found else said


def _sampled(result: RecourseResult) -> str:
    """Say that more were rejected than are counted, where there are."""
    return " sampled" if result.rows["left_out"].get(NOT_DRAWN) else ""


def _is_word(word: str) -> bool:
    return bool(word) and " " not in word


def rejected() -> str:
    """Name the rejected: ``declined applicants``."""
    words = vocabulary()
    if _is_word(words.no):
        return f"{words.no} {words.people}"
    return f"{words.people} who {words.are_no}" if words.no else "rejected people"


def _apart(result: RecourseResult, *, alone: bool = False) -> list[str]:
    """Say whether that is harder for one group, in ever fewer words; nothing with one group.

    Parameters
    ----------
    alone : bool
        Whether nothing was said of it before.
    """
    judged, value, row = result.judged, result.judged.interval.value, judged_row(result)
    if row is None or value is None:
        return []
    if judged.verdict == EVIDENCE:
        little = "" if judged.material is not False else "slightly "
        names = [people_in(row.group), *(brief(people_in(row.group), most, of=1) for most in (12, 7))]
        if row.accepted_judged == judged:
            part = f"{little}{'smaller' if value < 0 else 'larger'} share"
            begin = "Moving to their closest match" if alone else "That"
            return [f"{begin} helps a {part} of {name} than of others." for name in names]
        way = f"{little}{'further' if value > 0 else 'less far'} to go"
        whom = "Of those whom moving to their closest match helps" if alone else "Of those"
        return [f"{whom}, {name} have {way}." for name in names]
    if judged.verdict == NO_MATERIAL:
        return ["It is not much harder for any group."]
    return ["We can't tell if that is harder for one group."]


def judged_row(result: RecourseResult) -> GroupRecourse | None:
    """Return the group that the verdict is about."""
    judged = result.judged
    return next((row for row in result.by_group if judged in (row.accepted_judged, row.burden_judged)), None)


def recourse_finding(result: RecourseResult) -> str:
    """Say how many could turn the decision, which group has furthest to go, and how sure that is."""
    last = result.by_alpha[-1]
    done = last.reclassified
    text = (
        f"{count((done.value or 0.0) * result.n_rejected)} of {rejected_people(result.n_rejected)}"
        f"{_sampled(result)} "
        f"({percent_interval(done)}) would be {yes_word()} if they moved {way_to(last.alpha)} to their "
        "match in what they can change."
    )
    text += _without_help(result)
    rows = [row for row in result.by_group if row.burden.value is not None]
    stated = None
    if len(rows) > 1:
        near, far = near_and_far(rows)
        if _burden(far) - _burden(near) <= 1e-9 * _burden(far):
            burden = number(far.burden.value)
            text += f" Of those for whom that helps, the mean burden is the same in all groups ({burden})."
        else:
            stated = far.burden_judged
            few = "" if far.burden.n >= 2 else ", of one person alone"
            more = "" if stated is None else f"; minus that of the others {_interval(stated)}"
            here = "" if stated is None or stated.verdict == EVIDENCE else "in these data "
            text += (
                f" Of those for whom that helps, {here}{people_in(far.group)} have the furthest to go: mean "
                f"burden {number(far.burden.value)}{few}{more}. {begun(people_in(near.group))} have the "
                f"least far to go ({number(near.burden.value)})."
            )
    return text + _rests_on(result, stated) + _closing(result)


def _without_help(result: RecourseResult) -> str:
    """Say for how many no step helps, and whether that is for want of a better counterpart."""
    if result.never is None or not result.never.value:
        return ""
    n = result.n_rejected
    text = (
        f" No step towards the match helps {count(result.never.value * n)} of them "
        f"({percent(result.never.value, n)})"
    )
    reachable = result.never_but_reachable
    if reachable is None or reachable.value is None:
        return f"{text}."
    tried = "" if result.values_tried is None else f" ({result.values_tried:,} tried)"
    return (
        f"{text}; with the values of another {vocabulary().person} who {vocabulary().is_yes}{tried}, "
        f"{count(reachable.value * reachable.n)} of those would be {yes_word()}."
    )


def _interval(judged: Judgment) -> str:
    """A difference of burdens with its interval and p."""
    interval = judged.interval
    value, low, high = (number(end) for end in (interval.value, interval.low, interval.high))
    p = "" if judged.p_value is None else f", p {p_words(judged.p_value)}"
    return value if interval.low is None else f"{value} ({low} to {high}{p})"


def _rests_on(result: RecourseResult, stated: Judgment | None) -> str:
    """State the interval that the verdict follows from, unless it is `stated` already."""
    judged = result.judged
    if judged == stated:
        return ""
    for row in result.by_group:
        if row.accepted_judged == judged and judged.interval.low is not None:
            interval = judged.interval
            value, low, high = (
                in_points(end or 0.0, signed=True) for end in (interval.value, interval.low, interval.high)
            )
            p = "" if judged.p_value is None else f", p {p_words(judged.p_value)}"
            return (
                f" The share of {people_in(row.group)} {yes_word()} then, minus that of the others, is "
                f"{value} points ({low} to {high}{p})."
            )
        if row.burden_judged == judged:
            return f" Mean burden of {people_in(row.group)} minus that of the others: {_interval(judged)}."
    return ""


def _closing(result: RecourseResult) -> str:
    judged = result.judged
    if judged.verdict == EVIDENCE and judged.material is False:
        return " That is less than your limit."
    if judged.verdict == NO_MATERIAL:
        return " Any difference lies within your limit."
    if judged.people_needed is not None:
        most = result.options["max_people"]
        enough = "" if judged.people_needed <= most else ", if all are followed (max_people)"
        who = judged.people_of or "rejected people"
        return f" About {judged.people_needed:,} {who} would settle it{enough}."
    return f" {begun(judged.reason)}." if judged.reason else ""


def rejected_people(n: float) -> str:
    """Word the declined: ``47 declined applicants``, ``1 declined applicant``."""
    words = vocabulary()
    one = count(n) == "1"
    no = words.no or "rejected"
    whom = words.person if one else words.people
    return (
        f"{count(n)} {no} {whom}"
        if _is_word(no)
        else f"{count(n)} {whom} who {words.is_no if one else words.are_no}"
    )


def yes_word() -> str:
    """Return what the accepted are: ``approved``, ``rated low risk``."""
    return vocabulary().yes or "accepted"


def near_and_far(rows: Sequence[GroupRecourse]) -> tuple[GroupRecourse, GroupRecourse]:
    """Return the groups with least and most far to go; of equal ones, but for rounding, the larger."""
    near = min(rows, key=lambda row: (round(_burden(row), 9), -row.burden.n))
    return near, max(rows, key=lambda row: (round(_burden(row), 9), row.burden.n))


def _burden(row: GroupRecourse) -> float:
    return row.burden.value or 0.0


def way_to(alpha: float) -> str:
    """Word how far people come towards their accepted counterparts.

    Examples
    --------
    >>> way_to(0), way_to(0.35), way_to(1)
    ('today', '35% of the way', 'all the way')
    """
    if alpha in {0, 1}:
        return "all the way" if alpha else "today"
    return f"{100 * alpha:.3g}% of the way"


def recourse_warnings(result: RecourseResult) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    alone = [row.group for row in result.by_group if row.n < 2]
    if alone:
        named = join_names((f"“{in_words(name)}”" for name in alone), most=_MAX_NAMED)
        found.append(f"One person alone says nothing about a group: {named}.")
    nobody = [people_in(row.group) for row in result.by_group if row.burden.value is None]
    if nobody:
        found.append(
            f"Nobody among {join_names(nobody, most=_MAX_NAMED)} is {yes_word()} on the way, so they have no "
            f"mean burden. The shares {yes_word()} include them."
        )
    shares = [row.reclassified.value or 0.0 for row in result.by_alpha]
    if any(later < earlier - 1e-12 for earlier, later in pairwise(shares)):
        found.append(
            f"Going further does not help everyone: some are {yes_word()} part of the way but not beyond."
        )
    asked = result.options
    if asked.get("ways") and asked.get("refits") and result.ways_summary and not result.ways_summary.refits:
        found.append("We don't know which ways survive retraining, because the model was not trained here.")
    if asked.get("follows"):
        drawn = "; ".join(f"{name} follows {', '.join(them)}" for name, them in asked["follows"].items())
        found.append(
            f"Assumed, not tested: {drawn}, linearly and the same for everyone. It affects alternatives and "
            "group actions, not the way to the match."
        )
    if result.options.get("interpolation") == "literal":
        found.append(
            "On the way, people have parts of categories and numbers that nobody has, as in Eq. 15. The "
            "fewest changes need whole values and are left out."
        )
    if len(result.by_group) < 2:
        found.append("There is only one group, so none can have further to go than another.")
    return tuple(found)
