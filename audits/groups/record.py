"""The record of `groups`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.groups.options import GroupsOptions
from audits.records import Audit

if TYPE_CHECKING:
    from audits.data import AuditData

__all__ = ["AUDIT"]


def _usual(data: AuditData) -> dict[str, Any] | None:
    return {} if data.protected else None


AUDIT = Audit(
    name="groups",
    title="Overview",
    question="How do the groups compare at all?",
    limits=(
        "Equal rates do not mean that similar people are treated alike, and unequal ones can have "
        "reasons that the data do not hold. Error rates take the label as the truth."
    ),
    options=GroupsOptions,
    result="audits.groups.result:GroupsResult",
    runs="audits.groups.audit:groups",
    presents="audits.groups.exhibits:section",
    usual=_usual,
    about_words=True,
)
