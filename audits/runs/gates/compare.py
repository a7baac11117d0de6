"""What changed between two runs: spec, data, model, and every number with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from audits.models.metadata import accuracy_words
from audits.runs.gates.places import numbered, parts_of
from audits.runs.registry import AUDITS
from audits.stats.text import count, number

if TYPE_CHECKING:
    from audits.runs.result import RunResult

_ESTIMATE = {"value", "low", "high", "n", "method"}
_MEAN = {"mean", "low", "high", "n", "method"}  # an estimate that shares its row with other things
_MAX = 80


@dataclass(frozen=True)
class RunChange:
    """One thing that differs.

    Attributes
    ----------
    part : str
        ``spec``, ``data``, ``model``, ``evenhand``, or the audit's name.
    where : str
        Path within the part, with names for places in lists (``table[race: B].selection_rate``).
    before, after : object
        Values; None where the run does not have it.
    low_before, high_before, low_after, high_after : float or None
        Intervals, where the value is an estimate.
    overlap : bool or None
        Whether the two intervals share a point; None without intervals. Overlap is no test of a change.
    """

    part: str
    where: str
    before: Any
    after: Any
    low_before: float | None = None
    high_before: float | None = None
    low_after: float | None = None
    high_after: float | None = None
    overlap: bool | None = None

    def words(self) -> tuple[str, str]:
        """Return before and after as a reader sees them, an estimate with its interval."""
        before = _words(self.before, self.low_before, self.high_before)
        after = _words(self.after, self.low_after, self.high_after)
        if before == after:  # a change in later digits
            before = _exactly(self.before, self.low_before, self.high_before)
            after = _exactly(self.after, self.low_after, self.high_after)
        start = _parting(before, after)
        return before[start:][:_MAX], after[start:][:_MAX]


def compare_runs(before: RunResult, after: RunResult) -> list[RunChange]:
    """Return everything that differs between two runs, spec first; nothing if they found the same."""
    old, new = before.to_json(), after.to_json()
    parts = [(name, old[name], new[name]) for name in ("evenhand", "spec", "data", "model")]
    first, second = (_by_audit(document["audits"]) for document in (old, new))
    parts += [(name, first.get(name, {}), second.get(name, {})) for name in {**first, **second}]
    return [change for name, a, b in parts for change in sorted(_changes(name, a, b), key=_weight)]


def before_and_after(before: RunResult, after: RunResult) -> pd.DataFrame:
    """Return what matters of two runs side by side: whom they were of, and each audit's verdict and sentence.

    Columns ``what``, ``before``, ``after``; what only one of the runs has is ``–`` in the other.
    """
    told = [_summary_lines(run) for run in (before, after)]
    rows = [(what, *(each.get(what, "–") for each in told)) for what in {**told[0], **told[1]}]
    return pd.DataFrame(rows, columns=["what", "before", "after"])


def _summary_lines(run: RunResult) -> dict[str, str]:
    found = {
        "people audited": count(run.data.get("people_audited", run.data["rows_audited"])),
        "model": str(run.model["name"]),
        "decided": str(run.model.get("rule") or "–"),
        "accuracy": accuracy_words(run.model) or "–",
    }
    for audit in run.audits:
        title = AUDITS[audit.name].title if audit.name in AUDITS else audit.name
        found[f"{title}: verdict"] = audit.result.verdict
        found[f"{title}: finding"] = audit.headline
    return found


def comparison_frame(changes: list[RunChange]) -> pd.DataFrame:
    """Return changes as a table, one row a change."""
    columns = list(RunChange.__dataclass_fields__)
    rows = [[getattr(change, column) for column in columns] for change in changes]
    frame = pd.DataFrame(rows, columns=[column.replace("_", " ") for column in columns], dtype=object)
    return frame.dropna(axis="columns", how="all") if len(frame) else frame


def worded_frame(changes: list[RunChange]) -> pd.DataFrame:
    """Return changes as a table to read; `comparison_frame` has the exact numbers."""
    said = {True: "overlap", False: "apart", None: ""}
    rows = [(change.part, change.where, *change.words(), said[change.overlap]) for change in changes]
    return pd.DataFrame(rows, columns=["part", "what", "before", "after", "intervals"])


def _words(value: object, low: float | None, high: float | None) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = number(float(value))
        return text if low is None else f"{text} ({number(low)} to {number(high)})"
    return "–" if value is None else str(value)


def _exactly(value: object, low: float | None, high: float | None) -> str:
    return repr(value) if low is None else f"{value!r} ({low!r} to {high!r})"


def _parting(before: str, after: str) -> int:
    """Where to begin two long texts so that both show where they part."""
    part = next((k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    return max(part - _MAX // 2, 0) if max(len(before), len(after)) > _MAX else 0


def _weight(change: RunChange) -> int:
    """Verdict and finding first, then estimates, then the rest, each in the order of the results."""
    if change.where in {"verdict", "finding"}:
        return 0
    return 1 if change.low_before is not None or change.low_after is not None else 2


def _by_audit(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return dict(zip(numbered([entry["audit"] for entry in entries], " "), entries, strict=True))


def _changes(part: str, old: Any, new: Any) -> Iterator[RunChange]:
    a, b = dict(_leaves(old, "")), dict(_leaves(new, ""))
    for where in {**a, **b}:
        before, after = a.get(where), b.get(where)  # what is not there is as good as none
        if where == "headline" or _same(before, after):  # the headline says again what is compared beside it
            continue
        if _states_the_same(before, after):
            yield from _changes(part, _beside(before, where), _beside(after, where))
        else:
            yield _change(part, where, before, after)


def _states_the_same(before: Any, after: Any) -> bool:
    """Whether two estimates agree in value and interval, and so differ in people or method only."""
    both = isinstance(before, dict) and isinstance(after, dict)
    return both and all(_same(before[key], after[key]) for key in ("value", "low", "high"))


def _beside(estimate: Any, where: str) -> dict[str, Any]:
    return {f"{where}.{key}": estimate[key] for key in ("n", "method")}


def _same(before: Any, after: Any) -> bool:
    """Equal, numbers to nine digits: below that they tell two machines apart and nothing else."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return all(_same(before[key], after[key]) for key in before)
    if isinstance(before, float) or isinstance(after, float):
        numbers = isinstance(before, (int, float)) and isinstance(after, (int, float))
        return numbers and math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
    return bool(before == after)


def _change(part: str, where: str, before: Any, after: Any) -> RunChange:
    ends = [_interval(value) for value in (before, after)]
    overlap = None
    if all(low is not None and high is not None for low, high in ends):
        overlap = max(low for low, _ in ends) <= min(high for _, high in ends)
    return RunChange(part, where, _value(before), _value(after), *ends[0], *ends[1], overlap)


def _interval(value: Any) -> tuple[Any, Any]:
    return (value["low"], value["high"]) if isinstance(value, dict) else (None, None)


def _value(value: Any) -> Any:
    return value["value"] if isinstance(value, dict) else value


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every plain value, and every estimate whole, with the path that leads there."""
    if not isinstance(value, (dict, list)) or (isinstance(value, dict) and value.keys() >= _ESTIMATE):
        yield path.lstrip("."), value
        return
    if isinstance(value, dict) and value.keys() >= _MEAN:
        value = dict(value)
        parts = {key: value.pop(key) for key in ("low", "high", "n", "method")}
        value["mean"] = {"value": value["mean"], **parts}
    for where, item in parts_of(value, path):
        yield from _leaves(item, where)
