"""What changes from one model to another on the same people: numbers paired audit by audit, and decisions."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.comparison.intervals import People, exactly_0, share_moved
from audits.comparison.pairs import Pairing, Row
from audits.comparison.text import sentence
from audits.errors import InputError
from audits.records import resolve
from audits.runs.clearance import left_out_of, where_both_known
from audits.runs.comparison.changes import TWO_SAMPLES, AuditChange, ChangeRow, Changes, DecisionChangeRow
from audits.runs.comparison.same_people import in_rows, matched_rows, relabel
from audits.runs.gates.baselines import estimates_in
from audits.runs.multiple_testing import level_of
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, Estimate, Judgment, judge, wilson, worst_of
from audits.stats.intervals import weighted_sum
from audits.stats.text import count
from audits.stats.verdicts import DEFAULT_LEVEL, MATERIAL_DIFFERENCE
from audits.stats.vocabulary import vocabulary

if TYPE_CHECKING:
    from audits.models import Subject
    from audits.runs.result import AuditResult, RunResult

    Subjects = tuple[Subject, Subject]

_POWER_FACTOR = (1 + 0.8416 / 1.96) ** 2
_REPEATED = {"interval"}  # the one interval of a verdict is one of the audit's numbers


def compare(first: RunResult, second: RunResult) -> Changes:
    """Return what changes from one run to another, each with a model of its own.

    Parameters
    ----------
    first, second : RunResult
        Runs of the same audits: what ``evenhand.audit`` returned, or loaded ones.

    Returns
    -------
    Changes
        Paired where both are about the same people, in any order: known by row number or person, and alike in
        features, label and groups. Otherwise each change is that of two samples, and a note says so. A change
        that cannot be paired has no interval, and says why not.

    Raises
    ------
    InputError
        If the two have no audit in common.
    """
    for where, run in (("first", first), ("second", second)):
        if not hasattr(run, "audits"):
            rule = "must be what evenhand.audit or evenhand.load returned"
            raise InputError(where, rule, type(run).__name__, "audit each model first")
    runs, subjects, everyone, notes = _on_common_people(first, second)
    same_answer = _favorable_answer(first) == _favorable_answer(second)
    told = tuple(
        _asked_otherwise(one, two, place, same_answer=same_answer)
        or where_both_known(
            audit_change(one, two, place, subjects, independent=bool(notes)), one.result, two.result
        )
        for one, two, place in _matching_audits(*runs)
    )
    if not told:
        raise InputError(
            "second", "must have an audit in common with the first", advice="run the same audits"
        )
    names = (str(first.model["name"]), str(second.model["name"]))
    return with_decisions(Changes(names, told, notes=notes), subjects, everyone)


def _favorable_answer(run: RunResult) -> Any:
    """Return what is good for a person by the run's spec: values of the label, or where a number is cut."""
    data = run.spec.get("data", {})
    label, good = data.get("label"), data.get("favorable")
    cut = {key: each for key, each in label.items() if key != "column"} if isinstance(label, Mapping) else {}
    return cut, sorted(map(str, good if isinstance(good, (list, tuple)) else [good]))


def paired_changes(first: RunResult, second: RunResult) -> tuple[AuditChange, ...]:
    """Return what changes between two saved runs of one table, in audits with the same options.

    Nothing of other tables or of another favorable answer, and no audit whose numbers are all the same or
    not paired.
    """
    if first.data["sha256"] != second.data["sha256"] or _favorable_answer(first) != _favorable_answer(second):
        return ()
    pairs = [
        each for each in _matching_audits(first.audits, second.audits) if each[0].options == each[1].options
    ]
    told = (
        where_both_known(audit_change(one, two, place), one.result, two.result) for one, two, place in pairs
    )
    return tuple(
        each for each in told if any(row.verdict is not None and row.change.value for row in each.rows)
    )


def _matching_audits(
    first: Sequence[AuditResult], second: Sequence[AuditResult]
) -> Iterator[tuple[AuditResult, AuditResult, int]]:
    """Yield audits of the same name: as many others of that name before either."""
    turns: dict[str, int] = {}
    for audit in first:
        turn = turns[audit.name] = turns.get(audit.name, -1) + 1
        places = [place for place, each in enumerate(second) if each.name == audit.name]
        if turn < len(places):
            yield audit, second[places[turn]], places[turn]


