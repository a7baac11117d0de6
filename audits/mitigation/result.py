"""What a mitigation found."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from audits.results import frame_of
from audits.stats import Estimate, RowsResult

NOT_RUN = "not run"
"""Used as the verdict of an audit that these people or this model do not allow."""


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
        Favorable share of the group minus everyone else's; the intervals of all steps hold together. Of the
        model as it was and the step chosen it reaches over all splits of the people.
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


METHODS = {
    "as it was": "as it was",
    "thresholds": "thresholds by group",
    "reweighing": "reweighing",
    "reductions": "reductions",
    "retraining": "retraining for the worst group",
}
"""Ways to treat a model, in words."""


@dataclass(frozen=True)
class FrontierPoint:
    """One model on the frontier of accuracy and gap, judged on held-out people.

    Attributes
    ----------
    name : str
        Method and strength, in words.
    method : str
        One of `METHODS`.
    strength : float
        Of thresholds and reweighing the share of the way to equal rates, of reductions the difference from
        everyone's rate that was allowed in training, of retraining the samples added.
    accuracy : Estimate
    gap : Estimate
        Largest difference between two groups' rates. The intervals of all points hold together.
    efficient : bool
        Whether no other point has at least its accuracy and at most its gap, and one of them better.
    """

    name: str
    method: str
    strength: float
    accuracy: Estimate
    gap: Estimate
    efficient: bool = True


def model_words(method: str, strength: float) -> str:
    """Return a method with its strength, in words."""
    if method == "retraining":
        return f"{METHODS[method]}, {strength:,.0f} samples"
    if method == "reductions":
        return f"{METHODS[method]}, within {100 * strength:g} points"
    return f"{METHODS[method]}, half way" if method != "as it was" and strength < 1 else METHODS[method]


@dataclass(frozen=True)
class MitigationResult(RowsResult):
    """Result of a mitigation.

    Attributes
    ----------
    rule_set, group : str
        The group with the largest score on the training rows: its rules, and its people in words.
    steps : tuple of Step
        First the model as it was, then with growing numbers of samples.
    chosen : int
        The step with the smallest score that lost at most one point of accuracy.
    splits : tuple of Estimate
        The difference at that step in each split of the people alone, the run's own first.
    frontier : tuple of FrontierPoint
        First the model as it was; empty without a protected attribute.
    frontier_by, frontier_measure : str
        Attribute and rate whose gap it is.
    best : int
        The point with the smallest gap that loses no more accuracy than was allowed.
    """

    rule_set: str
    direction: str
    steps: tuple[Step, ...]
    chosen: int
    frontier: tuple[FrontierPoint, ...] = ()
    frontier_by: str = ""
    frontier_measure: str = ""
    best: int = 0
    group: str = ""
    splits: tuple[Estimate, ...] = ()

    def frontier_frame(self) -> pd.DataFrame:
        """Return the points of the frontier as a table, in shares."""
        table = frame_of(
            self.frontier,
            {
                "model": "name",
                ("accuracy", "accuracy low", "accuracy high"): "accuracy",
                ("gap", "gap low", "gap high"): "gap",
                "efficient": "efficient",
            },
        )
        table["chosen"] = [place == self.best for place in range(len(self.frontier))]
        return table

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
