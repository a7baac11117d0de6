"""Commands that have commands of their own: saved audits, monitors, the server; and what a run takes."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from audits.errors import InputError

if TYPE_CHECKING:
    from audits.cli.run import Wishes

__all__ = [
    "EXECUTORS",
    "add_administration",
    "add_keeping",
    "add_monitors",
    "add_running",
    "add_saved_audits",
    "wishes_of",
]

EXECUTORS = ("inline", "process", "dask")


def add_keeping(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what copies, lays out and cleans all that is kept."""
    copy = commands.add_parser(
        "backup",
        help="copy all that is kept into a file",
        description="Copy EVENHAND_HOME and the database into a file, while servers go on.",
    )
    copy.add_argument("file", metavar="FILE.tar.gz", type=Path)
    copy.set_defaults(command=_backup)
    back = commands.add_parser(
        "restore",
        help="lay out what `backup` copied",
        description="Lay out a copy in an empty EVENHAND_HOME and an empty database.",
    )
    back.add_argument("file", metavar="FILE.tar.gz", type=Path)
    back.set_defaults(command=_restore)
    erase = commands.add_parser(
        "erase",
        help="take one person out of all that is kept",
        description="Take a person's rows out of uploads and monitors; delete audits made with them.",
    )
    erase.add_argument("--person", metavar="VALUE", help="what the column that tells people apart holds")
    erase.add_argument("--column", metavar="NAME", help="that column (default: what specs name as person)")
    erase.add_argument("--look", action="store_true", help="only say what would be taken out")
    erase.set_defaults(command=_erase)


def add_administration(parser: argparse.ArgumentParser) -> None:
    """Add what sees to a server."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    status = commands.add_parser("status", help="what runs and waits; memory and disk by workspace")
    status.add_argument("--json", action="store_true", help="as JSON")
    status.set_defaults(command=_admin_status)
    cancel = commands.add_parser("cancel", help="cancel anybody's run")
    cancel.add_argument("id", metavar="ID")
    cancel.set_defaults(command=_admin_cancel)
    log = commands.add_parser("log", help="the audit log, as JSON lines")
    log.add_argument("--days", metavar="N", type=float, help="only the last N days")
    log.add_argument("--who", metavar="NAME", default="", help="only what this person did")
    log.add_argument("--act", metavar="ACT", default="", help="only this, such as exported")
    log.add_argument("--check", action="store_true", help="only whether any line was changed or taken out")
    log.set_defaults(command=_admin_log)


def _admin_status(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import admin

    return 0, admin.status(as_json=chosen.json)


def _admin_cancel(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import admin

    return 0, admin.cancelled(chosen.id)


def _admin_log(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import admin

    return 0, admin.logged(chosen.days, chosen.who, chosen.act, check=chosen.check)


def _backup(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import keeping

    return 0, keeping.backed_up(chosen.file)


def _restore(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import keeping

    return 0, keeping.restored(chosen.file)


def _erase(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import keeping

    return 0, keeping.erased(chosen.person, chosen.column, look=chosen.look)


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add what every command that runs a spec takes."""
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        help="where to compute: in this process, in a worker process (default), or on Dask",
    )
    parser.add_argument(
        "--fail-on",
        choices=["evidence", "material", "gate"],
        help="exit with status 1 if some verdict, corrected for all audits of the run, is 'evidence of a "
        "difference', if one is of a material difference, or if the spec's gate stops the run",
    )
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write what the gate says as JUnit XML")
    parser.add_argument(
        "--summary", metavar="FILE", type=Path, help="add what the gate says to a Markdown file"
    )
    parser.add_argument(
        "--annotate", action="store_true", help="print what does not pass as annotations of GitHub Actions"
    )


