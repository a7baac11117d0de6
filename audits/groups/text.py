"""The sentences of a group comparison: the first one for everyone, and the finding with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from audits.data import group_name, named_with
from audits.groups.by_probability import ASSUMPTION, ProbableGroup
from audits.groups.inference import ASKED_FIRST, RATIO, by_importance, most_telling, reference_among
from audits.groups.metrics import METRICS
from audits.groups.names import name_pairs, people_of
from audits.groups.options import GroupsOptions
from audits.groups.result import GroupRow, GroupsResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment, exceeds
from audits.stats.badges import FOUR_FIFTHS
from audits.stats.text import (
    count,
    estimate_text,
    in_words,
    number,
    out_of,
    people_in,
    percent,
    several,
    so_many,
)
from audits.stats.vocabulary import vocabulary
from audits.text import begun, of_people, shortest


def four_fifths(ratio: Estimate, reason: str = "") -> str:
    """Say whether the smallest impact ratio keeps the four-fifths rule, by its interval.

    Where nothing can be cleared, for a `reason`, it is not said to be kept.

    Examples
    --------
    >>> four_fifths(Estimate(0.71, 0.62, 0.79, 500, "MOVER-R"))
    'broken: the smallest ratio is 0.71 (0.62 to 0.79), below 0.8'
    >>> four_fifths(Estimate(0.85, 0.75, 0.96, 500, "MOVER-R"))
    'not settled: the smallest ratio is 0.85 (0.75 to 0.96), on both sides of 0.8'
    """
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return "cannot be judged: there are too few people, or nobody is favored"
    told = f"the smallest ratio is {ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
    if exceeds(FOUR_FIFTHS, ratio.high):
        return f"broken: {told}, below {FOUR_FIFTHS}"
    if not exceeds(FOUR_FIFTHS, ratio.low):
        return f"not settled: {told}, but {reason}" if reason else f"kept: {told}, not below {FOUR_FIFTHS}"
    return f"not settled: {told}, on both sides of {FOUR_FIFTHS}"


def headline(result: GroupsResult) -> str:
    """Say which group gets the favorable decision less often, or that none does, or that nobody can tell."""
    if result.amounts is not None:
        from audits.groups.amounts.text import amount_headline

        return amount_headline(result)
    if is_probable(result):
        return _probable(result)
    row, reference, rate = most_telling(result.table, result.options.get("measure"))
    gap = row.differences[rate].estimate  # also of results from before verdicts stated their interval
    if gap.value is None:
        return f"Nobody can be compared: there are no {people_of(row)}{among_words(rate)}, or no others."
    if (all_same := {each.selection_rate.value for each in result.table}) in ({0.0}, {1.0}):
        who = "Everybody" if 1.0 in all_same else "Nobody"
        return f"{who} in any group {vocabulary().is_yes}, so there is nothing to compare."
    rarer, other = (row, reference) if gap.value <= 0 else (reference, row)
    numbers = f"{rate_words(rarer, rate)} against {rate_words(other, rate)}"
    about, yes = among_words(rate), yes_words(rate)
    among = f"Among {vocabulary().people}{about}, " if about else ""
    if result.verdict == EVIDENCE:
        small = ", less than your limit" if result.judged.material is False else ""
        return _shortest(among, rarer, other, f"{yes} less often than", f": {numbers}{small}")
    if result.verdict == NO_MATERIAL:
        return _shortest(among, rarer, other, f"{yes} about as often as", f": {numbers}")
    how = "as often as" if gap.value == 0 else "less often than"
    among = f"{among[:1].lower()}{among[1:]}"
    ask = f"{yes} {how}"
    return _shortest(
        f"We can't tell whether, {among}" if among else "We can't tell whether ",
        rarer,
        other,
        ask,
        f": {numbers}",
    )


def _shortest(begin: str, first: GroupRow, second: GroupRow, link: str, end: str) -> str:
    """Return the sentence with as much of the groups' names as fits; without numbers where nothing fits."""
    pairs = [f"{begin}{ours} {link} {theirs}" for ours, theirs in name_pairs(first, second)]
    return begun(shortest(*(f"{pair}{end}." for pair in pairs), *(f"{pair}." for pair in pairs[1:])))


