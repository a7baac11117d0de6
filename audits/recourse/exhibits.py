"""What a report shows of a recourse audit."""

from __future__ import annotations

from audits.records import Exhibit, Section
from audits.recourse import figures as figures
from audits.recourse.result import RecourseResult
from audits.stats.words import count, p_words, percent_interval

__all__ = ["section"]


def section(result: RecourseResult) -> Section:
    """Arrange a recourse audit."""
    exhibits = (
        Exhibit(
            "reclassified",
            "Accepted on the way",
            "Share of rejected people accepted as they move towards their accepted counterparts.",
            lambda: figures.reclassified(result),
            result.to_frame,
        ),
        Exhibit(
            "scores",
            "Scores today and at the largest step",
            "Scores today and at the largest step.",
            lambda: figures.score_distribution(result, result.steps[-1]),
            lambda: result.to_frame()[["alpha", "mean score", "score low", "score high"]],
        ),
        Exhibit(
            "burden",
            "How far each group has to go",
            "How far each group's people have to go until they are accepted.",
            lambda: figures.burden(result),
            result.groups_frame,
        ),
        Exhibit(
            "apart",
            "Who is accepted at the last step",
            "Each group's share accepted minus that of the others, and how much is said not to matter.",
            lambda: figures.apart(result),
            result.groups_frame,
        ),
        Exhibit(
            "changes",
            "What changes on the way",
            "What changes on the way, on average.",
            lambda: figures.changes(result),
            result.changes_frame,
        ),
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
        exhibits=exhibits,
        facts=facts,
    )
