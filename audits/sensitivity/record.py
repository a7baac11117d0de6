"""The record of `sensitivity`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.records import Audit, OnPages, Size
from audits.sensitivity.options import SensitivityOptions

if TYPE_CHECKING:
    from audits.data import AuditData


def _usual(data: AuditData) -> dict[str, Any] | None:
    return {"protected": data.protected[0]} if data.protected and data.features else None


_TRAINING = {"logistic": 0.2, "forest": 6.0, "boosting": 6.0, "mlp": 12.0}  # seconds for 20,000 rows
_GRADIENT = {"logistic", "mlp", "project", "sensr"}
_HELD_OUT = 0.3  # of all rows, where a model is trained on the others


def _seconds(options: SensitivityOptions, size: Size) -> float:
    thousands = size.rows / (_HELD_OUT if size.trained else 1.0) / 20_000
    each = _TRAINING.get(size.trained or "", 4.0) * thousands
    twins = 3.0 * each if size.trained and options.match_set != "off" and not options.counterfactuals else 0.0
    attributes = (
        1 if options.protected is None or isinstance(options.protected, str) else len(options.protected)
    )
    moved = 0.0 if size.trained in _GRADIENT else 0.5 * size.width * thousands
    fits = 1 + (20 if 20_000 * thousands < 3000 else 5)  # the first network, and those of the cross-fits
    status = attributes * fits * (0.05 + (0.8 + 0.03 * size.width) * thousands)  # learned and asked
    return 1.5 + each + twins + status + moved * (1 + options.smooth / 10)


AUDIT = Audit(
    name="sensitivity",
    title="Prediction sensitivity",
    question="Is this particular prediction driven by protected status?",
    also_called="predictionsensitivity shap lime attribution gradient influence",
    then=("loss_ratio", "flipset"),
    limits=(
        "Sensitivity says how much a prediction depends on features that tell the groups apart. It is "
        "only as good as the protected-status model, finds associations and not causes, and can be high "
        "for a justified prediction. It has no unit: compare it with the baseline. Near the decision "
        "threshold every gradient is large, so it is also compared with distance from the threshold."
    ),
    options=SensitivityOptions,
    result="audits.sensitivity.result:SensitivityResult",
    runs="audits.sensitivity.audit:sensitivity",
    paired="audits.comparison.sensitivity:compare",
    units={"": "change of score", "interval": "ratio", "ratio": "ratio"},
    keys="audits.sensitivity:keys.json",
    says="audits.sensitivity.text:headline",
    needs=("torch",),
    presents="audits.sensitivity.sections:section",
    usual=_usual,
    seconds=_seconds,
    asks_anew=True,
    decisions_alone=lambda *_: True,
    unplanned=(
        "It cannot be planned: it asks the model about people who are not in the data, so a difference of "
        "a known size cannot be planted in the predictions."
    ),
    bundle="audits.monitor.bundle:bundle_of",
    pages=OnPages(
        does="See whose predictions depend on it",
        labels={
            "protected": "Protected attributes",
            "status_model": "Protected-status model",
            "false_alarm_rate": "False alarms (% of the reference people)",
        },
        selected={
            "flagged": "flagged",
        },
    ),
)