def yes_words(rate: str) -> str:
    """Say what those are whom a rate counts: the favored, or of precision those with the good outcome."""
    words = vocabulary()
    if rate != "precision":
        return words.are_yes
    return f"are {words.truth_yes}" if words.truth_yes else "have the favorable label"


def among_words(rate: str) -> str:
    """Say among whom a rate is counted, in the words of the data; empty where it is among everyone."""
    words, about = vocabulary(), METRICS[rate].about
    if rate == "precision":
        return f" who {words.are_yes}"
    named = {"true_positive_rate": words.truth_yes, "false_positive_rate": words.truth_no}.get(rate)
    return f" with the outcome “{named}”" if named else about


def is_probable(result: GroupsResult) -> bool:
    """Whether the verdict rests on a group known by probability."""
    return any(each.difference_bounds == result.judged.interval for each in result.probable)


def _probable(result: GroupsResult) -> str:
    """Say the same of a group that each person belongs to with a probability."""
    group = next(each for each in result.probable if each.difference_bounds == result.judged.interval)
    low, high = (out_of((end or 0.0) * group.n, group.n) for end in (group.bounds.low, group.bounds.high))
    whom = people_in(group_name({group.attribute: group.group}))
    told = f"By probabilities of {group.attribute}, {whom} who {vocabulary().are_yes} are"
    sure = {EVIDENCE: "too far from the others' for chance", NO_MATERIAL: "close to the others'"}
    rest = sure.get(result.verdict, "no surer than that")
    return f"{told} between {low} and {high}: {rest}."


def _minus(row: GroupRow, reference: GroupRow) -> str:
    return f"{people_of(row)} minus that of {people_of(reference)}"


def rate_words(row: GroupRow, rate: str) -> str:
    """Say a rate, percent first; empty where the group has none."""
    estimate = row.metric(rate)
    if estimate is None or estimate.value is None:
        return ""
    counted = counted_words(row, rate)
    return f"{_percent(estimate)} ({counted})" if counted else _percent(estimate)


def counted_words(row: GroupRow, rate: str) -> str:
    """Word how many of how many people, or rows, a rate is of; empty where rows are weighted."""
    estimate = row.metric(rate)
    if estimate is None or estimate.value is None or (row.rows is not None and rate not in row.rows):
        return ""
    if row.rows is not None:
        return f"{of_people(out_of(*row.rows[rate]))} rows"
    return of_people(out_of(estimate.value * estimate.n, estimate.n))


def _percent(share: Estimate) -> str:
    return percent(share.value, share.n)


def finding_probable(
    group: ProbableGroup, reference: ProbableGroup, options: GroupsOptions, looks: int
) -> str:
    """Say what the probabilities leave possible, and what they make of it on terms."""
    assert group.difference is not None and group.difference_bounds is not None  # noqa: S101, PT018
    low, high = (number(100 * (end or 0.0)) for end in (group.bounds.low, group.bounds.high))
    first, second = (people_in(group_name({each.attribute: each.group})) for each in (group, reference))
    text = (
        f"Between {low} and {high}% of about {count(group.n)} {first} {vocabulary().are_yes}, as far as "
        f"the probabilities of {group.attribute} show. If {ASSUMPTION}, it is "
        f"{_percent(group.selection_rate)}, against {_percent(reference.selection_rate)} of {second}."
    )
    ends = (group.difference_bounds.low, group.difference_bounds.high)
    least, most = (number(100 * (end or 0.0)).replace("-", "−") for end in ends)
    compared = f", corrected for {looks} comparisons" if looks > 1 else ""
    text += f" The difference lies between {least} and {most} points{compared}."
    if group.verdict == NO_MATERIAL:
        return f"{text} That is within {100 * options.material:.3g} points, with chance allowed for."
    return text if not group.reason else f"{text} More people would not settle it: {group.reason}."