def add_saved_audits(parser: argparse.ArgumentParser) -> None:
    """Add what lists and keeps saved audits."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="list them, latest first")
    listing.add_argument("--status", help="only running, done, failed, cancelled or interrupted ones")
    listing.add_argument("--verdict", help="only those with this overall verdict")
    listing.add_argument("--audit", help="only those that hold this audit")
    listing.add_argument("--text", default="", help="only those with this in title, note or finding")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(command=_runs_list)

    show = commands.add_parser("show", help="findings and spec of one")
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true", help="as JSON, with all numbers")
    show.set_defaults(command=_runs_show)

    compare = commands.add_parser("compare", help="what changed between two")
    compare.add_argument("first", metavar="ID")
    compare.add_argument("second", metavar="ID")
    compare.add_argument("--json", action="store_true", help="as JSON")
    compare.set_defaults(command=_runs_compare)

    rename = commands.add_parser("rename", help="give one another title")
    rename.add_argument("id", metavar="ID")
    rename.add_argument("title", metavar="TITLE")
    rename.set_defaults(command=_runs_rename)

    note = commands.add_parser("note", help="keep a note with one; an empty text removes it")
    note.add_argument("id", metavar="ID")
    note.add_argument("text", metavar="TEXT")
    note.set_defaults(command=_runs_note)

    again = commands.add_parser("start", help="start again one that failed, was cancelled or interrupted")
    again.add_argument("id", metavar="ID")
    again.add_argument("--out", metavar="DIR", type=Path, help="folder for the results")
    add_running(again)
    again.set_defaults(command=_runs_start)

    remove = commands.add_parser("rm", help="delete them")
    remove.add_argument("ids", metavar="ID", nargs="+")
    remove.set_defaults(command=_runs_rm)


def add_monitors(parser: argparse.ArgumentParser) -> None:
    """Add what measures new people."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    export = commands.add_parser("export", help="write the bundle of a finished run's sensitivity audit")
    export.add_argument("folder", metavar="DIR", type=Path, help="folder that `run --out` wrote")
    export.add_argument("--out", metavar="BUNDLE", type=Path, required=True, help="folder for the bundle")
    export.add_argument("--note", metavar="TEXT", default="", help="kept in the bundle")
    export.set_defaults(command=_monitor_export)

    score = commands.add_parser("score", help="measure the rows of a table, one JSON line a row")
    score.add_argument("bundle", metavar="BUNDLE", type=Path)
    score.add_argument("rows", metavar="ROWS", type=Path, help="CSV, TSV, Parquet, Arrow, XLSX or JSON lines")
    score.add_argument("--out", metavar="FILE", type=Path, help="where to write them (default: printed)")
    score.set_defaults(command=_monitor_score)

    again = commands.add_parser("replay", help="when would a monitor have alarmed on a past table?")
    again.add_argument("folder", metavar="BUNDLE", type=Path, help="folder that `monitor export` wrote")
    again.add_argument("rows", metavar="ROWS", type=Path, help="its people, oldest first")
    again.add_argument("--against", metavar="BUNDLE", type=Path, help="a second bundle to compare with")
    again.add_argument("--people-between", type=float, default=100_000.0, help="people between false alarms")
    again.add_argument("--json", action="store_true", help="as JSON")
    again.set_defaults(command=_monitor_replay)

    send = commands.add_parser("send", help="send a table to a monitor of a server, a nightly batch say")
    send.add_argument("url", metavar="URL", help="http(s)://server/api/v1/monitors/ID")
    send.add_argument("rows", metavar="ROWS", type=Path, help="table with the columns that it reads")
    send.add_argument("--id", metavar="COLUMN", help="column with your own ids")
    send.add_argument("--score", metavar="COLUMN", help="column with the deployed model's scores")
    send.set_defaults(command=_monitor_send)

    window = commands.add_parser(
        "window", help="audit what a monitor of this machine received: the last so many people, or dates"
    )
    window.add_argument("monitor", metavar="ID", help="as its page and address name it; its first digits do")
    window.add_argument("--last", metavar="N", type=int, help="the last so many people")
    window.add_argument("--since", metavar="DATE", help="from then on, of UTC unless it says otherwise")
    window.add_argument("--until", metavar="DATE", help="up to then")
    window.add_argument("--audit", metavar="NAME", action="append", default=[], help="groups, rule_sets …")
    window.add_argument("--outcomes", action="store_true", help="only people whose outcome is known, with it")
    window.add_argument("--out", metavar="DIR", type=Path, required=True, help="for table, spec and results")
    add_running(window)
    window.set_defaults(command=_monitor_window)


def _monitor_window(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import monitor
    from audits.cli.run import run

    asked = {name: getattr(chosen, name) for name in ("last", "since", "until", "outcomes")}
    spec, said = monitor.window(chosen.monitor, chosen.out, chosen.audit, **asked)
    status, told = run(spec, chosen.out / "results", wishes_of(chosen))
    return status, f"{said}\n\n{told}"


def _monitor_replay(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import monitor

    return 0, monitor.replayed(
        chosen.folder, chosen.rows, chosen.against, chosen.people_between, as_json=chosen.json
    )


def _monitor_send(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import monitor

    return 0, monitor.send(chosen.url, chosen.rows, chosen.id, chosen.score)


def _monitor_export(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import monitor

    return 0, monitor.export(chosen.folder, chosen.out, chosen.note)


def _monitor_score(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import monitor

    return 0, monitor.score(chosen.bundle, chosen.rows, chosen.out)


def wishes_of(chosen: argparse.Namespace) -> Wishes:
    """Return how the run is wished for."""
    from audits.cli.run import Wishes

    executor = chosen.executor or os.environ.get("EVENHAND_EXECUTOR") or "process"
    if executor not in EXECUTORS:
        raise InputError("EVENHAND_EXECUTOR", "must be inline, process or dask", executor)
    return Wishes(executor, chosen.fail_on, chosen.junit, chosen.summary, chosen.annotate)


def _runs_list(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import runs

    return 0, runs.listed(chosen.status, chosen.verdict, chosen.audit, chosen.text, as_json=chosen.json)


def _runs_show(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import runs

    return 0, runs.shown(chosen.id, as_json=chosen.json)


def _runs_compare(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import runs

    return 0, runs.compare(chosen.first, chosen.second, as_json=chosen.json)


def _runs_rename(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import runs

    return 0, runs.renamed(chosen.id, chosen.title)


def _runs_note(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import runs

    return 0, runs.annotate(chosen.id, chosen.text)


def _runs_start(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli.run import start_again

    return start_again(chosen.id, chosen.out, wishes_of(chosen))


def _runs_rm(chosen: argparse.Namespace) -> tuple[int, str]:
    from audits.cli import runs

    return 0, runs.removed(chosen.ids)
