"""The sentences of a mitigation: the first one for everybody, and the finding with its numbers."""

from __future__ import annotations

from audits.mining.attributes import quoted
from audits.mitigation.result import MitigationResult, Step
from audits.stats import EVIDENCE, NO_MATERIAL, Judged
from audits.stats.words import count, number, out_of, percent

__all__ = ["finding", "headline"]


def headline(result: MitigationResult) -> str:
    """Say what the training did for the group, and whether a difference is left."""
    first, last = result.steps[0], result.steps[result.chosen]
    if last.added == 0:
        return f"No further training examples helped {quoted(result.rule_set)} without losing accuracy."
    before, after = (
        out_of((one.value or 0.0) * one.n, one.n) for one in (first.favorable_in, last.favorable_in)
    )
    left = {
        EVIDENCE: "still apart from the others",
        NO_MATERIAL: "about as often as the others",
    }.get(result.verdict, "whether a gap is left is open")
    return (
        f"With {count(last.added)} more training examples of {quoted(result.rule_set)}, {after} get the "
        f"favorable decision instead of {before}: {left}."
    )


def finding(noun: str, group: str, first: Step, last: Step, judged: Judged, looks: int) -> str:
    """Say how far the group was from the others, how far it is after training again, and what it cost."""

    def gap(step: Step) -> str:
        ends = step.difference.value, step.difference.low, step.difference.high
        value, low, high = (number(None if end is None else 100 * end) for end in ends)
        return f"{value} ({low} to {high})"

    people = first.difference.n
    begin = (
        f"On {count(people)} held-out {noun}, the favorable share of {group} "
        f"({count(first.favorable_in.n)}) differs from the others' by"
    )
    accuracy = f"{percent(first.accuracy.value, people)}"
    corrected = f", corrected for {looks} models" if looks > 1 else ""
    needed = (
        f" About {judged.people_needed:,} {noun} would give an interval short enough to settle it."
        if judged.people_needed is not None
        else ""
    )
    if last.added == 0:
        return (
            f"{begin} {gap(first)} points{corrected}; no samples made it smaller without losing accuracy "
            f"({accuracy}).{needed}"
        )
    return (
        f"{begin} {gap(first)} points; after training with {count(last.added)} samples against the trend, "
        f"by {gap(last)}{corrected}. "
        f"Accuracy {accuracy} before, {percent(last.accuracy.value, people)} after; the largest difference "
        "of any group "
        f"{number(100 * first.worst_score)} points before, {number(100 * last.worst_score)} after.{needed}"
    )
