"""What a loss-ratio audit found: plain numbers, one row a person beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from audits.loss_ratio.inference import Grounds, GroupRatio, RatioTest, RatioVerdict, stand
from audits.loss_ratio.metrics.distances import AttributeAssociation
from audits.results import frame_of
from audits.stats import INSUFFICIENT, Estimate, RowsResult
from audits.stats.means import MeanTest
from audits.stats.paired_ratio import PairedRatio

__all__ = [
    "CurvePoint",
    "FeatureMove",
    "GroupRatio",
    "Histogram",
    "LossRatioResult",
    "RatioBar",
    "RotatedMetricRatio",
]


@dataclass(frozen=True)
class CurvePoint:
    """The loss ratio after so many steps of the same flow."""

    steps: int
    statistic: float
    lower_bound: float | None


@dataclass(frozen=True)
class RotatedMetricRatio:
    """The loss ratio under the metric turned by so many degrees (Figure 1)."""

    degrees: float
    statistic: Estimate
    lower_bound: float | None


@dataclass(frozen=True)
class FeatureMove:
    """One encoded feature.

    Attributes
    ----------
    loading : float
        Share of the feature's direction that lies in the sensitive subspace, in [0, 1].
    mean_move, mean_absolute_move : float
        How far people were moved along it, in standard deviations of a number, 1 for a whole category.
    """

    feature: str
    column: str
    loading: float
    mean_move: float
    mean_absolute_move: float


@dataclass(frozen=True)
class RatioBar:
    """People whose ratio lies in [low, high)."""

    low: float
    high: float
    people: float


Histogram = tuple[RatioBar, ...]


@dataclass(frozen=True)
class PaperBounds:
    """Both lower bounds by the paper's own normal and delta-method formulas."""

    lower_bound: float | None
    error_lower_bound: float | None


@dataclass(frozen=True)
class FlooredRatio:
    """The loss ratio with losses counted as at least `floor`."""

    floor: float
    statistic: float
    lower_bound: float | None


@dataclass(frozen=True)
class MetricFacts:
    """The fair metric.

    Attributes
    ----------
    source : str
        How it came about.
    dimensions, encoded : int
        Of the sensitive subspace, and of everything.
    told : tuple of Told
        How well each sensitive attribute is told in people who were not learned from.
    """

    source: str
    dimensions: int
    encoded: int
    told: tuple[AttributeAssociation, ...] = ()


@dataclass(frozen=True)
class SearchReach:
    """How far a search without gradient went.

    Attributes
    ----------
    steps : int
        Of the first way; the second took twice as many.
    within_range : bool
        Whether numbers were kept within the observed ranges.
    outside : float
        Share of people who ended outside the range of some number.
    first, whole : float
        Mean ratio that the first way found, and both.
    """

    steps: int
    within_range: bool
    outside: float
    first: float
    whole: float


