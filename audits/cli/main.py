"""Arguments, exit status and error messages of the command line.

Exit status: 0 done; 1 done, and ``--fail-on`` matched; 2 the input is wrong; 3 a run failed or was
cancelled. Whatever happens, standard error gets one sentence; a traceback goes to a file that it names.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from audits.cli.subcommands import (
    add_administration,
    add_keeping,
    add_monitors,
    add_running,
    add_saved_audits,
    wishes_of,
)
from audits.cli.words import called_as, one_line, printable
from audits.errors import InputError, RunCancelled, RunFailed, called, how_to_install
from audits.report_kinds import BY_CATEGORY, SMALL_SHARE, TEMPLATES
from audits.runs.version import VERSION

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return the exit status."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # a terminal may have closed it
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    try:
        chosen = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], tuple[int, str]] = chosen.command
        status, text = command(chosen)
    except InputError as error:
        return _say(str(error), 2)
    except (KeyboardInterrupt, RunCancelled):
        return _say("The run was cancelled.", 3)
    except RunFailed as error:
        details = "\n".join(getattr(error, "__notes__", []))
        return _say(str(error) + (f" Details: {_log(details)}" if details else ""), 3)
    except Exception as error:  # noqa: BLE001  (the last resort: the user gets a sentence, the log the rest)
        if isinstance(error, ModuleNotFoundError) and not (error.name or "audits").startswith("audits"):
            return _say(_without(str(error.name)), 2)
        log = _log(traceback.format_exc())
        return _say(
            f"Something went wrong that should not ({type(error).__name__}: {error}). Details: {log}", 3
        )
    return _print(text, status)


def _without(package: str) -> str:
    own = Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"
    advice = f"use {own}" if own.exists() else how_to_install(package)
    return f"This Python ({sys.executable}) lacks the package {called(package)!r}; {advice}."


class _Parser(argparse.ArgumentParser):
    """Answers a word that is nearly a command, or a choice, with the one that was meant."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        near = wrong and difflib.get_close_matches(wrong[1], re.findall(r"[\w-]+", wrong[2]), n=1)
        super().error(f"{message}; did you mean {near[0]!r}?" if near else message)


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog=called_as(),
        description="Fairness audits of data and models.",
        epilog="Exit status: 0 done; 1 done and --fail-on matched; 2 the input is wrong; "
        "3 a run failed or was cancelled.",
    )
    parser.add_argument("--version", action="version", version=f"evenhand {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a spec", description="Run a spec and write what it finds.")
    run.add_argument(
        "spec", metavar="SPEC.yaml", type=Path, help="a spec; or a table, whose spec is guessed and told"
    )
    run.add_argument(
        "--out", metavar="DIR", type=Path, help="folder for the results (default: SPEC-results, here)"
    )
    add_running(run)
    run.add_argument("--no-save", action="store_true", help="keep nothing among the saved audits")
    run.add_argument(
        "--estimate",
        action="store_true",
        help="run nothing: tell about how long it takes, and how much memory",
    )
    run.add_argument("--title", metavar="TEXT", default="", help="title of the saved audit")
    run.set_defaults(command=_run)

    begin = commands.add_parser(
        "init",
        help="write a commented spec for a table",
        description="Write a spec that runs as it is, each guess told.",
    )
    begin.add_argument("file", metavar="FILE", type=Path)
    begin.add_argument(
        "--out", metavar="SPEC.yaml", type=Path, help="where to write it (default: beside FILE)"
    )
    begin.add_argument("--force", action="store_true", help="replace a spec of that name")
    begin.set_defaults(command=_init)

    public = commands.add_parser(
        "data",
        help="write a spec for a public data set whose files you have",
        description="Write a spec for a public data set from its files as published; nothing is fetched.",
    )
    public.add_argument("name", metavar="NAME", help="adult, bank, communities, compas, german or law_school")
    public.add_argument(
        "--from", dest="folder", metavar="DIR", type=Path, default=Path(), help="where its files lie"
    )
    public.add_argument(
        "--out", metavar="SPEC.yaml", type=Path, help="where to write it (default: NAME.yaml)"
    )
    public.add_argument("--force", action="store_true", help="replace a spec of that name")
    public.set_defaults(command=_data)

    serve = commands.add_parser(
        "serve",
        help="have your own model answer for audits",
        description="Run a model file in an environment of yours, and have it answer for audits on this "
        "machine. Opening a joblib or pickle file runs what is in it: serve only files that you trust.",
    )
    serve.add_argument("file", metavar="MODEL", type=Path, help="joblib or pickle file, or MLflow folder")
    serve.add_argument(
        "--python", metavar="PATH", default=sys.executable, help="the Python that has what the model needs"
    )
    serve.add_argument("--port", metavar="N", type=int, default=8000, help="of 127.0.0.1 (default: 8000)")
    serve.add_argument("--columns", metavar="NAME,…", help="what it reads, in order, where it does not say")
    serve.set_defaults(command=_serve)

    explain = commands.add_parser(
        "explain",
        help="say what a key of the spec means",
        description="Say what a key means, its values and default.",
    )
    explain.add_argument(
        "key", metavar="KEY", help="such as data.missing, model.path, flipset or flipset.cost"
    )
    explain.set_defaults(command=_explain)

    describe = commands.add_parser(
        "describe", help="say what a data file holds", description="Say what was read and how."
    )
    describe.add_argument("file", metavar="FILE", type=Path)
    describe.add_argument("--json", action="store_true", help="as JSON")
    describe.set_defaults(command=_describe)

    samples = commands.add_parser(
        "sample-data", help="write the example sets", description="Write example data, models and specs."
    )
    samples.add_argument(
        "name", metavar="NAME", nargs="?", default="all", help="one example set (default: all)"
    )
    samples.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder to write to")
    samples.set_defaults(command=_sample_data)

    plan = commands.add_parser(
        "plan",
        help="what each audit of a spec could see at given group sizes",
        description="Simulate groups of given sizes through each audit's own test.",
    )
    plan.add_argument("spec", metavar="SPEC.yaml", type=Path)
    plan.add_argument(
        "--people", metavar="N", type=int, nargs="+", default=[100, 300, 1000], help="in each group"
    )
    plan.add_argument(
        "--difference",
        metavar="SHARE",
        type=float,
        nargs="+",
        default=[0.0, 0.1],
        help="share of one group's people whose decision is changed (0: groups differ by luck alone)",
    )
    plan.add_argument("--worlds", metavar="N", type=int, default=20, help="simulated for each of these")
    plan.add_argument("--json", action="store_true", help="as JSON")
    plan.set_defaults(command=_plan)

    baseline = commands.add_parser(
        "baseline",
        help="keep a finished run for later ones to be held against",
        description="Write a finished run's numbers and decisions, for a gate's baseline.",
    )
    baseline.add_argument("folder", metavar="DIR", type=Path, help="folder that `run --out` wrote")
    baseline.add_argument("--out", metavar="FILE", type=Path, default=Path("baseline.json"))
    baseline.set_defaults(command=_baseline)

    report = commands.add_parser(
        "report", help="write the report of a finished run", description="Render a finished run again."
    )
    report.add_argument("folder", metavar="DIR", type=Path, help="folder that `run --out` wrote")
    report.add_argument("--format", choices=["html", "pdf", "json", "card"], default="html")
    report.add_argument(
        "--template",
        choices=list(TEMPLATES),
        default="full",
        metavar="NAME",
        help="of HTML and PDF: " + "; ".join(f"{name}: {told}" for name, told in TEMPLATES.items()),
    )
    for name in ("sex", "race"):
        report.add_argument(
            f"--{name}",
            metavar="COLUMN",
            help=f"protected attribute that holds {name}, for {' and '.join(BY_CATEGORY)}",
        )
    report.add_argument(
        "--exclude-under",
        metavar="SHARE",
        type=float,
        help="for these, share of the people under which a category is left out of the impact ratios "
        f"(default: {SMALL_SHARE}; 0 leaves none out)",
    )
    report.add_argument("--out", metavar="FILE", type=Path, help="where to write it (default: into DIR)")
    report.set_defaults(command=_report)
    pages = commands.add_parser("app", help="serve the pages", description="Serve the pages on this machine.")
    pages.add_argument("--port", type=int, default=8501)
    pages.add_argument(
        "--address", default="127.0.0.1", help="0.0.0.0 lets other machines in (default: this one alone)"
    )
    pages.set_defaults(command=_app)
    schema = commands.add_parser(
        "schema", help="the JSON schema of results.json", description="Write the JSON schema of results.json."
    )
    schema.add_argument("--out", metavar="FILE", type=Path, help="where to write it (default: printed)")
    schema.set_defaults(command=_schema)
    completion = commands.add_parser(
        "completion",
        help="have the shell complete commands",
        description='Print a script for the shell: eval "$(evenhand completion bash)".',
    )
    completion.add_argument("shell", choices=["bash", "zsh"])
    completion.set_defaults(command=_completion)
    add_keeping(commands)
    words = "See to the servers that work on EVENHAND_HOME."
    add_administration(commands.add_parser("admin", help="see to the server", description=words))
    add_saved_audits(
        commands.add_parser("runs", help="saved audits", description="List and keep saved audits.")
    )
    words = "Measure new people as a sensitivity audit did, without a server."
    add_monitors(commands.add_parser("monitor", help="measure new people", description=words))
    return parser


