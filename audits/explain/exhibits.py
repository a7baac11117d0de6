"""What is shown of an explain audit: what is left, one column level by level, and each level."""

from __future__ import annotations

from audits.explain import figures
from audits.explain.result import ExplainResult
from audits.explain.text import interval_words
from audits.records import Exhibit, Section
from audits.stats.words import people_in, percent_interval

__all__ = ["section"]


def section(result: ExplainResult) -> Section:
    """Arrange an explain audit."""
    exhibits = [
        Exhibit(
            "left",
            "What is left of the gap",
            "Difference between the groups: overall, with all columns at once, and with each column alone. "
            "The thick line decides. Dashed: fewer than 80% of the source are comparable.",
            lambda: figures.left(result),
            result.to_frame,
        )
    ]
    if result.values:
        exhibits.append(
            Exhibit(
                "values",
                f"Both groups at each level of {result.each[0].name}",
                "Favorable rate at each level. Where all dots meet, this column accounts for the gap.",
                lambda: figures.values(result),
                result.values_frame,
            )
        )
    if any(row.covered for row in result.levels):
        exhibits.append(
            Exhibit(
                "levels",
                "What is left at each level",
                "Difference with all columns adjusted for, the largest first. Lines hold together.",
                lambda: figures.levels(result),
                result.levels_frame,
            )
        )
    return Section(
        title=f"What explains the gap: {result.source} and {result.target}",
        exhibits=tuple(exhibits),
        facts={
            "Verdict": f"{result.verdict}: {interval_words(result.judged)}",
            f"Favorable among {people_in(result.source)}": percent_interval(result.source_rate),
            f"Favorable among {people_in(result.target)}": percent_interval(result.target_rate),
            "Compared on": result.together.name if result.together.columns else "no column",
            "Comparable": f"{100 * result.overlap.share:.0f}% of {people_in(result.source)}",
        },
    )
