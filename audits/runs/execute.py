"""Carry out a spec: read, make the subject, run the audits. The one path from a spec to numbers.

Tables read and subjects made are remembered within the process (a few of each, by digests of all that they
depend on), so that a second run with other options of an audit neither reads nor trains again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from audits.checks import build, choices
from audits.data import Table, build_data, read_table
from audits.data.io.limits import beyond_limits, parquet_files
from audits.data.outliers import check_spread
from audits.data.quality.checks import examine
from audits.errors import InputError, NeedsPeople, RunFailed, not_installed
from audits.models import Subject, make_subject, model_facts
from audits.models.subject import needs_cut
from audits.progress import Progress, part, silent
from audits.records import resolve
from audits.runs.cache import Cache, frame_bytes
from audits.runs.clearance import where_left_out, where_outcomes_known, whom_about, without_clearance
from audits.runs.comparison.changes import AuditChange, Changes
from audits.runs.comparison.second_model import of_the_second, of_the_treated, on_the_same_people
from audits.runs.comparison.two_models import audit_change, refusal, with_decisions
from audits.runs.documents import plain_data
from audits.runs.executors.threads import fixed_threads
from audits.runs.multiple_testing import level_of
from audits.runs.plans.estimate import size_of
from audits.runs.registry import AUDITS
from audits.runs.result import AuditResult, RunResult, SecondRun, data_facts
from audits.runs.search import with_search
from audits.runs.source.sample import draw_table, of_all
from audits.runs.spec import AuditRequest, Spec
from audits.runs.version import VERSION
from audits.stats import RowsResult
from audits.stats.vocabulary import DataWords, speaking, vocabulary

# shares of the progress bar at which these steps end
_READ, _PREPARED, _PREPARED_BOTH, _COUNTED = 0.1, 0.25, 0.35, 0.7
_EXAMINED = 50_000
"""Rows up to which a run looks its table over; `describe` does so for any table that is held."""


@dataclass(frozen=True, eq=False)
class _Preparation:
    """What audits work on, and how the results describe it."""

    subject: Subject
    data: dict[str, Any]
    model: dict[str, Any]


def _bytes(prepared: _Preparation) -> int:
    subject = prepared.subject
    parts = [subject.data] + ([subject.training] if subject.training is not None else [])
    return sum(frame_bytes(part.frame) + frame_bytes(part.groups) for part in parts)


_REMEMBERED = 256 << 20
_tables: Cache[Table] = Cache(lambda table: frame_bytes(table.frame), _REMEMBERED)
_prepared: Cache[_Preparation] = Cache(_bytes, _REMEMBERED)


def execute(spec: Spec, *, digests: list[str] | None = None, progress: Progress = silent) -> RunResult:
    """Run `spec` in this process.

    Parameters
    ----------
    spec : Spec
        What to run.
    digests : list of str, optional
        What `spec.digests` gave when the run was asked for; files that have changed since are an error.
    progress : callable
        Told how far the run is; may raise `RunCancelled`.

    Raises
    ------
    InputError
        If the data, the model or an option is wrong: names the key of the spec.
    RunFailed
        If a result breaks the rules that every result keeps.
    """
    for place, request in enumerate(spec.audits):
        _check_installed(request, place)
    with fixed_threads(), speaking(spec.data.words or DataWords()):
        expected = spec.digests() if digests is None else digests
        counted = spec.streamed
        begun = _COUNTED if counted else _PREPARED
        if counted:
            prepared = _counted_for(spec, expected, progress)
        elif spec.compare is not None:
            return _execute_both(spec, expected, progress)
        else:
            prepared = _prepared_for(spec, expected, progress)
        audits = []
        starts = _starts(spec, prepared.subject, begun)
        for place, request in enumerate(spec.audits):
            stretch = part(progress, starts[place], starts[place + 1])
            stretch(0.0, f"Running {AUDITS[request.name].title}")
            audits.append(carry_out(request, place, prepared.subject, spec.seed, stretch))
        return _finish(spec, prepared, audits, part(progress, starts[-1], 1.0))


def _starts(spec: Spec, subject: Subject, begun: float) -> list[float]:
    """Return where each audit begins and where the search does, as shares of the time that a run takes."""
    size = size_of(subject.data, subject.data.n, spec.model.train)
    asked = [(AUDITS[each.name], each.options) for each in spec.audits]
    searching = next(AUDITS.having("searches"))
    seconds = [audit.expected_seconds(options, size) for audit, options in asked]
    seconds.append(searching.expected_seconds(searching.options(), size))
    before = np.cumsum([0.0, *seconds[:-1]]) / sum(seconds)
    return [begun + (1 - begun) * float(share) for share in before]


def _execute_both(spec: Spec, expected: list[str], progress: Progress) -> RunResult:
    """Run every audit for both models on the same people, with the same randomness, and say what changes."""
    one = _prepared_for(spec, expected, part(progress, 0.0, _PREPARED))
    preparing = part(progress, _PREPARED, _PREPARED_BOTH)
    if spec.compare is not None and spec.compare.treated is not None:
        first, (second, notes) = one, _mitigate_first(spec, one, preparing)
    else:
        try:
            two = _prepared_for(spec, expected, preparing, second=True)
        except InputError as error:
            raise of_the_second(error) from None
        *subjects, notes = on_the_same_people(one.subject, two.subject)
        first, second = (
            _on(side, subject, notes) for side, subject in zip((one, two), subjects, strict=True)
        )
    found: list[AuditResult] = []
    theirs: list[AuditResult] = []
    told: list[AuditChange] = []
    width = (1 - _PREPARED_BOTH) / len(spec.audits) / 2
    for place, request in enumerate(spec.audits):
        begun = _PREPARED_BOTH + 2 * place * width
        stretches = part(progress, begun, begun + width), part(progress, begun + width, begun + 2 * width)
        stretches[0](0.0, f"Running {AUDITS[request.name].title}")
        ours = carry_out(request, place, first.subject, spec.seed, stretches[0], second.subject)
        found.append(_beside(ours, second.subject))
        stretches[1](0.0, f"Running {AUDITS[request.name].title} on the second model")
        try:
            made = carry_out(request, place, second.subject, spec.seed, stretches[1], first.subject)
            theirs.append(_beside(made, first.subject))
        except InputError as error:
            level = level_of(request.all_options())
            told.append(refusal(request.name, str(error), level))
        else:
            pair = first.subject, second.subject
            change = audit_change(found[-1], theirs[-1], len(theirs) - 1, pair)
            for side in pair:
                change = where_outcomes_known(change, request, side)
            told.append(change)
    names = (str(first.model["name"]), str(second.model["name"]))
    changes = with_decisions(Changes(names, tuple(told), notes=notes), (first.subject, second.subject))
    compared = SecondRun(_finish(spec.of_second(), second, theirs), changes)
    return dataclasses.replace(_finish(spec, first, found), compared=compared)


def _beside(audit: AuditResult, other: Subject) -> AuditResult:
    """Return an audit of a model where people without an outcome of the other may be left out."""
    return dataclasses.replace(audit, result=where_left_out(audit.result, other))


def _mitigate_first(
    spec: Spec, one: _Preparation, progress: Progress
) -> tuple[_Preparation, tuple[str, ...]]:
    """Return the first model as mitigation leaves it, on the same people, and what was done."""
    second = spec.of_second()
    treated = {} if spec.compare is None else dict(spec.compare.treated or {})
    options: Any = build(AUDITS.treating.options, treated, "compare.treated")
    rng = AuditRequest(AUDITS.treating.name, options).random(spec.seed)
    try:
        subject, notes = resolve(AUDITS.treating.treats)(
            one.subject, options, threshold=second.threshold, rng=rng, progress=progress
        )
    except InputError as error:
        raise of_the_treated(error, AUDITS.treating.name) from None
    facts = plain_data(model_facts(subject), "model")
    facts["name"] = f"{facts['name']}, treated"  # it is told from the one that it was before
    return _Preparation(subject, one.data, facts), notes


def _on(prepared: _Preparation, subject: Subject, notes: tuple[str, ...]) -> _Preparation:
    """Return what was prepared on the people of `subject`."""
    if subject is prepared.subject and not notes:
        return prepared
    noted = [*prepared.data["notes"], *notes]
    data = {
        **prepared.data,
        "rows_audited": subject.data.n,
        "people_audited": subject.data.people,
        "notes": noted,
    }
    return _Preparation(subject, data, plain_data(model_facts(subject), "model"))


def _prepared_for(
    spec: Spec, expected: list[str], progress: Progress = silent, *, second: bool = False
) -> _Preparation:
    """Return what audits of the first or second model work on, remembered unless a service is asked."""

    def make() -> _Preparation:
        return _prepare(spec, expected, progress, second=second)

    if spec.asks_a_service:
        return make()
    # audits can name files beside the spec
    return _prepared.get(f"{spec.subject_key(expected)} {spec.base_dir}{' second' if second else ''}", make)


def _counted_for(spec: Spec, expected: list[str], progress: Progress) -> _Preparation:
    """Return people counted; held, where it turns out that they must be and their table can be read whole."""
    key = f"{spec.subject_key(expected)} {spec.base_dir} counted"
    try:
        return _prepared.get(key, lambda: _count(spec, expected, progress))
    except NeedsPeople:
        if beyond_limits(spec.data_paths()):
            raise
    return _prepared_for(spec, expected, progress)


def _finish(
    spec: Spec, prepared: _Preparation, audits: Sequence[AuditResult], progress: Progress = silent
) -> RunResult:
    """Return the result of a run from what its audits found, and its search where one of them clears."""
    search = None
    if spec.search:
        whole = partial(_searched, spec) if spec.streamed and parquet_files(spec.data_paths()) else None
        audits, search = with_search(audits, prepared.subject, spec.seed, carry_out, progress, whole=whole)
    data = {**prepared.data, "notes": [*spec.data.origin, *prepared.data["notes"]]}
    return RunResult(VERSION, spec.to_dict(), data, prepared.model, tuple(audits), search=search)


def _searched(spec: Spec) -> Subject:
    """Return people drawn from a table that was counted without their features, for the run's search."""
    drawn = dataclasses.replace(spec, data=dataclasses.replace(spec.data, draw=_SEARCHED))
    return _prepared_for(drawn, drawn.digests()).subject


