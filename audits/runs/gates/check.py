"""`check`: a run that must pass its gate, in a line of a test."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audits.errors import InputError
from audits.runs.documents import load_document
from audits.runs.executors.inline import InlineExecutor
from audits.runs.gates.gate import Gate, GateFailed, gate_of, judge, next_look
from audits.runs.gates.reports import not_judged_lines
from audits.runs.result import RunResult
from audits.runs.source.fetch import fetch_data


def check(
    spec: str | Path | Mapping[str, Any] | RunResult,
    rules: str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    *,
    baseline: str | Path | None = None,
    base_dir: str | Path | None = None,
    fail_on: str | Mapping[str, Any] | None = None,
) -> RunResult:
    """Raise if results, or those of a spec run in this process, do not pass: one line in a test.

    Parameters
    ----------
    spec : RunResult, path or mapping
        What `audit` returned or `load` read; a spec file; or a spec as plain data.
    rules : list of mapping, mapping, or {"evidence", "material"}, optional
        What passes, as a spec's ``gate`` says it: ``[{"metric": "impact_ratio", "at_least": 0.8}]``, or one
        such rule; checked before anything runs. Without rules and without a gate in the spec, no evidence
        passes.
    baseline : path, optional
        File of ``evenhand baseline``: no difference between groups may have grown since.
    base_dir : path, optional
        Folder that paths in a spec given as data start from; the current one by default.
    fail_on : {"evidence", "material", "gate"} or mapping, optional
        As in `audits.runs.gates.gate.gate_of`.

    Returns
    -------
    RunResult
        All that was found, when it passes; a warning names what a rule or the baseline did not judge.

    Raises
    ------
    GateFailed
        An AssertionError that names each verdict with its finding.
    InputError
        If the spec is wrong.
    RunFailed
        If the run broke.
    """
    wanted = _gate_spec(rules, baseline)
    if wanted is not None:
        if fail_on is not None:
            raise InputError("fail_on", "and rules both say what passes", advice="give one of them")
        fail_on = wanted
    if isinstance(spec, RunResult):
        stated = {key: each for key, each in spec.spec.items() if key == "gate"}  # words: by the results
        return _require_pass(spec, gate_of(stated, fail_on), Path(base_dir or "."))
    if isinstance(spec, Mapping):
        folder = Path(base_dir or ".")
        document = fetch_data(spec, folder)
    elif not isinstance(spec, (str, Path)):
        advice = "audit a model first: evenhand.check(evenhand.audit(model, X, y, …), rules)"
        raise InputError("spec", "must be results, a spec or the path of one", type(spec).__name__, advice)
    else:
        document, folder = load_document(Path(spec)), Path(spec).absolute().parent
        document = fetch_data(document, folder, Path(spec).stem)
    gate = gate_of(document, fail_on)
    result = InlineExecutor().submit(document, folder.absolute()).result()
    return _require_pass(result, gate, folder)


def _gate_spec(
    rules: str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | None, baseline: str | Path | None
) -> str | Mapping[str, Any] | None:
    """Return rules and a baseline as one gate; None where nothing was said."""
    if rules == "gate" and baseline is None:
        return "gate"
    if isinstance(rules, str):
        if rules not in {"evidence", "material"}:
            advice = "write rules=[{'metric': 'impact_ratio', 'at_least': 0.8}]"
            raise InputError("rules", "must be rules, 'evidence' or 'material'", rules, advice)
        rules = {rules: 0}
    if isinstance(rules, Mapping) and "metric" in rules:
        rules = [rules]
    gate: dict[str, Any] = (
        {} if rules is None else dict(rules) if isinstance(rules, Mapping) else {"rules": list(rules)}
    )
    if baseline is not None:
        gate["baseline"] = {"path": str(baseline)}
    return gate or None


def _require_pass(result: RunResult, gate: Gate, folder: Path) -> RunResult:
    judged = judge(result, gate, folder)
    over, untold = judged.stopped, not_judged_lines(judged)
    if over:
        lines = [f"{item.name}: {item.verdict}. {item.finding}" for item in over]
        raise GateFailed(
            "\n".join(["the audit does not pass", *lines, *untold, *next_look(result, over)]), result
        )
    if untold:
        warnings.warn("\n".join(untold), stacklevel=3)
    return result
