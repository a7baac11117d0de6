"""What an explain audit found."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pandas as pd

from audits.results import frame_of
from audits.stats import Estimate, RowsResult, Verdict
from audits.stats.verdicts import AVERAGE
from audits.text import join_names


@dataclass(frozen=True)
class Remainder:
    """The gap beside what is left of it with some columns.

    Attributes
    ----------
    columns : tuple of str
        One explainer, or all of them together.
    explained, unexplained, unsupported : Estimate
        Parts that add up to the gap. What is left (`unexplained`) is the mean, over source people with
        comparable target people, of their outcome minus what target people with the same values get;
        `unsupported` comes of source people without comparable target people.
    as_target, as_both : float or None
        What is left with levels weighted by target people, and by both groups (Kitagawa); of one column.
    source_covered : float
        Share of the source with comparable target people.
    kind : {"", "reversed", "about 0 within"}
        Whether, where the gap is sure, what is left goes the other way by every weighting, or is immaterial.
    """

    columns: tuple[str, ...]
    explained: Estimate
    unexplained: Estimate
    unsupported: Estimate
    source_covered: float = 1.0
    as_target: float | None = None
    as_both: float | None = None
    kind: str = ""

    @property
    def name(self) -> str:
        """The columns in words."""
        return join_names(self.columns, most=len(self.columns)) if self.columns else "nothing"


@dataclass(frozen=True)
class Amount:
    """A numeric outcome.

    Attributes
    ----------
    name, unit : str
        What sentences call it, and what it is counted in (empty where nobody says).
    predicted : bool
        Whether the numbers are what a model predicts.
    limit : float
        Smallest difference that matters, in the unit.
    """

    name: str
    unit: str
    predicted: bool
    limit: float

    @property
    def of_which(self) -> str:
        """What it is in words: ``predicted wage``."""
        return f"predicted {self.name}" if self.predicted else self.name


@dataclass(frozen=True)
class LevelRow:
    """What is left among people of one level of an explainer, all explainers adjusted for.

    Attributes
    ----------
    n : float
        Comparable source people.
    difference : Estimate
        Simultaneous over all levels that are covered; without ends where it is not.
    covered : bool
        Whether it holds at least 10% and 50 of the source, 80% of them comparable.
    """

    attribute: str
    level: str
    n: float
    difference: Estimate
    verdict: Verdict
    covered: bool = True


@dataclass(frozen=True)
class Overlap:
    """Source people with comparable target people.

    Attributes
    ----------
    share : float
    thin : tuple of (attribute, level, share)
        Levels in which fewer of them have any, the fewest first.
    """

    share: float = 1.0
    thin: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True)
class FeaturePart:
    """A feature's part of the gap in mean score.

    Attributes
    ----------
    part : Estimate
        Above 0: the feature, as the model uses it, lifts the source's scores above the target's. Corrected
        for the number of features.
    monte_carlo : float
        Standard error that random orders and pairs leave; part of what the interval allows for.
    """

    feature: str
    part: Estimate
    monte_carlo: float


@dataclass(frozen=True)
class Attribution:
    """Which features carry the gap in mean score, by Shapley's value.

    Attributes
    ----------
    gap : Estimate
        The source's mean score minus the target's; the parts add up to its value.
    features : tuple of FeaturePart
        All that the model reads, the largest part first.
    rounds : int
        Times that everyone was paired again.
    n_source, n_target : float
        People that it is of: a random sample of large groups.
    """

    gap: Estimate
    features: tuple[FeaturePart, ...]
    rounds: int
    n_source: float
    n_target: float


def without(found: Attribution, most: int) -> Attribution:
    """Return the largest parts, and the rest as one without an interval."""
    if len(found.features) <= most + 1:  # one alone has its own name
        return found
    rest = sum(each.part.value or 0.0 for each in found.features[most:])
    many = len(found.features) - most
    other = FeaturePart(f"{many} other features", Estimate(rest, None, None, found.gap.n, "sum"), 0.0)
    return dataclasses.replace(found, features=(*found.features[:most], other))


@dataclass(frozen=True)
class ValueRow:
    """Both groups at one level of the explainer that changes the gap most."""

    value: str
    source_people: float
    target_people: float
    source_rate: float | None
    target_rate: float | None
    difference: Estimate


@dataclass(frozen=True, eq=False)
class ExplainResult(RowsResult):
    """Result of an explain audit.

    Attributes
    ----------
    gap : Estimate
        The source's favorable share minus the target's; of a numeric outcome, its mean minus the target's.
    amount : Amount or None
        A numeric outcome: all differences are in its unit.
    judged : Judgment
        Follows from what is left with all explainers, on average and at their levels.
    each : tuple of Explained
        Every explainer alone, by its levels, the one that changes the gap most first; intervals corrected
        for their number.
    together : Explained
        All explainers at once.
    values : tuple of ValueRow
        Levels of the first of `each`.
    levels : tuple of LevelRow
    overlap : Overlap
    attribution : Attribution or None
        Of the gap in mean score to features, where it was asked for.
    """

    source: str
    target: str
    outcome: str
    n_source: float
    n_target: float
    gap: Estimate
    source_rate: Estimate
    target_rate: Estimate
    each: tuple[Remainder, ...]
    together: Remainder
    values: tuple[ValueRow, ...]
    levels: tuple[LevelRow, ...] = ()
    overlap: Overlap = Overlap()
    attribution: Attribution | None = None
    amount: Amount | None = None

    @property
    def scale(self) -> float:
        """What differences are shown times: shares in points, numbers as they are."""
        return 100.0 if self.amount is None else 1.0

    def to_frame(self) -> pd.DataFrame:
        """Return what is left with all explainers, and with each alone, as a table."""
        table = frame_of(
            (self.together, *self.each),
            {
                "explainer": "name",
                ("left", "low", "high"): "unexplained",
                "explained": "explained.value",
                "without comparable people": "unsupported.value",
                "left, weighted as the target": "as_target",
                "left, weighted as both": "as_both",
                "source covered": "source_covered",
            },
        )
        table.insert(1, "taken", ["all together", *["alone"] * len(self.each)])
        if self.judged.decided_by == AVERAGE:
            return table
        interval = self.judged.interval
        ends = dict(zip(("left", "low", "high"), (interval.value, interval.low, interval.high), strict=True))
        decides = pd.DataFrame([{"explainer": self.judged.decided_by, "taken": "all together", **ends}])
        return pd.concat([decides, table], ignore_index=True)

    def attribution_frame(self) -> pd.DataFrame:
        """Return each feature's part of the gap in mean score, and the gap; empty where nobody asked."""
        if self.attribution is None:
            return pd.DataFrame()
        table = frame_of(
            self.attribution.features,
            {"feature": "feature", ("part", "low", "high"): "part", "Monte Carlo error": "monte_carlo"},
        )
        gap = self.attribution.gap
        whole = {"feature": "gap in mean score", "part": gap.value, "low": gap.low, "high": gap.high}
        return pd.concat([table, pd.DataFrame([whole])], ignore_index=True)

    def levels_frame(self) -> pd.DataFrame:
        """Return what is left at each level as a table."""
        columns = {
            "column": "attribute",
            "level": "level",
            "people": "n",
            ("left", "low", "high"): "difference",
            "verdict": "verdict",
            "covered": "covered",
        }
        return frame_of(self.levels, columns)

    def values_frame(self) -> pd.DataFrame:
        """Return both groups at each level of the first explainer as a table."""
        return frame_of(
            self.values,
            {
                "level": "value",
                "source people": "source_people",
                "source rate": "source_rate",
                "target people": "target_people",
                "target rate": "target_rate",
                ("difference", "low", "high"): "difference",
            },
        )
