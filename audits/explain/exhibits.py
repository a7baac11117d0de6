"""What is shown of an explain audit."""

from __future__ import annotations

from audits.explain import figures
from audits.explain.result import ExplainResult
from audits.explain.words import interval_words
from audits.records import Exhibit, Section
from audits.stats.words import people_in, percent_interval

__all__ = ["section"]


def section(result: ExplainResult) -> Section:
    """Arrange an explain audit."""
    exhibits = [
        Exhibit(
            "left",
            "What is left of the gap",
            "The difference among people alike in each explainer, and in the best few together; the "
            "dotted line is the whole gap. Nearer to 0: more of it goes with what the groups differ in.",
            lambda: figures.left(result),
            result.to_frame,
        )
    ]
    if result.values:
        exhibits.append(
            Exhibit(
                "values",
                f"Within each value of {result.each[0].name}",
                "Both groups among people of one value; larger dots are more people. Groups that are alike "
                "in every row and far apart in all differ in where their people are.",
                lambda: figures.values(result),
                result.values_frame,
            )
        )
    return Section(
        title=f"What explains the gap: {result.source} and {result.target}",
        exhibits=tuple(exhibits),
        facts={
            "Verdict": f"{result.verdict}: {interval_words(result.judged)}",
            f"Favorable among {people_in(result.source)}": percent_interval(result.source_rate),
            f"Favorable among {people_in(result.target)}": percent_interval(result.target_rate),
            "Taken together": result.together.name
            if result.together.columns
            else "no column: none goes with the gap beyond chance",
        },
    )
