"""A process that opens a stranger's file can do nothing else, and how it ended is told."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audits.errors import RunFailed
from audits.runs.executors.sandbox_pool import LimitReached, SandboxPool

MEMORY = 600_000_000


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Wait, or end as a library does whose own thread fails, or try what is forbidden."""
    if "waits" in question:
        time.sleep(question["waits"])
    if "says" in question:
        os.write(2, question["says"].encode())
        os.abort()
    tried = {
        "network": lambda: socket.socket(),
        "passwords": lambda: Path("/etc/passwd").read_text(),
        "neighbour": lambda: Path(question["neighbour"]).read_text(),
        "write": lambda: Path(question["own"]).write_text("x"),
        "signal": lambda: os.kill(os.getppid(), 0),
        "program": lambda: os.execv("/bin/true", ["true"]),
        "memory": lambda: bytearray(2 << 30),
    }
    told: dict[str, Any] = {"own": Path(question["own"]).read_text(), "environment": sorted(os.environ)}
    for name, attempt in tried.items():
        try:
            attempt()
            told[name] = "done"
        except (OSError, MemoryError) as error:
            told[name] = type(error).__name__
    return told


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_DATABASE_URL", "postgresql://secret")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        made = SandboxPool("tests.security.test_sandbox_pool:answer")
        yield made
        made.close()


@pytest.mark.parametrize(
    ("question", "error", "told"),
    [
        ({"says": "terminate called after throwing 'std::bad_alloc'\n"}, LimitReached, "600 MB"),
        ({"says": "Bad status: Out of memory: malloc of size 4194304 failed\n"}, LimitReached, "600 MB"),
        ({"says": "malloc(): corrupted top size\n"}, RunFailed, "SIGABRT"),
        ({"waits": 60}, LimitReached, "1 second"),
    ],
)
def test_how_a_process_ended_is_told_by_what_ended_it(pool, question, error, told) -> None:
    child = pool.child(memory=MEMORY)
    with pytest.raises(error, match=told):
        child.ask(question, seconds=1 if "waits" in question else 30)


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux keeps a process from all of this")
def test_a_process_that_reads_can_do_nothing_else(pool, tmp_path):
    own, neighbour = tmp_path / "own", tmp_path / "neighbour"
    for folder in (own, neighbour):
        folder.mkdir()
        (folder / "table.csv").write_text("a,b\n1,2\n")
    asked = {"own": str(own / "table.csv"), "neighbour": str(neighbour / "table.csv")}
    told = pool.child(memory=MEMORY, reads=[own]).ask(asked, 30)
    assert told["own"] == "a,b\n1,2\n"
    for name in ("network", "passwords", "neighbour", "write", "signal", "program"):
        assert told[name] == "PermissionError", name
    assert told["memory"] == "MemoryError"
    assert not any("DATABASE" in name or "SECRET" in name for name in told["environment"])
