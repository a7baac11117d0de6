"""A whole flipset run against dense `ot.emd` alone, in one process: time ratios and peak memory.

    python -m benchmarks.flipset [people a group …]      default 5000 10000 20000

The run does everything a user gets: scoring, matching, chance level, transparency report, marginals and
the people's tables. Dense `ot.emd` is given its cost matrix ready made. Above 10,000 people a group it
would need 16 GB and more, so only our time and memory are printed.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from tests.flipset.conftest import audited

_LARGEST_DENSE = 10_000


def crowd(n: int, d: int = 8) -> pd.DataFrame:
    """Two Gaussian groups of `n` people in `d` features, decided by a noisy sum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2 * n, d)) + np.repeat([0.0, 0.5], n)[:, None]
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(d)])
    frame["group"] = ["a"] * n + ["b"] * n
    frame["decision"] = (x.sum(1) + rng.normal(size=2 * n) > 0).astype(int)
    return frame


def measure(n: int) -> None:
    """Print one size's line."""
    frame = crowd(n)
    features = tuple(name for name in frame.columns if name.startswith("x"))
    spec = DataSpec(label="decision", favorable=1, protected=("group",), features=features)
    subject = make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))
    start = time.perf_counter()
    result = audited(subject, source={"group": "a"}, target={"group": "b"})
    ours = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = (
        f"{n:>7,} a group: flipset {ours:6.1f} s, peak {peak:.2f} GB, flips {result.positive.size:,.0f} and "
        f"{result.negative.size:,.0f}, slack {result.certificate.slack:.1e}"
    )
    if n <= _LARGEST_DENSE:
        import ot

        from audits.transport import pairwise_cost

        z = subject.space.encode(subject.data.frame)
        costs = pairwise_cost(z[:n], z[n:], "l1_squared")
        weights = np.full(n, 1.0 / n)
        start = time.perf_counter()
        plan = ot.emd(weights, weights, costs, numItermax=2**62)
        dense = time.perf_counter() - start
        same = abs((plan * costs).sum() - result.certificate.cost)
        line += f"; dense ot.emd alone {dense:6.1f} s, ratio {ours / dense:.2f}, costs differ by {same:.1e}"
    print(line, flush=True)


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]] or [5_000, 10_000, 20_000]
    if len(sizes) == 1:
        measure(sizes[0])
    else:  # a process a size, so that peaks do not add up
        for size in sizes:
            subprocess.run([sys.executable, "-m", "benchmarks.flipset", str(size)], check=True)
