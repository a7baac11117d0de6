"""What changing one word did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import frame_of
from audits.stats import Estimate, RowsResult


@dataclass(frozen=True, eq=False)
class SwapRow:
    """One group with one value exchanged for another.

    Attributes
    ----------
    attribute, source, target : str
        What is changed, from which value, to which. Several attributes changed together are joined by " × ".
    group : str
        Whose it is changed: everyone with the value, or those of them with other protected values.
    where : dict of str to str
        The values of protected attributes that make the group.
    n : float
        People; under a design as many independent ones as would carry the same information.
    read : bool
        Whether the model, or a threshold, reads the attribute; where not, all of this is exact.
    before, after : Estimate
        Share with the favorable decision, as they are and changed.
    gained, lost, changed : Estimate
        Shares whose decision becomes favorable, unfavorable, and either.
    net : Estimate
        Gained minus lost; simultaneous over all rows of what the model reads.
    mean_score_change : Estimate
        On the scale of the user's scores.
    p_value : float
        Of the exact sign test, corrected for all rows; 1 where the interval holds 0.
    within : bool
        Whether it is a part of those with the value.
    covered : bool
        Whether it is large enough for an all-clear to hold for it.
    counted : bool
        Whether its rows are people that can be counted: not where they are weighted, or several a person.
    """

    attribute: str
    source: str
    target: str
    group: str
    where: dict[str, str]
    n: float
    read: bool
    before: Estimate
    after: Estimate
    gained: Estimate
    lost: Estimate
    changed: Estimate
    net: Estimate
    mean_score_change: Estimate
    p_value: float = 1.0
    within: bool = False
    covered: bool = True
    counted: bool = True

    @property
    def key(self) -> tuple[str, str, str]:
        """What is changed."""
        return self.attribute, self.source, self.target

    @property
    def name(self) -> str:
        """What `Judgment.decided_by` calls it."""
        return f"{self.attribute}: {self.source} → {self.target}, {self.group}"

    def people(self, share: Estimate) -> float:
        """Return how many people a share of them is."""
        return self.n * float(share.value or 0.0)


@dataclass(frozen=True, eq=False)
class AttributeSwapResult(RowsResult):
    """Result of changing one word.

    Attributes
    ----------
    judged : Judgment
        By the net share of the group that decides, or by the share of decisions changed in it.
    swaps : tuple of SwapRow
    pairs, pairs_asked : int
        Pairs of values that there are, and those that were asked about.
    people : DataFrame, indexed by the user's row number
        The change that moves each person most: ``attribute``, ``from``, ``to``, ``score``, ``score_after``,
        ``decision``, ``decision_after``; those whose decision changes first, the most moved before others.
        Then the groups of each, and the decision with every value asked about.
    """

    swaps: tuple[SwapRow, ...]
    pairs: int
    pairs_asked: int
    people: pd.DataFrame

    @property
    def deciding(self) -> SwapRow:
        """The row that the verdict rests on."""
        name = self.judged.decided_by.removeprefix("changed: ")
        return next((row for row in self.swaps if row.name == name), self.swaps[0])

    @property
    def by_changed(self) -> bool:
        """Whether the verdict rests on the share of decisions changed, not on the net share."""
        return self.judged.decided_by != self.deciding.name

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; people stay beside it."""
        values = super().to_json()
        for row in values["swaps"]:
            row["from"], row["to"] = row.pop("source"), row.pop("target")
        return values

    def to_frame(self) -> pd.DataFrame:
        """Return the groups as a table."""
        return frame_of(
            self.swaps,
            {
                "attribute": "attribute",
                "from": "source",
                "to": "target",
                "group": "group",
                "people": "n",
                ("net share", "low", "high"): "net",
                "gained": "gained.value",
                "lost": "lost.value",
                ("changed", "changed low", "changed high"): "changed",
                "favorable before": "before.value",
                "favorable after": "after.value",
                "mean score change": "mean_score_change.value",
            },
        )
