"""The record of `rule_sets`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.records import Audit
from audits.rule_sets.options import RuleSetsOptions

if TYPE_CHECKING:
    from audits.data import AuditData

__all__ = ["AUDIT"]


def _usual(data: AuditData) -> dict[str, Any] | None:
    return {} if data.protected else None


AUDIT = Audit(
    name="rule_sets",
    title="Rule sets",
    question="Which hidden intersection of groups does the model decide differently from everyone else?",
    limits=(
        "A rule set is a description of people, not a cause: the rule that names a group need not be "
        "what the model uses. A score compares a group with everyone else together, so a group can "
        "differ because others do. Groups smaller than the support were not looked at."
    ),
    options=RuleSetsOptions,
    result="audits.rule_sets.result:RuleSetsResult",
    runs="audits.rule_sets.audit:rule_sets",
    presents="audits.rule_sets.exhibits:section",
    streams="audits.rule_sets.parquet:rule_sets_streamed",
    usual=_usual,
    about_words=True,
)
