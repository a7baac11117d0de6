"""``runs``: the saved audits."""

from __future__ import annotations

import json
import time

from audits.cli.text import count_of, lines_of_findings, one_line, wrap
from audits.errors import InputError
from audits.runs.comparison.two_models import paired_changes
from audits.runs.documents import dump_yaml
from audits.runs.gates.compare import RunChange, compare_runs
from audits.runs.storage.saved import STATUSES, SavedRun, SavedRuns

__all__ = ["annotate", "compare", "list_runs", "remove_runs", "rename_run", "show_run"]

_SHORT = 8
_MAX_A_PART = 12
_HEAD = ("evenhand", "spec", "data", "model")


def list_runs(status: str | None, verdict: str | None, audit: str | None, text: str, *, as_json: bool) -> str:
    """List saved audits, latest first."""
    if status is not None and status not in STATUSES:
        raise InputError("--status", f"must be one of {', '.join(STATUSES)}", status)
    found = SavedRuns().list(status=status, verdict=verdict, audit=audit, text=text)
    if as_json:
        return json.dumps([_facts(run) for run in found], indent=1, ensure_ascii=False)
    if not found:
        return "There is no saved audit."
    return "\n".join(
        f"{run.id[:_SHORT]}  {_when(run.created)}  {run.status:<11}  {one_line(run.title)}"
        + (f"  [{run.verdict}]" if run.verdict else "")
        for run in found
    )


def show_run(identity: str, *, as_json: bool) -> str:
    """Show one saved audit: how it stands, its findings, its spec."""
    saved = SavedRuns()
    run = saved.get(identity)
    result = saved.load(run.id) if run.status == "done" else None
    if as_json:
        facts = _facts(run) | ({"result": result.to_json()} if result else {})
        return json.dumps(facts, indent=1, ensure_ascii=False)
    lines = [f"{run.id}  {_when(run.created)}  {run.status}", one_line(run.title)]
    lines += [wrap(f"Note: {run.note}", "  ")] if run.note else []
    lines += [wrap(run.error, "  ")] if run.error else []
    lines += lines_of_findings(result) if result else []
    return "\n".join([*lines, "", dump_yaml(run.spec).rstrip()])


def compare(first: str, second: str, *, as_json: bool) -> str:
    """Say what changed between two saved audits."""
    saved = SavedRuns()
    before, after = saved.load(first), saved.load(second)
    changes = compare_runs(before, after)
    if as_json:
        return json.dumps([vars(change) for change in changes], indent=1, ensure_ascii=False)
    if not changes:
        return "The two agree: equal specs, data, models and numbers."
    parts: dict[str, list[RunChange]] = {}
    for change in changes:
        parts.setdefault(change.part, []).append(change)
    # what was found comes first, then what was asked, then single numbers
    told = [each for part in parts for each in parts[part] if _is_finding(each)]
    told += [each for part in _HEAD for each in parts.get(part, ())][:_MAX_A_PART]
    lines = [f"{count_of(len(changes), 'difference')}:", *map(_change_line, told)]
    for each in paired_changes(before, after):
        lines.append(wrap(f"{each.audit}, on the same people: {each.verdict}. {each.headline}", "  "))
    folded = len([each for part in _HEAD for each in parts.get(part, ())]) - _MAX_A_PART
    lines += [f"  … and {folded:,} more of spec, data and model"] if folded > 0 else []
    for part in (name for name in parts if name not in _HEAD):
        lines += _numbers([each for each in parts[part] if not _is_finding(each)], part)
    return "\n".join([*lines, "--json gives all."] if len(lines) <= len(changes) else lines)


def _is_finding(change: RunChange) -> bool:
    return change.part not in _HEAD and change.where in {"verdict", "finding"}


def _numbers(changes: list[RunChange], part: str) -> list[str]:
    """Word an audit's changed numbers, those whose intervals lie apart first; the rest is counted."""
    one_run = [change for change in changes if change.before is None or change.after is None]
    both = sorted(
        (each for each in changes if each not in one_run), key=lambda each: each.overlap is not False
    )
    lines = [_change_line(change) for change in both[:_MAX_A_PART]]
    more = len(both) - _MAX_A_PART
    lines += [f"  … and {more:,} more of {part}"] if more > 0 else []
    if len(one_run) <= _MAX_A_PART:
        return lines + [_change_line(change) for change in one_run]
    return [*lines, f"  {len(one_run):,} of {part} that only one of the two has"]


def rename_run(identity: str, title: str) -> str:
    """Give a saved audit another title."""
    SavedRuns().rename(identity, title)
    return "Renamed."


def annotate(identity: str, note: str) -> str:
    """Keep a note with a saved audit."""
    SavedRuns().annotate(identity, note)
    return "Noted." if note else "The note was removed."


def remove_runs(identities: list[str]) -> str:
    """Delete saved audits."""
    saved = SavedRuns()
    found = [saved.get(identity) for identity in identities]  # a wrong id deletes nothing
    for run in found:
        saved.delete(run.id)
    return f"Deleted {count_of(len(found), 'saved audit')}."


def _facts(run: SavedRun) -> dict[str, object]:
    return {name: value for name, value in vars(run).items() if name not in {"base_dir", "owner"}}


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _change_line(change: RunChange) -> str:
    before, after = change.words()
    apart = "; intervals apart" if change.overlap is False else ""
    return "  " + one_line(f"{change.part} {change.where}: {before} → {after}{apart}")