def _on_common_people(
    first: RunResult, second: RunResult
) -> tuple[tuple[Sequence[Any], Sequence[Any]], Subjects | None, Subjects | None, tuple[str, ...]]:
    """Return the audits of both with common row numbers for common people, and both subjects on these.

    Then both on everyone, where some have no label. Without the same people there are no subjects, and a note
    says so.
    """
    one, two = getattr(first, "subject", None), getattr(second, "subject", None)
    if one is None or two is None:
        if first.data["sha256"] == second.data["sha256"]:
            return (first.audits, second.audits), None, None, ()
        return (_relabel_all(first.audits, None), second.audits), None, None, (_UNKNOWN,)
    index = one.data.frame.index, two.data.frame.index
    if not (index[0].is_unique and index[1].is_unique):
        return (_relabel_all(first.audits, None), second.audits), None, None, (_UNKNOWN,)
    person = first.spec.get("data", {}).get("person")
    n, rows = two.data.n, matched_rows(one.data, two.data, person)
    known = np.flatnonzero(rows >= 0)
    theirs = n + np.arange(one.data.n)
    theirs[rows[known]] = known
    labels = dict(zip(index[0], theirs.tolist(), strict=True)), dict(zip(index[1], range(n), strict=True))
    audits = _relabel_all(first.audits, labels[0]), _relabel_all(second.audits, labels[1])
    if len(known) == n == one.data.n:
        both = _in_common_rows(one, two, rows)
        if one.everyone is one and two.everyone is two:
            return audits, both, both, ()
        rows = matched_rows(one.everyone.data, two.everyone.data, person)
        return audits, both, _in_common_rows(one.everyone, two.everyone, rows), ()
    return audits, None, None, (_APART.format(len(known), one.data.n, n),)


def _in_common_rows(first: Subject, second: Subject, rows: np.ndarray) -> Subjects:
    """Return both on the people of the second who are at `rows` of the first, with common row numbers."""
    known = np.flatnonzero(rows >= 0)
    common = pd.RangeIndex(len(known), name="row")
    return in_rows(first, rows[known], common), in_rows(second, known, common)


def _relabel_all(audits: Sequence[Any], labels: Mapping[Any, int] | None) -> list[Any]:
    return [dataclasses.replace(each, result=relabel(each.result, labels)) for each in audits]


_UNKNOWN = (
    "We don't know whether both runs cover the same people, so each change compares two samples. Run both "
    "models on one table for paired changes."
)
_APART = (
    "{0:,} people can be matched, of {1:,} in the first run and {2:,} in the second, so each change "
    "compares two samples. Run both models on the same people for paired changes."
)


def audit_change(
    first: AuditResult,
    second: AuditResult,
    place: int,
    subjects: Subjects | None = None,
    *,
    independent: bool = False,
) -> AuditChange:
    """Return how an audit's numbers change.

    Parameters
    ----------
    place : int
        That of the second model's result in its run.
    independent : bool
        Whether the two are about different people.
    """
    record = AUDITS[second.name]
    samples = [getattr(each.result, "rows", {}).get("sample") for each in (first, second)]
    if record.paired is None or samples[0] != samples[1]:
        pairing = Pairing(why={"": _OTHER_ROWS if record.paired else _NOT_PAIRED})
    else:
        pairing = resolve(record.paired)(first.result, second.result, subjects)
    if one_model := _is_one_model(subjects):
        pairing = dataclasses.replace(pairing, rows=tuple(map(_unmoved, pairing.rows)))
    level = level_of(second.options)
    judged_rows = sum(row.judged and row.moved.ends is not None for row in pairing.rows)
    looked_at = max(pairing.looked_at, judged_rows, 1)
    told = [(row, _judge_change(row, level, looked_at)) for row in pairing.rows]
    rows = [_paired_row(row, judged, level) for row, judged in told]
    rows.sort(key=lambda row: (row.verdict is None, -row.size))
    rows += _unpaired_rows(first, second, pairing, independent=independent)
    known = [(row, judged) for row, judged in told if judged is not None and row.moved.ends is not None]
    if known:
        worst = _leading_change(known)
        if worst.verdict == NO_MATERIAL:  # nor is it known what became of a number without an interval
            worst = next((each for row, each in told if each and each.reason and row.moved.value), worst)
        row = next(row for row, judged in told if judged is worst)
        worst = _settling_all(worst, [judged for _, judged in known])
        headline = sentence(row.name, row.kind, row.first, row.second, worst)
        if independent:  # of other people, who may be all that changes
            headline = headline.replace("second model", "second run")
    else:
        why = next((row.moved.method for row in pairing.rows if row.judged), "")
        worst = _nothing(why.removeprefix("no interval: ") or pairing.reason(""))
        judged_at_all = any(row.judged for row in pairing.rows)
        same = bool(rows) and all(row.change.value == 0 for row in rows)
        headline = (
            (_SAME_APART if independent else _SAME)
            if same
            else _UNTOLD
            if judged_at_all
            else f"{_BESIDE} {worst.reason}."
        )
    if one_model:
        none = Estimate(0.0, 0.0, 0.0, max((row.change.n for row in rows), default=0.0), _EXACT)
        worst, headline = judge(none, immaterial=(0.0, 0.0)), _ONE_MODEL
    return AuditChange(second.name, place, "", worst, headline, pairing.given, looked_at, level, tuple(rows))


