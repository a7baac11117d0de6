"""Counting a table by two Dask workers of one core and by one process: ``python -m benchmarks.cluster``.

Prints processor time, which other work on a machine disturbs less than wall time, of counting alone: what one
process takes, and what each of the workers and the process that adds their parts up take. The gain is the
first over the busiest of the two cores, where adding up goes to the one that has less to do. By the clock the
one process is kept to one core.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import distributed
import numpy as np
import pyarrow.parquet as pq

from audits.data.groupby import count_rows
from audits.data.io.large_table import open_table
from audits.parallel import use_workers
from audits.runs.executors.dask import divide_among
from audits.runs.executors.threads import fixed_threads
from benchmarks.scale import people


def _spent() -> float:
    return time.process_time()


def counting(path: Path) -> Callable[[], object]:
    """Return what counts people."""
    columns, cuts = ["sex", "race", "age", "score", "repaid"], {"score": np.linspace(0, 1, 21)}
    return lambda: count_rows(open_table([path]), columns, cuts, scored="score")


def _kept_to(cores: set[int]) -> None:
    """Keep every thread of this process, and those it starts, to some cores."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def measured(
    work: Callable[[], object], client: distributed.Client
) -> tuple[float, list[float], float, tuple[float, float]]:
    """Return processor time of one process, of each worker and of adding up, and both by the clock."""
    work()  # files are in memory, libraries loaded
    with use_workers(divide_among(client, lambda: False)):
        work()
    one, cores = {min(os.sched_getaffinity(0))}, os.sched_getaffinity(0)
    _kept_to(one)
    begun, start = _spent(), time.perf_counter()
    work()
    alone, waited = _spent() - begun, time.perf_counter() - start
    _kept_to(cores)
    before, begun, start = client.run(_spent), _spent(), time.perf_counter()
    with use_workers(divide_among(client, lambda: False)):
        work()
    adding, together = _spent() - begun, time.perf_counter() - start
    after = client.run(_spent)
    return alone, sorted(after[each] - before[each] for each in after), adding, (waited, together)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 2, 4])
    chosen = parser.parse_args()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as place, fixed_threads():
        folder = Path(place)
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            for millions in chosen.millions:
                path = folder / f"{millions:g}"
                path.mkdir()
                for part in range(4):
                    pq.write_table(people(int(millions * 2.5e5), part, 2), path / f"{part}.parquet")
                alone, workers, adding, (waited, together) = measured(counting(path), client)
                less, most = workers
                gain = alone / max(most, less + adding, (less + most + adding) / 2)
                told = f"{less:.2f} and {most:.2f} s of two workers, {adding:.2f} s to add up"
                print(
                    f"counting, {millions:g} M rows: {alone:.2f} s alone; {told}: {gain:.2f} times; by the "
                    f"clock {waited:.2f} against {together:.2f} s, {waited / together:.2f} times",
                    flush=True,
                )


if __name__ == "__main__":
    main()
