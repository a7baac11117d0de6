"""What a recourse audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import plain, shown
from audits.stats import Estimate, Verdict

__all__ = ["AlphaRow", "Change", "GroupRecourse", "RecourseResult"]


@dataclass(frozen=True)
class AlphaRow:
    """Rejected people at one α: share decided favourably, mean score, histogram of scores (Figure 4)."""

    alpha: float
    reclassified: Estimate
    mean_score: Estimate
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Change:
    """Mean change of one actionable feature at one α (Figure A1), counterpart minus today.

    `mean_change` is over all rejected people, in the feature's own unit; of ``column=value`` it is the
    change of the value's share. `among_reclassified` is the mean over those decided favourably at this α.
    `scale` is one standard deviation of the feature; 1 for shares.
    """

    feature: str
    column: str
    alpha: float
    mean_change: Estimate
    among_reclassified: float | None
    scale: float = 1.0


@dataclass(frozen=True)
class GroupRecourse:
    """Recourse of one group of rejected people.

    Attributes
    ----------
    reclassified : tuple of Estimate
        Share decided favourably at each of the result's steps.
    burden : Estimate
        Mean cost of the smallest change towards the counterpart that flips the decision, among those for whom
        one does: in standard deviations and category changes, times the cost weights.
    burden_difference : Estimate
        The same minus that of the other groups' people; intervals of all groups hold together.
    median_alpha : float or None
        Half of all rejected people of the group flip at this α or below; None if fewer than half flip at all.
    never : Estimate
        Share for whom no α flips the decision.
    fewest : float or None
        Mean of the fewest columns that must take their value at α = 1, among those for whom some do.
    """

    group: str
    n: float
    reclassified: tuple[Estimate, ...]
    burden: Estimate
    burden_difference: Estimate
    median_alpha: float | None
    never: Estimate
    fewest: float | None


@shown
@dataclass(frozen=True, eq=False)
class RecourseResult:
    """Result of a recourse audit.

    Attributes
    ----------
    by_alpha : tuple of AlphaRow
        One a step.
    by_group : tuple of GroupRecourse
    burden_p_value : float or None
        Chance of groups as unlike in how far they have to go (ranks; who never flips ranks last).
    gap : Estimate
        Largest minus smallest share reclassified at the last step among groups.
    score_edges : tuple of float
        Bins of the scores' histograms.
    grid : tuple of float
        All α that were scored.
    people : DataFrame, indexed by the user's row number
        Group, score, smallest α that flips (missing: none does), its cost, fewest columns and their names.
    scores : DataFrame, indexed by the user's row number
        Score of each rejected person at each α of `grid`: a slider needs no new run.
    paths : DataFrame, indexed by the user's row number
        One row a person and step: α, score, decision, cost, and the actionable columns' values.
    """

    options: dict[str, Any]
    columns: tuple[str, ...]
    outcome: str
    verdict: Verdict
    finding: str
    warnings: tuple[str, ...]
    n_rejected: float
    n_accepted: float
    rows: dict[str, Any]
    steps: tuple[float, ...]
    by_alpha: tuple[AlphaRow, ...]
    by_group: tuple[GroupRecourse, ...]
    changes: tuple[Change, ...]
    gap: Estimate
    burden_p_value: float | None
    people_needed: int | None
    score_edges: tuple[float, ...]
    grid: tuple[float, ...]
    certificate: dict[str, Any]
    people: pd.DataFrame
    scores: pd.DataFrame
    paths: pd.DataFrame

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        return plain(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the share reclassified and the mean score by α."""
        return pd.DataFrame(
            [
                {
                    "alpha": row.alpha,
                    "reclassified": row.reclassified.value,
                    "low": row.reclassified.low,
                    "high": row.reclassified.high,
                    "mean score": row.mean_score.value,
                    "score low": row.mean_score.low,
                    "score high": row.mean_score.high,
                }
                for row in self.by_alpha
            ]
        )

    def groups_frame(self) -> pd.DataFrame:
        """Return recourse by group, one row a group."""
        return pd.DataFrame(
            [
                {
                    "group": row.group,
                    "people": row.n,
                    "reclassified": row.reclassified[-1].value,
                    "low": row.reclassified[-1].low,
                    "high": row.reclassified[-1].high,
                    "burden": row.burden.value,
                    "burden low": row.burden.low,
                    "burden high": row.burden.high,
                    "further than the others": row.burden_difference.value,
                    "further low": row.burden_difference.low,
                    "further high": row.burden_difference.high,
                    "median alpha": row.median_alpha,
                    "never": row.never.value,
                    "fewest columns": row.fewest,
                }
                for row in self.by_group
            ]
        )

    def changes_frame(self) -> pd.DataFrame:
        """Return the mean change of each feature at each α."""
        return pd.DataFrame(
            [
                {
                    "feature": row.feature,
                    "alpha": row.alpha,
                    "mean change": row.mean_change.value,
                    "low": row.mean_change.low,
                    "high": row.mean_change.high,
                    "among reclassified": row.among_reclassified,
                    "standard deviation": row.scale,
                }
                for row in self.changes
            ]
        )
