"""The commands and what each takes. What a command needs is loaded when it runs.

A command returns what is printed, or that with an exit status before it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from audits.errors import InputError
from audits.report_kinds import BY_CATEGORY, SMALL_SHARE, TEMPLATES
from audits.runs.version import VERSION

__all__ = ["COMPLETE", "app"]

COMPLETE = "_EVENHAND_COMPLETE"
"""The variable by which a shell asks what may follow."""

Told = str | tuple[int, str]
Json = Annotated[bool, Option("--json", help="as JSON")]
Force = Annotated[bool, Option("--force", help="replace a spec of that name")]
Id = Annotated[str, Argument(metavar="ID")]
SpecFile = Annotated[Path, Argument(metavar="SPEC.yaml")]
ResultsFolder = Annotated[Path, Argument(metavar="DIR", help="folder that `run --out` wrote")]
Executor = Annotated[
    Literal["inline", "process", "dask"],
    Option(
        help="where to compute: in this process, a worker process, or on Dask", envvar="EVENHAND_EXECUTOR"
    ),
]
FailOn = Annotated[
    Literal["evidence", "material", "gate"] | None,
    Option(
        help="exit with status 1 if some verdict, corrected for all audits of the run, is 'evidence of a "
        "difference', if one is of a material difference, or if the spec's gate stops the run"
    ),
]
Junit = Annotated[Path | None, Option(metavar="FILE", help="write what the gate says as JUnit XML")]
Summary = Annotated[Path | None, Option(metavar="FILE", help="add what the gate says to a Markdown file")]
Annotate = Annotated[bool, Option("--annotate", help="print what does not pass for GitHub Actions")]

_EPILOG = (
    "Exit status: 0 done; 1 done and --fail-on matched; 2 the input is wrong; "
    "3 a run failed or was cancelled."
)
_SETTINGS: dict[str, Any] = {
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 110},
}
app = typer.Typer(help="Fairness audits of data and models.", epilog=_EPILOG, **_SETTINGS)
_runs = typer.Typer(help="List and keep saved audits.", **_SETTINGS)
_monitor = typer.Typer(help="Measure new people as a sensitivity audit did, without a server.", **_SETTINGS)
_admin = typer.Typer(help="See to the servers that work on EVENHAND_HOME.", **_SETTINGS)


class _Several(TyperCommand):
    """Lets an option that may be repeated take several values at once: ``--people 100 1000``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        many = {name for each in self.params if getattr(each, "multiple", False) for name in each.opts}
        found: list[str] = []
        option = ""
        for word in args:
            if word.startswith("--"):
                option = word if word in many else ""
            elif option and found[-1] != option:
                found.append(option)
            found.append(word)
        return super().parse_args(ctx, found)


def _version(asked: bool) -> None:
    if asked:
        print(f"evenhand {VERSION}")
        raise typer.Exit


def _known_template(name: str) -> str:
    if name not in TEMPLATES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(TEMPLATES)}.")
    return name


@app.callback()
def _begin(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="say which this is")
    ] = False,
) -> None:
    """Fairness audits of data and models."""


@app.command()
def run(
    spec: Annotated[
        Path,
        Argument(metavar="SPEC.yaml", help="a spec; or a table, for which a spec is guessed and printed"),
    ],
    out: Annotated[
        Path | None, Option(metavar="DIR", help="folder for the results (default: SPEC-results, here)")
    ] = None,
    executor: Executor = "process",
    fail_on: FailOn = None,
    junit: Junit = None,
    summary: Summary = None,
    annotate: Annotate = False,
    no_save: Annotated[bool, Option("--no-save", help="do not save the audit")] = False,
    estimate: Annotated[bool, Option("--estimate", help="run nothing; estimate the time and memory")] = False,
    title: Annotated[str, Option(metavar="TEXT", help="title of the saved audit")] = "",
    untrusted: Annotated[
        bool,
        Option("--untrusted", help="the spec may name files only in its own folder and in --allow DIR"),
    ] = False,
    allow: Annotated[
        list[Path] | None, Option(metavar="DIR", help="another folder for --untrusted; may be repeated")
    ] = None,
) -> Told:
    """Run a spec and write what it finds."""
    if allow and not untrusted:
        raise InputError("--allow", "only applies with --untrusted")
    if estimate:
        from audits.cli.estimate import cost_estimate

        return cost_estimate(spec)
    from audits.cli.run import Wishes, run

    wishes = Wishes(executor, fail_on, junit, summary, annotate, not no_save, title, untrusted, allow or ())
    return run(spec, out, wishes)


