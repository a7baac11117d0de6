"""What predictions in sample, or decisions and labels that are missing, cannot say: verdicts withheld."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from audits.records import resolve
from audits.runs.multiple_testing import level_of
from audits.runs.registry import AUDITS
from audits.stats import INSUFFICIENT, NO_MATERIAL, VERDICTS
from audits.stats.selective import MAX_UNKNOWN, UnknownOutcomes
from audits.stats.verdicts import judged_of

if TYPE_CHECKING:
    from audits.models import Subject
    from audits.runs.spec import AuditRequest

R = TypeVar("R")

_SETTLES = re.compile(r" About [\d,]+ (?!of )(?:(?! About [\d,]).)*settle it[^.]*\.")
"""In a finding, how many people would settle it: none does where nothing can be cleared."""


def without_clearance(result: R, reason: str) -> R:
    """Return `result` with "no material difference" withheld wherever it is stated, and a warning why.

    Evidence stays evidence: what cannot clear can still show a difference, and not that it is small. Without
    a reason the result stays as it is.
    """
    if not reason:
        return result
    said = f"{reason[0].upper()}{reason[1:]}."
    return _told(result, reason, (NO_MATERIAL,), said)


def where_known(result: R, unknown: UnknownOutcomes) -> R:
    """Return `result` without the verdicts that people who are left out do not allow, and with their number.

    Where people are left out of some groups more than of others, nothing holds of everyone, neither evidence
    nor an all-clear; where they are many, no all-clear. A result that states no judgment stays as it is.
    """
    if not unknown.people or not hasattr(result, "judged"):
        return result
    verdicts = VERDICTS if unknown.uneven else (NO_MATERIAL,)
    return _noted(result, unknown.withheld or unknown.cannot_clear, verdicts, *unknown.note())


def where_left_out(result: R, subject: Subject) -> R:
    """Return `result` with the groups of which more people are left out than of others, said first.

    Where a filter leaves out those whose outcome is missing, nothing holds of everyone, as where no filter
    does (`where_known`): the decision that is stored, a number that is compared, or the label. Where other
    gaps leave out many, and more of one group than of others, nothing is cleared.
    """
    if not hasattr(result, "judged"):
        return result
    for reason, verdicts, said in left_out_of(subject):
        result = _noted(result, reason, verdicts, *said)
    return result


def where_both_known(change: R, *audits: Any) -> R:
    """Return a change without the verdicts that outcomes missing in either of its results do not allow."""
    missing = dict.fromkeys(tuple(each) for audit in audits for each in judged_of(audit).missing)
    for verdict, reason in missing:
        change = _told(change, reason, (verdict,))
    return change


def _noted(result: R, reason: str, verdicts: Sequence[str], *said: str) -> R:
    """Return what `_told` does, its judgment with a note of what is not allowed for whoever compares it."""
    told: Any = _told(result, reason, verdicts, *said)
    missing = dict.fromkeys(verdicts if reason else (), reason) | dict(told.judged.missing)
    judged = dataclasses.replace(told.judged, missing=tuple(missing.items()))
    noted: R = dataclasses.replace(told, judged=judged)
    return noted


def whom_about(request: AuditRequest, subject: Subject) -> Subject:
    """Return whom an audit is about: where it reads no label, people without one, too."""
    alone = AUDITS[request.name].decisions_alone
    if subject.data.unlabeled is not None and alone is not None and alone(request.options, subject.data):
        return subject.everyone
    return subject


def where_outcomes_known(result: Any, request: AuditRequest, subject: Subject) -> Any:
    """Return a result, or a change of it, without the verdicts that outcomes not known do not allow."""
    if subject.data.unlabeled is not None:
        level = level_of(request.all_options())
        result = where_known(result, subject.unknown_decisions(level=level))
        if subject.data.numeric is None and not AUDITS[request.name].handles_missing_labels:
            result = where_known(result, whom_about(request, subject).unknown_labels(level=level))
    return where_filled(where_left_out(result, subject), request, subject)


def where_filled(result: Any, request: AuditRequest, subject: Subject) -> Any:
    """Return a result, or a change of it, without verdicts that rest on cells that were filled in.

    People with the same invented value are not alike where their decisions came from values that nobody here
    knows: groups seem to be treated differently, or alike where they are not.
    """
    compares = AUDITS[request.name].compares
    if compares is None or not subject.data.written.filled:
        return result
    subject, level = whom_about(request, subject), level_of(request.all_options())
    for column, unknown in filled_in(subject, resolve(compares)(request.options, subject), level):
        reason = f"the outcomes compared did not come from the values filled in for {column}"
        told = _noted if hasattr(result, "judged") else _told
        result = told(
            result, reason, VERDICTS, f"{' '.join(unknown.note())} Set missing to drop or category."
        )
    return result


def filled_in(
    subject: Subject, columns: Iterable[str], level: float
) -> Iterator[tuple[str, UnknownOutcomes]]:
    """Yield the columns of which many cells were filled in, or more of one group than of others."""
    for column in columns:
        unknown = subject.unknown_cells(column, level=level)
        if unknown.uneven or unknown.share >= MAX_UNKNOWN:
            yield column, unknown


def left_out_of(subject: Subject) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield why people who are left out allow no verdict, if so, which verdicts, and what to say of them."""
    data = subject.data
    label = data.cut.column if data.cut is not None else data.label
    outcomes = {getattr(subject.model, "column", None), data.numeric.column if data.numeric else label}
    for left in data.left_out:
        by = next((name for name in left.missing if name in outcomes), None)
        many = left.share >= MAX_UNKNOWN
        if by is not None and (many or left.uneven):
            reason = f"a filter leaves out people of whom {by} is missing"
            yield reason, VERDICTS if left.uneven else (NO_MATERIAL,), left.uneven
        else:
            gaps = "missing values leave out more of one group than of others"
            yield gaps if left.missing and left.uneven and many else "", (NO_MATERIAL,), left.uneven


