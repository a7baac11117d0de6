"""``report``: a finished run rendered again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from audits.errors import InputError, RunFailed
from audits.runs.documents import dump_yaml

if TYPE_CHECKING:
    from audits.runs.result import RunResult

__all__ = ["report"]


def report(folder: Path, form: str, template: str, out: Path | None) -> str:
    """Write a report of the run in `folder`; return where it lies.

    Raises
    ------
    InputError
        If the folder holds no finished run, or the file cannot be written.
    """
    from audits.runs.result import RunResult

    if not (folder / "results.json").is_file():
        raise InputError(
            "DIR",
            "must hold a finished run",
            str(folder),
            "give the folder that `run --out` wrote; a run that failed has no report",
        )
    try:
        result = RunResult.load(folder)
    except RunFailed as error:
        raise InputError("DIR", f"must hold a finished run: {str(error).rstrip('.')}", str(folder)) from None
    content = _content(result, form, template)
    path = out or folder / _name(form, template)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError("--out", f"cannot be written ({error.strerror})", str(path)) from None
    return f"Written to {path}."


def _content(result: RunResult, form: str, template: str) -> bytes:
    if form == "json":
        return (json.dumps(result.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    if form == "card":
        from audits.reports.card import render_card

        return render_card(result).encode()
    spec_text = dump_yaml(result.spec)
    if form == "pdf":
        from audits.reports.pdf import render_pdf

        return render_pdf(result, template=template, spec_text=spec_text)  # type: ignore[arg-type]
    from audits.reports.html import render_report

    return render_report(result, template=template, spec_text=spec_text).encode()  # type: ignore[arg-type]


def _name(form: str, template: str) -> str:
    if form in {"json", "card"}:
        return {"json": "report.json", "card": "model-card.md"}[form]
    return f"report{'' if template == 'full' else f'-{template}'}.{form}"
