"""``admin``: what the servers of a home folder do, cancelling a run, and the audit log."""

from __future__ import annotations

import json
import time

from audits.cli.text import count_of, one_line
from audits.runs.storage.audit_log import AuditLog, short
from audits.runs.storage.control import ask_to_cancel, disk_by_workspace, servers
from audits.runs.storage.store import home

__all__ = ["audit_log", "cancel", "status"]


def status(*, as_json: bool) -> str:
    """Say what runs and waits, and how much memory and disk each workspace uses."""
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


def cancel(run: str) -> str:
    """Ask for a run to be cancelled."""
    identity = ask_to_cancel(home(), run)
    AuditLog(home()).note("cancelled", what=identity)
    return f"{identity} is cancelled within seconds."


def audit_log(days: float | None, who: str, act: str, *, check: bool) -> str:
    """Return the audit log as JSON lines; or hold each line against the one before it."""
    log = AuditLog(home())
    if check:
        return f"{count_of(log.check(), 'line')}, in an unbroken chain."
    since = 0.0 if days is None else time.time() - 86_400 * days
    return "\n".join(
        json.dumps(entry, ensure_ascii=False) for entry in log.entries(since=since, who=who, act=act)
    )