@app.command()
def init(
    file: Annotated[Path, Argument(metavar="FILE")],
    out: Annotated[
        Path | None, Option(metavar="SPEC.yaml", help="where to write it (default: beside FILE)")
    ] = None,
    decision: Annotated[
        str | None, Option(metavar="COLUMN", help="the decision, audited as it is, without a model")
    ] = None,
    truth: Annotated[
        str | None,
        Option(metavar="COLUMN", help="the true outcome; without a decision, a model learns it"),
    ] = None,
    good: Annotated[
        list[str] | None,
        Option(metavar="VALUE", help="the value that is good for the person; may be repeated"),
    ] = None,
    by: Annotated[
        list[str] | None, Option(metavar="COLUMN", help="groups to compare; may be repeated")
    ] = None,
    force: Force = False,
) -> Told:
    """Write a commented spec for a table that runs as it is, each guess told."""
    from audits.cli.init import init
    from audits.runs.plans.proposal import RoleAnswers

    return init(file, out, force=force, answers=RoleAnswers(decision, truth, good or (), by or ()))


@app.command()
def data(
    name: Annotated[
        str, Argument(metavar="NAME", help="adult, bank, communities, compas, german or law_school")
    ],
    folder: Annotated[Path, Option("--from", metavar="DIR", help="where its files are")] = Path(),
    out: Annotated[
        Path | None, Option(metavar="SPEC.yaml", help="where to write it (default: NAME.yaml)")
    ] = None,
    force: Force = False,
) -> Told:
    """Write a spec for a public data set from its files as published; nothing is fetched."""
    from audits.cli.init import public_spec

    return public_spec(name, folder, out, force=force)


@app.command()
def serve(
    file: Annotated[Path, Argument(metavar="MODEL", help="joblib or pickle file, or MLflow folder")],
    python: Annotated[
        str, Option(metavar="PATH", help="the Python with the packages the model needs", show_default=False)
    ] = sys.executable,
    port: Annotated[int, Option(metavar="N", help="of 127.0.0.1")] = 8000,
    columns: Annotated[
        str | None, Option(metavar="NAME,…", help="its columns in order, if the model does not name them")
    ] = None,
) -> Told:
    """Have your own model answer for audits on this machine, run by a Python of yours.

    Opening a joblib or pickle file runs what is in it: serve only files that you trust.
    """
    from audits.cli.serve import serve

    return serve(file, python, port, columns)


@app.command()
def explain(
    key: Annotated[
        str, Argument(metavar="KEY", help="such as data.missing, model.path, flipset or flipset.cost")
    ],
) -> Told:
    """Say what a key of the spec means, its values and default."""
    from audits.cli.explain import explain

    return explain(key)


@app.command()
def describe(file: Annotated[Path, Argument(metavar="FILE")], as_json: Json = False) -> Told:
    """Say what a data file holds, and how it was read."""
    from audits.cli.describe import describe

    return describe(file, as_json=as_json)


@app.command()
def sample_data(
    out: Annotated[Path, Option(metavar="DIR", help="folder to write to")],
    name: Annotated[str, Argument(metavar="NAME", help="one example set")] = "all",
) -> Told:
    """Write example data, models and specs."""
    from audits.data.samples import write_samples

    return "\n".join(str(path) for path in write_samples(name, out))


@app.command(cls=_Several)
def plan(
    spec: SpecFile,
    people: Annotated[
        list[int] | None, Option(metavar="N …", help="in each group (default: 100 300 1000)")
    ] = None,
    difference: Annotated[
        list[float] | None,
        Option(metavar="SHARE …", help="share of one group whose decisions are changed (default: 0 0.1)"),
    ] = None,
    worlds: Annotated[int, Option(metavar="N", help="simulations of each size and share")] = 20,
    as_json: Json = False,
) -> Told:
    """Simulate groups of given sizes: what could each audit of a spec see by its own test?"""
    from audits.cli.plan import plan_table

    return plan_table(
        spec, people or [100, 300, 1000], difference or [0.0, 0.1], worlds=worlds, as_json=as_json
    )


@app.command()
def baseline(
    folder: ResultsFolder, out: Annotated[Path, Option(metavar="FILE")] = Path("baseline.json")
) -> Told:
    """Write a finished run's numbers and decisions, for a gate's baseline."""
    from audits.cli.report import baseline

    return baseline(folder, out)


