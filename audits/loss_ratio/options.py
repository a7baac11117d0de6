"""What an auditor can choose in a loss-ratio audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from audits.options import Level, option

Compared = Literal["logistic", "mlp", "project", "sensr", "reductions"]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True)
class MisspecifiedMetric:
    """A metric that is off: one free direction is turned towards another one (Figure 1)."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    towards: Annotated[
        dict[str, _Finite],
        option("Direction towards which it is turned, as coefficients by encoded feature.", min_length=1),
    ]
    turn: Annotated[
        dict[str, _Finite] | None,
        option(
            "Direction that is turned, likewise; by default the first that the metric lets move freely, both "
            "ways."
        ),
    ] = None
    angles: Annotated[
        tuple[Annotated[float, Field(ge=-90, le=90)], ...],
        option("By how much it is turned.", unit="degrees", min_length=1, max_length=12),
    ] = (0.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, kw_only=True)
class LossRatioOptions:
    """Options of the loss-ratio audit, as a spec names them; each states its own bounds and help."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    sensitive: Annotated[
        tuple[str, ...] | None,
        option(
            "Protected attributes whose traces should not matter, all by default; also columns of "
            "numbers. A number in bins or with more than 12 values counts as a number, others by their "
            "groups."
        ),
    ] = None
    metric: Annotated[
        Literal["learned", "expert", "factor", "explore"],
        option(
            "Source of the fair metric: what predicts the sensitive attributes; free_features, directions "
            "or matrix; or people who are comparable."
        ),
    ] = "learned"
    free_features: Annotated[
        tuple[str, ...], option("Features in which people may differ and still count as alike (expert).")
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
            "Test again under metrics that are off by some degrees: two directions of any model, `turn` "
            "(the metric's first by default) and `towards`, and the `angles`."
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
            "Loss of a person; the first two are the same, the third is Brier's. Default: cross-entropy; "
            "squared error for a model that predicts a number, for which there is no other."
        ),
    ] = None
    regularizer: Annotated[
        float, option("Price λ of moving in directions that matter.", gt=0, allow_inf_nan=False)
    ] = 50.0
    steps: Annotated[
        int | None,
        option(
            "Steps T of the flow. Default: 500; 100 for a model that predicts a number, because its "
            "squared error is unbounded and people soon move far from anyone.",
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
        float,
        option("Largest mean ratio δ that the auditor accepts.", unit="times", gt=1, allow_inf_nan=False),
    ] = 1.25
    level: Level = 0.05
    inference: Annotated[
        Literal["robust", "paper"],
        option(
            "Skewness-corrected and score intervals, or the paper's own normal and delta-method intervals."
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
            "Losses count as at least this: by default 0 (the paper's ratio; a loss of exactly 0 counts as a "
            "rounding step), and 0.01 where the model has no gradient or predicts a number: a squared error "
            "that passes through 0 has a ratio without a mean.",
            ge=0,
            allow_inf_nan=False,
        ),
    ] = None
    worst: Annotated[
        int,
        option(
            "Number of people with the largest ratios whose moves are kept, feature by feature.",
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
    splits: Annotated[int, option("Those splits.", ge=2, le=50)] = 5
    odds_slack: Annotated[
        float,
        option(
            "For the reductions among them: how far a group's error rates may be from everyone's.", gt=0, lt=1
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
