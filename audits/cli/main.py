"""Arguments, exit status and error messages of the command line.

Exit status: 0 done; 1 done, and ``--fail-on`` matched; 2 the input is wrong; 3 a run failed or was
cancelled. Whatever happens, standard error gets one sentence; a traceback goes to a file that it names.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from audits.cli.words import one_line, printable
from audits.errors import InputError, RunCancelled, RunFailed

__all__ = ["main"]

EXECUTORS = ("inline", "process", "dask")


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
        log = _log(traceback.format_exc())
        return _say(
            f"Something went wrong that should not ({type(error).__name__}: {error}). Details: {log}", 3
        )
    return _print(text, status)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m audits",
        description="Fairness audits of data and models.",
        epilog="Exit status: 0 done; 1 done and --fail-on matched; 2 the input is wrong; "
        "3 a run failed or was cancelled.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a spec", description="Run a spec and write what it finds.")
    run.add_argument("spec", metavar="SPEC.yaml", type=Path)
    run.add_argument(
        "--out", metavar="DIR", type=Path, help="folder for the results (default: SPEC-results, here)"
    )
    run.add_argument(
        "--executor",
        choices=EXECUTORS,
        help="where to compute: in this process, in a worker process (default), or on Dask",
    )
    run.add_argument(
        "--fail-on",
        choices=["evidence"],
        help="exit with status 1 if some verdict is 'evidence of a difference'",
    )
    run.set_defaults(command=_run)

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
    return parser


def _run(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.run import run

    executor = chosen.executor or os.environ.get("EVENHAND_EXECUTOR") or "process"
    if executor not in EXECUTORS:
        raise InputError("EVENHAND_EXECUTOR", "must be inline, process or dask", executor)
    return run(chosen.spec, chosen.out, executor, fail_on_evidence=chosen.fail_on == "evidence")


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