def remembered_subject(spec: Spec, digests: list[str], progress: Progress = silent) -> Subject:
    """Return what the audits of `spec` work on, made once in this process where `execute` would.

    Raises
    ------
    InputError
        As `prepared_subject`.
    """
    if spec.streamed:
        raise InputError("data.path", "is too large to read completely", advice="name part of it")
    return _prepared_for(spec, digests, progress).subject


def prepared_subject(spec: Spec) -> Subject:
    """Return what the audits of `spec` would work on: data read, model made.

    Raises
    ------
    InputError
        As `execute`; also for a table that is only counted batch by batch.
    """
    with fixed_threads():
        return remembered_subject(spec, spec.digests())


def _count(spec: Spec, expected: list[str], progress: Progress) -> _Preparation:
    from audits.runs.source.streaming import count_subject  # late: few tables are larger than memory

    subject, data, model = count_subject(spec, expected, part(progress, 0.0, _COUNTED))
    return _Preparation(subject, data, plain_data(model, "model"))


def _prepare(spec: Spec, expected: list[str], progress: Progress, *, second: bool = False) -> _Preparation:
    own, other = (spec.of_second(), spec.of_first()) if second else (spec.of_first(), spec.of_second())
    progress(0.0, "Reading the data")
    table = _tables.get(spec.table_key(expected), lambda: _read(spec, part(progress, 0.0, _READ)))
    try:
        data = of_all(build_data(table, spec.data, decisions=_decided_in(spec)), table)
    except InputError as error:
        _add_noticed(error, table)
        raise
    if data.rows_read != data.n + sum(data.excluded.values()):
        raise RunFailed(
            f"{data.rows_read:,} rows were read, but {data.n:,} were used and "
            f"{sum(data.excluded.values()):,} left out."
        )
    told = other.model.predictions if spec.compare is not None else None
    subject = make_subject(
        data if told is None else data.without_feature(str(told.score or told.label)),
        own.model,
        threshold=own.threshold,
        seed=spec.seed,
        test_size=spec.data.test_size,
        base_dir=spec.base_dir,
        progress=part(progress, _READ, _PREPARED),
    )
    if spec.digests() != expected:
        raise InputError(
            "data.path or model.path", "names a file that changed during the run", advice="run it again"
        )
    model = plain_data(model_facts(subject), "model")
    facts = data_facts(data, subject, table.report)
    decided = own.model.predictions.label if own.model.predictions else None
    if len(table.frame) <= _EXAMINED:
        found = examine(table, spec.data, data, predictions=decided)
        facts["findings"] = plain_data([asdict(each) for each in found], "data")
    return _Preparation(subject, facts, model)


