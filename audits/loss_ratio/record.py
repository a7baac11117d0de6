"""The record of `loss_ratio`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.loss_ratio.options import LossRatioOptions
from audits.records import Audit

if TYPE_CHECKING:
    from audits.data import AuditData

__all__ = ["AUDIT"]


def _usual(data: AuditData) -> dict[str, Any] | None:
    if not data.protected or not data.features or data.y is None:
        return None
    return {"sensitive": list(data.protected)}


AUDIT = Audit(
    name="loss_ratio",
    title="Individual fairness",
    question="Is a person's loss multiplied when moved only in directions that should not matter?",
    limits=(
        "The answer is as good as the fair metric: it says which people are alike, and the test holds "
        "for that choice. A moved person need not exist. The audit finds that losses differ; it does "
        "not prove why, nor that the difference is unjustified."
    ),
    options=LossRatioOptions,
    result="audits.loss_ratio.result:LossRatioResult",
    runs="audits.loss_ratio.audit:loss_ratio_audit",
    presents="audits.loss_ratio.exhibits:section",
    usual=_usual,
    asks_anew=True,
)
