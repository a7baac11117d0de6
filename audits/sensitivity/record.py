"""The record of `sensitivity`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.records import Audit
from audits.sensitivity.options import SensitivityOptions

if TYPE_CHECKING:
    from audits.data import AuditData

__all__ = ["AUDIT"]


def _usual(data: AuditData) -> dict[str, Any] | None:
    return {"protected": data.protected[0]} if data.protected and data.features else None


AUDIT = Audit(
    name="sensitivity",
    title="Prediction sensitivity",
    question="Is this very prediction driven by protected status?",
    limits=(
        "Sensitivity says how far a prediction hangs on features that tell the groups apart; it is "
        "only as good as the protected-status model, finds associations and no causes, and can be "
        "high for a prediction that is justified. It has no unit: read it beside the baseline. Near "
        "the decision threshold every gradient is large, which is why it is held against distance "
        "from the threshold."
    ),
    options=SensitivityOptions,
    result="audits.sensitivity.result:SensitivityResult",
    runs="audits.sensitivity.audit:sensitivity_audit",
    presents="audits.sensitivity.exhibits:section",
    usual=_usual,
    asks_anew=True,
)
