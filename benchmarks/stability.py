"""How much one person's counterpart varies between samples, by map and dimension (section 3.2, Figure 2).

    python -m benchmarks.stability [draws] [maps …] [--jobs N]      default 20 exact entropic linear, 1 job

The standard normal distribution is mapped to itself, 500 people a group, so the counterpart of x should be x.
Printed: the variance of the counterpart of the zero vector, per feature, and the mean of the counterpart of
the one vector, per feature: 1 is right, less is regression to the mean. Both are people of every sample. The
paper drew 100 times; gan and neural take half a minute a draw and dimension with their defaults.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from audits.transport import exact_coupling
from audits.transport.maps import MAPS

PEOPLE = 500
DIMENSIONS = (1, 2, 4, 8, 16)


def counterparts(kind: str, d: int, seed: int) -> np.ndarray:
    """Counterparts (2, d) of the zero and the one vector, which lie in the sample drawn with `seed`."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, PEOPLE, d))
    x[0], x[1] = 0.0, 1.0
    if kind == "exact":
        return np.asarray(exact_coupling(x, y).barycentre(y))[:2]
    return MAPS[kind].fit(x, y, rng=seed).transform(x[:2])


def measure(found: list[np.ndarray]) -> tuple[float, float]:
    """Variance per feature at 0, and mean per feature at 1, over the draws `found`."""
    at = np.array(found)  # (draws, 2, d)
    return float(at[:, 0].var(axis=0, ddof=1).mean()), float(at[:, 1].mean())


def main() -> None:
    """Print one line a map and dimension."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("draws", nargs="?", type=int, default=20)
    parser.add_argument("maps", nargs="*", default=["exact", "entropic", "linear"])
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--jobs", type=int, default=1, help="processes to share the draws")
    given = parser.parse_args()
    print(f"{PEOPLE} people a group, {given.draws} draws")
    print(f"{'map':<10}{'d':>4}{'variance at 0':>16}{'mean at 1':>12}")
    with ProcessPoolExecutor(given.jobs) as pool:
        for kind in given.maps:
            waiting = [
                [pool.submit(counterparts, kind, d, seed) for seed in range(given.draws)]
                for d in given.dimensions
            ]
            for d, draws in zip(given.dimensions, waiting, strict=True):
                variance, mean = measure([draw.result() for draw in draws])
                print(f"{kind:<10}{d:>4}{variance:>16.4f}{mean:>12.3f}", flush=True)


if __name__ == "__main__":
    main()
