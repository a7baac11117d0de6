"""Exact couplings against POT's `ot.emd` on the full cost matrix, in the same process; prints ratios.

`ot.emd` is given the finished matrix: making it is not counted. Ours counts everything, the plan written out
person by person included. Peak memory is the process's, reset before each run.

Usage: python -m benchmarks.transport [CASE ...]     (all cases: 5 minutes, 5 GB)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from audits.transport import Cost, estimated_bytes, estimated_seconds, exact_coupling, pairwise_cost
from audits.transport.simplex import _pot
from tests.transport.published import lipton_hiring

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
Points = tuple[np.ndarray, np.ndarray]


def gaussian(n: int, m: int | None = None, d: int = 8) -> Points:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m or n, d)) + 0.5


def line(n: int) -> Points:
    return gaussian(n, d=1)


def clusters(n: int) -> Points:
    """Twelve far clusters of six features, not equally full on both sides."""
    rng = np.random.default_rng(0)
    centres = 20 * rng.normal(size=(12, 6))
    x, y = (centres[rng.integers(12, size=n)] + 0.3 * rng.normal(size=(n, 6)) for _ in range(2))
    return x, y


def heavy_tails(n: int) -> Points:
    rng = np.random.default_rng(0)
    return rng.standard_t(1.5, size=(n, 8)), rng.standard_t(1.5, size=(n, 8))


def adult(n: int) -> Points:
    """Women and men of Adult, drawn at random: five z-scored numbers, the rest one-hot, d about 100."""
    from audits.data import FeatureSpace, data_spec, load_data, public_section

    data = load_data(data_spec(public_section("adult", SHARED)))
    names = [name for name in data.features if name not in {"sex", "fnlwgt"}]
    points = FeatureSpace.fit(data, names).encode(data.frame)
    rng = np.random.default_rng(0)
    women, men = (np.flatnonzero(data.members({"sex": sex})) for sex in ("Female", "Male"))
    return points[rng.permutation(women)[:n]], points[rng.permutation(men)[:n]]


CASES: dict[str, tuple[Callable[[], Points], bool, Cost]] = {
    "line 6,172": (lambda: line(6_172), True, "l1_squared"),
    "gaussian 5,000": (lambda: gaussian(5_000), True, "l1_squared"),
    "gaussian 10,000": (lambda: gaussian(10_000), True, "l1_squared"),
    "gaussian 20,000": (lambda: gaussian(20_000), False, "l1_squared"),
    "gaussian 200 x 20,000": (lambda: gaussian(200, 20_000), True, "l1_squared"),
    "hiring 10,000": (lambda: lipton_hiring(10_000), True, "l1_squared"),
    "hiring 10,000 l1": (lambda: lipton_hiring(10_000), True, "l1"),
    "clusters 5,000": (lambda: clusters(5_000), True, "l1_squared"),
    "heavy tails 5,000": (lambda: heavy_tails(5_000), True, "l1_squared"),
    "adult 10,000": (lambda: adult(10_000), False, "l1_squared"),
    "adult 5,000": (lambda: adult(5_000), True, "l1_squared"),
}


def peak_gigabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def measured(work: Callable[[], object]) -> tuple[float, float, object]:
    """Return seconds, peak memory in GB, and what `work` returned."""
    Path("/proc/self/clear_refs").write_text("5")
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, peak_gigabytes(), result


def main(names: list[str]) -> None:
    ot = _pot()
    for name in names:
        make, dense, cost = CASES[name]
        if name.startswith("adult") and not SHARED.is_dir():
            print(f"{name:24s} skipped: the shared data is not beside the checkout ({SHARED})")
            continue
        x, y = make()
        runs = [measured(lambda: written_out(x, y, cost)) for _ in range(20 if x.shape[1] == 1 else 2)]  # noqa: B023
        seconds, gigabytes, coupling = min(runs, key=lambda run: run[0])
        n, m, d = len(x), len(y), x.shape[1]
        expected = (
            f"expected {estimated_seconds(n, m, d):.3g} s, {estimated_bytes(n, m, d) / 2**30:.1f} GB more"
        )
        told = f"{name:24s} {seconds:8.4f} s {gigabytes:5.2f} GB ({expected})  cost {coupling.cost:.9g}"
        told += f", proved to {coupling.slack / (coupling.cost or 1.0):.0e}, {coupling.rounds} rounds"
        if dense:
            costs = pairwise_cost(x, y, cost)
            options = {"numItermax": 10**9, "log": True}
            slow, much, (_, log) = measured(lambda: ot.emd([], [], costs, **options))  # noqa: B023
            told += f" | ot.emd {slow:.2f} s {much:.2f} GB, cost {log['cost']:.9g}"
            told += f" | ratio {seconds / slow:.3f}" if d > 1 else f" | {slow / seconds:,.0f} x faster"
            del costs
        print(told, flush=True)


def written_out(x: np.ndarray, y: np.ndarray, cost: Cost):
    coupling = exact_coupling(x, y, cost=cost)
    _ = coupling.plan
    return coupling


if __name__ == "__main__":
    main(sys.argv[1:] or list(CASES))
