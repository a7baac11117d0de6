"""``admin``: what the servers of a home folder do, cancelling a run, and the audit log."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer
from typer import Option

from audits.cli.parameters import SETTINGS, Id, Json
from audits.cli.text import count_of, one_line

admin = typer.Typer(help="Administer the servers that use EVENHAND_HOME.", **SETTINGS)


@admin.command()
def status(as_json: Json = False) -> str:
    """Show what runs and waits; memory and disk by workspace."""
    from audits.runs.storage.audit_log import short
    from audits.runs.storage.control import disk_by_workspace, servers
    from audits.runs.storage.store import home

    found = servers(home())
    disk = {short(token): size for token, size in disk_by_workspace(home()).items()}
    if as_json:
        return json.dumps({"servers": found, "disk": disk}, indent=1, ensure_ascii=False)
    lines = [] if found else [f"No server is running on {home()}."]
    for server in found:
        memory = sum(server["workers"].values()) / 1e6
        workers = count_of(len(server["workers"]), "worker process", "worker processes")
        runs = count_of(len(server["runs"]), "run")
        lines += [f"{one_line(server['process'])}: {runs}, {workers} ({memory:,.0f} MB)"]
        for run in server["runs"]:
            owner = run["person"] or run["workspace"]
            lines += [
                f"  {run['id'][:12]}  {run['status']:<8} {run['seconds']:8,.0f} s  {owner}  {run['doing']}"
            ]
    tables = {name: size for server in found for name, size in server["tables"].items()}
    for name in sorted({*tables, *disk}):
        lines += [
            f"  {name}: {tables.get(name, 0) / 1e6:,.0f} MB in memory, "
            f"{disk.get(name, 0) / 1e6:,.1f} MB on disk"
        ]
    return "\n".join(lines)


@admin.command()
def cancel(identity: Id) -> str:
    """Cancel anyone's run."""
    from audits.runs.storage.audit_log import AuditLog
    from audits.runs.storage.control import ask_to_cancel
    from audits.runs.storage.store import home

    run = ask_to_cancel(home(), identity)
    AuditLog(home()).note("cancelled", what=run)
    return f"{run} is cancelled within seconds."


@admin.command("log")
def audit_log(
    days: Annotated[float | None, Option(metavar="N", help="only the last N days")] = None,
    who: Annotated[str, Option(metavar="NAME", help="only acts of this person")] = "",
    act: Annotated[str, Option(metavar="ACT", help="only this act, such as exported")] = "",
    check: Annotated[
        bool, Option("--check", help="only check whether any line was changed or removed")
    ] = False,
) -> str:
    """Print the audit log, as JSON lines."""
    from audits.runs.storage.audit_log import AuditLog
    from audits.runs.storage.store import home

    log = AuditLog(home())
    if check:
        return f"{count_of(log.check(), 'line')}, in an unbroken chain."
    since = 0.0 if days is None else time.time() - 86_400 * days
    return "\n".join(
        json.dumps(entry, ensure_ascii=False) for entry in log.entries(since=since, who=who, act=act)
    )
