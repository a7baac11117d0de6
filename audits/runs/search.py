"""The run's search: before an all-clear stands, rule sets are looked for with the features as context.

An average can hide a group that nobody named. A run in which some audit clears an attribute, or finds its
difference small, therefore looks for groups in every protected attribute, narrowed by the features, each
compared with the others in the same context. It has its own verdict, counts along in the run's correction,
and what it finds stands beside every all-clear of its attributes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from audits.data import AuditData
from audits.data.partition import content_keys, draw_people, with_counts
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, silent
from audits.records import resolve
from audits.runs.clearance import filled_in
from audits.runs.registry import AUDITS
from audits.runs.result import AuditResult
from audits.runs.spec import AuditRequest
from audits.stats.text import people
from audits.stats.verdicts import DEFAULT_LEVEL, judged_of
from audits.subgroups.phrases import group_of

_PLACE = (1 << 31) + 1  # no audit's place
_CLEAR = ("no material difference", "small difference")
_MAX_ROWS = 20_000
_WITHOUT_FEATURES = (
    "The search looked at protected attributes alone: text is counted without its features. Save it as "
    "Parquet to have them searched."
)
Run = Callable[[AuditRequest, int, Subject, int, Progress], AuditResult]


def with_search(
    audits: Sequence[AuditResult],
    subject: Subject,
    seed: int,
    run: Run,
    progress: Progress = silent,
    *,
    whole: Callable[[], Subject] | None = None,
) -> tuple[tuple[AuditResult, ...], AuditResult | None]:
    """Return the audits of a run with what a search found beside their all-clears, and the search.

    None where no audit clears an attribute or finds its difference small, or these data do not allow it.

    Parameters
    ----------
    run : callable
        `audits.runs.execute.carry_out`.
    whole : callable, optional
        Returns people with their features, where those of `subject` were counted without them.
    """
    record = next(AUDITS.having("searches"))
    if not any(_clears(each) for each in audits) or (subject.data.numeric is not None and not record.numeric):
        return tuple(audits), None
    progress(0.0, "Searching for groups that an average hides")
    try:
        rng = np.random.default_rng(np.random.SeedSequence([seed, _PLACE]))
        sample = _sample(subject if whole is None else whole(), rng)
        options = resolve(record.searches)(_as_decided(sample))
        found = run(AuditRequest(record.name, options), _PLACE, sample, seed, progress)
    except InputError as error:  # no protected attribute of two values, sampling weights, a model of words
        why = f"that search {error.rule}" if error.where.endswith(record.name) else str(error).rstrip(".")
        told = f"Groups that an average hides were not searched for: {why}."
        return tuple(_warned(each, told) if _clears(each) else each for each in audits), None
    table = found.result.rule_sets
    kept = table.loc[[row.number for row in found.result.leaderboard]]  # of the thousands that were tested
    looked, everyone = (each.everyone.data.people for each in (sample, subject))
    drawn = f"The search looked at {people(looked)} of {everyone:,.0f}, drawn at random."
    found = dataclasses.replace(found, result=dataclasses.replace(found.result, rule_sets=kept))
    if sample.data.gathered is not None:
        found = _warned(found, _WITHOUT_FEATURES)
    if looked < everyone - 0.5:
        found = _warned(found, drawn)
    return tuple(_beside(each, found.result, subject.data.protected) for each in audits), found


def _sample(subject: Subject, rng: np.random.Generator) -> Subject:
    """Return the subject, of a large table with people alike in one row, or a sample of them.

    Which people these are hangs neither on the order of rows nor on whether they are rows or counts.
    """
    data, more = subject.data, subject.data.unlabeled
    rows = data.n + (0 if more is None else len(more.frame))
    if data.gathered is not None or rows <= _MAX_ROWS:
        return subject
    subject = subject.everyone.in_order  # decisions alone are compared
    data = subject.data
    if data.design is not None:
        chosen = np.sort(rng.choice(data.n, min(_MAX_ROWS, data.n), replace=False))
        taken = data.take(chosen)
    else:
        sizes = np.ones(data.n) if data.weights is None else np.maximum(np.rint(data.weights), 1.0)
        alike = content_keys(data) ^ subject.decisions.astype(np.uint64)
        _, first, cell = np.unique(alike, return_index=True, return_inverse=True)
        counts = np.zeros(data.n)
        counts[first] = np.bincount(cell, sizes)
        if len(first) > _MAX_ROWS:
            counts = draw_people(sizes, alike, np.zeros(data.n, dtype=np.int64), np.array([_MAX_ROWS]), rng)
        chosen = np.flatnonzero(counts)
        taken = with_counts(dataclasses.replace(data, weights=sizes), counts)
    sample = dataclasses.replace(subject, data=taken)
    sample.__dict__.update(scores=subject.scores[chosen], decisions=subject.decisions[chosen])  # asked once
    return sample


def _as_decided(subject: Subject) -> AuditData:
    """Return the people without features whose many or uneven gaps were filled, unseen by the decisions."""
    data = subject.data
    for column, _ in filled_in(subject, subject.unseen_fills, DEFAULT_LEVEL):
        data = data.without_feature(column)
    return data


def _clears(audit: AuditResult) -> bool:
    return judged_of(audit.result).badge in _CLEAR


def _warned(audit: AuditResult, warning: str) -> AuditResult:
    """Return an audit with one more warning, the first."""
    warnings = (warning, *audit.result.warnings)
    return dataclasses.replace(audit, result=dataclasses.replace(audit.result, warnings=warnings))


def _beside(audit: AuditResult, found: Any, protected: Sequence[str]) -> AuditResult:
    """Return an audit that clears an attribute with what the search found in it."""
    if not _clears(audit) or found.judged.badge != "difference":
        return audit
    named = _attributes(audit.options, protected)
    row = next(
        (
            row
            for row in found.leaderboard
            if row.verdict == found.verdict and named & {rule["attribute"] for rule in row.rules}
        ),
        None,
    )
    if row is None or not hasattr(audit.result, "judged"):
        return audit
    see = group_of(row.rules)
    judged = dataclasses.replace(audit.result.judged, see=see)
    return dataclasses.replace(audit, result=dataclasses.replace(audit.result, judged=judged))


def _attributes(options: Mapping[str, Any], protected: Sequence[str]) -> set[str]:
    """Return the protected attributes that an audit looked at by its options; all where they name none."""
    named: set[str] = set()
    for key in ("source", "target", "protected", "by", "sensitive", "attribute"):
        value = options.get(key) or ()
        parts = [value] if isinstance(value, str) else value
        named |= {str(part) for each in parts for part in ([each] if isinstance(each, str) else each)}
    return named & set(protected) or set(protected)
