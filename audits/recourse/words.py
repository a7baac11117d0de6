"""The finding of a recourse audit in words, and what to beware of."""

from __future__ import annotations

from itertools import pairwise

from audits.recourse.result import GroupRecourse, RecourseResult
from audits.stats import INSUFFICIENT, NO_EVIDENCE
from audits.stats.words import count, number, p_words, percent, percent_interval

__all__ = ["recourse_finding", "recourse_warnings"]


def recourse_finding(result: RecourseResult) -> str:
    """Say how many could turn the decision, which group has furthest to go, and how sure that is."""
    last = result.by_alpha[-1]
    done = last.reclassified
    text = (
        f"{count((done.value or 0.0) * result.n_rejected)} of {count(result.n_rejected)} rejected people "
        f"({percent_interval(done)}) would be accepted if they moved {_way(last.alpha)} to their accepted "
        "counterparts in what they can change."
    )
    rows = [row for row in result.by_group if row.burden.value is not None]
    sure = [row for row in rows if row.burden.low is not None]
    rows = sure if len(sure) > 1 else rows  # the mean of one or two people is no group's burden
    if len(rows) > 1:
        far, near = max(rows, key=_burden), min(rows, key=_burden)
        ahead = far.burden_difference
        more = ""
        if ahead.value is not None:
            between = "" if ahead.low is None else f" ({number(ahead.low)} to {number(ahead.high)})"
            more = f", {number(ahead.value)} more than the others{between}"
        if _burden(far) - _burden(near) <= 1e-9 * _burden(far):
            text += (
                f" Of those for whom that helps, the mean burden is the same in all groups "
                f"({number(far.burden.value)})"
            )
        else:
            text += (
                f" Of those for whom that helps, {far.group} people have furthest to go: mean burden "
                f"{number(far.burden.value)}{more}; {near.group} people least ({number(near.burden.value)})"
            )
        text += f"{_by_rank(result)}."
    gap = result.gap
    if gap.value is not None and gap.low is not None:
        low, high = (percent(end, result.n_rejected) for end in (gap.low, gap.high))
        text += (
            f" Shares accepted then differ by up to {percent(gap.value, result.n_rejected)} between groups "
            f"({low.removesuffix(' %')}–{high})."
        )
    if result.verdict == INSUFFICIENT and result.people_needed is not None:
        text += (
            f" About {result.people_needed:,} rejected people in each group would be needed to see a "
            f"{100 * result.options['material']:.3g}-point difference."
        )
    elif result.verdict == NO_EVIDENCE:
        text += " A material difference would have been seen at this size."
    return text


def _by_rank(result: RecourseResult) -> str:
    """Say how sure it is that burdens differ; ranks also count those whom nothing helps, the means do not."""
    if result.burden_p_value is None:
        return ""
    p = f"p {p_words(result.burden_p_value)}"
    if not any(map(_never, result.by_group)):
        return f"; {p}"
    most, least = (pick(result.by_group, key=_never) for pick in (max, min))
    if _never(most) == _never(least):
        return f". With those whom no step helps ranked as furthest, {p} that groups differ by chance"
    shares = ", ".join(f"{percent(_never(row), row.n)} of {row.group} people" for row in (most, least))
    return f". No step helps {shares}; with these ranked as furthest, {p} that groups differ by chance"


def _never(row: GroupRecourse) -> float:
    return row.never.value or 0.0


def _burden(row: GroupRecourse) -> float:
    return row.burden.value or 0.0


def _way(alpha: float) -> str:
    return "all the way" if alpha == 1 else f"{100 * alpha:g} % of the way"


def recourse_warnings(result: RecourseResult) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    alone = [row.group for row in result.by_group if row.n < 2]
    if alone:
        found.append(f"One person alone says nothing about a group: {', '.join(alone)}.")
    nobody = [row.group for row in result.by_group if row.burden.value is None]
    if nobody:
        found.append(
            f"Nobody of {', '.join(nobody)} is accepted on the way, so their burden has no mean; "
            f"p-value and shares "
            "count them as those with furthest to go."
        )
    shares = [row.reclassified.value or 0.0 for row in result.by_alpha]
    if any(later < earlier - 1e-12 for earlier, later in pairwise(shares)):
        found.append(
            "Going further does not help everybody: some are accepted at a smaller α and not at a larger one."
        )
    if len(result.by_group) < 2:
        found.append("There is one group only, so no group can be said to have further to go than another.")
    return tuple(found)
