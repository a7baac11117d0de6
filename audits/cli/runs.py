"""``runs``: the saved audits."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from audits.cli.parameters import SETTINGS, Annotate, Executor, FailOn, Id, Json, Junit, Summary, Told
from audits.cli.text import count_of, lines_of_findings, one_line, wrap
from audits.errors import InputError

if TYPE_CHECKING:
    from audits.runs.gates.compare import RunChange
    from audits.runs.storage.saved import SavedRun

_SHORT = 8
_MAX_A_PART = 12
_HEAD = ("evenhand", "spec", "data", "model")
runs = typer.Typer(help="List, show, compare and manage saved audits.", **SETTINGS)


@runs.command("list")
def list_runs(
    status: Annotated[
        str | None, Option(help="only running, done, failed, cancelled or interrupted ones")
    ] = None,
    verdict: Annotated[str | None, Option(help="only those with this overall verdict")] = None,
    audit: Annotated[str | None, Option(help="only those with this audit")] = None,
    text: Annotated[str, Option(help="only those with this in title, note or finding")] = "",
    as_json: Json = False,
) -> str:
    """List saved audits, latest first."""
    from audits.runs.storage.saved import STATUSES, SavedRuns

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


@runs.command("show")
def show_run(identity: Id, as_json: Json = False) -> str:
    """Show findings and spec of a saved audit; with --json all numbers."""
    from audits.runs.documents import dump_yaml
    from audits.runs.storage.saved import SavedRuns

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


@runs.command()
def compare(first: Id, second: Id, as_json: Json = False) -> str:
    """Show what changed between two saved audits."""
    from audits.runs.comparison.two_models import paired_changes
    from audits.runs.gates.compare import compare_runs
    from audits.runs.storage.saved import SavedRuns

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


@runs.command("rename")
def rename_run(identity: Id, title: Annotated[str, Argument(metavar="TITLE")]) -> str:
    """Rename a saved audit."""
    from audits.runs.storage.saved import SavedRuns

    SavedRuns().rename(identity, title)
    return "Renamed."


@runs.command("note")
def annotate(identity: Id, text: Annotated[str, Argument(metavar="TEXT")]) -> str:
    """Save a note with an audit; an empty text removes it."""
    from audits.runs.storage.saved import SavedRuns

    SavedRuns().annotate(identity, text)
    return "Noted." if text else "The note was removed."


@runs.command()
def start(
    identity: Id,
    out: Annotated[Path | None, Option(metavar="DIR", help="folder for the results")] = None,
    executor: Executor = "process",
    fail_on: FailOn = None,
    junit: Junit = None,
    summary: Summary = None,
    annotate: Annotate = False,
) -> Told:
    """Restart a run that failed, was cancelled or was interrupted."""
    from audits.cli.run import Wishes, start_again

    return start_again(identity, out, Wishes(executor, fail_on, junit, summary, annotate))


@runs.command("rm")
def remove_runs(identities: Annotated[list[str], Argument(metavar="ID …")]) -> str:
    """Delete saved audits."""
    from audits.runs.storage.saved import SavedRuns

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
