"""The run's search: before an all-clear stands, rule sets are looked for with the features as context.

An average can hide a group that nobody named. A run in which some audit clears an attribute, or finds its
difference small, therefore looks for groups in every protected attribute, narrowed by the features, each
compared with the others of the same context. It has its own verdict, counts along in the run's correction,
and what it finds stands beside every all-clear of its attributes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.data import AuditData
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, silent
from audits.runs.result import AuditResult
from audits.runs.spec import AuditRequest
from audits.stats.badges import judged_of

if TYPE_CHECKING:
    from audits.rule_sets import RuleSetsOptions

__all__ = ["search_options", "searched"]

_PLACE = (1 << 31) + 1  # no audit's place
_CLEAR = ("no material difference", "small difference")
_FEWEST = 50  # people in a group
_LEAST = 0.01  # of all
_MOST_GROUPS = 60_000
_MOST_ROWS = 20_000
_MOST_VALUES = 20  # of a category
Run = Callable[[AuditRequest, int, Subject, int, Progress], AuditResult]
_NUMBERS = ("continuous", "integer", "ordinal")


def searched(
    audits: Sequence[AuditResult], subject: Subject, seed: int, run: Run, progress: Progress = silent
) -> tuple[tuple[AuditResult, ...], AuditResult | None]:
    """Return the audits of a run with what a search found beside their all-clears, and the search.

    None where no audit clears an attribute or finds its difference small, or these data do not allow it.

    Parameters
    ----------
    run : callable
        `audits.runs.execute.carry_out`.
    """
    if not any(judged_of(each.result).badge in _CLEAR for each in audits):
        return tuple(audits), None
    progress(0.0, "Searching for groups that an average hides")
    sample = _sample(subject, np.random.default_rng(np.random.SeedSequence([seed, _PLACE])))
    try:
        found = run(AuditRequest("rule_sets", search_options(sample.data)), _PLACE, sample, seed, progress)
    except InputError:  # no protected attribute of two values, sampling weights, a model of words
        return tuple(audits), None
    table = found.result.rule_sets
    kept = table.loc[[row.number for row in found.result.leaderboard]]  # of the thousands that were tested
    found = dataclasses.replace(found, result=dataclasses.replace(found.result, rule_sets=kept))
    return tuple(_beside(each, found.result, subject.data.protected) for each in audits), found


def search_options(data: AuditData) -> RuleSetsOptions:
    """Return what the search looks at: every protected attribute, with the features as context.

    Three conditions at most, numbers cut at quintiles, groups of at least 50 people and 1 % of all; exact
    tests, so that thousands of groups need no permutation.
    """
    from audits.rule_sets import RuleSetsOptions  # late: few runs need it

    context = tuple(
        name
        for name in data.features
        if name in data.frame.columns
        and name not in {*data.protected, data.label}
        and _is_context(data, name)
    )
    people = float(data.n if data.weights is None else data.weights.sum())
    return RuleSetsOptions(
        context=context,
        support=min(0.5, max(_LEAST, _FEWEST / max(people, 1.0))),
        depth=3,
        bins=5,
        binning="quantile",
        intervals="thresholds",
        categories="values",
        correction="holm",
        rank_by="evidence",
        permutations=19,
        max_candidates=_MOST_GROUPS,
        samples=0,
        top=10,
    )


def _is_context(data: AuditData, name: str) -> bool:
    kind = data.kinds.get(name, "categorical")
    if kind in {"text", "identifier", "datetime"}:
        return False
    return kind in _NUMBERS or data.frame[name].nunique() <= _MOST_VALUES


def _sample(subject: Subject, rng: np.random.Generator) -> Subject:
    """Return the subject, of a large table a sample of its rows."""
    rows = len(subject.data.frame)
    if subject.data.gathered is not None or rows <= _MOST_ROWS:
        return subject
    chosen = np.sort(rng.choice(rows, _MOST_ROWS, replace=False))
    sample = dataclasses.replace(subject, data=subject.data.take(chosen))
    sample.__dict__.update(scores=subject.scores[chosen], decisions=subject.decisions[chosen])  # asked once
    return sample


def _beside(audit: AuditResult, found: Any, protected: Sequence[str]) -> AuditResult:
    """Return an audit that clears an attribute with what the search found in it."""
    judged = judged_of(audit.result)
    if judged.badge not in _CLEAR or found.judged.badge != "difference":
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
    see = "people with " + " and ".join(rule["words"] for rule in row.rules)
    return dataclasses.replace(
        audit, result=dataclasses.replace(audit.result, judged=dataclasses.replace(judged, see=see))
    )


def _attributes(options: Mapping[str, Any], protected: Sequence[str]) -> set[str]:
    """Return the protected attributes that an audit looked at by its options; all where they name none."""
    named: set[str] = set()
    for key in ("source", "target", "protected", "by", "sensitive"):
        value = options.get(key) or ()
        named |= {value} if isinstance(value, str) else {str(each) for each in value}
    return named & set(protected) or set(protected)
