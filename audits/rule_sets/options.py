"""What an auditor can choose in a rule-set audit, beside the rules themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from audits.options import Level, Material, MaterialOn, option
from audits.subgroups.options import RuleOptions

if TYPE_CHECKING:
    from audits.data import AuditData

Measure = Literal[
    "false_positive_rate",
    "false_negative_rate",
    "precision",
    "calibration_error",
    "log_loss",
    "squared_error",
    "amount",
]
MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True, kw_only=True)
class RuleSetsOptions(RuleOptions):
    """Options of the rule-set audit, as a spec names them; those of the rules are `RuleOptions`'."""

    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    max_candidates: Annotated[
        int,
        option(
            "Largest number of rule sets to count, largest groups first. The search says so if it stops "
            "there.",
            unit="rule sets",
            ge=1,
        ),
    ] = 2_000_000
    samples: Annotated[
        int,
        option(
            "Perturbed people on each side for every sampled score (the paper's sample_thr); 0 for none.",
            unit="people",
            ge=0,
        ),
    ] = 1000
    error: Annotated[
        float,
        option(
            "Margin of the sampled score at which sampling stops (error_thr).",
            unit="as a share",
            gt=0,
            lt=1,
        ),
    ] = 0.05
    confidence: Annotated[
        float,
        option(
            "Confidence of each side's margin (the paper's δ); for their difference it is squared.",
            gt=0,
            lt=1,
        ),
    ] = 0.95
    max_samples: Annotated[
        int, option("Largest number of perturbed people to score.", unit="people", ge=1)
    ] = 500_000
    permutations: Annotated[
        int,
        option("Permutations of the decisions for simultaneous p-values and intervals.", ge=19, le=100_000),
    ] = 999
    correction: Annotated[
        Literal["max", "holm", "bh"],
        option(
            "Correction for the number of rule sets searched: permutation maximum, Holm, Benjamini-Hochberg."
        ),
    ] = "max"
    level: Level = 0.05
    tolerance: Annotated[
        float,
        option("Score that you tolerate (the paper's ξ).", unit="as a share", ge=0, lt=1),
    ] = 0.0
    material: Material = 0.10
    material_on: MaterialOn = "either"
    top: Annotated[int, option("Rows of the leaderboard.", unit="rows", ge=1, le=1000)] = 20
    overlap: Annotated[
        float,
        option(
            "Two groups count as one finding if they share at least this part of the people in either.",
            unit="as a share",
            gt=0,
            le=1,
        ),
    ] = 0.5
    leftover: Annotated[
        float,
        option(
            "A group counts as an earlier finding if, without that finding's people, less than this share"
            " of its difference is left. 0 keeps nested groups separate.",
            unit="as a share",
            ge=0,
            lt=1,
        ),
    ] = 0.5
    measures: Annotated[
        tuple[Measure, ...],
        option(
            "Errors by which to compare the same groups, besides favorable decisions. Each is tested for "
            "all groups at an equal share of the level. The first three need the label; the others also "
            "need probabilities or predicted numbers."
        ),
    ] = ()
    rank_by: Annotated[
        Literal["score", "evidence", "sampled"],
        option(
            "Order of the leaderboard: by score; by the score's distance from chance (evidence); or by "
            "the score on perturbed people or exchanged texts, as in the paper (sampled). If there are "
            "none, by score."
        ),
    ] = "score"


_MIN = 50  # people in a group of the run's search
_LEAST = 0.01  # of all
_MAX_GROUPS = 60_000
_MAX_VALUES = 20  # of a category
_NUMBERS = ("continuous", "integer", "ordinal")


def search_options(data: AuditData) -> RuleSetsOptions:
    """Return what the search looks at: every protected attribute, with the features as context.

    Three conditions at most, numbers cut at quintiles, groups of at least 50 people and 1% of all; exact
    tests, so that thousands of groups need no permutation.
    """
    context = tuple(
        name
        for name in data.features
        if name in data.frame.columns
        and name not in {*data.protected, data.label}
        and _is_context(data, name)
    )
    people = float(data.n if data.weights is None else data.weights.sum())
    return RuleSetsOptions(
        context=context,
        support=min(0.5, max(_LEAST, _MIN / max(people, 1.0))),
        depth=3,
        bins=5,
        binning="quantile",
        intervals="thresholds",
        categories="values",
        correction="holm",
        rank_by="evidence",
        permutations=19,
        max_candidates=_MAX_GROUPS,
        samples=0,
        top=10,
    )


def _is_context(data: AuditData, name: str) -> bool:
    kind = data.kinds.get(name, "categorical")
    if kind in {"text", "identifier", "datetime"}:
        return False
    return kind in _NUMBERS or data.frame[name].nunique() <= _MAX_VALUES
