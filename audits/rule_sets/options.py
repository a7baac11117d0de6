"""What an auditor can choose in a rule-set audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

__all__ = ["RuleSetsOptions"]

Edges = tuple[Annotated[float, Field(allow_inf_nan=False)], ...]
Share = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True, kw_only=True)
class RuleSetsOptions:
    """Options of the rule-set audit, as a spec names them.

    Attributes
    ----------
    protected : tuple of str, optional
        Protected attributes that rules may constrain; all of the data's by default.
    text : str, optional
        Column of text: rules then say which identity term a text holds, and `protected` is not used.
    terms : dict of category to terms, optional
        Identity terms; by default the 48 terms in 4 categories of the paper's Table 1.
    context : tuple of str
        Ordinary columns that may narrow a group further; a rule set has at least one protected rule.
    support : float
        Smallest share of people that a group must have (the paper's theta).
    bins : int, or dict of attribute to int or edges
        Bins of a continuous attribute (the paper's K = 10); the data's own bins come first.
    binning : {"width", "quantile"}
        Bins of equal width, as in the paper, or with equally many people.
    categories : {"subsets", "values"}
        Rules on a category: every proper subset of its values, as in the paper, or single values.
    intervals : {"runs", "thresholds", "bins"}
        Rules on bins: every run of adjacent ones, as in the paper; one-sided thresholds; or single bins.
    depth : int, optional
        Most rules in a rule set; any number by default.
    max_candidates : int
        Rule sets counted before the search stops, largest groups first, and says so.
    samples : int
        Perturbed people a side behind every sampled score (the paper's sample_thr); 0 leaves them out.
    error : float
        Margin of the sampled score at which sampling stops (error_thr).
    confidence : float
        Confidence of each side's margin (the paper's delta); of their difference it is the square.
    max_samples : int
        Perturbed people scored at most.
    permutations : int
        Permutations of the decisions behind simultaneous p-values and intervals.
    correction : {"max", "holm", "bh"}
        Correction for how many rule sets were looked at: permutation maximum, Holm, Benjamini-Hochberg.
    level : float
        Error rate of the whole family.
    tolerance : float
        Score that the auditor tolerates (the paper's xi).
    material : float
        Smallest difference of shares that matters to the auditor: power is stated for it.
    top : int
        Rows of the leaderboard.
    overlap : float
        Share of people in common (of those in either) from which two groups are one finding.
    leftover : float
        A group that keeps less than this share of its difference without the people of an earlier finding
        is that finding too; 0 leaves nested groups apart.
    rank_by : {"score", "evidence"}
        Order of the leaderboard: by score, as in the paper, or by the score's distance from chance.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    protected: tuple[str, ...] | None = None
    text: str | None = None
    terms: dict[str, tuple[str, ...]] | None = None
    context: tuple[str, ...] = ()
    support: Annotated[float, Field(gt=0, le=1)] = 0.05
    bins: Annotated[int, Field(ge=2, le=100)] | dict[str, Annotated[int, Field(ge=2, le=100)] | Edges] = 10
    binning: Literal["width", "quantile"] = "width"
    categories: Literal["subsets", "values"] = "subsets"
    intervals: Literal["runs", "thresholds", "bins"] = "runs"
    depth: Annotated[int, Field(ge=1)] | None = None
    max_candidates: Annotated[int, Field(ge=1)] = 2_000_000
    samples: Annotated[int, Field(ge=0)] = 1000
    error: Share = 0.05
    confidence: Share = 0.95
    max_samples: Annotated[int, Field(ge=1)] = 500_000
    permutations: Annotated[int, Field(ge=19, le=100_000)] = 999
    correction: Literal["max", "holm", "bh"] = "max"
    level: Share = 0.05
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    material: Share = 0.10
    top: Annotated[int, Field(ge=1, le=1000)] = 20
    overlap: Annotated[float, Field(gt=0, le=1)] = 0.5
    leftover: Annotated[float, Field(ge=0, lt=1)] = 0.5
    rank_by: Literal["score", "evidence"] = "score"
