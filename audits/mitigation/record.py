"""The record of `mitigation`: what everything else knows of it."""

from __future__ import annotations

from audits.mitigation.options import SPLITS, MitigationOptions
from audits.records import Audit, OnPages, Size

_TRAINING = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0, "text": 6.0}  # of 20,000 rows
_USUAL = 6  # audits that need no choice


def _seconds(options: MitigationOptions, size: Size) -> float:
    """Trained as it was, for every number of samples and twice in each further split, and the audits."""
    each = _TRAINING.get(size.trained or "", 12.0) * max(size.rows / 6_000, 0.05)
    reductions = 40 if "reductions" in options.methods and size.trained == "logistic" else 0
    also = _USUAL if options.also is None else len(options.also)
    audits = 2 * also * (0.5 + 1.2e-3 * size.rows)
    return (4 + len(options.amounts) + 2 * (SPLITS - 1) + reductions) * each + audits


AUDIT = Audit(
    name="mitigation",
    title="Mitigation",
    question="Does training with more examples of the worst group help it, and at whose cost?",
    also_called="reweighing reweighting debias debiasing retrain mitigate "
    "pareto tradeoff frontier exponentiatedgradient reductions thresholdoptimizer postprocessing",
    limits=(
        "The samples use the old model's decisions as labels. They shift the model and add no knowledge "
        "of who deserves what. The number of samples was chosen on the people it is reported for. "
        "Separate thresholds for each group make decisions depend on the group, which the law may forbid."
    ),
    options=MitigationOptions,
    result="audits.mitigation.result:MitigationResult",
    runs="audits.runs.mitigation:mitigation_with_others",
    says="audits.mitigation.text:headline",
    needs=("sklearn", "ot"),
    presents="audits.mitigation.sections:section",
    paired="audits.comparison.mitigation:compare",
    handles_missing_labels=True,
    unplanned=(
        "It cannot be planned: it retrains the model, so a difference of a known size cannot be planted "
        "in the predictions. Plan for its group with “Rule sets”."
    ),
    seconds=_seconds,
    states=("rule_sets",),
    pages=OnPages(
        labels={
            "methods": "Ways to treat the model",
            "by": "Gap between groups of",
            "measure": "Rate of the gap",
            "accuracy_lost": "Accuracy that may be lost",
        }
    ),
    treats="audits.runs.comparison.treated_model:treated_model",
)
