"""What a warm worker adds to a small run, and what keeping it warm saves.

Run with ``python -m benchmarks.executor``. Each time is the median over runs that differ in their seed, so
that nothing is taken from a store; both sides read, score and audit the same small file.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

from audits.data.samples import write_samples
from audits.runs.documents import load_document
from audits.runs.executors.pool import InlineExecutor, ProcessExecutor

PEOPLE = 400
ROUNDS = 15
LIMIT = 0.150  # seconds


def spec_with_seed(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the spec with another seed and little to compute."""
    [audit] = document["audits"]
    options = {**audit["flipset"], "permutations": 9, "bootstrap": 100}
    return {**document, "seed": seed, "audits": [{"flipset": options}]}


def seconds(
    executor: InlineExecutor | ProcessExecutor, document: dict[str, Any], folder: Path
) -> list[float]:
    """Return the times from a submitted spec to a result in hand, one a round."""
    times = []
    for seed in range(ROUNDS + 2):
        start = time.perf_counter()
        executor.submit(spec_with_seed(document, seed), folder).result()
        times.append(time.perf_counter() - start)
    return times[2:]  # the first two load what is loaded on demand


def main() -> None:
    """Print the medians and their difference."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_samples("hiring", folder)
        people = pd.read_csv(folder / "hiring.csv")
        people[:: len(people) // PEOPLE].to_csv(folder / "hiring.csv", index=False)
        document = load_document(folder / "hiring.yaml")
        start = time.perf_counter()
        with ProcessExecutor(1, base=folder / "home") as executor:
            executor.wait_warm()
            warming = time.perf_counter() - start
            process = seconds(executor, document, folder)
        inline = seconds(InlineExecutor(), document, folder)
    added = statistics.median(process) - statistics.median(inline)
    print(f"inline       {statistics.median(inline) * 1e3:7.0f} ms a run")
    print(f"warm worker  {statistics.median(process) * 1e3:7.0f} ms a run")
    print(f"added        {added * 1e3:7.0f} ms a run (limit {LIMIT * 1e3:.0f} ms)")
    print(f"warming up   {warming * 1e3:7.0f} ms once, {warming / max(added, 1e-3):.0f} times as much")


if __name__ == "__main__":
    main()
