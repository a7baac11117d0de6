"""How the processes that read tables end, told by what ended them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from audits.errors import RunFailed
from audits.runs.executors.sandbox_pool import LimitReached, SandboxPool


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """End as a library does whose own thread fails: it writes a line and aborts."""
    os.write(2, question["says"].encode())
    os.abort()


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    made = SandboxPool("tests.security.test_sandbox_pool:answer")
    yield made
    made.close()


@pytest.mark.parametrize(
    "says",
    [
        "terminate called after throwing an instance of 'std::bad_alloc'\n",
        "Check failed: _s.ok()\nBad status: Out of memory: malloc of size 4194304 failed\n",
    ],
)
def test_a_library_that_aborts_for_lack_of_memory_has_reached_the_limit(pool: SandboxPool, says: str) -> None:
    child = pool.child(memory=500_000_000)
    with pytest.raises(LimitReached, match="500 MB"):
        child.ask({"says": says}, seconds=30)


def test_a_library_that_aborts_for_another_reason_is_told_by_its_signal(pool: SandboxPool) -> None:
    child = pool.child(memory=500_000_000)
    with pytest.raises(RunFailed, match="SIGABRT"):
        child.ask({"says": "malloc(): corrupted top size\n"}, seconds=30)
