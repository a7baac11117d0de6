"""What the system lacks is taken away, and the rest goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audits.runs.executors import process_lock as processes
from audits.runs.executors import system
from audits.runs.storage.audit_log import AuditLog

ROOT = Path(__file__).resolve().parents[2]
# the parts that hold strangers' files and their processes in bounds are for Linux and say what holds
BOUNDED = {
    "audits/runs/executors/system.py",
    "audits/runs/executors/sandbox.py",
    "audits/runs/executors/sandbox_pool.py",
}


@pytest.fixture
def bare(monkeypatch):
    """As on a system without locks on files, process groups, and reading at a place."""
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "HAS_LOCKS", False)
    monkeypatch.delattr(os, "pread")


def test_one_module_knows_what_systems_lack():
    lacking = r"\bfcntl\b|\bkillpg\(|\bos\.pread\(|\bmsvcrt\b|^\s*import resource"
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("audits", "app")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(lacking, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    assert found <= BOUNDED


def test_a_lock_is_seen_by_another_process_and_goes_with_its_own(tmp_path):
    path = tmp_path / "lock"
    script = (
        "import os, sys; from audits.runs.executors import system\n"
        "file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); system.lock(file, wait=False)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout.readline() == b"held\n"
    file = os.open(path, os.O_RDWR)
    try:
        assert system.is_locked(file)
        with pytest.raises(BlockingIOError):
            system.lock(file, wait=False)
        other.communicate()
        assert not system.is_locked(file)
    finally:
        os.close(file)


def test_without_locks_the_log_is_written_and_processes_are_told_by_their_ids(bare, tmp_path):
    log = AuditLog(tmp_path)
    for _ in range(2):
        log.note("opened", who="somebody", workspace="w")
    assert log.check() == 2
    mine = processes.this_process(tmp_path)
    assert not (tmp_path / "processes").exists()
    assert processes.goes_on(mine, 0.0, tmp_path)
    over = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    host = mine.rsplit(" ", 2)[0]
    assert not processes.goes_on(f"{host} {int(over.stdout)} 1", 0.0, tmp_path)


def test_a_process_and_what_it_started_end_together():
    script = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; "
        "time.sleep(60)'])\nprint(child.pid, flush=True); child.wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    child = int(process.stdout.readline())
    assert system.goes_on(child)
    system.end_group(process.pid)
    process.communicate()
    for _ in range(100):
        if not system.goes_on(child) or system.start_time(child) == "over":
            break
        time.sleep(0.05)
    assert not system.goes_on(child) or system.start_time(child) == "over"
    system.end_group(process.pid)  # once more is no error
