"""What an auditor can choose in an audit of prediction sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

__all__ = ["SensitivityOptions"]


@dataclass(frozen=True, kw_only=True)
class SensitivityOptions:
    """Options of the sensitivity audit, as a spec names them.

    Attributes
    ----------
    protected : str or tuple of str, optional
        Protected attributes whose influence is measured; all by default. Each gets a model of its own, and
        a person's sensitivity is the largest of them.
    status_model : {"like", "network", "logistic"}
        The protected-status model A: like the audited one (logistic for a logistic regression, otherwise
        a network of the same width), or one of the two.
    give_protected : bool
        Let A read the protected columns themselves, where they are among the features.
    gradient : {"logit", "literal"}
        Take A's gradient at its log-odds, or at its probability as Definition 3.1 is written; the
        probability saturates and its gradient vanishes where A is sure.
    smooth : int
        Average gradients over so many draws of noise (SmoothGrad); 0 takes them at the person.
    smooth_noise : float
        Standard deviation of that noise, in standard deviations of each number.
    step : float
        Step of finite differences in standard deviations, where the model has no gradient.
    false_alarm_rate : float
        Share of the reference people that the threshold lets be flagged.
    threshold : float, optional
        A threshold of one's own instead.
    level : float
        Error rate of intervals and of the verdict.
    material : float
        Ratio of mean sensitivities of two groups that matters to the auditor.
    match_set : {"auto", "off"}
        Train the unbiased twin and hold sensitivity against it, where that is possible.
    counterfactuals : dict of str to str, optional
        Feature to the column that says what it would have been, had the person belonged to the other group:
        a known causal generator's. The match set is then made of them instead of the twin.
    bands : int
        Bands of distance from the decision threshold in which the match set is looked at.
    bootstrap : int
        Draws behind curves and feature shares.
    max_people : int, optional
        People drawn at most.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    protected: str | tuple[str, ...] | None = None
    status_model: Literal["like", "network", "logistic"] = "like"
    give_protected: bool = False
    gradient: Literal["logit", "literal"] = "logit"
    smooth: Annotated[int, Field(ge=0, le=200)] = 0
    smooth_noise: Annotated[float, Field(gt=0, le=10)] = 0.1
    step: Annotated[float, Field(gt=0, le=5)] = 0.1
    false_alarm_rate: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    threshold: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    level: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    material: Annotated[float, Field(gt=1, allow_inf_nan=False)] = 1.25
    match_set: Literal["auto", "off"] = "auto"
    counterfactuals: dict[str, str] | None = None
    bands: Annotated[int, Field(ge=1, le=50)] = 5
    bootstrap: Annotated[int, Field(ge=100, le=5000)] = 300
    max_people: Annotated[int, Field(ge=20)] | None = None
