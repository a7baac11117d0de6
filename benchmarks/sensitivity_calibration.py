"""Type I error of sensitivity ratios at 5 %, the corrected interval and studentised permutations together.

    python -m benchmarks.sensitivity_calibration [REPLICATIONS]

Both groups have the same mean; spread and shape differ. Beside what decides stand the interval alone, and
permutations of the plain difference of means, which take a difference of spread for one of means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.stats import norm

from audits.sensitivity.judging import ratio_p_value
from audits.stats import EVIDENCE
from audits.stats.curves import roc_curves
from audits.stats.means import mean_test
from audits.stats.permutation import means_p_values
from audits.stats.ratios import mean_ratio
from benchmarks.calibration import SLOW, Row, Simulation

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
SIZES = ((20, 400), (50, 400), (150, 600), (300, 300), (500, 4500))


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


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for name in WORLDS:
        for first, second in SIZES:
            setting = f"equal means, {name}, {first:,} and {second:,} people"
            run = partial(_ratio, name, first, second, setting)
            found.append(Simulation("sensitivity", setting, run, part=SLOW))
    for n in (300, 1000):
        setting = f"whole audits, groups alike, {n:,} people"
        found.append(Simulation("sensitivity", setting, partial(_audits, n, setting), part=SLOW))
    for n, share in ((200, 0.1), (200, 0.3), (1000, 0.1)):
        setting = f"{n:,} people, {100 * share:.0f} % of them decided otherwise"
        found.append(Simulation("sensitivity", setting, partial(_areas, n, share, setting), part=SLOW))
    return found


def _ratio(name: str, first: int, second: int, setting: str, numbers: range) -> Iterator[Row]:
    group, others = WORLDS[name]
    hits = covered = 0
    for number in numbers:
        rng = np.random.default_rng([number, first])
        mine, rest = group(rng, first), others(rng, second)
        hits += rejected(mine, rest, rng)[0]
        interval = mean_test(mine).interval(0.05)
        covered += (interval.low or -np.inf) <= 1 <= (interval.high or np.inf)
    shown, worlds = "ratio of mean sensitivities", len(numbers)
    yield Row("sensitivity", shown, setting, "false alarms", 0.05, hits, worlds)
    shown = "mean sensitivity of the group"
    said = _SKEWED if first <= 50 else ""
    yield Row("sensitivity", shown, setting, "coverage", 0.95, covered, worlds, said=said)


_SKEWED = (
    "“Among 50 people or fewer … an interval of their mean holds in about 87 to 90 of 100 samples, not 95”"
)


def _audits(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Whole audits of a logistic model, groups drawn alike."""
    from audits.sensitivity import SensitivityOptions, sensitivity
    from benchmarks.loss_ratio_worlds import people, subject_of

    options = SensitivityOptions(status_model="logistic", match_set="off", bootstrap=100)
    hits = 0
    for number in numbers:
        told = {"sex": 0.4}
        frame = people(2 * n, 4, told, np.random.default_rng([number, n]))
        hits += sensitivity(subject_of(frame, told, "logistic", number), options, rng=number).verdict == (
            EVIDENCE
        )
    shown = "evidence of a difference"
    yield Row("sensitivity", shown, setting, "false alarms", 0.05, hits, len(numbers))


def _areas(n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    """Areas of two scores, normal with means one and a half apart."""
    truth, covered, apart = (float(norm.cdf(gap / np.sqrt(2))) for gap in (1.0, 0.5)), 0, 0
    first, second = truth
    for number in numbers:
        rng = np.random.default_rng([number, n, 7])
        member = np.arange(n) < round(share * n)
        scores = rng.normal(size=(2, n)) + np.outer([1.0, 0.5], member)
        found = roc_curves(scores, member, rng, draws=200)
        low, high = np.quantile(found.draws[:, 0], [0.025, 0.975])
        covered += bool(low <= first <= high)
        gap = found.difference(0, 1, float(n))
        apart += bool((gap.low or -1.0) <= first - second <= (gap.high or 1.0))
    worlds = len(numbers)
    yield Row("sensitivity", "area under the curve", setting, "coverage", 0.95, covered, worlds)
    yield Row("sensitivity", "difference of two areas", setting, "coverage", 0.95, apart, worlds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
