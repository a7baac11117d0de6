"""What is thrown away: gone with the process that made it, killed or not, and never another's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from audits.runs.executors import system

ROOT = Path(__file__).resolve().parents[2]

_MAKES = """
import sys
from audits.runs.executors.scratch import scratch
(scratch() / "something").mkdir()
print(scratch(), flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not system.HAS_LOCKS, reason="what is left is told by locks on files")
def test_what_a_killed_process_left_goes_with_the_next_and_nothing_else(tmp_path: Path) -> None:
    killed, there = (_process(tmp_path) for _ in range(2))
    folders = [_folder(each) for each in (killed, there)]
    killed.kill()
    killed.wait()
    assert all((folder / "something").is_dir() for folder in folders)
    later = _process(tmp_path)
    own = _folder(later)
    assert [folder.exists() for folder in (*folders, own)] == [False, True, True]
    for each in (there, later):
        each.communicate(b"\n")
    assert not list(tmp_path.iterdir()), "each has taken its own with it"


def _process(temporary: Path) -> subprocess.Popen[bytes]:
    command, env = [sys.executable, "-c", _MAKES], {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _folder(process: subprocess.Popen[bytes]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().decode().strip())
