"""The sentences of a mitigation: the first one for everyone, and the finding with its numbers."""

from __future__ import annotations

from audits.mitigation.result import MitigationResult, Step
from audits.stats import EVIDENCE, NO_MATERIAL, Judgment
from audits.stats.text import count, number, out_of, percent
from audits.stats.vocabulary import vocabulary
from audits.subgroups.attributes import quote_rule_set
from audits.text import cut_words, of_people, shortest


def headline(result: MitigationResult) -> str:
    """Say what the training did for the group, and whether a difference is left."""
    first, last = result.steps[0], result.steps[result.chosen]
    whole = result.group or quote_rule_set(result.rule_set)  # runs saved earlier have no words for it
    names = [cut_words(whole, most) for most in (99, 9, 6, 4)]
    if last.added == 0:
        return shortest(
            *(
                f"No further training examples narrowed the gap of {name} without losing accuracy."
                for name in names
            )
        )
    sides = (first.favorable_in, last.favorable_in)
    before, after = (of_people(out_of((one.value or 0.0) * one.n, one.n)) for one in sides)
    left = {EVIDENCE: "still apart from the others", NO_MATERIAL: "about as often as the others"}.get(
        result.verdict, "we can't tell whether a gap is left"
    )
    words = vocabulary()
    are = words.is_yes if after.startswith("1 of") else words.are_yes
    end = f"{after} {are} instead of {before.split(' of ')[0]}: {left}."
    return shortest(*(f"With {count(last.added)} more training examples of {name}, {end}" for name in names))


def finding(noun: str, group: str, first: Step, last: Step, judged: Judgment, looks: tuple[int, int]) -> str:
    """Say how far the group was from the others, how far it is after training again, and what it cost.

    `looks` is over how many models, and how many splits of the people, the intervals hold.
    """

    def gap(step: Step) -> str:
        found = step.difference
        if found.value is None or found.low is None or found.high is None:
            return "in a share that cannot be compared with the others'"
        below = found.value < 0
        ends = (-found.value, -found.high, -found.low) if below else (found.value, found.low, found.high)
        value, low, high = (number(100 * end) for end in ends)
        return f"{value} points {'less' if below else 'more'} often than the others ({low} to {high})"

    people, own = first.difference.n, count(first.favorable_in.n)
    begin = f"On {count(people)} held-out {noun}, {group} ({own}) {vocabulary().are_yes}"
    accuracy = f"{percent(first.accuracy.value, people)}"
    models, splits = looks
    corrected = f", corrected for {models} models" if models > 1 else ""
    corrected += f", over {splits} splits of the {noun}" if splits > 1 else ""
    needed = (
        f" About {judged.people_needed:,} {judged.people_of or noun} would make the interval short enough to "
        "settle it."
        if judged.people_needed is not None
        else ""
    )
    if last.added == 0:
        return (
            f"{begin} {gap(first)}{corrected}; no number of samples made the gap smaller without losing "
            f"accuracy ({accuracy}).{needed}"
        )
    return (
        f"{begin} {gap(first)}; after training with {count(last.added)} samples against the trend, "
        f"{gap(last)}{corrected}. "
        f"Accuracy {accuracy} before, {percent(last.accuracy.value, people)} after; the largest difference "
        "of any group "
        f"{number(100 * first.worst_score)} points before, {number(100 * last.worst_score)} after.{needed}"
    )
