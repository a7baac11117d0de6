"""``run``: from a spec to a folder of results and a summary."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.checks import adapter
from audits.cli.doctor import finding_lines
from audits.cli.folder import publish, results_folder
from audits.cli.text import called_as, count_of, lines_of_findings, one_line, wrap, write_file
from audits.data.quality.findings import Finding
from audits.errors import (
    InputError,
    RunCancelled,
    RunFailed,
    how_to_install,
    is_installed,
    not_installed,
)
from audits.models.metadata import accuracy_words
from audits.runs.documents import load_document
from audits.runs.executors.pool import InlineExecutor, ProcessExecutor
from audits.runs.gates.gate import STRICT, Gate, GateJudgment, gate_of, judge, next_look
from audits.runs.gates.reports import github_annotations, junit_xml, markdown, not_judged_lines
from audits.runs.source.confinement import confine
from audits.runs.source.fetch import fetch_data
from audits.runs.spec import parse_spec
from audits.text import rows_words

if TYPE_CHECKING:
    from audits.runs.executors.dask import DaskExecutor
    from audits.runs.executors.job import Run
    from audits.runs.result import RunResult
    from audits.runs.storage.saved import SavedRuns

_LOOK_SECONDS = 0.1

_TABLES = frozenset(
    {".csv", ".tsv", ".tab", ".txt", ".gz", ".parquet", ".pq", ".arrow", ".feather", ".xlsx", ".jsonl"}
)
"""Endings of files that are tables, not specs."""


@dataclass(frozen=True)
class Wishes:
    """What the user wants of a run besides its results.

    Attributes
    ----------
    executor : {"inline", "process", "dask"}
        Where to compute.
    fail_on : {"evidence", "material", "gate"} or None
        What makes the exit status 1.
    junit : Path or None
        File for what the gate says, as JUnit XML.
    summary : Path or None
        File for the same in Markdown; what it holds already stays above.
    annotate : bool
        Whether to print what does not pass as annotations of GitHub Actions.
    save : bool
        Whether the run is kept among the saved audits.
    title : str
        Of the saved audit; by default audits and data.
    untrusted : bool
        Whether the spec may only name files in its own folder and in those of `allow`.
    allow : sequence of Path
        Further folders for a spec that is not trusted.
    """

    executor: str = "process"
    fail_on: str | None = None
    junit: Path | None = None
    summary: Path | None = None
    annotate: bool = False
    save: bool = True
    title: str = ""
    untrusted: bool = False
    allow: Sequence[Path] = ()


def run(spec: Path, out: Path | None, wishes: Wishes) -> tuple[int, str]:
    """Run `spec`, write its results, and return exit status and summary."""
    _check(wishes)
    guesses: list[str] = []
    if spec.suffix.lower() in _TABLES:
        from audits.cli.init import guess_spec  # late: most runs have a spec

        document, guesses = guess_spec(spec)
        print("\n".join(guesses), file=sys.stderr)
    else:
        document = load_document(spec)
    folder = results_folder(out, spec)
    base_dir = spec.absolute().parent
    folders = (base_dir, *wishes.allow) if wishes.untrusted else ()
    confine([("--out", folder)], folders and (*folders, Path.cwd()))
    document = fetch_data(document, base_dir, spec.stem, folders)
    parsed = parse_spec(document, base_dir)
    gate = _gate(checked := parsed.to_dict(), wishes)
    baseline = gate.baseline.path if gate is not None and gate.baseline is not None else None
    named = [(where, path) for where, _, path in parsed.paths()]
    confine([*named, *([("gate.baseline.path", base_dir / baseline)] if baseline else [])], folders)
    kept = _begin(checked, base_dir, wishes) if wishes.save else None
    return _carry_out(document, base_dir, folder, gate, wishes, kept, spec)


def start_again(identity: str, out: Path | None, wishes: Wishes) -> tuple[int, str]:
    """Run a saved audit again that failed, was cancelled or was interrupted."""
    from audits.runs.storage.saved import SavedRuns

    _check(wishes)
    saved = SavedRuns()
    before = saved.get(identity)
    folder = results_folder(out, Path(f"{before.id[:8]}.yaml"))
    gate = _gate(before.spec, wishes)
    found = saved.begin_again(before.id)
    return _carry_out(found.spec, Path(found.base_dir), folder, gate, wishes, _Kept(saved, found.id), folder)


@dataclass(frozen=True)
class _Kept:
    """A run's entry among the saved audits; what cannot be kept is told, and is no reason to fail."""

    saved: SavedRuns
    identity: str

    def finish(self, result: RunResult) -> str:
        try:
            self.saved.finish(self.identity, result)
        except RunFailed as error:
            return wrap(f"Not saved: {error}")
        return f"Saved as {self.identity[:8]}; see `{called_as()} runs show {self.identity[:8]}`."

    def end(self, status: str, why: str) -> None:
        with contextlib.suppress(RunFailed):
            self.saved.end(self.identity, status, why)


def _check(wishes: Wishes) -> None:
    for option, path in (("--junit", wishes.junit), ("--summary", wishes.summary)):
        if path is None:
            continue
        absolute = path.absolute()
        nearest = next(each for each in absolute.parents if each.exists())
        if absolute.is_dir() or not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            raise InputError(option, "must name a file that can be written", str(path))


def _gate(spec: dict[str, Any], wishes: Wishes) -> Gate | None:
    return gate_of(spec, wishes.fail_on) if wishes.fail_on else None


