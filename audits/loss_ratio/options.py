"""What an auditor can choose in a loss-ratio audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from audits.checks import Strict
from audits.options import Level, option

Compared = Literal["logistic", "mlp", "project", "sensr", "reductions"]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True)
class MisspecifiedMetric(Strict):
    """A metric that is off: one free direction is turned towards another one (Figure 1)."""

    towards: Annotated[
        dict[str, _Finite],
        option("Direction to turn towards, as coefficients by encoded feature.", min_length=1),
    ]
    turn: Annotated[
        dict[str, _Finite] | None,
        option(
            "Direction to turn, in the same form; by default the first that the metric leaves free, "
            "turned both ways."
        ),
    ] = None
    angles: Annotated[
        tuple[Annotated[float, Field(ge=-90, le=90)], ...],
        option("Angles to turn it by.", unit="degrees", min_length=1, max_length=12),
    ] = (0.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, kw_only=True)
class LossRatioOptions(Strict):
    """Options of the loss-ratio audit, as a spec names them; each states its own bounds and help."""

    sensitive: Annotated[
        tuple[str, ...] | None,
        option(
            "Protected attributes whose traces should not matter; by default all. Can also be numeric "
            "columns. A number in bins or with more than 12 values counts as a number; anything else "
            "counts by its groups."
        ),
    ] = None
    metric: Annotated[
        Literal["learned", "expert", "factor", "explore"],
        option(
            "Source of the fair metric. learned: what predicts the sensitive attributes. expert: "
            "free_features, directions or matrix. factor, explore: people who are comparable."
        ),
    ] = "learned"
    free_features: Annotated[
        tuple[str, ...], option("Features in which people may differ and still count as similar (expert).")
    ] = ()
    directions: Annotated[
        tuple[dict[str, _Finite], ...],
        option("Directions that should not matter, as coefficients by encoded feature (expert)."),
    ] = ()
    matrix: Annotated[
        tuple[tuple[_Finite, ...], ...] | None,
        option(
            "Symmetric positive semidefinite matrix of the metric over the encoded features, in which a "
            "category's column is 0 or 1 (expert)."
        ),
    ] = None
    misspecified: Annotated[
        MisspecifiedMetric | None,
        option(
            "Also test metrics that are off by some degrees: from `turn` (by default the metric's first "
            "direction) to `towards`, by `angles`."
        ),
    ] = None
    comparable: Annotated[
        str | None,
        option("Column in which equal values mark people who deserve the same treatment (factor, explore)."),
    ] = None
    factors: Annotated[
        int, option("Directions taken from the differences of comparable people (factor).", ge=1)
    ] = 2
    loss: Annotated[
        Literal["cross_entropy", "logistic", "squared"] | None,
        option(
            "Loss of a person. The first two are the same; the third is Brier's. Default: cross-entropy, "
            "or squared error, the only choice for a model that predicts a number."
        ),
    ] = None
    regularizer: Annotated[
        float, option("Price λ of moving in directions that matter.", gt=0, allow_inf_nan=False)
    ] = 50.0
    steps: Annotated[
        int | None,
        option(
            "Steps T of the flow. Default: 500, or 100 for a model that predicts a number: its squared "
            "error is unbounded, so people soon move far from anyone.",
            ge=1,
            le=100_000,
        ),
    ] = None
    step_size: Annotated[float, option("Size of the first step.", gt=0, allow_inf_nan=False)] = 0.01
    schedule: Annotated[
        Literal["constant", "decreasing"], option("Steps of constant size, or decreasing as t^(-2/3).")
    ] = "constant"
    within_range: Annotated[
        bool,
        option(
            "Keep people within the observed range of every feature. This changes the unfair map: the "
            "paper lets people move anywhere."
        ),
    ] = False
    tolerance: Annotated[
        float, option("Largest mean ratio δ that you accept.", unit="times", gt=1, allow_inf_nan=False)
    ] = 1.25
    level: Level = 0.05
    inference: Annotated[
        Literal["robust", "paper"],
        option(
            "robust: skewness-corrected and score intervals. paper: the paper's normal and delta-method "
            "intervals."
        ),
    ] = "robust"
    material: Annotated[
        float,
        option(
            "A mean ratio below this many times the tolerance is not material.",
            unit="times",
            gt=1,
            allow_inf_nan=False,
        ),
    ] = 1.25
    loss_floor: Annotated[
        float | None,
        option(
            "Smallest loss; smaller ones count as this. Default: 0 (the paper's ratio; a loss of exactly "
            "0 counts as a rounding step). If the model has no gradient or predicts a number: 0.01, "
            "because the ratio has no mean if a squared error passes through 0.",
            ge=0,
            allow_inf_nan=False,
        ),
    ] = None
    worst: Annotated[
        int,
        option(
            "Number of people, those with the largest ratios, whose moves are saved feature by feature.",
            unit="people",
            ge=1,
            le=1000,
        ),
    ] = 50
    max_people: Annotated[
        int | None, option("Largest number of people; more are sampled down to it.", unit="people", ge=10)
    ] = None
    compare: Annotated[
        tuple[Compared, ...],
        option(
            "Models retrained on several splits of the same people, for a table like the paper's Table 1."
        ),
    ] = ()
    splits: Annotated[int, option("Number of splits for `compare`.", ge=2, le=50)] = 5
    odds_slack: Annotated[
        float,
        option(
            "For reductions in `compare`: how far a group's error rates may be from everyone's.", gt=0, lt=1
        ),
    ] = 0.03
    device: Annotated[
        Literal["cpu", "cuda"],
        option("Device that computes the flow; the last digits differ between the two."),
    ] = "cpu"

    def steps_for(self, *, number: bool) -> int:
        """Steps chosen, or the usual ones of a model that predicts a number or does not."""
        return usual_steps(number=number) if self.steps is None else self.steps


def usual_steps(*, number: bool) -> int:
    """Steps by default, for a model that predicts a number or one that does not.

    Examples
    --------
    >>> usual_steps(number=False), usual_steps(number=True)
    (500, 100)
    """
    return 100 if number else 500
