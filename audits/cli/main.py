"""Exit status and error messages of the command line; its commands are in `audits.cli.commands`.

Exit status: 0 done; 1 done, and ``--fail-on`` matched; 2 the input is wrong; 3 a run failed or was
cancelled. Whatever happens, standard error gets one sentence; a traceback goes to a file that it names.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from audits.cli.text import called_as, one_line, printable
from audits.errors import InputError, RunCancelled, RunFailed, distribution_name, how_to_install


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
        return _carried_out(sys.argv[1:] if arguments is None else list(arguments))
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
        return _say(f"Something went wrong unexpectedly ({type(error).__name__}: {error}). Details: {log}", 3)


def _carried_out(arguments: list[str]) -> int:
    import typer  # late: where this Python lacks it, that is told in one sentence
    from typer.exceptions import TyperException

    from audits.cli.commands import COMPLETE, app

    command = typer.main.get_command(app)
    if COMPLETE in os.environ:
        command.main(arguments, prog_name="evenhand", complete_var=COMPLETE)
    try:
        with command.make_context(called_as(), arguments) as context:
            told = command.invoke(context)
    except typer.Exit as end:  # of --help and --version
        return end.exit_code
    except TyperException as error:
        told_by = getattr(error, "ctx", None)
        if told_by is not None:
            print(told_by.get_usage(), file=sys.stderr)
        return _say(error.format_message().replace("Value error, ", ""), 2)
    return _print(told, 0) if isinstance(told, str) else _print(told[1], told[0])


def _without(package: str) -> str:
    own = Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"
    advice = f"use {own}" if own.exists() else how_to_install(package)
    return f"This Python ({sys.executable}) lacks the package {distribution_name(package)!r}; {advice}."


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