def _run(chosen: argparse.Namespace) -> tuple[int, str]:
    if chosen.estimate:
        from audits.cli.estimate import estimated

        return 0, estimated(chosen.spec)
    from audits.cli.run import run

    wishes = replace(wishes_of(chosen), save=not chosen.no_save, title=chosen.title)
    return run(chosen.spec, chosen.out, wishes)


def _plan(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.plan import planned

    return 0, planned(
        chosen.spec, chosen.people, chosen.difference, worlds=chosen.worlds, as_json=chosen.json
    )


def _baseline(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.report import baseline

    return 0, baseline(chosen.folder, chosen.out)


def _report(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.report import report

    told = {name: getattr(chosen, name) for name in ("sex", "race", "exclude_under")}
    return 0, report(chosen.folder, chosen.format, chosen.template, chosen.out, **told)


def _app(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.app import serve

    return serve(chosen.port, chosen.address), ""


def _completion(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.completion import script

    return 0, script(_parser(), chosen.shell)


def _schema(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.report import schema

    return 0, schema(chosen.out)


def _init(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.init import init

    return 0, init(chosen.file, chosen.out, force=chosen.force)


def _data(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.init import public_spec

    return 0, public_spec(chosen.name, chosen.folder, chosen.out, force=chosen.force)


def _serve(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.serve import serve

    return serve(chosen.file, chosen.python, chosen.port, chosen.columns)


def _explain(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.explain import explain

    return 0, explain(chosen.key)


def _describe(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.describe import describe

    return 0, describe(chosen.file, as_json=chosen.json)


def _sample_data(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.data.samples import write_samples

    return 0, "\n".join(str(path) for path in write_samples(chosen.name, chosen.out))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _say(sentence: str, status: int) -> int:
    print(f"evenhand: {one_line(sentence)}", file=sys.stderr)
    return status


def _print(text: str, status: int) -> int:
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _log(details: str) -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="evenhand-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(details)
    return file.name
