"""What a group comparison found."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from audits.groups.by_probability import ProbableGroup
from audits.groups.metrics import METRICS
from audits.results import frame_of
from audits.stats import Estimate, RowsResult, Verdict
from audits.stats.estimate import estimate_cells, estimate_columns
from audits.stats.verdicts import AVERAGE


@dataclass(frozen=True)
class Difference:
    """One rate of a group minus the reference group's; 0 is fair, below 0 the group has less of it.

    Attributes
    ----------
    estimate : Estimate
        With the interval that the verdict follows from: all of them hold together.
    people_needed : int or None
        People in the group, its reference growing alike, from which insufficient evidence is settled.
    material : bool or None
        Whether it lies outside the limit (True), inside it (False), or neither.
    reason : str
        Why more people would not settle it.
    ratio : Estimate or None
        The two rates divided, where the limit is on it.
    decided_by : str
        ``"ratio"`` where that keeps open what the difference alone would settle; the difference otherwise. Of
        numbers the measure: ``"median"``.
    limit : float or None
        Of numbers, the smallest difference that matters, in their unit. Of rates whose limit is a ratio
        alone, the difference below the reference's rate that it comes to; above it is 1 / 0.8 times that.
    outlasts_run : bool
        Whether it is evidence that stays evidence however many audits a run has (up to 20).
    """

    estimate: Estimate
    verdict: Verdict
    people_needed: int | None
    material: bool | None = None
    reason: str = ""
    ratio: Estimate | None = None
    decided_by: str = AVERAGE
    limit: float | None = None
    outlasts_run: bool = False


@dataclass(frozen=True)
class AmountRow:
    """One group's numbers, where the outcome is numeric.

    Attributes
    ----------
    attribute, group, n, is_reference, verdict, material
        As of `GroupRow`.
    mean, median, q10, q90 : Estimate
        Of what is audited: a column of numbers, or what a model predicts; in the outcome's unit.
    residual : Estimate or None
        Mean of what turned out minus what was predicted: below 0 the group is over-predicted.
    actual : Estimate or None
        Mean of what turned out, beside predictions.
    differences : dict
        Measure to its difference from the reference group, in the outcome's unit; empty for the reference.
    relative : Estimate or None
        The difference of means as a share of the reference group's mean.
    counts : tuple of float
        People per bin of the result's `score_edges`.
    """

    attribute: str
    group: str
    n: float
    is_reference: bool
    mean: Estimate
    median: Estimate
    q10: Estimate
    q90: Estimate
    residual: Estimate | None
    actual: Estimate | None
    differences: dict[str, Difference]
    relative: Estimate | None
    verdict: Verdict | None
    material: bool | None
    counts: tuple[float, ...]

    def measure(self, name: str) -> Estimate | None:
        """Return a measure by its name; None where these data do not allow it."""
        found: Estimate | None = getattr(self, name)
        return found


@dataclass(frozen=True)
class Amounts:
    """A numeric outcome by group.

    Attributes
    ----------
    name, unit : str
        What sentences call it, and what it is counted in (empty where nobody says).
    favorable : {"high", "low"}
        Which numbers are good for the person.
    predicted : bool
        Whether the numbers are what a model predicts.
    table : tuple of AmountRow
        Every group of every attribute compared, largest first within an attribute.
    """

    name: str
    unit: str
    favorable: Literal["high", "low"]
    predicted: bool
    table: tuple[AmountRow, ...]

    @property
    def numbers(self) -> str:
        """What the numbers by group are: the outcome itself, or what a model predicts of it."""
        return f"predicted {self.name}" if self.predicted else self.name

    def of_which(self, measure: str) -> str:
        """What a measure is of: a residual is of the outcome, all others are of the numbers by group."""
        return self.name if measure.endswith("residual") else self.numbers

    def of(self, attribute: str) -> list[AmountRow]:
        """Return the groups of an attribute, largest first."""
        return [row for row in self.table if row.attribute == attribute]


@dataclass(frozen=True)
class Calibration:
    """People by predicted score: how often the label was in fact favorable."""

    edges: tuple[float, ...]
    n: tuple[float, ...]
    mean_score: tuple[float | None, ...]
    favorable_rate: tuple[Estimate, ...]


@dataclass(frozen=True)
class GroupRow:
    """One group.

    Attributes
    ----------
    attribute : str
        Protected attribute, or several joined by " × ".
    n : float
        People in the group.
    impact_ratio : Estimate
        Selection rate divided by that of the most selected group; below 0.8 breaks the four-fifths rule. The
        intervals of all groups hold together.
    verdict : Verdict or None
        Follows from the interval of one of the differences; None for the reference.
    material : bool or None
        Of evidence: whether that difference is as large as the auditor calls material.
    differences : dict
        Rate to its difference from the reference group; empty for the reference itself.
    score_counts : tuple of float
        People per bin of the score, bins as in the result's `score_edges`.
    bootstrap : dict
        ``balanced_accuracy`` again, with an interval by the bootstrap.
    added : dict
        Metrics beside ours, by name.
    pooled : dict
        Rates again, drawn towards what the attributes say of groups like this one.
    rows : dict or None
        Where rows are not one independent person each, and all `n` are effective people: by rate, how many of
        how many rows it is of; empty where they are weighted.
    """

    attribute: str
    group: str
    n: float
    is_reference: bool
    selection_rate: Estimate
    true_positive_rate: Estimate | None
    false_positive_rate: Estimate | None
    true_negative_rate: Estimate | None
    false_negative_rate: Estimate | None
    precision: Estimate | None
    accuracy: Estimate | None
    base_rate: Estimate | None
    balanced_accuracy: Estimate | None
    mean_score: Estimate
    impact_ratio: Estimate
    verdict: Verdict | None
    differences: dict[str, Difference]
    calibration: Calibration | None
    score_counts: tuple[float, ...]
    bootstrap: dict[str, Estimate] = field(default_factory=dict)
    material: bool | None = None
    added: dict[str, Estimate] = field(default_factory=dict)
    pooled: dict[str, Estimate] = field(default_factory=dict)
    rows: dict[str, tuple[int, int]] | None = None

    def metric(self, name: str) -> Estimate | None:
        """Return a metric by its name; None where these data do not allow it."""
        return self.added[name] if name in self.added else getattr(self, name, None)


@dataclass(frozen=True)
class Spread:
    """How far the groups of one attribute lie apart; 0 is fair (1 for the ratio).

    `demographic_parity_difference` is the largest minus the smallest selection rate,
    `equal_opportunity_difference` the same of true positive rates, `equalized_odds_difference` the larger
    of the spreads of true and false positive rates, `average_odds_difference` their mean.
    """

    attribute: str
    reference: str
    demographic_parity_difference: Estimate
    demographic_parity_ratio: Estimate
    equal_opportunity_difference: Estimate | None
    equalized_odds_difference: Estimate | None
    average_odds_difference: Estimate | None


@dataclass(frozen=True, eq=False)
class GroupsResult(RowsResult):
    """Result of a group comparison.

    Attributes
    ----------
    table : tuple of GroupRow
        Every group of every attribute compared, largest first within an attribute.
    spreads : tuple of Spread
        One an attribute, in the order asked for.
    people : DataFrame, indexed by the user's row number
        Score, decision, favorable label, people a row stands for, and the protected attributes: enough to
        move a threshold without a new run.
    bootstrap_seed : int
        Of the bootstrap's draws.
    simultaneous_level : float
        Error rate of each difference, so that all of them hold together.
    probable : tuple of ProbableGroup
        Groups known only by each person's probability of belonging.
    widest_attribute : str
        The one whose selection rates surely lie furthest apart: by the lower end, then by the value.
    amounts : Amounts or None
        Of a numeric outcome: `table` and `spreads` are then empty.
    """

    outcome: str
    table: tuple[GroupRow, ...]
    spreads: tuple[Spread, ...]
    score_edges: tuple[float, ...]
    people: pd.DataFrame
    bootstrap_seed: int = 0
    simultaneous_level: float | None = None
    probable: tuple[ProbableGroup, ...] = ()
    widest_attribute: str = ""
    amounts: Amounts | None = None

    @property
    def widest(self) -> Spread:
        """The attribute whose selection rates lie furthest apart; in runs of version 0.1.0 by value alone."""
        named = (each for each in self.spreads if each.attribute == self.widest_attribute)
        largest = max(self.spreads, key=lambda item: item.demographic_parity_difference.value or 0.0)
        return next(named, largest)

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; headline differences are those of the widest attribute."""
        values = super().to_json()
        names = ("demographic_parity_difference", "equalized_odds_difference", "average_odds_difference")
        if not self.spreads:
            return values | dict.fromkeys((*names, "widest_attribute"))
        widest = values["spreads"][self.spreads.index(self.widest)]
        return values | {name: widest[name] for name in names} | {"widest_attribute": widest["attribute"]}

    def to_frame(self) -> pd.DataFrame:
        """Return the table of groups, one row a group, rates with their intervals."""
        if self.amounts is not None:
            return amounts_frame(self.amounts)
        rows = []
        for item in self.table:
            row: dict[str, Any] = {"attribute": item.attribute, "group": item.group, "people": item.n}
            metrics = {METRICS.words(name): item.metric(name) for name in self.metrics}
            for words, estimate in (
                metrics | {"mean score": item.mean_score, "impact ratio": item.impact_ratio}
            ).items():
                if estimate is not None:
                    row |= estimate_cells(words, estimate)
            needs = [gap.people_needed for gap in item.differences.values() if gap.people_needed]
            row |= {"verdict": item.verdict or "reference", "people needed": max(needs, default=None)}
            rows.append(row)
        return pd.DataFrame(rows)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that some group has, further ones last."""
        known = [metric.name for metric in METRICS]
        added = dict.fromkeys(name for row in self.table for name in row.added)
        names = [*known, *(name for name in added if name not in known)]
        return tuple(name for name in names if any(row.metric(name) is not None for row in self.table))

    @property
    def further(self) -> tuple[str, ...]:
        """Names of the metrics beside the rates of decisions that have differences of their own."""
        judged = {metric.name for metric in METRICS if metric.judged}
        named = dict.fromkeys(name for row in self.table for name in row.differences)
        return tuple(name for name in named if name not in judged)

    def of(self, attribute: str) -> list[GroupRow]:
        """Return the groups of an attribute, largest first."""
        return [row for row in self.table if row.attribute == attribute]

    def differences_frame(self, attribute: str) -> pd.DataFrame:
        """Return how each group's rates, or numbers, differ from the reference's: a row a group and measure.

        The intervals hold for all groups, measures and attributes of the audit together. ``people needed``:
        in the group, its reference growing alike, for an interval short enough to settle it.
        """
        rows = self.of(attribute) if self.amounts is None else self.amounts.of(attribute)
        lines = []
        for row in rows:
            for name, gap in row.differences.items():
                what = {"rate": METRICS.words(name)} if self.amounts is None else {"measure": gap.decided_by}
                line = {"group": row.group, **what, **estimate_cells("difference", gap.estimate)}
                line |= {} if self.amounts is None else {"limit": gap.limit}
                line |= {"verdict": gap.verdict, "material": gap.material, "people needed": gap.people_needed}
                lines.append(line)
        return pd.DataFrame(lines)

    def probable_frame(self, attribute: str | None = None) -> pd.DataFrame:
        """Return the groups known by probability: estimates on terms beside bounds without them."""
        shown = [item for item in self.probable if attribute in (None, item.attribute)]
        columns: dict[Any, Any] = {
            "attribute": "attribute",
            "group": "group",
            "people expected": "n",
            estimate_columns("selection rate if"): "selection_rate",
            "at least": "bounds.low",
            "at most": "bounds.high",
        }
        if any(item.difference is not None for item in shown):
            columns[estimate_columns("difference if")] = "difference"
        columns |= {
            "difference at least": "difference_bounds.low",
            "difference at most": "difference_bounds.high",
            "verdict": lambda item: item.verdict or "reference",
        }
        return frame_of(shown, columns)

    def pooled_frame(self, attribute: str) -> pd.DataFrame:
        """Return raw rates and partially pooled ones beside them, one row a group and rate.

        Empty for two groups, which have nothing to be drawn towards.
        """
        rows = []
        for row in self.of(attribute):
            for name, again in row.pooled.items():
                raw = row.metric(name)
                if raw is not None:
                    pooled = estimate_cells("pooled", again)
                    line = {"group": row.group, "rate": METRICS[name].words, "people": raw.n}
                    rows.append(line | estimate_cells("raw", raw) | pooled)
        return pd.DataFrame(rows)

    def bootstrap_frame(self, attribute: str) -> pd.DataFrame:
        """Return both intervals of what has two, one row a group and figure; empty without a bootstrap."""
        rows = [
            {
                "group": row.group,
                "figure": name.replace("_", " "),
                **estimate_cells("value", getattr(row, name)),
                "bootstrap low": again.low,
                "bootstrap high": again.high,
            }
            for row in self.of(attribute)
            for name, again in row.bootstrap.items()
        ]
        return pd.DataFrame(rows)

    def scores_frame(self, attribute: str) -> pd.DataFrame:
        """Return how many people of each group have which score, or number, one row a group and bin."""
        bins = list(itertools.pairwise(self.score_edges))
        counts = [(row.group, row.n, row.score_counts) for row in self.of(attribute)]
        if self.amounts is not None:
            counts = [(row.group, row.n, row.counts) for row in self.amounts.of(attribute)]
        rows = [
            {"group": group, "from": low, "to": high, "people": n, "share of the group": n / people}
            for group, people, held in counts
            for (low, high), n in zip(bins, held, strict=True)
        ]
        return pd.DataFrame(rows)

    def calibration_frame(self, attribute: str) -> pd.DataFrame:
        """Return how often the label was favorable by predicted score; empty where there is none."""
        rows = []
        for row in self.of(attribute):
            found = row.calibration
            if found is None:
                continue
            lines = zip(
                itertools.pairwise(found.edges), found.n, found.mean_score, found.favorable_rate, strict=True
            )
            rows += [
                {"group": row.group, "from": low, "to": high, "people": n, "mean score": mean}
                | estimate_cells("favorable labels", rate)
                for (low, high), n, mean, rate in lines
                if n > 0
            ]
        return pd.DataFrame(rows)


def amounts_frame(amounts: Amounts, attribute: str | None = None) -> pd.DataFrame:
    """Return the numbers of groups, one row a group, with their intervals; of one attribute, or of all."""
    shown = [row for row in amounts.table if attribute in (None, row.attribute)]
    measures = {"mean": "mean", "median": "median", "10th percentile": "q10", "90th percentile": "q90"}
    if amounts.predicted and any(row.residual is not None for row in shown):
        measures |= {"mean of what turned out": "actual", "mean residual": "residual"}
    columns: dict[Any, Any] = {"attribute": "attribute", "group": "group", "people": "n"}
    columns |= {estimate_columns(words): name for words, name in measures.items()}
    return frame_of(shown, columns | {"verdict": lambda row: row.verdict or "reference"})
