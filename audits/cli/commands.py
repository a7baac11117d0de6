"""The commands, and those whose work is told elsewhere. What a command needs is loaded when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from audits.cli.admin import admin
from audits.cli.app import pages
from audits.cli.init import data, init
from audits.cli.monitor import monitor
from audits.cli.parameters import SETTINGS, Annotate, Executor, FailOn, Json, Junit, Summary, Told
from audits.cli.plan import SeveralValues, plan
from audits.cli.report import baseline, report, schema
from audits.cli.runs import runs
from audits.cli.serve import serve
from audits.cli.storage import backup, erase, restore
from audits.errors import InputError
from audits.runs.version import VERSION

COMPLETE = "_EVENHAND_COMPLETE"
"""The variable by which a shell asks what may follow."""

_EPILOG = (
    "Exit status: 0 done; 1 done and --fail-on matched; 2 the input is wrong; "
    "3 a run failed or was cancelled."
)
app = typer.Typer(help="Fairness audits of data and models.", epilog=_EPILOG, **SETTINGS)


def _version(asked: bool) -> None:
    if asked:
        print(f"evenhand {VERSION}")
        raise typer.Exit


@app.callback()
def _begin(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="print the version")
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
    """Run the audits of a spec and write results and report."""
    if allow and not untrusted:
        raise InputError("--allow", "only applies with --untrusted")
    if estimate:
        from audits.cli.estimate import cost_estimate

        return cost_estimate(spec)
    from audits.cli.run import Wishes, run

    wishes = Wishes(executor, fail_on, junit, summary, annotate, not no_save, title, untrusted, allow or ())
    return run(spec, out, wishes)


app.command()(init)
app.command()(data)
app.command()(serve)


@app.command()
def explain(
    key: Annotated[
        str, Argument(metavar="KEY", help="such as data.missing, model.path, flipset or flipset.cost")
    ],
) -> Told:
    """Explain an audit or a key of the spec: meaning, values, default."""
    from audits.cli.explain import explain

    return explain(key)


@app.command()
def describe(file: Annotated[Path, Argument(metavar="FILE")], as_json: Json = False) -> Told:
    """Describe a table: how it was read, its columns, and what it allows."""
    from audits.cli.describe import describe

    return describe(file, as_json=as_json)


@app.command()
def sample_data(
    out: Annotated[Path, Option(metavar="DIR", help="folder to write to")],
    name: Annotated[str, Argument(metavar="NAME", help="one example set")] = "all",
) -> Told:
    """Write the example data, models and specs."""
    from audits.data.samples import write_samples

    return "\n".join(str(path) for path in write_samples(name, out))


app.command(cls=SeveralValues)(plan)
app.command()(baseline)
app.command()(report)
app.command("app")(pages)
app.command()(schema)


@app.command()
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Argument()]) -> Told:
    """Print a script for shell completion: eval "$(evenhand completion bash)"."""
    from typer.completion import get_completion_script

    return get_completion_script(prog_name="evenhand", complete_var=COMPLETE, shell=shell)


app.command()(backup)
app.command()(restore)
app.command()(erase)
app.add_typer(admin, name="admin")
app.add_typer(runs, name="runs")
app.add_typer(monitor, name="monitor")
