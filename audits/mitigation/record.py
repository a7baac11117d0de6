"""The record of `mitigation`: what everything else knows of it."""

from __future__ import annotations

from audits.mitigation.options import MitigationOptions
from audits.records import Audit

__all__ = ["AUDIT"]

AUDIT = Audit(
    name="mitigation",
    title="Mitigation",
    question="Does training with more examples of the worst group help it, and whom does it cost?",
    limits=(
        "The samples carry the old model's own decisions as labels: they shift the model, they add no "
        "knowledge of who deserves what. The number of samples was chosen on the people it is stated "
        "for."
    ),
    options=MitigationOptions,
    result="audits.mitigation.result:MitigationResult",
    runs="audits.runs.mitigating:mitigation_with_others",
    presents="audits.mitigation.exhibits:section",
)