def _decided_in(spec: Spec) -> list[str]:
    """Return the columns that hold what either model decided."""
    stated = [side.model.predictions for side in (spec.of_first(), spec.of_second())]
    return list(dict.fromkeys(str(each.score or each.label) for each in stated if each is not None))


def _read(spec: Spec, progress: Progress) -> Table:
    wanted = spec.drawn
    if wanted is not None:
        return draw_table(spec.data, spec.data_paths(), spec.seed, wanted, progress)
    return read_table(spec.data_paths(), format=spec.data.format, options=spec.data.read)


def _add_noticed(error: InputError, table: Table) -> None:
    """Add to an error about the data what was noticed while they were read: it may be the reason."""
    noticed = [note for file in table.report.files for note in file.notes] + list(table.report.notes)
    if noticed:
        error.args = (f"{error} Noticed while reading: {' '.join(noticed)}",)


def carry_out(
    request: AuditRequest,
    place: int,
    subject: Subject,
    seed: int,
    progress: Progress = silent,
    *more: Subject,
) -> AuditResult:
    """Run one audit of a list; an error names its `place`, and nothing else depends on that.

    Parameters
    ----------
    more : Subject
        Other models on the same rows, to be compared with: rows are then drawn alike for all.
    """
    _check_installed(request, place)
    if subject.data.numeric is not None and not AUDITS[request.name].numeric:
        raise needs_cut(subject.data.numeric, f"audits[{place}].{request.name}")
    whole, subject = subject, whom_about(request, subject)
    table = subject.data.everyone.frame.index
    if AUDITS[request.name].draws_rows or subject.data.design is not None:
        subject = subject.in_order
    drawn = subject
    if subject.data.design is not None and not AUDITS[request.name].designs:
        if not subject.data.design.persons:
            supporting = [name for name, audit in AUDITS.items() if audit.designs]
            raise InputError(
                f"audits[{place}].{request.name}",
                "treats each row as one independent person, but these have sampling weights, strata or "
                "clusters, so its intervals would be too narrow",
                advice=f"leave the audit out; these audits support them: {choices(supporting)}",
            )
        # the same rows for every audit of the run
        others = (whom_about(request, each) for each in more)
        drawn = subject.one_row_each(np.random.default_rng([seed, _PERSONS]), *others)
    if AUDITS[request.name].distances:
        check_spread(drawn.data)
    try:
        result = AUDITS[request.name].run(drawn, request.options, rng=request.random(seed), progress=progress)
    except InputError as error:
        _locate(error, f"audits[{place}]", request)
        raise
    result = _as_in_table(result, subject.data.everyone.frame.index, table)
    if drawn is not subject:
        note = (
            f"Rows of one person are not independent evidence: one row of each of "
            f"{drawn.data.n:,} persons was sampled so that each group's decisions and features stay close to "
            f"those of all its rows; {subject.data.n - drawn.data.n:,} others were left out."
        )
        result = dataclasses.replace(result, warnings=(note, *result.warnings))
        if isinstance(result, RowsResult):  # a plugin's need not be one
            which = f"{crc32(repr(sorted(drawn.data.frame.index)).encode()):08x}"
            result = dataclasses.replace(result, rows=result.rows | {"sample": which})
    cleared = without_clearance(where_outcomes_known(result, request, whole), whole.cannot_clear)
    return AuditResult(request.name, request.all_options(), cleared, vocabulary())


