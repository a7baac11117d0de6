"""Time and memory of exact transport and of a whole flipset beside dense `ot.emd`, in one process.

    python -m benchmarks.speed [transport] [flipset]        both: ten minutes, 5 GB

A line is one work: its seconds by the clock (best of some tries), seconds of the processor, peak memory, and
how long the peer took. The peer is given its finished matrix; ours counts everything. On a machine that is
shared, the ratio is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from audits.data import DataSpec, FeatureSpace, build_data
from audits.models import Subject, make_subject, model_spec
from audits.transport import estimated_bytes, estimated_seconds, exact_coupling, pairwise_cost
from audits.transport.simplex import _pot
from benchmarks.measuring import SHARED, Taken, asked, line, public, taken
from tests.flipset.conftest import audited
from tests.transport.published import lipton_hiring

Points = tuple[np.ndarray, np.ndarray]
_MOST = 10_000  # a side, of whom the dense matrix fits: beyond, it needs 16 GB and more


def gaussian(n: int, m: int | None = None, d: int = 8) -> Points:
    """Two clouds, half a deviation apart in each of d features."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m or n, d)) + 0.5


def adult(n: int) -> Points:
    """Women and men of Adult, drawn at random: five z-scored numbers, the rest one-hot, d about 100."""
    data = public("adult")
    points = FeatureSpace.fit(data, [name for name in data.features if name != "sex"]).encode(data.frame)
    rng = np.random.default_rng(0)
    women, men = (np.flatnonzero(data.members({"sex": sex})) for sex in ("Female", "Male"))
    return points[rng.permutation(women)[:n]], points[rng.permutation(men)[:n]]


def dense(x: np.ndarray, y: np.ndarray, cost: Any = "l1_squared") -> Taken | None:
    """What POT's dense solver takes for two sides, where they are not too large for it."""
    if min(len(x), len(y)) > _MOST:
        return None
    return taken(partial(_pot().emd, [], [], pairwise_cost(x, y, cost), numItermax=2**62))


CASES: dict[str, tuple[Callable[[], Points], Any]] = {
    "line 6,172": (partial(gaussian, 6_172, d=1), "l1_squared"),
    "gaussian 5,000": (partial(gaussian, 5_000), "l1_squared"),
    "gaussian 10,000": (partial(gaussian, 10_000), "l1_squared"),
    "gaussian 20,000": (partial(gaussian, 20_000), "l1_squared"),
    "gaussian 200 x 20,000": (partial(gaussian, 200, 20_000), "l1_squared"),
    "hiring 10,000": (partial(lipton_hiring, 10_000), "l1_squared"),
    "hiring 10,000 l1": (partial(lipton_hiring, 10_000), "l1"),
    "adult 5,000": (partial(adult, 5_000), "l1_squared"),
}


def transport() -> Iterator[str]:
    """Exact couplings, the plan written out person by person, and what was estimated beforehand."""
    for name, (make, cost) in CASES.items():
        if name.startswith("adult") and not SHARED.is_dir():
            continue
        x, y = make()

        def written_out(x: np.ndarray = x, y: np.ndarray = y, cost: Any = cost) -> Any:
            coupling = exact_coupling(x, y, cost=cost)
            _ = coupling.plan
            return coupling

        ours = taken(written_out, 20 if x.shape[1] == 1 else 2)
        sizes, found = (len(x), len(y), x.shape[1]), ours.result
        note = f"expected {estimated_seconds(*sizes):.3g} s, {estimated_bytes(*sizes) / 2**30:.1f} GB more; "
        note += f"cost {found.cost:.9g}, proved to {found.slack / (found.cost or 1.0):.0e}"
        yield line(name, ours, dense(x, y, cost), note)


def decided(n: int, d: int = 8) -> Subject:
    """Two Gaussian groups of `n` people in `d` features, decided by a noisy sum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2 * n, d)) + np.repeat([0.0, 0.5], n)[:, None]
    features = tuple(f"x{k}" for k in range(d))
    frame = pd.DataFrame(x, columns=list(features)).assign(group=["a"] * n + ["b"] * n)
    frame["decision"] = (x.sum(1) + rng.normal(size=2 * n) > 0).astype(int)
    spec = DataSpec(label="decision", favorable=1, protected=("group",), features=features)
    return make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))


def flipset() -> Iterator[str]:
    """A whole flipset run, with all that a user gets, the level of chance included."""
    for n in (5_000, 10_000, 20_000):
        subject = decided(n)
        ours = taken(partial(audited, subject, source={"group": "a"}, target={"group": "b"}))
        z, told = subject.space.encode(subject.data.frame), ours.result
        note = f"flips {told.positive.size:,.0f} and {told.negative.size:,.0f}"
        yield line(f"flipset, {n:,} a group", ours, dense(z[:n], z[n:]), note)


WORKS = {"transport": transport, "flipset": flipset}

if __name__ == "__main__":
    print(f"{'':52} {'by the clock':>11} {'processor':>10} {'memory':>9} | the peer")
    for chosen in asked(__doc__, words=list(WORKS)).words:
        for each in WORKS[chosen]():
            print(each, flush=True)
