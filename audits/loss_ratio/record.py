"""The record of `loss_ratio`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audits.loss_ratio.options import LossRatioOptions
from audits.records import Audit, OnPages, Size

if TYPE_CHECKING:
    from audits.data import AuditData

_TRAINING = {  # seconds for 20,000 rows
    "logistic": 0.2,
    "forest": 4.0,
    "boosting": 4.0,
    "mlp": 12.0,
    "project": 12.0,
    "reductions": 20.0,
    "sensr": 30.0,
}
_GRADIENT = {"logistic", "mlp", "project", "reductions", "sensr"}
_SEARCH = 60.0
_HELD_OUT = 0.3  # of all rows, where a model is trained on the others


def _seconds(options: LossRatioOptions, size: Size) -> float:
    thousands = size.rows / (_HELD_OUT if size.trained else 1.0) / 20_000
    start = 1.0 + _TRAINING.get(size.trained or "", 0.0) * thousands
    learned = options.metric == "learned"
    turned = 0
    if options.misspecified:  # both ways where no direction says which is up
        turned = len(options.misspecified.angles) * (1 if options.misspecified.turn else 2)
    turns = 1 + learned * (2 if size.trained in _GRADIENT else 1) + turned
    if size.trained not in _GRADIENT:
        return start + turns * _SEARCH * min(1.0, size.rows / 20_000)
    flow = 1.2e-10 * size.rows * options.steps_for(number=False) * 64 * (size.width + 64)
    each = sum(_TRAINING[name] * max(thousands, 0.2) + flow for name in options.compare)
    return start + turns * flow + options.splits * each


def _labels(data: AuditData) -> None:
    """Raise `InputError` unless both outcomes are known to have happened."""
    from audits.loss_ratio.audit import check_labels  # late: a record loads nothing but its options

    check_labels(data)


def _sensitive(data: AuditData) -> list[str]:
    """What `sensitive` may name."""
    from audits.loss_ratio.metrics.selection import sensitive_columns

    return list(sensitive_columns(data))


AUDIT = Audit(
    name="loss_ratio",
    title="Individual fairness",
    question="Does a person's loss grow when the person is moved only in directions that should not matter?",
    also_called="individualfairness individual consistency lipschitz sensitivesubspace",
    then=("sensitivity", "flipset"),
    limits=(
        "The answer is as good as the fair metric: it says which people are alike, and the test holds "
        "for that choice. A moved person need not exist. "
        "The audit finds that losses differ. It does not prove why, or that the difference is unjustified."
    ),
    options=LossRatioOptions,
    result="audits.loss_ratio.result:LossRatioResult",
    runs="audits.loss_ratio.audit:loss_ratio",
    paired="audits.comparison.loss_ratio:compare",
    units={"": "ratio"},
    keys="audits.loss_ratio:keys.json",
    says="audits.loss_ratio.text:headline",
    needs=("torch",),
    presents="audits.loss_ratio.sections:section",
    usual="audits.loss_ratio.metrics.selection:usual_options",
    seconds=_seconds,
    asks_anew=True,
    unplanned=(
        "It cannot be planned: it asks the model about people who are not in the data, so a difference of "
        "a known size cannot be planted in the predictions."
    ),
    pages=OnPages(
        does="Move people where it should not matter",
        labels={
            "sensitive": "Attributes",
            "metric": "What should not matter",
            "free_features": "Features",
            "directions": "And directions",
            "matrix": "Or the metric itself",
            "comparable": "People are comparable if they share",
            "factors": "Directions that should not matter",
            "misspecified": "Turn the metric towards",
            "compare": "Compare with retrained models",
            "regularizer": "Price of moving elsewhere (λ)",
        },
        alone=(
            "sensitive",
            "metric",
            "free_features",
            "directions",
            "matrix",
            "comparable",
            "factors",
            "misspecified",
            "compare",
            "loss",
            "device",
            "step_size",
            "tolerance",
        ),
        selected={"ratio": "loss ratio"},
        asks={"labels": _labels, "sensitive": _sensitive},
        former=("individual",),
    ),
)
