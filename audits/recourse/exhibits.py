"""What a report shows of a recourse audit."""

from __future__ import annotations

import pandas as pd

from audits.records import Exhibit, Section
from audits.recourse.figures import groups, people
from audits.recourse.result import RecourseResult
from audits.stats.words import count, p_words, percent_interval

__all__ = ["HEADS", "section", "ways_facts", "worded"]

HEADS = {
    "alpha": "part of the way",
    "median alpha": "median part of the way",
    "reclassified": "accepted",
    "among reclassified": "among those accepted",
    "never": "never accepted",
    "change": "what to change",
    "survives": "accepted by models trained again",
    "noisy": "accepted with noise",
}
"""What heads a column on pages and in reports whose name in files is a method's."""


def worded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the headings that pages and reports have."""
    return table.rename(columns=HEADS)


def ways_facts(result: RecourseResult) -> dict[str, str]:
    """Say how many have a way, and how well the cheapest ways hold."""
    found = result.ways_summary
    if found is None:
        return {}
    facts = {"With a way": percent_interval(found.with_way)}
    if found.survives is not None:
        facts[f"Cheapest way accepted by {found.refits} models trained again"] = percent_interval(
            found.survives
        )
    if found.noisy is not None:
        facts["Cheapest way accepted when numbers miss their aim"] = percent_interval(found.noisy)
    return facts


def _ways(result: RecourseResult, table: pd.DataFrame) -> tuple[Exhibit, ...]:
    found = (
        Exhibit(
            "ways",
            "Several ways for each person",
            "Each way by its cost and by how often it is still accepted.",
            lambda: groups.ways(result),
            lambda: worded(table.reset_index()),
        ),
    )
    if not result.group_actions:
        return found
    return (
        *found,
        Exhibit(
            "group-actions",
            "One action for a whole group",
            "The cheapest action that helps nearly as many as the best one (within 5 points). Dot: share "
            "accepted among people who were not used to choose it.",
            lambda: groups.group_actions(result),
            result.group_actions_frame,
        ),
    )


def _compared(result: RecourseResult) -> tuple[Exhibit, ...]:
    """What the verdict rests on, first: burdens or shares accepted, each minus those of the others."""
    if len(result.by_group) < 2:
        return ()
    found = (
        Exhibit(
            "further",
            "How much further one group has to go",
            "Right of 0: a group has further to go than the others. Thick line: the interval that decides. "
            "Gray band: too little to matter.",
            lambda: groups.further(result),
            lambda: worded(result.groups_frame()),
        ),
        Exhibit(
            "apart",
            "Who is accepted at the last step",
            "Right of 0: more of a group are accepted than of the others. Thick line: the interval that "
            "decides. Gray band: too little to matter.",
            lambda: groups.apart(result),
            lambda: worded(result.groups_frame()),
        ),
    )
    accepted = any(row.accepted_judged == result.judged for row in result.by_group)
    return found[::-1] if accepted else found


def section(result: RecourseResult) -> Section:
    """Arrange a recourse audit."""
    exhibits: tuple[Exhibit, ...] = (
        *_compared(result),
        Exhibit(
            "reclassified",
            "Accepted on the way",
            "Share accepted as rejected people move towards their accepted match.",
            lambda: people.reclassified(result),
            lambda: worded(result.to_frame()),
        ),
        Exhibit(
            "scores",
            "Scores today and at the largest step",
            "Further right: nearer to being accepted.",
            lambda: people.score_distribution(result, result.steps[-1]),
            lambda: worded(result.to_frame()[["alpha", "mean score", "score low", "score high"]]),
        ),
        Exhibit(
            "burden",
            "How far each group has to go",
            "Further right: larger changes, on average, until a group's people are accepted.",
            lambda: groups.burden(result),
            lambda: worded(result.groups_frame()),
        ),
        Exhibit(
            "changes",
            "What changes on the way",
            "How much changes on average: to the right it grows, to the left it shrinks; its intervals hold "
            "given whom each is paired with.",
            lambda: people.changes(result),
            lambda: worded(result.changes_frame()),
        ),
    )
    if result.ways is not None:
        exhibits += _ways(result, result.ways)
    last = result.by_alpha[-1]
    facts = {
        "Accepted at the largest step": percent_interval(last.reclassified),
        "Can be changed": ", ".join(result.columns),
        "Decision": result.outcome,
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited"
        + "".join(f"; {count(n)} {reason}" for reason, n in result.rows["left_out"].items()),
    }
    facts |= ways_facts(result)
    if result.burden_p_value is not None:
        facts["Burden by chance"] = f"p {p_words(result.burden_p_value)}"
    return Section(
        title="Recourse",
        exhibits=exhibits,
        facts=facts,
    )
