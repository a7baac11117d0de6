"""How long a work takes and how much memory, how that is printed, and where the public data lie."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.data import AuditData, data_spec, load_data, public_section
from benchmarks.serving import ROOT

SHARED = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Taken:
    """What a work took: seconds by the clock and of the processor, peak memory in GB; and its result."""

    seconds: float
    processor: float
    gigabytes: float
    result: Any


def taken(work: Callable[[], object], times: int = 1) -> Taken:
    """Return the fastest of some tries; the peak is the process's, reset before each."""
    found = []
    for _ in range(times):
        Path("/proc/self/clear_refs").write_text("5")
        began, busy = time.perf_counter(), time.process_time()
        result = work()
        spent = time.perf_counter() - began, time.process_time() - busy
        found.append(Taken(*spent, memory("self", "VmHWM") / 1000, result))
    return min(found, key=lambda each: each.seconds)


def command(*arguments: str, **options: Any) -> Taken:
    """Run Python with these arguments; return what it and the processes that it waited for took."""
    began = time.perf_counter()
    started = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, **options)
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(arguments)} ended with {status}")
    spent = time.perf_counter() - began, used.ru_utime + used.ru_stime
    return Taken(*spent, used.ru_maxrss / 1e6, None)


def line(what: str, ours: Taken, peer: Taken | None = None, note: str = "") -> str:
    """Word one line of a table: ours, and beside it what a peer took."""
    told = f"{what:52} {ours.seconds:9.4f} s {ours.processor:8.2f} s {ours.gigabytes:6.2f} GB"
    if peer is not None:
        clock, busy = ours.seconds / peer.seconds, ours.processor / max(peer.processor, 1e-9)
        told += f" | {peer.seconds:9.4f} s {peer.processor:8.2f} s {peer.gigabytes:6.2f} GB"
        told += f", ratio {clock:.3f} by the clock, {busy:.3f}"
    return f"{told}  {note}"


@contextmanager
def clocked(what: str, limit: str = "") -> Iterator[None]:
    """Print how many seconds went by inside, and what they may be."""
    began = time.perf_counter()
    yield
    print(f"{what:38} {time.perf_counter() - began:6.2f} s    {limit}", flush=True)


def memory(process: int | str, field: str) -> float:
    """Return a figure of ``/proc/PROCESS/status`` in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1000


def adult_names() -> tuple[str, ...]:
    """Return the columns of Adult, whose files have no header."""
    return tuple(public_section("adult", SHARED)["read"]["names"])


def public(name: str, **changed: Any) -> AuditData:
    """Load a public table, with other entries in its section of a spec where some are given."""
    return load_data(data_spec(public_section(name, SHARED) | changed))
