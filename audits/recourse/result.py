"""What a recourse audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import Optimum, head, plain, shown
from audits.stats import Estimate, Judged, Verdict

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
    burden_judged, accepted_judged : Judged or None
        `burden_difference`, and the share accepted at the last step minus that of the other groups' people,
        each with its verdict; all groups and both of them together.
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
    burden_judged: Judged | None = None
    accepted_judged: Judged | None = None


@shown
@dataclass(frozen=True, eq=False)
class RecourseResult:
    """Result of a recourse audit.

    Attributes
    ----------
    by_alpha : tuple of AlphaRow
        One a step.
    by_group : tuple of GroupRecourse
    judged : Judged
        The verdict with the interval that it follows from: of the most surely different one of all groups'
        burdens and shares accepted.
    burden_p_value : float or None
        Chance of groups whose mean burdens are as unlike, among those for whom some step helps, twice: shares
        accepted are looked at, too.
    never : Estimate
        Share for whom no step towards the matched counterpart flips the decision.
    never_but_reachable : Estimate or None
        Share of those who would be accepted with the actionable values of some accepted person.
    values_tried : int or None
        How many different accepted people's values that was tried with.
    gap : Estimate
        Largest minus smallest share reclassified at the last step among groups, at half the level.
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
    judged: Judged
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
    score_edges: tuple[float, ...]
    grid: tuple[float, ...]
    certificate: Optimum
    people: pd.DataFrame
    scores: pd.DataFrame
    paths: pd.DataFrame
    never: Estimate | None = None
    never_but_reachable: Estimate | None = None
    values_tried: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        values = plain(self)
        del values["judged"]
        return head(self) | values

    @property
    def verdict(self) -> Verdict:
        """What follows from the interval of `judged`."""
        return self.judged.verdict

    @property
    def people_needed(self) -> int | None:
        """About how many rejected people of a group would settle it."""
        return self.judged.people_needed

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
                    "accepted minus the others": _value(row.accepted_judged, "value"),
                    "accepted low": _value(row.accepted_judged, "low"),
                    "accepted high": _value(row.accepted_judged, "high"),
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


def _value(judged: Judged | None, part: str) -> float | None:
    found: float | None = None if judged is None else getattr(judged.interval, part)
    return found
