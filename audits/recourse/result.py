"""What a recourse audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import Optimum, frame_of
from audits.stats import Estimate, Judgment, RowsResult

NOT_DRAWN = "not drawn into the subsample"
"""Why rejected people are left out who are more than `max_people`."""

_ACCEPTED = ("accepted minus the others", "accepted low", "accepted high")


@dataclass(frozen=True)
class AlphaRow:
    """Rejected people at one α: share decided favorably, mean score, histogram of scores (Figure 4)."""

    alpha: float
    reclassified: Estimate
    mean_score: Estimate
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Change:
    """Mean change of one actionable feature at one α (Figure A1), counterpart minus today.

    `mean_change` is over all rejected people, in the feature's own unit; of ``column=value`` it is the
    change of the value's share. `among_reclassified` is the mean over those decided favorably at this α.
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
        Share decided favorably at each of the result's steps.
    burden : Estimate
        Mean cost of the smallest change towards the counterpart that flips the decision, among those for whom
        one does: in standard deviations and category changes, times the cost weights.
    burden_difference : Estimate
        The same minus that of the other groups' people; intervals of all groups hold together.
    median_alpha : float or None
        Half of all rejected people of the group flip at this α or below; None if fewer than half flip at all.
    never : Estimate
        Share for whom no α flips the decision.
    burden_judged, accepted_judged : Judgment or None
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
    burden_judged: Judgment | None = None
    accepted_judged: Judgment | None = None


@dataclass(frozen=True)
class WaysSummary:
    """Several ways for each of some rejected people.

    Attributes
    ----------
    with_way : Estimate
        Share of the people looked at for whom a way was found.
    ways : float
        Ways a person, of those who have one.
    cost : Estimate
        Of each person's cheapest way.
    survives, noisy : Estimate or None
        Mean share of refits, and of noisy draws, that accept a person's cheapest way; None where not tried.
    refits : int
    """

    with_way: Estimate
    ways: float | None
    cost: Estimate | None
    survives: Estimate | None
    noisy: Estimate | None
    refits: int


@dataclass(frozen=True)
class GroupAction:
    """One action for all rejected people of a group.

    Attributes
    ----------
    action : str
        What each of them does: ``savings: 200 more; housing: to own``.
    n : float
        Rejected people of the group.
    tried : int
        Actions that it was picked from, on one half of them.
    coverage : Estimate
        Share of the other half whom the model accepts after it.
    cost : float or None
        Its mean cost on that half.
    """

    group: str
    action: str
    n: float
    tried: int
    coverage: Estimate
    cost: float | None


@dataclass(frozen=True, eq=False)
class RecourseResult(RowsResult):
    """Result of a recourse audit.

    Attributes
    ----------
    by_alpha : tuple of AlphaRow
        One a step.
    by_group : tuple of GroupRecourse
    judged : Judgment
        The verdict with the interval that it follows from: of the most clearly different one of all groups'
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
    ways : DataFrame or None, indexed by the user's row number
        One row a way of a person: number of the way, cost, score, what changes, the values, the share of
        refits and of noisy draws that accept it. None where no ways were asked for.
    ways_summary : WaysSummary or None
    group_actions : tuple of GroupAction
    cut_off : float or None
        Score from which people are accepted; None where thresholds differ by group.
    scores : DataFrame, indexed by the user's row number
        Score of each rejected person at each α of `grid`: a slider needs no new run.
    paths : DataFrame, indexed by the user's row number
        One row per person and step: α, score, decision, cost, and the actionable columns' values.
    """

    columns: tuple[str, ...]
    outcome: str
    n_rejected: float
    n_accepted: float
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
    ways: pd.DataFrame | None = None
    ways_summary: WaysSummary | None = None
    group_actions: tuple[GroupAction, ...] = ()
    cut_off: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        values = super().to_json()
        values.pop("ways", None)
        return values

    def to_frame(self) -> pd.DataFrame:
        """Return the share reclassified and the mean score by α."""
        return frame_of(
            self.by_alpha,
            {
                "alpha": "alpha",
                ("reclassified", "low", "high"): "reclassified",
                ("mean score", "score low", "score high"): "mean_score",
            },
        )

    def groups_frame(self) -> pd.DataFrame:
        """Return recourse by group, one row a group."""
        return frame_of(
            self.by_group,
            {
                "group": "group",
                "people": "n",
                ("reclassified", "low", "high"): lambda row: row.reclassified[-1],
                ("burden", "burden low", "burden high"): "burden",
                ("further than the others", "further low", "further high"): "burden_difference",
                _ACCEPTED: "accepted_judged.interval",
                "median alpha": "median_alpha",
                "never": "never.value",
                "fewest columns": "fewest",
            },
        )

    def group_actions_frame(self) -> pd.DataFrame:
        """Return one action a group, with its cost and coverage."""
        return frame_of(
            self.group_actions,
            {
                "group": "group",
                "people": "n",
                "action": "action",
                ("accepted", "low", "high"): "coverage",
                "of": "coverage.n",
                "cost": "cost",
                "picked from": "tried",
            },
        )

    def changes_frame(self) -> pd.DataFrame:
        """Return the mean change of each feature at each α."""
        return frame_of(
            self.changes,
            {
                "feature": "feature",
                "alpha": "alpha",
                ("mean change", "low", "high"): "mean_change",
                "among reclassified": "among_reclassified",
                "standard deviation": "scale",
            },
        )
