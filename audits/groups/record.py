"""The record of `groups`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audits.errors import not_counted
from audits.groups.options import GroupsOptions
from audits.records import Audit, OnPages, Size

if TYPE_CHECKING:
    from audits.data import DataSpec
    from audits.data.groupby import Asked


def _seconds(options: GroupsOptions, size: Size) -> float:
    """Counting is quick, the bootstrap little more."""
    return 0.2 + size.start_seconds + 2e-4 * options.bootstrap + 1e-6 * size.rows


def _columns_to_count(options: GroupsOptions, _data: DataSpec) -> dict[str, Asked]:
    """Groups are the protected attributes, which the data name."""
    if options.by_probability:
        raise not_counted("groups.by_probability")
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
    handles_missing_labels=True,
    keys="audits.groups:keys.json",
    says="audits.groups.text:headline",
    presents="audits.groups.sections:section",
    counted=_columns_to_count,
    seconds=_seconds,
    usual=lambda data: {} if data.protected else None,
    decided="audits.groups.threshold_change:decisions_by_row",
    since="audits.groups.threshold_change:since",
    designs=True,
    draws_rows=False,
    about_words=True,
    groups_alone=True,
    numeric=True,
    units=dict.fromkeys([*_AMOUNTS, *(f"{name}.estimate" for name in _AMOUNTS)], "unit of the outcome"),
    windows=lambda _: {},
    pages=OnPages(
        does="See who is {yes} less often",
        noun="groups",
        labels={
            "by": "Compare by",
            "by_probability": "Columns of probabilities",
            "proxy_error": "The probabilities may be off by",
            "material_on": "What the limit is on",
            "bootstrap": "Bootstrap resamples",
            "metrics": "Further metrics",
            "limits": "Limits of further metrics",
            "classes": "Compare each class",
        },
        former_choices={
            "by": "groups-by",
            "material-amount": "with-material_amount",
            "metrics": "with-metrics",
        },
        former=("overview",),
    ),
)
