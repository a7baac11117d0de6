"""What a mitigation shows."""

from __future__ import annotations

from audits.mitigation import figures
from audits.mitigation.result import MitigationResult
from audits.records import Exhibit, Section
from audits.stats.badges import interval_text
from audits.stats.text import percent, percent_interval
from audits.text import begun, between, points_of, points_words


def section(result: MitigationResult) -> Section:
    """Arrange a mitigation."""
    first, last = result.steps[0], result.steps[result.chosen]
    facts = {
        "Group": f"{result.rule_set}, {result.direction} by the model as it was",
        "Accuracy": f"{percent_interval(first.accuracy)} before; {percent_interval(last.accuracy)} after",
    }
    if len(result.splits) > 1:
        facts["Gap in each split of the people"] = ", ".join(
            f"{points_of(each.value or 0.0, each.n)} ({between(each)})" for each in result.splits
        )
    for before, after in zip(first.also, last.also, strict=True):
        facts[f"{begun(before.audit.replace('_', ' '))} before"] = f"{before.verdict}: {before.finding}"
        facts[f"{begun(after.audit.replace('_', ' '))} after"] = f"{after.verdict}: {after.finding}"
    over = ", over all splits of the people" if len(result.splits) > 1 else ""
    exhibits = _frontier(result) if result.frontier else ()
    return Section(
        title="Mitigation of the worst rule set",
        exhibits=(
            Exhibit(
                "left",
                f"What is left of the gap: {interval_text(result.judged) or 'no interval'}",
                "The group's share minus the others', before and after. "
                f"Thick line: the interval that decides{over}.",
                lambda: figures.left(result),
                result.to_frame,
            ),
            Exhibit(
                "amounts",
                f"With {last.added:,} more samples: accuracy {percent_interval(last.accuracy)}",
                "The group's difference, the largest score of any group, and accuracy, by samples added.",
                lambda: figures.amounts(result),
                result.to_frame,
            ),
            *exhibits,
        ),
        facts=facts,
    )


def _frontier(result: MitigationResult) -> tuple[Exhibit, ...]:
    best = result.frontier[result.best]
    name = "the model" if best.name == "as it was" else best.name
    title = (
        f"{begun(name)} leaves a gap of {points_words(points_of(best.gap.value or 0.0, 999))} at "
        f"{percent(best.accuracy.value, 999)} correct decisions"
    )
    rate = result.frontier_measure.replace("_", " ")
    caption = (
        f"Held-out people. Across: correct decisions. Up: largest difference in {rate} between groups of "
        f"{result.frontier_by}. Lines: intervals that hold together. Line through dots: no model "
        "beats these."
    )
    draw, table = (lambda: figures.frontier(result)), result.frontier_frame
    return (Exhibit("frontier", title, caption, draw, table, tab="Accuracy and gap"),)
