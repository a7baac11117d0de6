"""What a report shows of a rule-set audit."""

from __future__ import annotations

import pandas as pd

from audits.records import Exhibit, Section
from audits.rule_sets import RuleSetsResult, combination_tree
from audits.rule_sets.exchanging import exchanged_frame
from audits.rule_sets.figures import leaderboard as figures
from audits.rule_sets.words import without_luck
from audits.stats.words import count, number, percent_interval

__all__ = ["section"]


def section(result: RuleSetsResult) -> Section:
    """Arrange a rule-set audit."""
    tree = combination_tree(result)
    exhibits = [
        Exhibit(
            "leaderboard",
            "Leaderboard",
            "Groups by how far their favorable share lies from everyone else's; overlapping groups are "
            "one row.",
            lambda: figures.leaderboard(result),
            result.to_frame,
        ),
        Exhibit(
            "support",
            "Support and score",
            "Every rule set by the share of people in it and its difference from everyone else.",
            lambda: figures.support_and_score(result),
            lambda: result.to_frame()[["rule set", "support", "score", "direction"]],
        ),
        Exhibit(
            "sunburst",
            "People by attribute",
            "People by one attribute, then by the next.",
            lambda: figures.sunburst(tree),
            lambda: tree.drop(columns=["id", "parent"]),
        ),
        Exhibit(
            "sweep",
            "Smallest groups looked at",
            "The largest score when only larger groups are looked at.",
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
                "On texts with the terms exchanged in",
                "The same texts with these terms and with all others in their place; filled: evidence.",
                lambda: figures.exchanged(result),
                lambda: exchanged_frame(result.exchanged),
            ),
        )
    return Section(
        title="Rule sets",
        exhibits=tuple(exhibits),
        facts=_facts(result),
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
        "Halves": f"{discovery.discovered:,} groups found on {discovery.n_first:,} people, "
        f"{discovery.confirmed:,} of them "
        f"confirmed on the other {discovery.n_second:,}",
        "First half's largest": f"{discovery.rule_set}: {number(discovery.score_first)} there, "
        f"{number(discovery.score_second.value)} ({number(discovery.score_second.low)} to "
        f"{number(discovery.score_second.high)}) on the other half",
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited",
    }
    for other in result.comparisons:
        facts[f"For comparison: {other.method}"] = (
            f"{other.group} ({count(other.n_group)}) against {other.against} ({count(other.n_against)}): "
            f"{number(other.score.value)} ({number(other.score.low)} to {number(other.score.high)}, "
            f"{other.score.method})"
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
