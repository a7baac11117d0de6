"""What an auditor can choose in an audit of prediction sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from audits.checks import Strict
from audits.options import Level, option


@dataclass(frozen=True, kw_only=True)
class SensitivityOptions(Strict):
    """Options of the sensitivity audit, as a spec names them; each states its own bounds and help."""

    protected: Annotated[
        str | tuple[str, ...] | None,
        option(
            "Protected attributes whose influence is measured; by default all. For each, a model learns "
            "to predict it from the features. A person's sensitivity is the largest over attributes."
        ),
    ] = None
    status_model: Annotated[
        Literal["like", "network", "logistic"],
        option(
            "The protected-status model A. like: the same kind as the audited network, or, if that is not"
            " a network, one with two hidden layers of 64. Or name the kind: network, logistic."
        ),
    ] = "like"
    give_protected: Annotated[
        bool,
        option("Let A read the protected columns themselves, if they are among the features."),
    ] = False
    gradient: Annotated[
        Literal["logit", "literal"],
        option(
            "Gradient of A's log-odds (logit), or of its probability as in Definition 3.1 (literal), "
            "which vanishes where A is sure."
        ),
    ] = "logit"
    smooth: Annotated[
        int,
        option(
            "Noise draws over which gradients are averaged (SmoothGrad); 0 uses only the person's own "
            "gradient.",
            ge=0,
            le=200,
        ),
    ] = 0
    smooth_noise: Annotated[
        float,
        option("Standard deviation of that noise.", unit="standard deviations of each number", gt=0, le=10),
    ] = 0.1
    step: Annotated[
        float,
        option(
            "Step of finite differences, if the model has no gradient.",
            unit="standard deviations",
            gt=0,
            le=5,
        ),
    ] = 0.1
    false_alarm_rate: Annotated[
        float, option("Share of the reference people above the threshold.", gt=0, lt=0.5)
    ] = 0.05
    threshold: Annotated[float | None, option("A custom threshold instead.", ge=0, allow_inf_nan=False)] = (
        None
    )
    level: Level = 0.05
    material: Annotated[
        float,
        option(
            "Smallest ratio of two groups' mean sensitivities that matters to you.",
            unit="times",
            gt=1,
            allow_inf_nan=False,
        ),
    ] = 1.25
    match_set: Annotated[
        Literal["auto", "off"],
        option(
            "Compare sensitivity with an unbiased twin if one can be trained, or with true "
            "counterfactuals if the data have them."
        ),
    ] = "auto"
    counterfactuals: Annotated[
        dict[str, str] | None,
        option(
            "For each feature, the column with what it would have been in the other group, from a known "
            "causal model. The match set then uses these instead of the twin."
        ),
    ] = None
    bands: Annotated[
        int,
        option(
            "Number of bands of distance from the decision threshold in which the match set is evaluated.",
            ge=1,
            le=50,
        ),
    ] = 5
    bootstrap: Annotated[int, option("Bootstrap draws for curves and feature shares.", ge=100, le=5000)] = 300
    max_people: Annotated[
        int | None, option("Largest number of people; more are sampled down to it.", unit="people", ge=20)
    ] = None