def _told(result: R, reason: str, verdicts: Sequence[str], *said: str) -> R:
    """Return `result` with these verdicts withheld for a reason, if there is one, and warnings first."""
    changed: Any = _withheld(result, reason, verdicts) if reason else result
    told: dict[str, Any] = {}
    if of_people := hasattr(changed, "warnings"):  # not a change, whose results say it
        told["warnings"] = tuple(dict.fromkeys((*said, *changed.warnings)))
    before, after = judged_of(result), judged_of(changed)
    withheld = (before.verdict, before.reason) != (after.verdict, after.reason)
    if withheld or before.material != after.material:
        key, lost = (
            "finding" if of_people else "headline",
            "No verdict" if withheld else "Not known to be small",
        )
        told[key] = f"{lost}: {reason}. {_SETTLES.sub('', getattr(changed, key))}"
    final: R = dataclasses.replace(changed, **told)
    return final


def _withheld(value: Any, reason: str, verdicts: Sequence[str]) -> Any:
    """Return `value` with every one of these verdicts made insufficient; itself where it states none."""
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        parts = [_withheld(each, reason, verdicts) for each in value]
        same = all(one is other for one, other in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    if isinstance(value, dict):
        parts = [_withheld(each, reason, verdicts) for each in value.values()]
        same = all(one is other for one, other in zip(parts, value.values(), strict=True))
        return value if same else dict(zip(value, parts, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
        changed = {
            name: new for name, old in own.items() if (new := _withheld(old, reason, verdicts)) is not old
        }
        changed |= _not_allowed(own, reason, verdicts)  # a row beside the judgment
        return dataclasses.replace(value, **changed) if changed else value
    return value


def _not_allowed(own: Mapping[str, Any], reason: str, verdicts: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a judgment, or of a row, that change where it may not have these verdicts.

    Where nothing can be cleared no difference is known to be small, and no number of people settles one.
    """
    changed: dict[str, Any] = {}
    if own.get("verdict") in verdicts:
        changed = {"verdict": INSUFFICIENT, "reason": reason, "people_needed": None}
    elif NO_MATERIAL in verdicts:
        changed = {"material": None} if own.get("material") is False else {}
        if own.get("people_needed") is not None:
            changed |= {"reason": own.get("reason") or reason, "people_needed": None}
    return {name: new for name, new in changed.items() if name in own}
