"""What several audits share: shares of rows that are not one person each, and verdicts across a run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import numpy as np

from audits.runs.across import verdicts_across
from audits.stats import EVIDENCE, Estimate, judge, wilson
from audits.stats.design import Design, design_difference, design_share, make_design
from audits.stats.group_means import group_means
from audits.stats.intervals import cautious_difference
from audits.stats.sequential import DriftTest
from benchmarks.calibration import Row, Simulation

LEVEL = 0.05
_KINDS = (
    "five rows a person, intra-class correlation .6",
    "clusters of ten with both groups",
    "weights of CV 1",
    "two strata, clusters of ten with both groups",
)


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for kind in _KINDS:
        for n in (100, 400, 2000):
            for share in (0.5, 0.1):
                setting = f"{kind}, {n:,} rows, share {share:g}"
                run = partial(_designed, kind, n, share, setting)
                found.append(Simulation("all", setting, run))
    for n in (20, 100, 1000):
        for share in (0.5, 0.1, 0.02):
            setting = f"{n:,} people, share {share:g}"
            found.append(Simulation("all", setting, partial(_shares, n, share, setting)))
    for n in (100, 1000):
        for skewed in (False, True):
            setting = f"groups of {n:,} and {3 * n:,}, {'skewed' if skewed else 'normal'} values, equal means"
            found.append(Simulation("all", setting, partial(_means, n, skewed, setting)))
    found.append(Simulation("all", _SESSION, _session))
    for shape in ("normal", "six of ten exactly 0"):
        setting = f"100 looks at 20 people each, reference of 500, {shape}"
        found.append(Simulation("all", setting, partial(_drift, shape, setting)))
    return found


_FEW_CLUSTERS = "docs/limits.md: with ten clusters or fewer a difference can alarm in 7 of 100 samples"


def _designed(kind: str, n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    covered = alarms = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, round(100 * share)])
        rows, member, event = _drawn(kind, n, share, rng)
        one, other = (design_share(rows, each, event, level=LEVEL) for each in (member, ~member))
        gap = design_difference(rows, one, other, level=LEVEL)
        covered += bool((one.estimate.low or 0.0) <= share <= (one.estimate.high or 1.0))
        alarms += not (gap.low or -1.0) <= 0 <= (gap.high or 1.0)
    worlds = len(numbers)
    yield Row("all", "interval of a share", setting, "coverage", 1 - LEVEL, covered, worlds)
    said = _FEW_CLUSTERS if n <= 100 else ""
    yield Row("all", "difference of two shares", setting, "false alarms", LEVEL, alarms, worlds, said)


def _shares(n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    """A share, and differences from another group's of as many people."""
    covered = alarms = 0
    for number in numbers:
        a, b = np.random.default_rng([number, n, round(100 * share), 1]).binomial(n, share, 2)
        one = wilson(float(a), float(n), level=LEVEL)
        covered += bool((one.low or 0.0) <= share <= (one.high or 1.0))
        gap = cautious_difference(float(a), float(n), float(b), float(n), level=LEVEL)
        alarms += not (gap.low or -1.0) <= 0 <= (gap.high or 1.0)
    worlds = len(numbers)
    yield Row("all", "share of people", setting, "coverage", 1 - LEVEL, covered, worlds)
    yield Row("all", "difference of two shares", setting, "false alarms", LEVEL, alarms, worlds)


def _means(n: int, skewed: bool, setting: str, numbers: range) -> Iterator[Row]:
    """Means of groups against everybody else's, as recourse and outcome_transport compare them."""
    alarms = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 2])
        values = np.concatenate([rng.exponential(size=(4 * n)) if skewed else rng.normal(size=4 * n)])
        tested = group_means(
            values, np.ones(4 * n), np.arange(4 * n) // n // 3, level=LEVEL, permutations=199, rng=rng
        )
        alarms += tested is not None and tested.p_value <= LEVEL
    yield Row("all", "means of groups", setting, "false alarms", LEVEL, alarms, len(numbers))


def _drawn(
    kind: str, n: int, share: float, rng: np.random.Generator
) -> tuple[Design, np.ndarray, np.ndarray]:
    if kind.startswith("weights"):
        weights = rng.lognormal(0, np.sqrt(np.log(2)), n)  # coefficient of variation 1
        return make_design(n, weights=weights), rng.random(n) < 0.5, rng.random(n) < share
    if kind.startswith("two strata"):  # rates a half above and below, each stratum half of the clusters
        own = np.repeat(np.arange(n // 10), 10)
        mean = share * np.where(np.arange(n // 10) % 2 == 0, 1.5, 0.5)
        chance = rng.beta(mean * 2.0, (1 - mean) * 2.0)[own]
        rows = make_design(len(own), cluster=own, strata=own % 2)
        return rows, rng.random(len(own)) < 0.5, rng.random(len(own)) < chance
    size, concentration = (5, 2 / 3) if kind.startswith("five") else (10, 2.0)
    own = np.repeat(np.arange(n // size), size)
    chance = rng.beta(share * concentration, (1 - share) * concentration, n // size)[own]
    member = (own % 2 == 0) if size == 5 else rng.random(len(own)) < 0.5
    return make_design(len(own), cluster=own), member, rng.random(len(own)) < chance


def _drift(shape: str, setting: str, numbers: range) -> Iterator[Row]:
    """A monitor without drift, looked at after each of 100 batches of 20 people."""

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        if shape == "normal":
            return np.asarray(rng.normal(size=n))
        return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n))

    alarms = 0
    for number in numbers:
        rng = np.random.default_rng([number, 9])
        test = DriftTest(draw(500, rng), seed=number)
        for _ in range(100):
            test.update(draw(20, rng))
        alarms += test.p_value <= LEVEL  # the smallest so far
    yield Row("all", "drift of a monitor", setting, "false alarms", LEVEL, alarms, len(numbers))


_SESSION = "eight audits of a run, p-values as claimed"


def _session(numbers: range) -> Iterator[Row]:
    alarms = 0
    for number in numbers:
        results = []
        for p in np.random.default_rng([number, 8]).uniform(size=8):
            judged = judge(Estimate(0.2, 0.1, 0.3, 400, "drawn"), immaterial=(-0.1, 0.1), p_value=p)
            results.append(SimpleNamespace(judged=judged, verdict=judged.verdict))
        alarms += EVIDENCE in verdicts_across(results, [LEVEL] * 8)
    shown = "any evidence in a run, after Holm over it"
    yield Row("all", shown, _SESSION, "false alarms", LEVEL, alarms, len(numbers))
