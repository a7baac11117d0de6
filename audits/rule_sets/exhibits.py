"""What a report shows of a rule-set audit."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from audits.mining.attributes import quoted
from audits.records import Exhibit, Section
from audits.rule_sets import RuleSetsResult, combination_tree
from audits.rule_sets.figures import leaderboard as figures
from audits.rule_sets.perturbed.exchanging import exchanged_frame
from audits.rule_sets.ranking.contributions import contributions_of, lattice
from audits.rule_sets.result import Discovery
from audits.rule_sets.words import without_luck
from audits.stats.words import count, number, people, percent_interval, several, stated

__all__ = ["SAID", "section"]

SAID = {
    "leaderboard": (
        "Groups that differ most",
        "Left: the favorable decision less often than others. Thick line: the interval that decides. Pale: "
        "may be chance. Overlapping groups share a row.",
    ),
    "support": (
        "All groups that were looked at",
        "Low and left: small groups that get the favorable decision far less often than others.",
    ),
    "sunburst": (
        "Where they sit among all people",
        "Each ring adds an attribute. Orange: the favorable decision less often than everyone else.",
    ),
    "sweep": (
        "What larger groups alone would show",
        "Where the line falls steeply, only small groups stand out.",
    ),
    "exchanged": (
        "On texts with the terms exchanged in",
        "The same texts with these terms, and with other terms in their place. Filled: evidence.",
    ),
    "neighbours": (
        "One rule away",
        "The same without one of its rules, or with a value more or less: what drives the difference.",
    ),
    "conditions": (
        "What each condition adds",
        "Each condition's part of the difference from everyone else. The parts add up to it.",
    ),
    "lattice": (
        "Broader and narrower groups",
        "From one condition to one more than the group has; a line adds a condition.",
    ),
    "profile": (
        "How its people differ from the others",
        "In all other columns, the largest difference on top; to the right they have more.",
    ),
    "comparisons": (
        "What other methods find in the same decisions",
        "The first finding beside what other methods find. Farther right: a larger difference.",
    ),
}
"""What stands above each figure: a heading, and what to see."""


def section(result: RuleSetsResult) -> Section:
    """Arrange a rule-set audit."""
    tree = combination_tree(result)
    exhibits = [
        Exhibit(
            "leaderboard",
            *SAID["leaderboard"],
            lambda: figures.leaderboard(result),
            result.to_frame,
        ),
        *(
            Exhibit(
                each.measure,
                each.name,
                each.finding,
                partial(figures.by_measure, each),
                each.to_frame,
            )
            for each in result.measures
        ),
        *_around(result),
        Exhibit(
            "support",
            *SAID["support"],
            lambda: figures.support_and_score(result),
            lambda: result.to_frame()[["rule set", "support", "difference", "direction"]],
        ),
        Exhibit(
            "sunburst",
            *SAID["sunburst"],
            lambda: figures.sunburst(tree),
            lambda: tree.drop(columns=["id", "parent"]),
        ),
        Exhibit(
            "sweep",
            *SAID["sweep"],
            lambda: figures.sweep(result),
            lambda: pd.DataFrame(
                [
                    (row.support, row.n_frequent, row.n_distinct, row.rule_set, row.score)
                    for row in result.sweep
                ],
                columns=["support", "rule sets", "different groups", "largest for", "score"],
            ),
        ),
    ]
    if result.exchanged is not None and result.exchanged.rows:
        exhibits.insert(
            1,
            Exhibit(
                "exchanged",
                *SAID["exchanged"],
                lambda: figures.exchanged(result),
                lambda: exchanged_frame(result.exchanged),
            ),
        )
    return Section(
        title="Rule sets",
        exhibits=tuple(exhibits),
        facts=_facts(result),
    )


def _around(result: RuleSetsResult) -> tuple[Exhibit, ...]:
    """What the first finding is made of: its conditions, and the broader and narrower groups."""
    if not result.leaderboard:
        return ()
    first = result.leaderboard[0]
    shares, near = contributions_of(result, first.number), lattice(result, first.number)
    return (
        Exhibit(
            "conditions",
            "What each condition adds",
            f"How the difference of {quoted(first.rule_set)} is made up; the parts add up to it.",
            lambda: figures.conditions(shares),
            lambda: shares,
        ),
        Exhibit(
            "lattice",
            "Broader and narrower groups",
            "From one condition to one more than the first finding has; a line adds a condition.",
            lambda: figures.lattice(near),
            lambda: near.drop(columns="broader"),
        ),
    )


def _points(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return "no value"
    return f"{number(100 * share).replace('-', '−')} points"


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
        f"{stated(discovery.score_second, 100, ' points')} on the other half",
        **{each.name: each.finding.removeprefix(f"{each.name}: ") for each in result.measures},
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited",
    }
    for other in result.comparisons:
        facts[f"For comparison: {other.method}"] = (
            f"{other.group} ({count(other.n_group)}) against {other.against} ({count(other.n_against)}): "
            f"{stated(other.score, 100, ' points')}; {other.score.method}"
        )
    if result.sampling is not None:
        facts["Perturbed people"] = (
            f"{result.sampling['people']:,}, one of {len(result.sampling['columns'])} attributes changed a "
            "little; largest "
            f"margin {number(100 * result.sampling['largest_margin'])} points at "
            f"{100 * result.sampling['confidence']:.4g} % "
            "confidence"
        )
    return facts
