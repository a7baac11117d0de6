"""What a report shows of a rule-set audit."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import pandas as pd

from audits.records import Exhibit, Section
from audits.rule_sets import RuleSetsResult, combination_tree, group_neighbours
from audits.rule_sets.figures import around as near
from audits.rule_sets.figures import leaderboard as figures
from audits.rule_sets.figures import rows
from audits.rule_sets.leaders.contributions import contributions_of, lattice
from audits.rule_sets.perturbation.terms import exchanged_frame
from audits.rule_sets.result import Discovery
from audits.rule_sets.text import GroupNames, without_luck
from audits.stats import EVIDENCE
from audits.stats.text import estimate_text, number, people, percent_interval, several
from audits.stats.vocabulary import vocabulary
from audits.text import begun

SAID = {
    "exchanged": (
        "The same texts with the terms exchanged",
        "Favorable with these terms minus with others in their place, in points. Gray: may be chance.",
    ),
    "neighbours": (
        "One rule away",
        "Difference from the others without one of its rules, or with one value more or less.",
    ),
    "conditions": (
        "What each condition adds",
        "Each condition's part of the difference from the others, in points. The parts add up to it.",
    ),
    "lattice": (
        "Broader and narrower groups",
        "From one condition to one more than the group has. Each line adds a condition.",
    ),
    "profile": (
        "How its people differ from the others",
        "In all other columns, largest difference first. Right: they have more.",
    ),
    "support": (
        "All groups searched",
        "Share of people across, difference from the others up and down. Low and left: small and worse off.",
    ),
    "sunburst": (
        "Where they are among all people",
        "Each ring adds an attribute. Orange: less often than the others. Dark: more often.",
    ),
    "sweep": (
        "What larger groups alone would show",
        "Where the line falls steeply, only small groups stand out.",
    ),
}
"""The heading and caption of each figure."""


def section(result: RuleSetsResult) -> Section:
    """Arrange a rule-set audit."""
    yes, sure = vocabulary().share_yes, sum(row.verdict == EVIDENCE for row in result.leaderboard)
    many = several(len(result.leaderboard), "group")
    names = GroupNames(result)
    exhibits = [
        Exhibit(
            "leaderboard",
            f"{sure:,} of {many} {'differs' if sure == 1 else 'differ'} by more than chance"
            if sure
            else "No group differs by more than chance",
            f"Bar: {yes} less often (left) or more often than the others, points. ✓: found on one half of "
            "the people and confirmed on the other.",
            lambda: figures.leaderboard(result, most=5),
            result.to_frame,
        ),
        *(
            Exhibit(
                each.measure,
                each.name,
                each.finding,
                partial(near.by_measure, each, names),
                each.to_frame,
            )
            for each in result.measures
        ),
        *_around(result, names),
        Exhibit(
            "support",
            f"Of {several(result.n_distinct, 'group')} searched, the largest difference is "
            f"{number(100 * result.top_score)} points",
            SAID["support"][1],
            lambda: figures.support_and_score(result),
            lambda: result.to_frame()[["rule set", "support", "difference", "direction"]],
        ),
        Exhibit(
            "sunburst",
            *SAID["sunburst"],
            lambda: figures.sunburst(combination_tree(result)),
            lambda: combination_tree(result).drop(columns=["id", "parent"]),
        ),
        Exhibit("sweep", *SAID["sweep"], lambda: figures.sweep(result), lambda: _sweep(result)),
    ]
    if result.exchanged is not None and result.exchanged.rows:
        exhibits.insert(
            1,
            Exhibit(
                "exchanged",
                *SAID["exchanged"],
                lambda: figures.exchanged_terms(result),
                lambda: exchanged_frame(result.exchanged),
            ),
        )
    return Section(title="Rule sets", exhibits=tuple(exhibits), facts=_facts(result))


def around(result: RuleSetsResult, number: int, measure: str | None = None) -> tuple[Exhibit, ...]:
    """Return what a group is made of: its conditions, the groups one rule away, broader and narrower ones.

    Parameters
    ----------
    number : int
        Row of the rule set in the table ``rule_sets``.
    measure : str, optional
        One of the result's measures of error; favorable decisions where it is left out.
    """
    names = GroupNames(result)
    whole = measure is None or next(each.share for each in result.measures if each.measure == measure)
    scale = 100.0 if whole else 1.0  # shares are drawn in points
    return (
        Exhibit(
            "conditions",
            *SAID["conditions"],
            lambda: near.conditions(contributions_of(result, number, measure), names, scale=scale),
            lambda: contributions_of(result, number, measure),
            tab="apart",
        ),
        Exhibit(
            "neighbours",
            *SAID["neighbours"],
            lambda: rows.neighbours(group_neighbours(result, number), names),
            lambda: group_neighbours(result, number),
            tab="apart",
        ),
        Exhibit(
            "lattice",
            *SAID["lattice"],
            lambda: near.lattice(lattice(result, number, measure), names, scale=scale),
            lambda: lattice(result, number, measure).drop(columns="broader"),
            tab="apart",
        ),
    )


def _around(result: RuleSetsResult, names: GroupNames) -> tuple[Exhibit, ...]:
    """Return what the first finding is made of, said of whom it is."""
    if not result.leaderboard:
        return ()
    first = result.leaderboard[0]
    who = names(first.rule_set)
    return tuple(
        replace(each, caption=f"{begun(who)}. {each.caption}") for each in around(result, first.number)
    )


def _sweep(result: RuleSetsResult) -> pd.DataFrame:
    columns = ["support", "rule sets", "different groups", "largest for", "score"]
    rows = [(row.support, row.n_frequent, row.n_distinct, row.rule_set, row.score) for row in result.sweep]
    return pd.DataFrame(rows, columns=columns)


def _points(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return "no value"
    return f"{number(100 * share)} points"


def _halves(found: Discovery) -> str:
    """Say how many groups were found on a half of the people and confirmed on the other."""
    if not found.discovered:
        return f"no group found on {people(found.n_first)}, none to confirm on the other {found.n_second:,}"
    return (
        f"{several(found.discovered, 'group')} found on {people(found.n_first)}, {found.confirmed:,} of them "
        f"confirmed on the other {found.n_second:,}"
    )


def _facts(result: RuleSetsResult) -> dict[str, str]:
    discovery = result.discovery
    facts = {
        "Favorable among everyone": percent_interval(result.favorable),
        "Rule sets": f"{result.n_candidates:,} by definition, {result.n_frequent:,} of them frequent, "
        f"{result.n_distinct:,} different groups of people",
        "Correction": f"{result.inference['words']}, {result.inference['permutations']:,} permutations; "
        f"a group needs |z| above {number(result.inference['critical'])}",
        "Largest score": f"{number(100 * result.top_score)} points; {without_luck(result)}",
        "Halves": _halves(discovery),
        "First half's largest": f"{discovery.rule_set}: {_points(discovery.score_first)} there, "
        f"{estimate_text(discovery.score_second, 100, ' points')} on the other half",
        **{each.name: each.finding.removeprefix(f"{each.name}: ") for each in result.measures},
        "People used": result.people_used,
    }
    if result.sampling is not None:
        facts["Perturbed people"] = (
            f"{result.sampling['people']:,}, one of {len(result.sampling['columns'])} attributes changed a "
            "little; largest "
            f"margin {number(100 * result.sampling['largest_margin'])} points at "
            f"{100 * result.sampling['confidence']:.4g}% "
            "confidence"
        )
    return facts
