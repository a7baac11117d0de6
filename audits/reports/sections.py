"""What a report shows of each audit: figures, each with the table behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audits.flipset.exhibits import flipset_section
from audits.groups.exhibits import groups_section
from audits.loss_ratio.exhibits import loss_ratio_section
from audits.outcome_transport.exhibits import outcome_transport_section
from audits.recourse.exhibits import recourse_section
from audits.reports.exhibits import Exhibit, Section
from audits.rule_sets.exhibits import mitigation_section, rule_sets_section
from audits.sensitivity.exhibits import sensitivity_section

__all__ = ["SECTIONS", "Exhibit", "Section"]

SECTIONS: dict[str, Callable[[Any], Section]] = {
    "groups": groups_section,
    "flipset": flipset_section,
    "outcome_transport": outcome_transport_section,
    "recourse": recourse_section,
    "rule_sets": rule_sets_section,
    "mitigation": mitigation_section,
    "loss_ratio": loss_ratio_section,
    "sensitivity": sensitivity_section,
}