@app.command()
def report(
    folder: ResultsFolder,
    form: Annotated[Literal["html", "pdf", "json", "card"], Option("--format")] = "html",
    template: Annotated[
        str,
        Option(
            autocompletion=lambda: list(TEMPLATES),
            callback=_known_template,
            help="of HTML and PDF: " + "; ".join(f"{name}: {told}" for name, told in TEMPLATES.items()),
        ),
    ] = "full",
    sex: Annotated[
        str | None, Option(metavar="COLUMN", help=f"that holds sex, for {' and '.join(BY_CATEGORY)}")
    ] = None,
    race: Annotated[
        str | None, Option(metavar="COLUMN", help=f"that holds race, for {' and '.join(BY_CATEGORY)}")
    ] = None,
    exclude_under: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="for these, categories with less than this share of people are left out of the impact "
            "ratios "
            f"(default: {SMALL_SHARE}; 0 leaves none out)",
        ),
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="where to write it (default: into DIR)")] = None,
) -> Told:
    """Write the report of a finished run again."""
    from audits.cli.report import report

    return report(folder, form, template, out, sex=sex, race=race, exclude_under=exclude_under)


@app.command("app")
def pages(
    port: int = 8501,
    address: Annotated[str, Option(help="0.0.0.0 lets other machines in")] = "127.0.0.1",
) -> Told:
    """Serve the pages on this machine."""
    from audits.cli.app import serve

    return serve(port, address), ""


@app.command()
def schema(
    out: Annotated[Path | None, Option(metavar="FILE", help="where to write it (default: printed)")] = None,
) -> Told:
    """Write the JSON schema of results.json."""
    from audits.cli.report import schema

    return schema(out)


@app.command()
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Argument()]) -> Told:
    """Print a script that has the shell complete commands: eval "$(evenhand completion bash)"."""
    from typer.completion import get_completion_script

    return get_completion_script(prog_name="evenhand", complete_var=COMPLETE, shell=shell)


CopyFile = Annotated[Path, Argument(metavar="FILE.tar.gz")]


@app.command()
def backup(file: CopyFile) -> Told:
    """Copy EVENHAND_HOME and the database into a file, while servers go on."""
    from audits.cli.storage import backed_up

    return backed_up(file)


@app.command()
def restore(file: CopyFile) -> Told:
    """Lay out what `backup` copied in an empty EVENHAND_HOME and an empty database."""
    from audits.cli.storage import restore_report

    return restore_report(file)


@app.command()
def erase(
    person: Annotated[str, Option(metavar="VALUE", help="the person's value in that column")],
    column: Annotated[
        str | None, Option(metavar="NAME", help="that column (default: what specs name as person)")
    ] = None,
    look: Annotated[bool, Option("--look", help="only list what would be removed")] = False,
) -> Told:
    """Take a person's rows out of uploads and monitors; delete audits made with them."""
    from audits.cli.storage import erase_report

    return erase_report(person, column, look=look)


@_admin.command("status")
def _admin_status(as_json: Json = False) -> Told:
    """What runs and waits; memory and disk by workspace."""
    from audits.cli import admin

    return admin.status(as_json=as_json)


@_admin.command("cancel")
def _admin_cancel(identity: Id) -> Told:
    """Cancel anyone's run."""
    from audits.cli import admin

    return admin.cancel(identity)


@_admin.command("log")
def _admin_log(
    days: Annotated[float | None, Option(metavar="N", help="only the last N days")] = None,
    who: Annotated[str, Option(metavar="NAME", help="only the acts of this person")] = "",
    act: Annotated[str, Option(metavar="ACT", help="only this, such as exported")] = "",
    check: Annotated[
        bool, Option("--check", help="only check whether any line was changed or removed")
    ] = False,
) -> Told:
    """The audit log, as JSON lines."""
    from audits.cli import admin

    return admin.audit_log(days, who, act, check=check)


@_runs.command("list")
def _runs_list(
    status: Annotated[
        str | None, Option(help="only running, done, failed, cancelled or interrupted ones")
    ] = None,
    verdict: Annotated[str | None, Option(help="only those with this overall verdict")] = None,
    audit: Annotated[str | None, Option(help="only those that hold this audit")] = None,
    text: Annotated[str, Option(help="only those with this in title, note or finding")] = "",
    as_json: Json = False,
) -> Told:
    """List them, latest first."""
    from audits.cli import runs

    return runs.list_runs(status, verdict, audit, text, as_json=as_json)


@_runs.command("show")
def _runs_show(identity: Id, as_json: Json = False) -> Told:
    """Findings and spec of one; with --json all numbers."""
    from audits.cli import runs

    return runs.show_run(identity, as_json=as_json)


@_runs.command("compare")
def _runs_compare(first: Id, second: Id, as_json: Json = False) -> Told:
    """What changed between two."""
    from audits.cli import runs

    return runs.compare(first, second, as_json=as_json)


@_runs.command("rename")
def _runs_rename(identity: Id, title: Annotated[str, Argument(metavar="TITLE")]) -> Told:
    """Give one another title."""
    from audits.cli import runs

    return runs.rename_run(identity, title)


