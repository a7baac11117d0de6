"""The record of `sensitivity`: what everything else knows of it."""

from __future__ import annotations

from audits.records import Audit
from audits.sensitivity.options import SensitivityOptions

__all__ = ["AUDIT"]

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
    runs="audits.sensitivity.audit:sensitivity",
    presents="audits.sensitivity.exhibits:section",
)