def _is_one_model(subjects: Subjects | None) -> bool:
    """Whether both are one model with one threshold, as where a treatment chose to change nothing."""
    if subjects is None:
        return False
    first, second = subjects
    return first.model is second.model and first.threshold == second.threshold


def _unmoved(row: Row) -> Row:
    """Return a number of one model and itself, which changes for nobody."""
    return dataclasses.replace(row, moved=exactly_0(row.moved, _EXACT))


def _leading_change(known: Sequence[tuple[Row, Judgment]]) -> Judgment:
    """Return the change that the verdict rests on: of the sure ones a gap between groups, if there is one."""
    worst = worst_of(judged for _, judged in known)
    gaps = [judged for row, judged in known if row.kind == "gap" and judged.verdict == EVIDENCE]
    sure = worst.verdict == EVIDENCE and bool(gaps)
    return worst_of(gaps) if sure else worst


def _settling_all(worst: Judgment, judged: Sequence[Judgment]) -> Judgment:
    """Return the judgment with as many people as settle all that are open; unknown where one does not say."""
    if worst.people_needed is None:
        return worst
    times = [
        (each.people_needed or math.inf) / each.interval.n for each in judged if each.verdict == INSUFFICIENT
    ]
    needed = max(times) * worst.interval.n
    number = math.ceil(round(needed / 10, 6)) * 10 if math.isfinite(needed) else None
    return dataclasses.replace(worst, people_needed=number)


_OTHER_ROWS = "the two runs drew different rows of each person; compare both models in one run"
_NOT_PAIRED = "the audit does not say how its numbers depend on individual people"
_BESIDE = "Both models' results are side by side; the change has no interval:"
_SAME = "Both models have the same numbers on these people."
_SAME_APART = "The numbers that both runs state are the same."
_EXACT = "exact: both are one model"
_ONE_MODEL = "Both models are the same one, so nothing changes."
_UNTOLD = "We can't tell what the second model changes."


_NO_QUESTION = {"level", "permutations", "bootstrap", "draws", "repeats", "samples"}
"""Options that say how surely an audit answers, not what it is asked."""


def _asked_otherwise(
    first: AuditResult, second: AuditResult, place: int, *, same_answer: bool
) -> AuditChange | None:
    """Return that two audits were asked for different things, so that nothing changes; None where not."""
    kept = [dict(each.options) for each in (first, second)]
    # an older run has fewer
    both = [name for name in kept[1] if name in kept[0] and name not in _NO_QUESTION]
    names = [name for name in both if kept[0][name] != kept[1][name]]
    names += [] if same_answer else ["favorable"]
    if not names:
        return None
    why = f"the two runs asked for different things ({', '.join(names)})"
    return dataclasses.replace(
        refusal(second.name, why, level_of(second.options)),
        second=place,
        headline=f"No change is stated: {why}.",
    )


def refusal(name: str, why: str, level: float) -> AuditChange:
    """Return what there is to say of an audit that the second model does not allow."""
    headline = "The second model does not allow this audit."
    return AuditChange(name, None, why, _nothing(why), headline, "", 0, level, ())


def _nothing(why: str) -> Judgment:
    none = Estimate(None, None, None, 0.0, f"no interval: {why}")
    return judge(none, immaterial=(0.0, 0.0), reason=why)


