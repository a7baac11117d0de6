"""What a mitigation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import frame_of, head, plain, shown
from audits.stats import Estimate, Judged, Verdict

__all__ = ["NOT_RUN", "Headline", "MitigationResult", "Step"]


NOT_RUN = "not run"
"""Stands for the verdict of an audit that these people or this model do not allow."""


@dataclass(frozen=True)
class Headline:
    """Another audit's verdict and finding on one of the models; ``not run`` and why where it cannot be."""

    audit: str
    verdict: str
    finding: str


@dataclass(frozen=True)
class Step:
    """One model: trained with `added` samples, judged on held-out people.

    Attributes
    ----------
    difference : Estimate
        Favourable share of the group minus everyone else's; the intervals of all steps hold together.
    also : tuple of Headline
        What other audits find; empty but for the model as it was and the step chosen.
    worst, worst_score : str, float
        The rule set with the largest score under this model, and that score: not corrected for having looked.
    """

    added: int
    difference: Estimate
    favorable_in: Estimate
    favorable_out: Estimate
    accuracy: Estimate
    worst: str
    worst_score: float
    also: tuple[Headline, ...]


@shown
@dataclass(frozen=True)
class MitigationResult:
    """Result of a mitigation.

    Attributes
    ----------
    rule_set : str
        The group with the largest score on the training rows.
    steps : tuple of Step
        First the model as it was, then with growing numbers of samples.
    chosen : int
        The step with the smallest score that lost at most one point of accuracy.
    """

    options: dict[str, Any]
    judged: Judged
    finding: str
    warnings: tuple[str, ...]
    rows: dict[str, Any]
    rule_set: str
    direction: str
    steps: tuple[Step, ...]
    chosen: int

    @property
    def verdict(self) -> Verdict:
        """What follows from the interval in `judged`: of what is left of the difference."""
        return self.judged.verdict

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json."""
        values = head(self) | plain(self)
        del values["judged"]
        return values

    def to_frame(self) -> pd.DataFrame:
        """Return the steps as a table."""
        return frame_of(
            self.steps,
            {
                "samples added": "added",
                ("difference", "low", "high"): "difference",
                "favorable inside": "favorable_in.value",
                "favorable outside": "favorable_out.value",
                "accuracy": "accuracy.value",
                "largest score": "worst_score",
                "largest for": "worst",
            },
        )
