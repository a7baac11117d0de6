"""The record of `groups`: what everything else knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audits.errors import not_counted
from audits.groups.options import GroupsOptions
from audits.records import Audit, OnPages, Size

if TYPE_CHECKING:
    from audits.data import AuditData, DataSpec
    from audits.data.groupby import Asked

__all__ = ["AUDIT"]


def _usual(data: AuditData) -> dict[str, Any] | None:
    return {} if data.protected else None


_TRAINING = {"logistic": 0.1, "forest": 4.0, "boosting": 4.0, "mlp": 12.0}


def _seconds(options: GroupsOptions, size: Size) -> float:
    """Training comes first where a model is trained here; counting is quick, the bootstrap little more."""
    training = _TRAINING.get(size.trained or "", 0.0) * max(size.rows / 6_000, 0.05)
    return 0.2 + training + 2e-4 * options.bootstrap + 1e-6 * size.rows


def _columns_to_count(options: GroupsOptions, _data: DataSpec) -> dict[str, Asked]:
    """Groups are the protected attributes, which the data name."""
    if options.by_probability:
        raise not_counted("groups.by_probability")
    return {}


def _windows(_groups: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    return {}


_AMOUNTS = ("mean", "median", "q10", "q90", "residual", "actual")

AUDIT = Audit(
    name="groups",
    title="Groups",
    question="How do the groups compare at all?",
    also_called=(
        "demographicparity equalizedodds equalopportunity disparateimpact statisticalparity fairness "
        "metricframe metrics groupfairness overview bias selectionrate impactratio fourfifths "
        "averageodds calibration"
    ),
    then=("explain", "rule_sets", "flipset"),
    limits=(
        "Equal rates do not mean that similar people are treated alike. Unequal rates can have reasons "
        "that the data do not show. Error rates take the label as the truth."
    ),
    options=GroupsOptions,
    result="audits.groups.result:GroupsResult",
    runs="audits.groups.audit:groups",
    paired="audits.comparison.groups:compare",
    keys="audits.groups:keys.json",
    says="audits.groups.text:headline",
    presents="audits.groups.sections:section",
    counted=_columns_to_count,
    seconds=_seconds,
    usual=_usual,
    decided="audits.groups.threshold_change:decisions_by_row",
    since="audits.groups.threshold_change:since",
    designs=True,
    draws_rows=False,
    about_words=True,
    groups_alone=True,
    numeric=True,
    units=dict.fromkeys([*_AMOUNTS, *(f"{name}.estimate" for name in _AMOUNTS)], "unit of the outcome"),
    windows=_windows,
    pages=OnPages(
        does="See who is {yes} less often",
        noun="groups",
        labels={
            "by": "Compare by",
            "by_probability": "Columns of probabilities",
            "level": "Error rate",
            "material_on": "What the limit is on",
            "bootstrap": "Bootstrap resamples",
            "metrics": "Further metrics",
            "limits": "Limits of further metrics",
            "classes": "Compare each class",
        },
        former=("overview",),
    ),
)
