"""Counting a table by two Dask workers of one core and by one process: ``python -m benchmarks.cluster``.

Prints processor time, which other work on a machine disturbs less than wall time, of counting alone: what one
process takes, and what each of the workers and the process that adds their parts up take. The gain is the
first over the busiest of the two cores, where adding up goes to the one that has less to do.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import distributed
import numpy as np
import pyarrow.parquet as pq

from audits.data.groupby import count_rows
from audits.data.io.large_table import open_table
from audits.parallel import use_workers
from audits.runs.executors.dask import divide_among
from audits.runs.executors.threads import fixed_threads
from benchmarks.measuring import taken
from benchmarks.scale import people


def measured(path: Path, client: distributed.Client) -> tuple[float, list[float], float]:
    """Return processor time of one process, of each worker from the least on, and of adding up."""
    columns, cuts = ["sex", "race", "age", "score", "repaid"], {"score": np.linspace(0, 1, 21)}
    work = partial(count_rows, open_table([path]), columns, cuts, scored="score")
    alone = taken(work, 2).processor  # the first time loads libraries
    with use_workers(divide_among(client, lambda: False)):
        work()
        before = client.run(time.process_time)
        adding = taken(work).processor
    after = client.run(time.process_time)
    return alone, sorted(after[each] - before[each] for each in after), adding


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 2, 4])
    chosen = parser.parse_args()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with (
        tempfile.TemporaryDirectory() as folder,
        fixed_threads(),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for millions in chosen.millions:
            path = Path(folder) / f"{millions:g}"
            path.mkdir()
            for part in range(4):
                pq.write_table(people(int(millions * 2.5e5), part, 2), path / f"{part}.parquet")
            alone, (less, most), adding = measured(path, client)
            gain = alone / max(most, less + adding, (less + most + adding) / 2)
            told = f"{less:.2f} and {most:.2f} s of two workers, {adding:.2f} s to add up"
            print(f"counting, {millions:g} M rows: {alone:.2f} s alone; {told}: {gain:.2f} times", flush=True)


if __name__ == "__main__":
    main()
