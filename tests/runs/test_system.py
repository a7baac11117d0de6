"""What the system lacks is taken away, and the rest goes on."""

from __future__ import annotations

import os
import subprocess
import sys

from audits.runs.executors import process_lock as processes
from audits.runs.executors import system
from audits.runs.storage.audit_log import AuditLog


def test_without_locks_the_log_is_written_and_processes_are_told_by_their_ids(tmp_path, monkeypatch):
    """As on a system without locks on files, process groups, and reading at a place."""
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "HAS_LOCKS", False)
    monkeypatch.delattr(os, "pread")
    log = AuditLog(tmp_path)
    for _ in range(2):
        log.note("opened", who="somebody", workspace="w")
    assert log.check() == 2
    mine = processes.this_process(tmp_path)
    assert processes.goes_on(mine, 0.0, tmp_path)
    over = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True)
    assert not processes.goes_on(f"{mine.rsplit(' ', 2)[0]} {int(over.stdout)} 1", 0.0, tmp_path)
