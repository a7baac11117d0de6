"""What an auditor can choose in a group comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from audits.checks import Strict
from audits.options import Level, Material, MaterialAmount, MaterialOn, MeasureAsked, option

Scikit = Literal[
    "average_precision_score",
    "brier_score_loss",
    "cohen_kappa_score",
    "f1_score",
    "jaccard_score",
    "log_loss",
    "matthews_corrcoef",
    "roc_auc_score",
]
"""Metrics of scikit-learn that options may name."""


@dataclass(frozen=True, kw_only=True)
class GroupsOptions(Strict):
    """Options of the groups audit, as a spec names them."""

    later: ClassVar[dict[str, Any]] = {  # draws as before they were options
        "material_amount": "5%",
        "measure": None,
        "metrics": [],
        "limits": {},
        "classes": False,
    }

    by: Annotated[
        tuple[str | tuple[str, ...], ...] | None,
        option(
            "What to group by: an attribute, or a list of attributes for their intersection. By default "
            "every protected attribute and, if there are several, the intersection of all."
        ),
    ] = None
    reference: Annotated[
        dict[str, Any] | None,
        option(
            "For each attribute, the value that others are compared with; the largest group by default, of "
            "equally large ones the one of the highest rate, or with the best amounts."
        ),
    ] = None
    by_probability: Annotated[
        dict[str, dict[str, str]],
        option(
            "Groups known only by probability: for each attribute and group, the column with each "
            "person's probability of belonging to it."
        ),
    ] = field(default_factory=dict)
    proxy_error: Annotated[
        float,
        option(
            "How far those probabilities may be off, in either direction.",
            unit="as a share",
            ge=0,
            lt=0.5,
        ),
    ] = 0.0
    measure: Annotated[
        MeasureAsked | None,
        option(
            "Which measure leads: equal rates of decisions, equal errors, calibration (equal shares of "
            "favorable outcomes among those favored), or amounts of a numeric outcome."
        ),
    ] = None
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
    material_amount: MaterialAmount = "5%"
    bootstrap: Annotated[
        int,
        option(
            "Bootstrap resamples for the second interval of balanced accuracies and (at most 200) for "
            "further metrics; 0 for none.",
            strict=True,
            ge=0,
            le=100_000,
        ),
    ] = 1000
    metrics: Annotated[
        tuple[Scikit, ...],
        option(
            "Further metrics, by their names in scikit-learn, each with its own verdict. Those of "
            "installed packages are always included."
        ),
    ] = ()
    limits: Annotated[
        dict[str, Annotated[float, Field(gt=0)]],
        option(
            "For each further metric, the smallest difference that matters, in its own unit; by default "
            "the limit above."
        ),
    ] = field(default_factory=dict)
    classes: Annotated[
        bool,
        option(
            "For a model with several classes, compare how often each class is predicted, and how "
            "often correctly."
        ),
    ] = False
