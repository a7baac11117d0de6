"""``report``: a finished run rendered again; ``baseline``: kept for later ones; ``schema``: its form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.cli.text import write_file
from audits.errors import InputError, RunFailed
from audits.report_kinds import BY_CATEGORY
from audits.runs.documents import dump_yaml

if TYPE_CHECKING:
    from audits.runs.result import RunResult

__all__ = ["baseline", "finished_run", "report", "schema"]


def report(
    folder: Path,
    form: str,
    template: str,
    out: Path | None,
    *,
    sex: str | None = None,
    race: str | None = None,
    exclude_under: float | None = None,
) -> str:
    """Write a report of the run in `folder`; return where it lies.

    Parameters
    ----------
    sex, race : str, optional
        Protected attributes that hold them, for the tables by category.
    exclude_under : float, optional
        Share of the people under which those leave a category out of the impact ratios.

    Raises
    ------
    InputError
        If the folder holds no finished run, the file cannot be written, or what is for such tables alone does
        not fit.
    """
    chosen = {"sex": sex, "race": race, "exclude_under": exclude_under}
    told = {name: value for name, value in chosen.items() if value is not None}
    if told and (template not in BY_CATEGORY or form not in {"html", "pdf"}):
        kinds = " or ".join(f"--template {name}" for name in BY_CATEGORY)
        raise InputError("--sex, --race and --exclude-under", f"are for {kinds} as html or pdf")
    result = finished_run(folder)
    content = _content(result, form, template, told)
    return write_file(out or folder / _name(form, template), content)


def baseline(folder: Path, out: Path) -> str:
    """Write the run in `folder` as a baseline; return where it lies.

    Raises
    ------
    InputError
        If the folder holds no finished run, or the file cannot be written.
    """
    from audits.runs.gates.baselines import baseline_of

    return write_file(out, baseline_of(finished_run(folder)))


def finished_run(folder: Path) -> RunResult:
    """Return the run that `run --out` wrote into a folder; InputError where there is none."""
    from audits.runs.result import RunResult

    if not (folder / "results.json").is_file():
        raise InputError(
            "DIR",
            "must hold a finished run",
            str(folder),
            "give the folder that `run --out` wrote; a run that failed has no report",
        )
    try:
        return RunResult.load(folder)
    except RunFailed as error:
        raise InputError("DIR", f"must hold a finished run: {str(error).rstrip('.')}", str(folder)) from None


def _content(result: RunResult, form: str, template: str, of_categories: dict[str, Any]) -> bytes:
    if form == "json":
        return (json.dumps(result.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    if form == "card":
        from audits.reports.card import render_card

        return render_card(result).encode()
    spec_text = dump_yaml(result.spec)
    if form == "pdf":
        from audits.reports.pdf import render_pdf

        return render_pdf(result, template=template, spec_text=spec_text, **of_categories)
    from audits.reports.html import render_report

    text = render_report(result, template=template, spec_text=spec_text, **of_categories)  # type: ignore[arg-type]
    return text.encode()


def _name(form: str, template: str) -> str:
    if form in {"json", "card"}:
        return {"json": "report.json", "card": "model-card.md"}[form]
    return f"report{'' if template == 'full' else f'-{template}'}.{form}"


def schema(out: Path | None) -> str:
    """Return the JSON schema of results.json, or write it to `out` and say so.

    Raises
    ------
    InputError
        If the file cannot be written, or an audit that a package brings cannot be loaded.
    """
    from audits.reports.schema import results_schema

    text = json.dumps(results_schema(), indent=1, ensure_ascii=False)
    if out is None:
        return text
    return write_file(out, text + "\n")
