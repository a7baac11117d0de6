"""What an audit of prediction sensitivity found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import frame_of
from audits.sensitivity.match_sets.sets import MatchSet
from audits.sensitivity.measurement.status_models import StatusQuality
from audits.stats import Estimate, RowsResult


@dataclass(frozen=True)
class Baseline:
    """Sensitivity of the reference people: what a monitor holds new people against.

    Attributes
    ----------
    mean : Estimate
    quantiles : dict of str to Estimate
        ``"0.5"`` and so on.
    deviation : float
    zeros : float
        Share of people whose sensitivity is exactly 0.
    """

    mean: Estimate
    quantiles: dict[str, Estimate]
    deviation: float
    zeros: float


@dataclass(frozen=True)
class GroupSensitivity:
    """One group: mean sensitivity, how many times everyone else's that is, and how many are flagged.

    `ratio` is that of the mean over several cross-fits, with an interval that holds their spread and is
    corrected for all groups looked at; 1 is no difference, above 1 says that this group's predictions depend
    more on what tells the groups apart. `spread` is the standard deviation of its logarithm over the
    cross-fits.
    """

    attribute: str
    group: str
    n: float
    mean: Estimate
    ratio: Estimate
    flagged: Estimate
    spread: float = 0.0


@dataclass(frozen=True)
class FeatureShare:
    """A feature's part of all sensitivity, with an interval that holds for all features together."""

    feature: str
    mean: float
    share: Estimate
    share_flagged: float | None


@dataclass(frozen=True)
class Histogram:
    """People by sensitivity: counts per bin for everyone and for each group (``attribute: group``).

    The last bin holds everyone above its lower edge.
    """

    edges: tuple[float, ...]
    people: tuple[float, ...]
    groups: dict[str, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class SensitivityResult(RowsResult):
    """Result of a sensitivity audit.

    Attributes
    ----------
    judged : Judgment
        The verdict on the groups, by the corrected interval of the one that it rests on.
    method : str
        How gradients were taken, in words.
    estimated : bool
        Whether finite differences stand in for the model's gradient.
    status : tuple of StatusQuality
        The protected-status models, on people they have not seen; areas are the mean of all cross-fits.
    baseline : Baseline
    threshold : Estimate
        Sensitivity above which a person is flagged.
    false_alarm_rate : float
        Share of the reference people above it.
    above : float
        Reference people above it.
    flagged : Estimate
        Their share.
    groups : tuple of GroupSensitivity
    by_feature : tuple of FeatureShare
        Largest first.
    match_set : MatchSet or None
    match_set_note : str
        Why there is none; empty otherwise.
    people : DataFrame, indexed by the user's row number
        Sensitivity, flagged, score, decision, |grad F|, distance from the threshold; where there is a match
        set, the decisions behind it: of the twin and of a model trained anew, or on the counterfactuals.
    contributions : DataFrame, indexed alike
        Parts of each person's sensitivity by feature.
    reads : tuple of str
        Columns that F or an A reads: what a monitor must be sent.
    status_groups : dict of str to list of str
        Values that each protected-status model tells apart, in the order of its classes.
    encoding : list of dict
        How raw rows become points; with `parameters` all that a monitor needs.
    parameters : DataFrame
        Every weight of F (where it is a network) and of each A, in order.
    carried : dict or None
        Where F has no gradient, what a monitor asks instead of weights (a model file, or trees as arrays), or
        under ``refused`` why it cannot.
    profile : dict or None
        Counts of the people audited that a monitor holds new people against.
    direct : tuple of str
        Protected attributes on which decisions depend directly: the model reads them, or thresholds do.
    """

    protected: tuple[str, ...]
    method: str
    estimated: bool
    model: dict[str, Any]
    status: tuple[StatusQuality, ...]
    baseline: Baseline
    threshold: Estimate
    false_alarm_rate: float
    above: float
    flagged: Estimate
    groups: tuple[GroupSensitivity, ...]
    by_feature: tuple[FeatureShare, ...]
    histogram: Histogram
    match_set: MatchSet | None
    match_set_note: str
    reads: tuple[str, ...]
    status_groups: dict[str, list[str]]
    encoding: list[dict[str, Any]]
    people: pd.DataFrame
    contributions: pd.DataFrame
    parameters: pd.DataFrame
    carried: dict[str, Any] | None = None
    profile: dict[str, Any] | None = None
    direct: tuple[str, ...] = ()

    @property
    def unwatchable(self) -> str:
        """Why no monitor can be made of this audit, a sentence; empty where one can."""
        if self.threshold.value is None or self.rows["used"] < 2:
            return "There are too few people for a threshold."
        if not self.estimated:
            return ""
        if self.carried is None:
            return "The audit was made before monitors could include such models; run it again."
        return str(self.carried.get("refused", ""))

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; people, weights and encoding stay beside it."""
        values = super().to_json()
        del values["encoding"], values["carried"], values["profile"]
        values["flagged"] = {"size": values.pop("above"), "share": values["flagged"]}
        return values

    def to_frame(self) -> pd.DataFrame:
        """Return the groups as a table."""
        return frame_of(
            self.groups,
            {
                "attribute": "attribute",
                "group": "group",
                "people": "n",
                ("mean", "low", "high"): "mean",
                ("times everyone else's", "times low", "times high"): "ratio",
                ("share flagged", "flagged low", "flagged high"): "flagged",
            },
        )

    def features_frame(self) -> pd.DataFrame:
        """Return the features' parts as a table."""
        return frame_of(
            self.by_feature,
            {
                "feature": "feature",
                "mean contribution": "mean",
                ("share", "low", "high"): "share",
                "share among flagged": "share_flagged",
            },
        )

    def histogram_frame(self) -> pd.DataFrame:
        """Return the histogram as a table, one row a bin."""
        edges = self.histogram.edges
        return pd.DataFrame(
            {"from": edges[:-1], "to": edges[1:], "people": self.histogram.people, **self.histogram.groups}
        )

    def calibration_frame(self) -> pd.DataFrame:
        """Return stated and observed probabilities of each protected-status model, as a table."""
        bins = [(each.attribute, item) for each in self.status for item in each.calibration]
        table = frame_of(
            (item for _, item in bins),
            {"stated": "stated", ("observed", "low", "high"): "observed", "people": "observed.n"},
        )
        table.insert(0, "attribute", [attribute for attribute, _ in bins])
        return table