@_runs.command("note")
def _runs_note(identity: Id, text: Annotated[str, Argument(metavar="TEXT")]) -> Told:
    """Keep a note with one; an empty text removes it."""
    from audits.cli import runs

    return runs.annotate(identity, text)


@_runs.command("start")
def _runs_start(
    identity: Id,
    out: Annotated[Path | None, Option(metavar="DIR", help="folder for the results")] = None,
    executor: Executor = "process",
    fail_on: FailOn = None,
    junit: Junit = None,
    summary: Summary = None,
    annotate: Annotate = False,
) -> Told:
    """Start again one that failed, was cancelled or interrupted."""
    from audits.cli.run import Wishes, start_again

    return start_again(identity, out, Wishes(executor, fail_on, junit, summary, annotate))


@_runs.command("rm")
def _runs_rm(identities: Annotated[list[str], Argument(metavar="ID …")]) -> Told:
    """Delete them."""
    from audits.cli import runs

    return runs.remove_runs(identities)


@_monitor.command("export")
def _monitor_export(
    folder: Annotated[
        Path,
        Argument(metavar="DIR", help="folder that `run --out` wrote; or a spec with predictions"),
    ],
    out: Annotated[Path, Option(metavar="BUNDLE", help="folder for the bundle")],
    note: Annotated[str, Option(metavar="TEXT", help="kept in the bundle")] = "",
) -> Told:
    """Write the bundle of a finished run's sensitivity audit, or of a spec's predictions without a model."""
    from audits.cli import monitor

    return monitor.export(folder, out, note)


Bundle = Annotated[Path, Argument(metavar="BUNDLE", help="folder that `monitor export` wrote")]
Rows = Annotated[Path, Argument(metavar="ROWS", help="CSV, TSV, Parquet, Arrow, XLSX or JSON lines")]


@_monitor.command("score")
def _monitor_score(
    bundle: Bundle,
    rows: Rows,
    out: Annotated[Path | None, Option(metavar="FILE", help="where to write them (default: printed)")] = None,
) -> Told:
    """Measure the rows of a table, one JSON line a row."""
    from audits.cli import monitor

    return monitor.score(bundle, rows, out)


@_monitor.command("replay")
def _monitor_replay(
    bundle: Bundle,
    rows: Rows,
    against: Annotated[Path | None, Option(metavar="BUNDLE", help="a second bundle to compare with")] = None,
    people_between: Annotated[float, Option(help="people between false alarms")] = 100_000.0,
    as_json: Json = False,
) -> Told:
    """When would a monitor have alarmed on a past table, its people oldest first?"""
    from audits.cli import monitor

    return monitor.replay_report(bundle, rows, against, people_between, as_json=as_json)


@_monitor.command("send")
def _monitor_send(
    url: Annotated[str, Argument(metavar="URL", help="http(s)://server/api/v1/monitors/ID")],
    rows: Rows,
    identity: Annotated[str | None, Option("--id", metavar="COLUMN", help="column with your own ids")] = None,
    score: Annotated[
        str | None, Option(metavar="COLUMN", help="column with the deployed model's scores")
    ] = None,
) -> Told:
    """Send a table to a monitor of a server, a nightly batch say."""
    from audits.cli import monitor

    return monitor.send(url, rows, identity, score)


@_monitor.command("window")
def _monitor_window(
    identity: Annotated[
        str, Argument(metavar="ID", help="its id, as its page shows it; the first digits are enough")
    ],
    out: Annotated[Path, Option(metavar="DIR", help="for table, spec and results")],
    last: Annotated[int | None, Option(metavar="N", help="the last so many people")] = None,
    since: Annotated[
        str | None, Option(metavar="DATE", help="from then on, of UTC unless it says otherwise")
    ] = None,
    until: Annotated[str | None, Option(metavar="DATE", help="up to then")] = None,
    audit: Annotated[list[str] | None, Option(metavar="NAME", help="groups, rule_sets …")] = None,
    outcomes: Annotated[
        bool, Option("--outcomes", help="only people whose outcome is known, with it")
    ] = False,
    executor: Executor = "process",
    fail_on: FailOn = None,
    junit: Junit = None,
    summary: Summary = None,
    annotate: Annotate = False,
) -> Told:
    """Audit what a monitor of this machine received: the last so many people, or dates."""
    from audits.cli import monitor
    from audits.cli.run import Wishes, run

    spec, said = monitor.window(
        identity, out, audit or [], last=last, since=since, until=until, outcomes=outcomes
    )
    status, told = run(spec, out / "results", Wishes(executor, fail_on, junit, summary, annotate))
    return status, f"{said}\n\n{told}"


for _name, _group in (("admin", _admin), ("runs", _runs), ("monitor", _monitor)):
    app.add_typer(_group, name=_name)
