"""``run``: from a spec to a folder of results and a summary."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.cli.folder import publish, results_folder
from audits.cli.words import counted, one_line, wrapped
from audits.errors import InputError
from audits.runs.documents import load_document
from audits.runs.executors import InlineExecutor, ProcessExecutor

if TYPE_CHECKING:
    from audits.runs.result import RunResult

__all__ = ["run"]

_LOOK_SECONDS = 0.1


def run(spec: Path, out: Path | None, executor: str, *, fail_on_evidence: bool) -> tuple[int, str]:
    """Run `spec`, write its results, and return exit status and summary."""
    if executor == "dask":
        raise InputError(
            "--executor",
            "cannot be 'dask': this version has no Dask support",
            advice="choose 'process' or 'inline'",
        )
    document = load_document(spec)
    folder = results_folder(out, spec)
    with _Meter() as meter:
        compute = _inline if executor == "inline" else _in_process
        result = compute(document, spec.absolute().parent, meter)
        meter(1.0, "Writing results")
        names = publish(result, folder)
    evidence = result.evidence() if fail_on_evidence else []
    return int(bool(evidence)), _summary(result, folder, names, evidence)


def _inline(document: Any, base_dir: Path, meter: _Meter) -> RunResult:
    return InlineExecutor(meter).submit(document, base_dir).result()


def _in_process(document: Any, base_dir: Path, meter: _Meter) -> RunResult:
    # a home of its own: nothing about the people audited stays behind but what --out gets
    with (
        tempfile.TemporaryDirectory(prefix="evenhand-") as home,
        ProcessExecutor(1, base=Path(home)) as executor,
    ):
        going = executor.submit(document, base_dir)
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


def _summary(result: RunResult, folder: Path, names: list[str], evidence: list[str]) -> str:
    """Word findings with their verdicts, the rows behind them, and where everything is."""
    data, model = result.data, result.model
    lines = [f"Data: {data['rows_used']:,} of {counted(data['rows_read'], 'row')} used."]
    lines += [wrapped(f"Left out: {count:,} ({reason}).", "  ") for reason, count in data["excluded"].items()]
    lines += [wrapped(note, "  ") for note in data["notes"]]
    lines.append(wrapped(f"Model: {model['name']}, {model['rule']}."))
    lines += [wrapped(note, "  ") for note in model["notes"]]
    for place, audit in enumerate(result.audits, start=1):
        found = audit.result
        lines += ["", f"{place}. {audit.name}: {found.verdict}", wrapped(found.finding, "   ")]
        lines += [wrapped(f"Note: {warning}", "   ") for warning in found.warnings]
    tables = sum(name.startswith("tables/") for name in names)
    lines += ["", f"Written to {folder}: results.json, report.html, {counted(tables, 'table')}."]
    if evidence:
        lines.append(f"--fail-on evidence: matched by {', '.join(evidence)}.")
    return "\n".join(lines)
