"""Type I error of sensitivity ratios at 5 %, the corrected interval and studentised permutations together.

    python -m benchmarks.sensitivity_calibration [REPLICATIONS]

Both groups have the same mean; spread and shape differ. Beside what decides stand the interval alone, and
permutations of the plain difference of means, which take a difference of spread for one of means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

from audits.sensitivity.judging import ratio_p_value
from audits.stats.means import mean_test
from audits.stats.permutation import means_p_values
from audits.stats.ratios import mean_ratio
from benchmarks.calibration import Row

Draw = Callable[[np.random.Generator, int], np.ndarray]


def lognormal(spread: float) -> Draw:
    """Mean 1, standard deviation of the logarithm `spread`."""
    return lambda rng, n: np.exp(spread * rng.normal(size=n) - spread**2 / 2)


def gamma(variation: float) -> Draw:
    """Mean 1, standard deviation `variation`."""
    return lambda rng, n: rng.gamma(variation**-2, variation**2, n)


WORLDS: dict[str, tuple[Draw, Draw]] = {
    "alike, lognormal 0.8": (lognormal(0.8), lognormal(0.8)),
    "group wider, lognormal 1 against 0.5": (lognormal(1.0), lognormal(0.5)),
    "group narrower, lognormal 0.5 against 1": (lognormal(0.5), lognormal(1.0)),
    "group wider, gamma 0.9 against 0.3": (gamma(0.9), gamma(0.3)),
    "group narrower, gamma 0.3 against 0.9": (gamma(0.3), gamma(0.9)),
}
SIZES = ((20, 400), (50, 400), (150, 600), (300, 300))


def rejected(
    mine: np.ndarray, rest: np.ndarray, rng: np.random.Generator, draws: int = 199
) -> tuple[bool, bool, bool]:
    """Whether equal means are rejected: by what decides, by the interval alone, by plain permutations."""
    values, inside = np.r_[mine, rest], np.arange(len(mine) + len(rest)) < len(mine)
    weights = np.ones(len(values))
    ratio = mean_ratio(mean_test(mine), mean_test(rest), level=0.05)
    excluded = (ratio.low is not None and ratio.low > 1) or (ratio.high is not None and ratio.high < 1)
    p = ratio_p_value(values, weights, inside, rng, draws=draws)
    plain = means_p_values(values, weights, inside[None], rng, draws=draws)[0]
    return bool(excluded and p <= 0.05), bool(excluded), bool(plain <= 0.05)


def main(replications: int = 2000) -> None:
    """Print a row for each world and size."""
    print(f"{replications:,} replications\n{'':42s} sizes       decides interval permutations")
    for name, (group, others) in WORLDS.items():
        for first, second in SIZES:
            rng = np.random.default_rng(first)
            found = [rejected(group(rng, first), others(rng, second), rng) for _ in range(replications)]
            shares = "   ".join(f"{share:.3f}" for share in np.mean(found, axis=0))
            print(f"{name:42s} {first:4d} {second:5d}   {shares}", flush=True)


def rows(worlds: int) -> Iterator[Row]:
    """Yield a row a world and size, for `benchmarks.calibration`."""
    for name, (group, others) in WORLDS.items():
        for first, second in SIZES:
            rng = np.random.default_rng(first)
            hits = sum(rejected(group(rng, first), others(rng, second), rng)[0] for _ in range(worlds))
            setting = f"equal means, {name}, {first} and {second} people"
            shown = "ratio of mean sensitivities"
            yield Row("sensitivity", shown, setting, "false alarms", 0.05, hits, worlds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