def finding_known(table: Sequence[GroupRow], judged: Judgment, options: GroupsOptions, looks: int) -> str:
    """Say who, how many of how many, against whom; then the interval that the verdict follows from."""
    row, reference, rate = most_telling(table, options.measure)
    gap = row.differences[rate]
    limits = [f"{100 * options.material:.3g} points"] if gap.limit is None else []
    limit = " and ".join([*limits, *([f"a ratio of {FOUR_FIFTHS}"] if gap.ratio is not None else [])])
    first, second = (row, reference) if (gap.estimate.value or 0.0) <= 0 else (reference, row)
    text = f"{_share_of(first, rate)} {yes_words(rate)}, against {_share_of(second, rate)}."
    compared = f", corrected for {looks} comparisons" if looks > 1 else ""
    if judged.decided_by == RATIO:
        text += (
            f" Share of {people_of(row)} divided by that of {people_of(reference)}: "
            f"{estimate_text(judged.interval)}{compared}."
        )
    elif gap.estimate.value is not None:
        text += f" Share of {_minus(row, reference)}: {points(gap.estimate)}{compared}."
    text += _asked_beneath(table, options.measure, rate)
    others = [item for item in table if not item.is_reference]
    if judged.verdict == EVIDENCE:
        seen = sum(item.verdict == EVIDENCE for item in others)
        text += f" That is within your limit of {limit}." if judged.material is False else ""
        differ = "differs from its" if seen == 1 else "differ from their"
        more = f" {seen} of {len(others)} groups {differ} reference."
        return text + more if len(others) > 1 else text
    if judged.verdict == NO_MATERIAL:
        few = [named_with(item.attribute, item.group) for item in others if item.verdict != NO_MATERIAL]
        covered = len(others) - len(few)
        every = {1: " It lies", 2: " Both groups lie"}.get(covered, f" All {covered} groups lie")
        text += f"{every} within your limit of {limit}, compared with the reference."
        return f"{text} Not covered, with too few people: {named_few(few)}." if few else text
    if judged.reason:
        return f"{text} More people would not settle it: {judged.reason}."
    needed = judged.people_needed
    return text if needed is None else f"{text} About {needed:,} {judged.people_of} would settle it."


def _asked_beneath(table: Sequence[GroupRow], measure: str | None, leads: str) -> str:
    """Say what was found by the measure asked for, where another one leads."""
    asked = ASKED_FIRST.get(measure or "", ())
    if not asked or leads in asked:
        return ""
    told = next(((row, name) for row, name in by_importance(table, measure) if name in asked), None)
    if told is None:
        return ""
    row, name = told
    reference = reference_among(table, row)
    said = f"{METRICS[name].words} of {_minus(row, reference)}: {points(row.differences[name].estimate)}"
    return f" Asked for: {said}."


def _share_of(row: GroupRow, rate: str) -> str:
    """Say the share, and how many of whom."""
    estimate = row.metric(rate)
    assert estimate is not None  # noqa: S101  (judged rates are always counted)
    share = _percent(estimate) if estimate.value is not None else "no share"
    if row.rows is not None:
        counted, whom = counted_words(row, rate), f"{people_of(row)}{among_words(rate)}"
        return f"{share} ({counted} of {whom})" if counted else f"{share} of {whom}"
    some = count((estimate.value or 0) * estimate.n)
    whom = so_many(estimate.n, named_with(row.attribute, row.group))
    return f"{share} ({some} of {whom}{among_words(rate)})"


def few_people(attribute: str, groups: Sequence[str]) -> str:
    """Warn of groups with few people.

    Examples
    --------
    >>> few_people("sex × age", ["f & age [18, 30)"])
    '1 group of sex × age with fewer than 10 people (“f & age 18 to under 30”): their rates say little.'
    """
    named = named_few(groups)
    some = several(len(groups), "group")
    return (
        f"{some} of {attribute} with fewer than 10 {vocabulary().people} ({named}): their rates say little."
    )


def named_few(groups: Sequence[str]) -> str:
    """Name groups, the first four of them."""
    return ", ".join(f"“{in_words(group)}”" for group in groups[:4]) + " …" * (len(groups) > 4)


def points(gap: Estimate) -> str:
    """Word a difference of shares with its interval, in percentage points.

    Examples
    --------
    >>> points(Estimate(-0.27, -0.39, -0.14, 1080, "Newcombe 95%"))
    '−27.0 points (−39.0 to −14.0)'
    """
    return estimate_text(gap, 100, " points")
