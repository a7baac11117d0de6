"""What an explain audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import frame_of, head, plain, shown
from audits.stats import Estimate, Judged, Verdict

__all__ = ["ExplainResult", "Explained", "ValueRow"]


@dataclass(frozen=True)
class Explained:
    """The gap within the values of some columns.

    Attributes
    ----------
    columns : tuple of str
        One explainer, or several together.
    explained, unexplained, unsupported : Estimate
        Parts that add up to the gap; see `audits.explain.decomposing.GapParts`.
    reweighted : Estimate
        What is left when the target is reweighted to the source's composition.
    distance, by_chance, within_p : float
        Mean size of the differences within cells, what chance alone gives, and the p-value.
    source_covered, target_covered : float
        Share of each group who have people alike in the other.
    kind : {"", "reversed", "about 0 within"}
        Whether what is left goes the other way, or is immaterial where the gap is sure.
    """

    columns: tuple[str, ...]
    explained: Estimate
    unexplained: Estimate
    unsupported: Estimate
    reweighted: Estimate
    distance: float
    by_chance: float
    within_p: float
    source_covered: float
    target_covered: float
    kind: str = ""

    @property
    def name(self) -> str:
        """The columns in words."""
        return " and ".join(self.columns) if self.columns else "nothing"


@dataclass(frozen=True)
class ValueRow:
    """Both groups among people of one value of the explainer that shrinks the gap most."""

    value: str
    source_people: float
    target_people: float
    source_rate: float | None
    target_rate: float | None
    difference: Estimate


@shown
@dataclass(frozen=True, eq=False)
class ExplainResult:
    """Result of an explain audit.

    Attributes
    ----------
    gap : Estimate
        The source's favourable share minus the target's.
    judged : Judged
        Follows from what is left with the best few explainers together, on people they were not chosen on.
    each : tuple of Explained
        Every explainer alone, the one that shrinks the gap most first; intervals corrected for their number.
    together : Explained
        The best few, on the half of the people that they were not chosen on.
    values : tuple of ValueRow
        Values of the first of `each`.
    """

    options: dict[str, Any]
    source: str
    target: str
    outcome: str
    judged: Judged
    finding: str
    warnings: tuple[str, ...]
    n_source: float
    n_target: float
    rows: dict[str, Any]
    gap: Estimate
    source_rate: Estimate
    target_rate: Estimate
    each: tuple[Explained, ...]
    together: Explained
    values: tuple[ValueRow, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict, which follows from ``judged.interval``."""
        return self.judged.verdict

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json."""
        values = {**plain(self), **head(self)}
        del values["judged"]
        return values

    def to_frame(self) -> pd.DataFrame:
        """Return every explainer, and the best few together, as a table: one row each."""
        table = frame_of(
            (self.together, *self.each),
            {
                "explainer": "name",
                ("left", "low", "high"): "unexplained",
                "explained": "explained.value",
                "without people alike": "unsupported.value",
                "left, reweighted": "reweighted.value",
                "differences within": "distance",
                "by chance": "by_chance",
                "p within": "within_p",
                "source covered": "source_covered",
                "target covered": "target_covered",
                "kind": "kind",
            },
        )
        table.insert(1, "taken", ["together, other half", *["alone"] * len(self.each)])
        return table

    def values_frame(self) -> pd.DataFrame:
        """Return both groups within each value of the first explainer as a table."""
        return frame_of(
            self.values,
            {
                "value": "value",
                "source people": "source_people",
                "source rate": "source_rate",
                "target people": "target_people",
                "target rate": "target_rate",
                ("difference", "low", "high"): "difference",
            },
        )
