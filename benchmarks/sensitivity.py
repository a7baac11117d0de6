"""Prediction sensitivity: speed beside the forward passes alone, and the control chart's promise.

    python -m benchmarks.sensitivity speed      the pass over very many people
    python -m benchmarks.sensitivity chart      the control chart's promise

Times are the best of several in one process; on a machine that is shared, the ratio is what counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from audits.models.networks.dense import Dense
from audits.sensitivity.measurement.gradients import CHUNK, Audited, Status, totals
from audits.stats.control import design_chart, flag_rate_bound

FEATURES, WIDTH, PEOPLE = 95, 32, 400_000  # the paper's Adult networks


def best(work: Callable[[], object], times: int = 5) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def speed(threads: int) -> None:
    rng = np.random.default_rng(0)

    def draw() -> Dense:
        pairs = pairwise((FEATURES, WIDTH, WIDTH, 1))
        weights = tuple(rng.normal(size=pair) / np.sqrt(pair[0]) for pair in pairs)
        return Dense(weights, (np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(1))).astype(np.float32)

    audited, status = Audited(draw()), Status("sex", ("f", "m"), draw())
    z = rng.normal(size=(PEOPLE, FEATURES)).astype(np.float32)
    parts = [z[start : start + CHUNK] for start in range(0, len(z), CHUNK)]

    def forward() -> None:
        def one(part: np.ndarray) -> None:
            audited.network.outputs(part)
            status.network.outputs(part)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, parts))

    with threadpool_limits(1):
        # in turns, so that what else the machine does falls on both alike
        turns = [
            (best(forward, 1), best(lambda: totals(z, audited, status, threads=threads), 1)) for _ in range(9)
        ]
    plain, whole = (min(times) for times in zip(*turns, strict=True))
    ratio = np.median([after / before for before, after in turns])
    with threadpool_limits(1):
        start = time.process_time()
        totals(z, audited, status)
        spent = time.process_time() - start
    print(f"{PEOPLE / spent:,.0f} people a second of processor time on one core")
    print(f"{PEOPLE / whole:,.0f} people a second on {threads} threads; {whole / plain:.2f} times the two")
    print(f"forward passes (best of 9; median of the ratios in turn {ratio:.2f})")


def chart(trials: int) -> None:
    """Draw a reference, set the threshold at 5 %, design the chart, and let it watch people alike."""
    rng = np.random.default_rng(0)
    kept, lengths = 0, []
    for _ in range(trials):
        n, promised = 2000, 2000.0
        values = np.sort(rng.gamma(2.0, size=n))
        above = int(0.05 * n)
        threshold = values[n - above - 1]
        designed = design_chart(flag_rate_bound(above, n), people_between=promised)
        flags = rng.gamma(2.0, size=400_000) > threshold
        alarms = len(designed.follow(flags).alarms)
        lengths.append(400_000 / max(alarms, 1))
        kept += lengths[-1] >= promised
    print(
        f"{kept} of {trials} charts kept their promise of {promised:,.0f} people between false alarms (95 "
        f"% are "
        f"promised); median {np.median(lengths):,.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "chart"])
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.threads)
    else:
        chart(given.trials)


if __name__ == "__main__":
    main()
