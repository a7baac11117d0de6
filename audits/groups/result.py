"""What a group comparison found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import plain, shown
from audits.stats import Estimate, Verdict

__all__ = ["Calibration", "Difference", "GroupRow", "GroupsResult", "Spread"]


@dataclass(frozen=True)
class Difference:
    """One rate of a group minus the reference group's; 0 is fair, below 0 the group has less of it."""

    estimate: Estimate
    verdict: Verdict
    people_needed: int | None


@dataclass(frozen=True)
class Calibration:
    """People by predicted score: how often the label was in fact favourable."""

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
        Selection rate divided by that of the most selected group; below 0.8 breaks the four-fifths rule.
    differences : dict
        Rate to its difference from the reference group; empty for the reference itself.
    score_counts : tuple of float
        People per bin of the score, bins as in the result's `score_edges`.
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


@shown
@dataclass(frozen=True, eq=False)
class GroupsResult:
    """Result of a group comparison.

    Attributes
    ----------
    table : tuple of GroupRow
        Every group of every attribute compared, largest first within an attribute.
    spreads : tuple of Spread
        One an attribute, in the order asked for.
    people : DataFrame, indexed by the user's row number
        Score, decision, favourable label, people a row stands for, and the protected attributes: enough to
        move a threshold without a new run.
    """

    options: dict[str, Any]
    outcome: str
    verdict: Verdict
    finding: str
    warnings: tuple[str, ...]
    rows: dict[str, Any]
    table: tuple[GroupRow, ...]
    spreads: tuple[Spread, ...]
    score_edges: tuple[float, ...]
    people: pd.DataFrame

    @property
    def widest(self) -> Spread:
        """The attribute whose selection rates lie furthest apart."""
        return max(self.spreads, key=lambda item: item.demographic_parity_difference.value or 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; headline differences are those of the widest attribute."""
        values = plain(self)
        widest = values["spreads"][self.spreads.index(self.widest)]
        names = ("demographic_parity_difference", "equalized_odds_difference", "average_odds_difference")
        return values | {name: widest[name] for name in names} | {"widest_attribute": widest["attribute"]}

    def to_frame(self) -> pd.DataFrame:
        """Return the table of groups, one row a group, rates with their intervals."""
        rows = []
        for item in self.table:
            row: dict[str, Any] = {"attribute": item.attribute, "group": item.group, "people": item.n}
            for name in (
                "selection_rate",
                "true_positive_rate",
                "false_positive_rate",
                "precision",
                "accuracy",
                "balanced_accuracy",
                "base_rate",
                "mean_score",
                "impact_ratio",
            ):
                estimate = getattr(item, name)
                if estimate is not None:
                    words = name.replace("_", " ")
                    row |= {
                        words: estimate.value,
                        f"{words} low": estimate.low,
                        f"{words} high": estimate.high,
                    }
            rows.append(row | {"verdict": item.verdict or "reference"})
        return pd.DataFrame(rows)
