"""How long a work takes and how much memory, what is asked of it, and where the public data lie."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from audits.data import AuditData, data_spec, load_data, public_section
from benchmarks.serving import ROOT

SHARED = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Scorer:
    """A model around any function of the raw columns that it reads."""

    columns: tuple[str, ...]
    function: Callable[[pd.DataFrame], Any]
    name: str = "function"
    classes: Any = None
    invents: bool = True
    sha256: str = "0" * 64

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Score each row, (n,)."""
        return np.asarray(self.function(frame[list(self.columns)]), dtype=float)


class Taken(NamedTuple):
    """What a work took: seconds by the clock and of the processor, peak memory in GB; and its result."""

    seconds: float
    processor: float
    gigabytes: float
    result: Any = None

    def __str__(self) -> str:
        return f"{self.seconds:9.4f} s {self.processor:8.2f} s {self.gigabytes:6.2f} GB"


def taken(work: Callable[[], object], times: int = 1) -> Taken:
    """Return the fastest of some tries; the peak is the process's, reset before each."""
    found = []
    for _ in range(times):
        Path("/proc/self/clear_refs").write_text("5")
        began, busy = time.perf_counter(), time.process_time()
        result = work()
        spent = time.perf_counter() - began, time.process_time() - busy
        peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
        found.append(Taken(*spent, int(peak) / 1e6, result))
    return min(found, key=lambda each: each.seconds)


def command(*arguments: str, **options: Any) -> Taken:
    """Run Python with these arguments; return what it and the processes that it waited for took."""
    began = time.perf_counter()
    started = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, **options)
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(arguments)} ended with {status}")
    return Taken(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def line(what: str, ours: Taken, peer: Taken | None = None, note: str = "") -> str:
    """Word one line of a table: ours, and beside it what a peer took."""
    told = f"{what:52} {ours}"
    if peer is not None:
        clock, busy = ours.seconds / peer.seconds, ours.processor / max(peer.processor, 1e-9)
        told += f" | {peer}, ratio {clock:.3f} by the clock, {busy:.3f}"
    return f"{told}  {note}"


def asked(
    about: str | None, given: Sequence[str] | None = None, words: Sequence[str] = (), **options: Any
) -> argparse.Namespace:
    """Read a command line's free `words`, and its `options` by their defaults; a list takes several."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", default=list(words))
    for name, default in options.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true")
            continue
        kind = type(default[0] if isinstance(default, list) else default)
        many = "+" if isinstance(default, list) else None
        parser.add_argument(f"--{name}", default=default, type=kind, nargs=many)
    return parser.parse_args(given)


def screened() -> pd.DataFrame:
    """Return COMPAS's 6,172 people who were screened within 30 days, as ProPublica keeps them."""
    raw = pd.read_csv(SHARED / "compas.csv")
    kept = raw["days_b_screening_arrest"].between(-30, 30) & (raw["c_charge_degree"] != "O")
    return raw[kept & (raw["is_recid"] != -1) & raw["score_text"].notna()]


def public(name: str, **changed: Any) -> AuditData:
    """Load a public table, with other entries in its section of a spec where some are given."""
    return load_data(data_spec(public_section(name, SHARED) | changed))
