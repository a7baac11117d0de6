"""What a report shows of a recourse audit."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from audits.records import Exhibit, Section
from audits.recourse.figures import groups, people
from audits.recourse.result import RecourseResult
from audits.recourse.text import near_and_far, yes_word
from audits.stats.text import number, p_words, people_in, percent, percent_interval
from audits.stats.vocabulary import vocabulary

HEADS = {
    "alpha": "part of the way",
    "median alpha": "median part of the way",
    "reclassified": "accepted",
    "among reclassified": "among those accepted",
    "never": "accepted at no step",
    "change": "what to change",
    "survives": "accepted by retrained models",
    "noisy": "accepted with noise",
}
"""What heads a column on pages and in reports whose name in files is a method's."""


def with_headings(table: pd.DataFrame, heads: Mapping[str, str] = HEADS) -> pd.DataFrame:
    """Return a table with the headings that pages and reports have."""
    return table.rename(columns={name: head.replace("accepted", yes_word()) for name, head in heads.items()})


def ways_facts(result: RecourseResult) -> dict[str, str]:
    """Say how many have a way, and how well the cheapest ways hold."""
    found = result.ways_summary
    if found is None:
        return {}
    facts = {"With a way": percent_interval(found.with_way)}
    if found.survives is not None:
        facts[f"Cheapest way {yes_word()} by {found.refits} retrained models"] = percent_interval(
            found.survives
        )
    if found.noisy is not None:
        facts[f"Cheapest way {yes_word()} with noise in the numbers"] = percent_interval(found.noisy)
    return facts


def _alternatives(result: RecourseResult, table: pd.DataFrame) -> tuple[Exhibit, ...]:
    found = (
        Exhibit(
            "ways",
            "Alternatives for each person",
            f"Dot: one way, by its cost and how often it is still {yes_word()}.",
            lambda: groups.ways(result),
            lambda: with_headings(table.reset_index()),
            tab="By group",
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
            f"{yes_word()} among people not used to choose it.",
            lambda: groups.group_actions(result),
            result.group_actions_frame,
            tab="By group",
        ),
    )


def _comparison_exhibits(result: RecourseResult) -> tuple[Exhibit, ...]:
    """What was judged: burdens and shares accepted, each minus those of the others."""
    if len(result.by_group) < 2:
        return ()
    lines = "Thick line: the interval that decides. Gray band: too little to matter."
    return (
        Exhibit(
            "further",
            "How much further one group has to go",
            f"Right of 0: further to go than the others. {lines}",
            lambda: groups.further(result),
            lambda: with_headings(result.groups_frame()),
        ),
        Exhibit(
            "apart",
            f"Who is {yes_word()} at the last step",
            f"Right of 0: more of a group are {yes_word()} than of the others. {lines}",
            lambda: groups.apart(result),
            lambda: with_headings(result.groups_frame()),
        ),
    )


def _furthest(result: RecourseResult) -> str:
    """Say how far the groups have to go on average that have least and most, and not that they differ."""
    known = [row for row in result.by_group if row.burden.value is not None]
    if len(known) < 2:
        return "How far people have to go"
    told = [f"{number(row.burden.value)} for {people_in(row.group)}" for row in near_and_far(known)]
    return f"How far people have to go on average: {told[0]} to {told[1]}"


def _needed(result: RecourseResult) -> tuple[str, str]:
    """Say how many no part of their match helps, and what the bars count."""
    words, lacking = vocabulary(), ""
    told = f"Bars: those {words.no or 'rejected'} by how many of the match's values they must take."
    if not groups.sets_sought(result):
        told = f"Bars: those {words.no or 'rejected'} by whether a step towards the match is enough."
    if len(result.people):
        lost = groups.never_helped(result)
        nobody = f"no part of their match was enough for {percent(lost, result.n_rejected)}"
        lacking = f": {nobody if lost else 'a part of their match was enough for everyone'}"
        if 1 - lost > (result.by_alpha[-1].reclassified.value or 0.0) + 1e-9:
            told = f"{told} A part helps some whom all of it does not."
        if result.never_but_reachable is not None and result.never_but_reachable.value:
            told = f"{told} The values of another {words.person} who {words.is_yes} may help."
    return lacking, f"{told} Thick line: the interval that decides."


def section(result: RecourseResult) -> Section:
    """Arrange a recourse audit."""
    last, words = result.by_alpha[-1].reclassified, vocabulary()
    at_end = [row for row in result.changes if row.alpha == result.steps[-1]]
    most = (
        max(at_end, key=lambda row: abs(row.mean_change.value or 0.0) / row.scale).feature if at_end else ""
    )
    lacking, caption = _needed(result)
    exhibits: tuple[Exhibit, ...] = (
        Exhibit(
            "needed",
            f"What it would take to be {yes_word()}{lacking}",
            caption,
            lambda: groups.changes_needed(result),
            lambda: with_headings(result.groups_frame()),
        ),
        Exhibit(
            "reclassified",
            f"{percent(last.value, result.n_rejected)} of those {words.no or 'rejected'} are "
            f"{yes_word()} at the largest step",
            f"Share {yes_word()} as they move towards their match. Bars fill beyond the "
            "cut-off. Gray line: scores today.",
            lambda: people.sliding(result),
            lambda: with_headings(result.to_frame()),
            tab="Step by step",
        ),
        Exhibit(
            "changes",
            f"{most} changes most on the way" if most else "Nothing changes on the way",
            "Bar: mean change; to the right, it grows. Intervals take the matches as given.",
            lambda: people.changes(result),
            lambda: with_headings(result.changes_frame()),
            tab="Average changes",
        ),
        Exhibit(
            "burden",
            _furthest(result),
            f"Further right: larger changes, on average, until people are {yes_word()}.",
            lambda: groups.burden(result),
            lambda: with_headings(result.groups_frame()),
            tab="By group",
        ),
        *_comparison_exhibits(result),
    )
    if result.ways is not None:
        exhibits += _alternatives(result, result.ways)
    facts = {
        "Accepted at the largest step": percent_interval(result.by_alpha[-1].reclassified),
        "Can be changed": ", ".join(result.columns),
        "Decision": result.outcome,
        "People used": result.people_used,
        "Coupling": f"{result.certificate.method}, cost {number(result.certificate.cost)}",
    }
    facts |= ways_facts(result)
    if result.burden_p_value is not None:
        facts["Burden by chance"] = f"p {p_words(result.burden_p_value)}"
    return Section(title="Recourse", exhibits=exhibits, facts=facts)