def _as_in_table(result: Any, drawn: pd.Index, table: pd.Index) -> Any:
    """Return a result whose people stand as in the table where they stand in the order drawn from."""
    place = pd.Series(np.arange(len(drawn)), drawn), pd.Series(np.arange(len(table)), table)
    if drawn is table or not table.is_unique:
        return result
    changed = {}
    for each in dataclasses.fields(result):
        people = getattr(result, each.name)
        if isinstance(people, pd.DataFrame) and people.index.name == table.name and len(people):
            before, after = (where.reindex(people.index).to_numpy() for where in place)
            if (np.diff(before) >= 0).all():
                changed[each.name] = people.iloc[np.argsort(after, kind="stable")]
    return dataclasses.replace(result, **changed)


def _check_installed(request: AuditRequest, place: int) -> None:
    package = AUDITS[request.name].lacks
    if package is not None:
        raise not_installed(f"audits[{place}].{request.name}", package)


_SEARCHED = 100_000  # rows drawn for the search of a table that is counted
_PERSONS = 1 << 31  # tells this stream from others of the same seed


def _locate(error: InputError, place: str, request: AuditRequest) -> None:
    """Have an audit's error say which audit of the spec it is about."""
    root = error.where.replace("[", ".").split(".")[0]
    if root in {"data", "threshold"}:
        return
    if root == request.name:
        prefix = f"{place}."
    elif root in request.all_options():
        prefix = f"{place}.{request.name}."
    else:
        prefix = f"{place}.{request.name}: "
    error.moved(prefix + error.where)
