"""`check`: a run that must pass its gate, in a line of a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audits.runs.documents import load_document
from audits.runs.executors.inline import InlineExecutor
from audits.runs.gates.gate import GateFailed, gate_of, judge
from audits.runs.result import RunResult
from audits.runs.source.fetch import fetched

__all__ = ["check"]


def check(
    spec: str | Path | Mapping[str, Any],
    *,
    base_dir: str | Path | None = None,
    fail_on: str | Mapping[str, Any] | None = None,
) -> RunResult:
    """Run a spec in this process and raise if its verdicts do not pass: one line in a test.

    Parameters
    ----------
    spec : path or mapping
        Spec file, or a spec as plain data.
    base_dir : path, optional
        Folder that paths in a spec given as data start from; the current one by default.
    fail_on : {"evidence", "material", "gate"} or mapping, optional
        As in `audits.runs.gates.gate.gate_of`.

    Returns
    -------
    RunResult
        All that was found, when it passes.

    Raises
    ------
    GateFailed
        An AssertionError that names each verdict with its finding.
    InputError
        If the spec is wrong.
    RunFailed
        If the run broke.
    """
    if isinstance(spec, Mapping):
        folder = Path(base_dir or ".")
        document = fetched(spec, folder)
    else:
        document, folder = load_document(Path(spec)), Path(spec).absolute().parent
        document = fetched(document, folder, Path(spec).stem)
    result = InlineExecutor().submit(document, folder.absolute()).result()
    over = judge(result, gate_of(result.spec, fail_on), folder).stopped
    if over:
        lines = [f"{item.name}: {item.verdict}. {item.finding}" for item in over]
        raise GateFailed("\n".join(["the audit does not pass", *lines]))
    return result
