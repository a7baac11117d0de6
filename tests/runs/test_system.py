"""What the system lacks is taken away, and the rest goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audits.runs.executors import system

ROOT = Path(__file__).resolve().parents[2]
# the parts that hold strangers' files and their processes in bounds are for Linux and say what holds
BOUNDED = {
    "audits/runs/executors/system.py",
    "audits/runs/executors/sandbox.py",
    "audits/runs/executors/sandbox_pool.py",
}


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
