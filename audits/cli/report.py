"""``report``: a finished run rendered again; ``baseline``: kept for later ones; ``schema``: its form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from audits.cli.parameters import ResultsFolder
from audits.cli.text import write_file
from audits.errors import InputError, RunFailed
from audits.report_kinds import BY_CATEGORY, SMALL_SHARE, TEMPLATES, Template

if TYPE_CHECKING:
    from audits.runs.result import RunResult


def report(
    folder: ResultsFolder,
    form: Annotated[Literal["html", "pdf", "json", "card"], Option("--format")] = "html",
    template: Annotated[
        Template,
        Option(help="for HTML and PDF: " + "; ".join(f"{name}: {told}" for name, told in TEMPLATES.items())),
    ] = "full",
    sex: Annotated[
        str | None, Option(metavar="COLUMN", help=f"the column with sex, for {' and '.join(BY_CATEGORY)}")
    ] = None,
    race: Annotated[
        str | None, Option(metavar="COLUMN", help=f"the column with race, for {' and '.join(BY_CATEGORY)}")
    ] = None,
    exclude_under: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="for these, categories with less than this share of people are left out of the impact "
            f"ratios (default: {SMALL_SHARE}; 0 leaves none out)",
        ),
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="where to write it (default: into DIR)")] = None,
) -> str:
    """Write a report of a finished run, in any format."""
    chosen = {"sex": sex, "race": race, "exclude_under": exclude_under}
    told = {name: value for name, value in chosen.items() if value is not None}
    if told and (template not in BY_CATEGORY or form not in {"html", "pdf"}):
        kinds = " or ".join(f"--template {name}" for name in BY_CATEGORY)
        raise InputError("--sex, --race and --exclude-under", f"are for {kinds} as html or pdf")
    content = _content(finished_run(folder), form, template=template, **told)
    return write_file(out or folder / _name(form, template), content)


def baseline(
    folder: ResultsFolder, out: Annotated[Path, Option(metavar="FILE")] = Path("baseline.json")
) -> str:
    """Save a finished run as a baseline for gates."""
    from audits.runs.gates.baselines import baseline_of

    return write_file(out, baseline_of(finished_run(folder)))


def schema(
    out: Annotated[Path | None, Option(metavar="FILE", help="where to write it (default: printed)")] = None,
) -> str:
    """Print the JSON schema of results.json."""
    from audits.reports.schema import results_schema

    text = json.dumps(results_schema(), indent=1, ensure_ascii=False)
    return text if out is None else write_file(out, text + "\n")


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


def _content(result: RunResult, form: str, **told: Any) -> bytes:
    if form == "json":
        return (json.dumps(result.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    from audits.findings import render
    from audits.runs.documents import dump_yaml

    return render(result, form, spec_text=dump_yaml(result.spec), **told)


def _name(form: str, template: str) -> str:
    if form in {"json", "card"}:
        return {"json": "report.json", "card": "model-card.md"}[form]
    return f"report{'' if template == 'full' else f'-{template}'}.{form}"
