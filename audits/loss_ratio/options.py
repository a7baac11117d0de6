"""What an auditor can choose in a loss-ratio audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

__all__ = ["Compared", "LossRatioOptions", "usual_steps"]

Compared = Literal["logistic", "mlp", "project", "sensr", "reductions"]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True)
class LossRatioOptions:
    """Options of the loss-ratio audit, as a spec names them.

    Attributes
    ----------
    sensitive : tuple of str, optional
        Protected attributes whose traces should not matter, all of them by default; also columns of numbers
        that are not protected. A number that is cut into bins or takes more than 12 values counts as a
        number (its least-squares direction), other attributes by their groups.
    metric : {"learned", "expert", "factor", "explore"}
        Where the fair metric comes from: what predicts the sensitive attributes; `free_features`,
        `directions` or `matrix`; or people who are `comparable`.
    free_features : tuple of str
        Features in which people may differ and be alike all the same (expert).
    directions : tuple of dict
        Directions that should not matter, as coefficients by encoded feature (expert).
    matrix : tuple of tuples, optional
        Symmetric positive semidefinite matrix of the metric over the encoded features, in which a
        category's column is 0 or 1 (expert).
    comparable : str, optional
        Column whose equal values mark people who deserve the same treatment (factor, explore).
    factors : int
        Directions taken from the differences of comparable people (factor).
    loss : {"cross_entropy", "logistic", "squared"}, optional
        Loss of a person; the first two are the same, the third is Brier's. By default cross-entropy, and
        squared error for a model that predicts a number, which knows no other.
    regularizer : float
        λ, the price of squared fair distance.
    steps : int, optional
        Steps T of the flow. By default 500, and 100 for a model that predicts a number: its squared error
        has no bound, so that people gather speed and are soon far from anyone.
    step_size, schedule
        Size of the steps, constant or falling as t^(-2/3).
    within_range : bool
        Put people back into the observed range of every encoded feature after each step; changes Φ.
    tolerance : float
        δ > 1, the largest mean ratio that the auditor accepts.
    level : float
        Error rate of intervals and of the test.
    inference : {"robust", "paper"}
        Skewness-corrected and score intervals, or the paper's normal and delta-method ones.
    material : float
        The audit is silent only if it would have seen a mean ratio of this many times the tolerance.
    loss_floor : float, optional
        Losses count as at least this. By default 0 (the paper's ratio; a loss of exactly 0 counts as a
        rounding step), and 0.01 where the model has no gradient or predicts a number: a squared error that
        passes through 0 has a ratio without a mean.
    worst : int
        People of the largest ratios whose moves are kept feature by feature.
    max_people : int, optional
        People drawn at most.
    compare : tuple of str
        Models trained anew on `splits` splits of the same people, for a table like the paper's Table 1.
    splits : int
        Those splits.
    odds_slack : float in (0, 1)
        How far the reductions among them let a group's error rates lie from everybody's.
    device : {"cpu", "cuda"}
        Where the flow is computed; digits differ between the two.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    sensitive: tuple[str, ...] | None = None
    metric: Literal["learned", "expert", "factor", "explore"] = "learned"
    free_features: tuple[str, ...] = ()
    directions: tuple[dict[str, _Finite], ...] = ()
    matrix: tuple[tuple[_Finite, ...], ...] | None = None
    comparable: str | None = None
    factors: Annotated[int, Field(ge=1)] = 2
    loss: Literal["cross_entropy", "logistic", "squared"] | None = None
    regularizer: _Positive = 50.0
    steps: Annotated[int, Field(ge=1, le=100_000)] | None = None
    step_size: _Positive = 0.01
    schedule: Literal["constant", "decreasing"] = "constant"
    within_range: bool = False
    tolerance: Annotated[float, Field(gt=1, allow_inf_nan=False)] = 1.25
    level: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    inference: Literal["robust", "paper"] = "robust"
    material: Annotated[float, Field(gt=1, allow_inf_nan=False)] = 1.25
    loss_floor: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    worst: Annotated[int, Field(ge=1, le=1000)] = 50
    max_people: Annotated[int, Field(ge=10)] | None = None
    compare: tuple[Compared, ...] = ()
    splits: Annotated[int, Field(ge=2, le=50)] = 5
    odds_slack: Annotated[float, Field(gt=0, lt=1)] = 0.03
    device: Literal["cpu", "cuda"] = "cpu"

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