def _begin(spec: dict[str, Any], base_dir: Path, wishes: Wishes) -> _Kept | None:
    """Note the run among the saved audits; None, with a word on standard error, where that cannot be."""
    try:
        if not is_installed("sqlalchemy"):
            raise not_installed("a list of saved runs", "sqlalchemy")
        from audits.runs.storage.saved import SavedRuns  # late: a database for runs that are kept

        saved = SavedRuns()
        return _Kept(saved, saved.begin(spec, base_dir, title=wishes.title))
    except (InputError, RunFailed) as error:
        print(f"evenhand: the run is not saved: {one_line(str(error))}", file=sys.stderr)
        return None


def _carry_out(
    document: Any,
    base_dir: Path,
    folder: Path,
    gate: Gate | None,
    wishes: Wishes,
    kept: _Kept | None,
    spec: Path,
) -> tuple[int, str]:
    try:
        with _Meter() as meter:
            with _executor(wishes.executor, meter) as executor:
                result = _watch(executor.submit(document, base_dir), meter)
            meter(1.0, "Writing results")
            names = publish(result, folder)
    except BaseException as error:
        if kept is not None:
            cancelled = isinstance(error, (KeyboardInterrupt, RunCancelled))
            kept.end("cancelled" if cancelled else "failed", "" if cancelled else str(error))
        raise
    lines = [_summary(result, folder, names)]
    lines += [kept.finish(result)] if kept is not None else []
    judged = judge(result, gate or STRICT, base_dir)
    if wishes.junit is not None:
        write_file(wishes.junit, junit_xml(judged), "--junit")
    if wishes.summary is not None:
        write_file(wishes.summary, markdown(judged, result), "--summary", also=True)
    if gate is None:
        return 0, "\n".join(lines)
    lines += [github_annotations(judged, str(spec))] if wishes.annotate else []
    nexts = [wrap(text, "  ") for text in next_look(result, judged.stopped, written=True)]
    return int(bool(judged.stopped)), "\n".join([*lines, *_gate_lines(judged, wishes), *nexts])


def _gate_lines(judged: GateJudgment, wishes: Wishes) -> list[str]:
    """Word what the gate stopped, waived and did not judge, and what to know of waivers."""
    lines = [f"--fail-on {wishes.fail_on}: matched by"] if judged.stopped else []
    for item in judged.stopped:
        lines.append(f"  {item.name}: {item.verdict}")
        lines += [wrap(item.finding, "    ")] if item.verdict == "rule broken" else []
    lines += [
        wrap(f"Waived until {waiver.until}: {item.name} ({waiver.reason})", "  ")
        for item, waiver in judged.waived
    ]
    return [*lines, *(wrap(note, "  ") for note in (*not_judged_lines(judged), *judged.notes))]


def _changes(result: RunResult) -> list[str]:
    """Word what changes towards a second model; nothing where the run has none."""
    if result.compared is None:
        return []
    changes, second = result.compared.changes, result.compared.second
    lines = ["", wrap(f"Second model: {second.model['name']}, {second.model['rule']}.")]
    lines += [wrap(text, "  ") for text in (changes.finding, *changes.notes)]
    for place, (each, across) in enumerate(zip(changes.audits, changes.across(), strict=True), start=1):
        told = f"change: {each.verdict}" if each.tested or each.refused else "side by side"
        lines += ["", f"{place}. {each.audit}, {told}", wrap(each.headline, "   ")]
        lines += [wrap(text, "   ") for text in (across.doubt, across.note, each.refused) if text]
    return lines


@contextlib.contextmanager
def _executor(name: str, meter: _Meter) -> Iterator[InlineExecutor | ProcessExecutor | DaskExecutor]:
    """Give what carries out the run, in a home folder of its own: what it caches goes with it."""
    if name == "inline":
        yield InlineExecutor(meter)
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-") as home:
        made = ProcessExecutor(1, base=Path(home), warm=False) if name == "process" else _on_dask(Path(home))
        with made as executor:
            yield executor


def _on_dask(home: Path) -> DaskExecutor:
    try:
        from audits.runs.executors.dask import DaskExecutor  # late: few runs leave the machine

        return DaskExecutor(base=home)
    except ModuleNotFoundError as error:
        raise InputError(
            "--executor", "cannot be 'dask' here", advice=how_to_install(str(error.name))
        ) from None


def _watch(going: Run, meter: _Meter) -> RunResult:
    while not going.wait(_LOOK_SECONDS):
        now = going.progress
        meter(now.fraction, now.doing, now.seconds_left)
    return going.result()


class _Meter:
    """One line on standard error that says how far the run is; silent unless it is a terminal."""

    def __enter__(self) -> _Meter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._show("")

    def __call__(self, fraction: float, doing: str, seconds_left: float | None = None) -> None:
        left = f", about {seconds_left:,.0f} s left" if seconds_left is not None else ""
        self._show(one_line(f"{fraction:.0%} {doing}{left}"))

    def _show(self, line: str) -> None:
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{line[:width]}\x1b[K", end="", file=sys.stderr, flush=True)


def _summary(result: RunResult, folder: Path, names: list[str]) -> str:
    """Word findings with their verdicts, the rows behind them, and where everything is."""
    data, model = result.data, result.model
    lines = [wrap(f"Data: {rows_words(data)}.")]
    lines += [wrap(f"Left out: {count:,} ({reason}).", "  ") for reason, count in data["excluded"].items()]
    lines += [wrap(note, "  ") for note in data["notes"]]
    lines += finding_lines(map(adapter(Finding).validate_python, data.get("findings", ())))
    lines.append(wrap(f"Model: {model['name']}, {model['rule']}."))
    right = accuracy_words(model)
    lines += [wrap(f"Accuracy: {right}.", "  ")] if right else []
    lines += [wrap(note, "  ") for note in model["notes"]]
    lines += lines_of_findings(result)
    lines += _changes(result)
    tables = sum(name.startswith("tables/") for name in names)
    lines += ["", f"Written to {folder}: results.json, report.html, {count_of(tables, 'table')}."]
    return "\n".join(lines)
