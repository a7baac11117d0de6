"""The audits that a spec can name: one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audits.flipset import FlipsetOptions, FlipsetResult, flipset_audit
from audits.groups import GroupsOptions, GroupsResult, groups_audit
from audits.loss_ratio import LossRatioOptions, LossRatioResult, loss_ratio_audit
from audits.outcome_transport import OutcomeTransportOptions, OutcomeTransportResult, outcome_transport_audit
from audits.recourse import RecourseOptions, RecourseResult, recourse_audit
from audits.rule_sets import (
    MitigationOptions,
    MitigationResult,
    RuleSetsOptions,
    RuleSetsResult,
    rule_sets_audit,
)
from audits.runs.mitigating import mitigation_with_others
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity_audit

__all__ = ["AUDITS", "Audit"]


@dataclass(frozen=True)
class Audit:
    """One audit.

    Attributes
    ----------
    options : type
        Frozen dataclass of what an auditor can choose; a spec's options are checked against it.
    result : type
        Frozen dataclass with at least ``verdict``, ``finding``, ``warnings`` and ``to_json()``, the
        audit's part of results.json.
    run : callable
        ``run(subject, options, *, rng, progress)`` returns the result.
    """

    options: type
    result: type
    run: Callable[..., Any]


AUDITS: dict[str, Audit] = {
    "groups": Audit(GroupsOptions, GroupsResult, groups_audit),
    "flipset": Audit(FlipsetOptions, FlipsetResult, flipset_audit),
    "loss_ratio": Audit(LossRatioOptions, LossRatioResult, loss_ratio_audit),
    "outcome_transport": Audit(OutcomeTransportOptions, OutcomeTransportResult, outcome_transport_audit),
    "recourse": Audit(RecourseOptions, RecourseResult, recourse_audit),
    "rule_sets": Audit(RuleSetsOptions, RuleSetsResult, rule_sets_audit),
    "sensitivity": Audit(SensitivityOptions, SensitivityResult, sensitivity_audit),
    "mitigation": Audit(MitigationOptions, MitigationResult, mitigation_with_others),
}