def _judge_change(row: Row, level: float, looked_at: int) -> Judgment | None:
    """Judge a change by its interval, corrected for all that are looked at."""
    if not row.judged:
        return None
    change, p = row.moved.interval(level / looked_at), row.moved.p_value()
    needed = None
    if change.low is not None and change.high is not None and row.material > 0:
        half = (change.high - change.low) / 2
        needed = math.ceil(change.n * max(1.1, _POWER_FACTOR * (half / row.material) ** 2) / 10) * 10
    judged = judge(
        change,
        immaterial=(-row.material, row.material),
        p_value=None if p is None else min(p * looked_at, 1.0),
        level=level,
        people_needed=needed,
        reason="" if change.low is not None else row.moved.method.removeprefix("no interval: "),
    )
    # of a part of everyone, such as those of a group with an unfavorable label
    such = f"such {vocabulary().people}; there are {count(change.n)}"
    return dataclasses.replace(judged, limit_name=row.limit_name, people_of=such)


def _paired_row(row: Row, judged: Judgment | None, level: float) -> ChangeRow:
    told = ChangeRow(row.where, row.name, row.kind, row.first, row.second, row.moved.interval(level))
    if judged is None:
        return told
    verdict = None if judged.interval.low is None else judged.verdict
    material, needed = judged.material, judged.people_needed
    return dataclasses.replace(
        told, change=judged.interval, verdict=verdict, material=material, people_needed=needed
    )


def _unpaired_rows(
    first: AuditResult, second: AuditResult, pairing: Pairing, *, independent: bool
) -> Iterator[ChangeRow]:
    """Yield all other numbers that both results state, with the reason why their change has no interval.

    Numbers of different people have that of a difference of two independent samples.
    """
    covered = {row.where for row in pairing.rows}
    own = _own(second)
    before, after = (dict(estimates_in(each)) for each in (_own(first), own))
    for where, now in after.items():
        if where in covered or where.rpartition(".")[2] in _REPEATED or where not in before:
            continue
        one, two = (_estimate_of(each) for each in (before[where], now))
        moved = None if one.value is None or two.value is None else two.value - one.value
        change = Estimate(moved, None, None, two.n, f"no interval: {pairing.reason(where)}")
        if independent and None not in (one.low, two.low) and not _MATCHED.search(where):
            change = dataclasses.replace(weighted_sum([two, one], [1.0, -1.0]), method=TWO_SAMPLES)
        yield ChangeRow(where, _place_phrase(where, own), "number", one, two, change)


_MATCHED = re.compile(r"transparency|mean_change|^bias\b")
"""Numbers whose intervals take as given who is matched with whom: among other people that is another."""
_NUMBERED = re.compile(r"^(\w+)\[(\d+)\]\.")


def _estimate_of(ends: Sequence[float | None]) -> Estimate:
    value, low, high, n = ends
    return Estimate(value, low, high, float(n or 0.0), "")


def _own(audit: AuditResult) -> dict[str, Any]:
    found: dict[str, Any] = audit.result.to_json()
    return {key: value for key, value in found.items() if key not in {"warnings", "finding", "rows"}}


def _place_phrase(where: str, own: Mapping[str, Any]) -> str:
    """Word the place of a number; an entry that is told by its number alone, by the columns that it is of."""

    def named(found: re.Match[str]) -> str:
        entry = own[found[1]][int(found[2])]
        columns = entry.get("columns") if isinstance(entry, dict) else None
        return f"{' and '.join(columns)}: " if columns else found[0]

    where = _NUMBERED.sub(named, where)
    return where.replace("_", " ").replace("].", ": ").replace("[", ", ").replace("]", "").replace(".", ", ")


