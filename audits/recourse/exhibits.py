"""What a report shows of a recourse audit."""

from __future__ import annotations

from audits.recourse import RecourseResult
from audits.recourse.figures import group as figures
from audits.reports.exhibits import Exhibit, Section
from audits.stats.words import count, p_words, percent_interval

__all__ = ["recourse_section"]


def recourse_section(result: RecourseResult) -> Section:
    """Arrange a recourse audit."""
    exhibits = (
        Exhibit(
            "Share of rejected people accepted as they move towards their accepted counterparts.",
            figures.reclassified(result),
            result.to_frame(),
        ),
        Exhibit(
            "Scores today and at the largest step.",
            figures.score_distribution(result, result.steps[-1]),
            result.to_frame()[["alpha", "mean score", "score low", "score high"]],
        ),
        Exhibit(
            "How far each group's people have to go until they are accepted.",
            figures.burden(result),
            result.groups_frame(),
        ),
        Exhibit("What changes on the way, on average.", figures.changes(result), result.changes_frame()),
    )
    last = result.by_alpha[-1]
    facts = {
        "Accepted at the largest step": percent_interval(last.reclassified),
        "Can be changed": ", ".join(result.columns),
        "Decision": result.outcome,
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited"
        + "".join(f"; {count(n)} {reason}" for reason, n in result.rows["left_out"].items()),
    }
    if result.burden_p_value is not None:
        facts["Burden by chance"] = f"p {p_words(result.burden_p_value)}"
    return Section(
        title="Recourse",
        question="What could rejected people change, and does one group have further to go?",
        exhibits=exhibits,
        facts=facts,
        limits=(
            "The way to a counterpart is a direction in the data, not advice: changing a column need not be "
            "possible in life, changes its neighbours, and the model may be retrained. Costs are standard "
            "deviations and category changes unless weights say otherwise."
        ),
    )
