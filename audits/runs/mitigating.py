"""The mitigation with other audits' findings before and after: only here are all audits known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.checks import build, one_of
from audits.data import AuditData
from audits.data.values import MISSING
from audits.mitigation.audit import mitigation_audit
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import MitigationResult
from audits.models import Subject
from audits.progress import Progress, silent

__all__ = ["mitigation_with_others", "usual_others"]


def mitigation_with_others(
    subject: Subject,
    options: MitigationOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> MitigationResult:
    """Run `mitigation_audit` with the audits that ``options.also`` names, each with the same seed every time.

    Raises
    ------
    InputError
        For an audit that does not exist, or options that it does not have.
    """
    from audits.runs.registry import AUDITS

    def runner(name: str, given: dict[str, Any]) -> Callable[[Subject], Any]:
        where = f"mitigation.also.{name}"
        known = [each for each in AUDITS if each != "mitigation"]
        audit = AUDITS[one_of(where, name, known, what="the name of an audit")]
        checked: Any = build(audit.options, given, where)
        return lambda judged: audit.run(judged, checked, rng=subject.seed, progress=silent)

    also = usual_others(subject.data, subject.train) if options.also is None else options.also
    others = {name: runner(name, given) for name, given in also.items()}
    return mitigation_audit(subject, options, others=others, rng=rng, progress=progress)


def usual_others(data: AuditData, trained: str | None) -> dict[str, dict[str, Any]]:
    """Return every audit that needs no choice on these data, by name, with its options.

    Groups; flipsets between the two largest groups of the first protected attribute, the group with fewer
    favourable labels as the source; the model beside the labels; loss ratios; sensitivity; and recourse where
    some column has the role ``actionable``. Of a model of words only the groups.
    """
    names = list(data.protected)
    if not names:
        return {}
    found: dict[str, dict[str, Any]] = {"groups": {}}
    if trained == "text":
        return found  # the others compare people by numbers and categories
    pair = _two_largest(data, names[0])
    if pair is not None:
        found["flipset"] = {"source": {names[0]: pair[0]}, "target": {names[0]: pair[1]}}
    if data.y is not None:
        found["outcome_transport"] = {"by": names[:1], "against": "label"}
    found |= {"loss_ratio": {"sensitive": names}, "sensitivity": {"protected": names[0]}}
    actionable = [name for name in data.features if data.roles.get(name) == "actionable"]
    if actionable:
        found["recourse"] = {"actionable": actionable, "by": names[:1]}
    return found


def _two_largest(data: AuditData, attribute: str) -> tuple[str, str] | None:
    """Source and target among the values of an attribute, missing ones aside."""
    weights = np.ones(data.n) if data.weights is None else data.weights
    values, codes = np.unique(data.groups[attribute].to_numpy(dtype=str), return_inverse=True)
    people = np.bincount(codes, weights)
    order = [place for place in np.argsort(-people, kind="stable") if values[place] != MISSING][:2]
    if len(order) < 2:
        return None
    if data.y is not None:
        share = np.bincount(codes, weights * data.y) / people
        order.sort(key=lambda place: share[place])
    else:
        order.reverse()
    return str(values[order[0]]), str(values[order[1]])