def with_decisions(changes: Changes, subjects: Subjects | None, everyone: Subjects | None = None) -> Changes:
    """Add who is decided otherwise, and how the accuracy changes; nothing where people are not at hand.

    `everyone` is both on all people whom they decide on, those without a label too; else it is looked for.
    """
    if subjects is None or subjects[1].data.numeric is not None:
        return changes
    first, second = everyone or _everyone(subjects)
    data = second.data
    sizes = data.row_weights
    if data.design is not None:
        sizes = data.design.weights * (data.n / data.design.weights.sum())
    gained, lost = ~first.decisions & second.decisions, first.decisions & ~second.decisions
    groups = [("", "everyone", np.ones(data.n, dtype=bool))]
    groups += [
        (name, str(value), (data.groups[name] == value).to_numpy())
        for name in data.protected
        for value in sorted(data.groups[name].unique())
    ]
    decided = tuple(
        DecisionChangeRow(
            attribute, group, n, float(sizes[inside & gained].sum()), float(sizes[inside & lost].sum()),
            wilson(float(sizes[inside & (gained | lost)].sum()), n, level=DEFAULT_LEVEL),
        )
        for attribute, group, inside in groups
        if (n := float(sizes[inside].sum())) > 0
    )  # fmt: skip
    return dataclasses.replace(
        changes,
        decided=decided,
        accuracy=_accuracy(subjects),
        people=_otherwise((first, second), subjects[1], gained | lost),
    )


def _everyone(subjects: Subjects) -> Subjects:
    """Return both models on all people whom both decide on, those without a label too."""
    first, second = (subject.everyone for subject in subjects)
    index = first.data.frame.index, second.data.frame.index
    if index[0].equals(index[1]):
        return first, second
    if not (index[0].is_unique and index[1].is_unique):
        return subjects
    common = index[1][index[1].isin(index[0])]
    return in_rows(first, index[0].get_indexer(common), common), in_rows(
        second, index[1].get_indexer(common), common
    )


def _accuracy(subjects: Subjects) -> ChangeRow | None:
    """How the share of people decided as their label says changes."""
    data = subjects[1].data
    y = data.y
    if y is None:
        return None
    whom = People.counted(data.row_weights) if data.design is None else People.sampled(data.design)
    everyone = np.ones(len(y), dtype=bool)
    right = [np.asarray(subject.decisions == y) for subject in subjects]
    weight = np.bincount(whom.rows, whom.design.weights, len(y))
    n = float(weight.sum())
    first, second = (wilson(float(weight @ side), n, level=DEFAULT_LEVEL) for side in right)
    moved = share_moved(whom, *((everyone, side) for side in right))
    row = Row("accuracy", "accuracy", first, second, moved, "share", material=MATERIAL_DIFFERENCE)
    if _is_one_model(subjects):
        row = _unmoved(row)
        return _paired_row(row, _judge_change(row, DEFAULT_LEVEL, 1), DEFAULT_LEVEL)
    judged = _judge_change(row, DEFAULT_LEVEL, 1)
    why = "" if judged is None else _unknown_of(subjects, judged.verdict)
    if judged is not None and why:
        judged = dataclasses.replace(judged, verdict=INSUFFICIENT, reason=why, people_needed=None)
    return _paired_row(row, judged, DEFAULT_LEVEL)


def _unknown_of(subjects: Subjects, verdict: str) -> str:
    """Return why labels or decisions that are missing allow no such verdict; empty where they do.

    What is open stays so, however many people, where nothing can be cleared.
    """
    verdict = NO_MATERIAL if verdict == INSUFFICIENT else verdict
    unknown = [subject.unknown_labels(level=DEFAULT_LEVEL / 2) for subject in subjects]
    why = next((each.withheld for each in unknown if each.uneven), "")
    why = why or (unknown[0].cannot_clear if verdict == NO_MATERIAL else "")
    left = (each for subject in subjects for each in left_out_of(subject))
    return why or next((reason for reason, verdicts, _ in left if reason and verdict in verdicts), "")


def _otherwise(both: Subjects, labeled: Subject, changed: np.ndarray) -> pd.DataFrame:
    """Those decided otherwise: groups, label, and score and decision of both models on their own scales."""
    first, second = both
    data = second.data
    told: dict[str, Any] = {f"group: {name}": data.groups[name].to_numpy() for name in data.protected}
    if labeled.data.y is not None:
        known = pd.Series(labeled.data.y, labeled.data.frame.index)
        whole = known.index.equals(data.frame.index)
        told["favorable label"] = labeled.data.y if whole else known.reindex(data.frame.index).to_numpy()
    for name, subject in (("first", first), ("second", second)):
        turned = -1.0 if subject.higher_is == "unfavorable" else 1.0
        told |= {f"{name} score": turned * subject.scores, f"{name} decision": subject.decisions}
    if data.weights is not None:
        told["people"] = data.weights
    return pd.DataFrame(told, index=data.frame.index)[changed]
