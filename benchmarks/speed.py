"""Time and memory of exact transport beside dense `ot.emd`, in one process: ``python -m benchmarks.speed``.

A line is one work: its seconds by the clock (best of some tries), seconds of the processor, peak memory, and
how long the peer took. The peer is given its finished matrix; ours counts everything. On a machine that is
shared, the ratio is what counts. All cases take ten minutes and 5 GB; ``--only adult`` takes those so named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from audits.data import FeatureSpace
from audits.transport import estimated_bytes, estimated_seconds, exact_coupling, pairwise_cost
from audits.transport.simplex import _pot
from benchmarks.measuring import SHARED, asked, line, public, taken
from benchmarks.samples import hiring

Points = tuple[np.ndarray, np.ndarray]
_MOST = 10_000  # a side, of whom the dense matrix fits: beyond, it needs 16 GB and more


def gaussian(n: int, m: int | None = None, d: int = 8) -> Points:
    """Two clouds, half a deviation apart in each of d features."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m or n, d)) + 0.5


def lipton_hiring(n: int) -> Points:
    """Return work and hair of `n` women and `n` men, z-scored over both: FlipTest, section 5.3."""
    people = hiring.generate(n)[["work_years", "hair_length"]].to_numpy()
    people = (people - people.mean(axis=0)) / people.std(axis=0)
    return people[n:], people[:n]


def adult(n: int) -> Points:
    """Women and men of Adult, drawn at random: five z-scored numbers, the rest one-hot, d about 100."""
    data = public("adult")
    points = FeatureSpace.fit(data, [name for name in data.features if name != "sex"]).encode(data.frame)
    rng = np.random.default_rng(0)
    women, men = (np.flatnonzero(data.members({"sex": sex})) for sex in ("Female", "Male"))
    return points[rng.permutation(women)[:n]], points[rng.permutation(men)[:n]]


def written_out(x: np.ndarray, y: np.ndarray, cost: Any) -> Any:
    """Return an exact coupling, its plan written out person by person."""
    coupling = exact_coupling(x, y, cost=cost)
    _ = coupling.plan
    return coupling


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


def transport(only: str) -> Iterator[str]:
    """Exact couplings, the plan written out person by person, and what was estimated beforehand."""
    for name, (make, cost) in CASES.items():
        if only not in name or (name.startswith("adult") and not SHARED.is_dir()):
            continue
        x, y = make()
        ours, peer = taken(partial(written_out, x, y, cost), 20 if x.shape[1] == 1 else 2), None
        if min(len(x), len(y)) <= _MOST:
            peer = taken(partial(_pot().emd, [], [], pairwise_cost(x, y, cost), numItermax=2**62))
        sizes, found = (len(x), len(y), x.shape[1]), ours.result
        note = f"expected {estimated_seconds(*sizes):.3g} s, {estimated_bytes(*sizes) / 2**30:.1f} GB more; "
        note += f"cost {found.cost:.9g}, proved to {found.slack / (found.cost or 1.0):.0e}"
        yield line(name, ours, peer, note)


if __name__ == "__main__":
    print(f"{'':52} {'by the clock':>11} {'processor':>10} {'memory':>9} | the peer")
    for told in transport(asked(__doc__, only="").only):
        print(told, flush=True)
