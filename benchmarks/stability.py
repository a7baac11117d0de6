"""How much one person's counterpart varies between samples, by map and dimension (section 3.2, Figure 2).

    python -m benchmarks.stability [draws] [maps …]      default 20 exact entropic linear

The standard normal distribution is mapped to itself, 500 people a group, so the counterpart of x should be x.
Printed: the variance of the counterpart of the zero vector, per feature, and the mean of the counterpart of
the one vector, per feature: 1 is right, less is regression to the mean. The paper drew 100 times; add gan or
neural to the maps for theirs (minutes a draw).
"""

from __future__ import annotations

import sys

import numpy as np

from audits.transport import exact_coupling
from audits.transport.maps import MAPS

PEOPLE = 500
DIMENSIONS = (1, 2, 4, 8, 16)


def counterpart(kind: str, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Counterpart (d,) of the first person of `x`."""
    if kind == "exact":
        return np.asarray(exact_coupling(x, y).barycentre(y))[0]
    return MAPS[kind].fit(x, y, rng=seed).transform(x[:1])[0]


def measure(kind: str, d: int, draws: int) -> tuple[float, float]:
    """Variance per feature at 0, and mean per feature at 1, over `draws` samples."""
    found = []
    for start in (0.0, 1.0):
        at = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            x, y = rng.normal(size=(2, PEOPLE, d))
            x[0] = start
            at.append(counterpart(kind, x, y, seed))
        found.append(np.array(at))
    return float(found[0].var(axis=0, ddof=1).mean()), float(found[1].mean())


def main() -> None:
    """Print one line a map and dimension."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    kinds = sys.argv[2:] or ["exact", "entropic", "linear"]
    print(
        f"{PEOPLE} people a group, {draws} draws\n{'map':<10}{'d':>4}{'variance at 0':>16}{'mean at 1':>12}"
    )
    for kind in kinds:
        for d in DIMENSIONS:
            variance, mean = measure(kind, d, draws)
            print(f"{kind:<10}{d:>4}{variance:>16.4f}{mean:>12.3f}", flush=True)


if __name__ == "__main__":
    main()
