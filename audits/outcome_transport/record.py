"""The record of `outcome_transport`: what everything else knows of it."""

from __future__ import annotations

from audits.outcome_transport.options import OutcomeTransportOptions
from audits.records import Audit

__all__ = ["AUDIT"]

AUDIT = Audit(
    name="outcome_transport",
    title="Transport flows",
    question="Which subgroup's outcomes are mapped to which, and how unlike are the people?",
    limits=(
        "Who is mapped to whom is a comparison of outcomes, not of causes. Many couplings cost "
        "equally little; the figures of one are read together with the range over all of them. A bias "
        "is large where people with the same outcome differ, whatever the reason."
    ),
    options=OutcomeTransportOptions,
    result="audits.outcome_transport.result:OutcomeTransportResult",
    runs="audits.outcome_transport.audit:outcome_transport",
    presents="audits.outcome_transport.exhibits:section",
)