@dataclass(frozen=True, eq=False)
class LossRatioResult(RowsResult):
    """Result of a loss-ratio audit.

    Attributes
    ----------
    statistic : Estimate
        S_n, the mean ratio of a person's loss after and before the move; 1 means that it does not matter.
    lower_bound, interval, p_value, tolerance, reject
        T_n, the two-sided interval, the paper's one-sided test at the tolerance (see `RatioTest`).
    error_ratio : Tested
        The same for the ratio of misclassified shares.
    judged : Judgment
        The verdict on the mean ratio, by its two-sided interval.
    paper : PaperBounds
    floored : Floored
    loss_test, error_test, loss_ends, error_ends
        All that another tolerance needs: `at` uses nothing else. The ends are by the metrics at the ends of
        what the data allow, where directions are learned.
    method : str
        How people were moved; says so where it is an estimate.
    metric : MetricFacts
    search : SearchReach or None
        Where the model has no gradient.
    features : tuple of FeatureMove
        Sorted by their loading in the sensitive subspace.
    worst : tuple
        The user's row numbers of the largest ratios, largest first.
    comparison : tuple of dict
        One row a model compared, when asked for.
    misspecified : tuple of TurnedRatio
        Under metrics that are off, where asked for.
    people : DataFrame, indexed by the user's row number
        Label, losses and decisions before and after, ratio, squared fair distance.
    moves : DataFrame
        For the worst people, each encoded feature before and after.
    """

    statistic: Estimate
    lower_bound: float | None
    interval: tuple[float | None, float | None]
    p_value: float | None
    tolerance: float
    reject: bool
    error_ratio: RatioTest
    paper: PaperBounds
    floored: FlooredRatio
    loss_test: MeanTest
    error_test: PairedRatio
    words: Grounds
    method: str
    metric: MetricFacts
    features: tuple[FeatureMove, ...]
    curve: tuple[CurvePoint, ...]
    groups: tuple[GroupRatio, ...]
    histogram: Histogram
    worst: tuple[Any, ...]
    comparison: tuple[dict[str, Any], ...]
    people: pd.DataFrame
    moves: pd.DataFrame
    search: SearchReach | None = None
    misspecified: tuple[RotatedMetricRatio, ...] = ()
    loss_ends: tuple[MeanTest, ...] = ()
    error_ends: tuple[PairedRatio, ...] = ()

    def at(self, tolerance: float) -> LossRatioResult:
        """Return the result at another tolerance: verdict, tests and finding, without another run.

        A verdict that the run withheld stays withheld.
        """
        here, standing = self._standing(self.tolerance), self._standing(tolerance)
        judged, finding, why = standing.judged, standing.finding, self.judged.reason
        if why != here.judged.reason:
            judged = replace(judged, verdict=INSUFFICIENT, reason=why, people_needed=None)
            finding = f"No verdict: {why}. {finding}"
        return replace(
            self, judged=judged, finding=finding, error_ratio=standing.errors, **vars(standing.loss)
        )

    def _standing(self, tolerance: float) -> RatioVerdict:
        return stand(
            (self.loss_test, *self.loss_ends),
            (self.error_test, *self.error_ends),
            self.words,
            self.groups,
            tolerance=tolerance,
            level=self.options["level"],
            material=self.options["material"],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return both ratios with interval, bound and test as a table."""
        shared = {
            "lower bound": "lower_bound",
            "tolerance": "tolerance",
            "p": "p_value",
            "above the tolerance": "reject",
        }
        table = frame_of((self, self.error_ratio), {("ratio", "low", "high"): "statistic", **shared})
        table.insert(0, "ratio of", ["loss", "misclassification"])
        return table

    def curve_frame(self) -> pd.DataFrame:
        """Return the ratio by steps as a table."""
        columns = {"steps": "steps", "mean ratio": "statistic", "lower bound": "lower_bound"}
        return frame_of(self.curve, columns)

    def misspecified_frame(self) -> pd.DataFrame:
        """Return the ratio under turned metrics as a table."""
        return frame_of(
            self.misspecified,
            {
                "metric angle (degrees)": "degrees",
                ("mean ratio", "low", "high"): "statistic",
                "lower bound": "lower_bound",
            },
        )

    def groups_frame(self) -> pd.DataFrame:
        """Return the ratio by group as a table."""
        return frame_of(
            self.groups,
            {
                "attribute": "attribute",
                "group": "group",
                "people": "statistic.n",
                ("mean ratio", "low", "high"): "statistic",
            },
        )

    def features_frame(self) -> pd.DataFrame:
        """Return loadings and moves by encoded feature as a table."""
        return frame_of(
            self.features,
            {
                "feature": "feature",
                "in the sensitive subspace": "loading",
                "mean move": "mean_move",
                "mean absolute move": "mean_absolute_move",
            },
        )

    def histogram_frame(self) -> pd.DataFrame:
        """Return the distribution of ratios as a table."""
        return frame_of(self.histogram, {"from": "low", "to": "high", "people": "people"})

    def comparison_frame(self) -> pd.DataFrame:
        """Return the models compared as a table."""
        return pd.DataFrame(list(self.comparison))
