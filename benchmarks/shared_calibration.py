"""What several audits share: shares of rows that are not one person each, and verdicts across a run."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from audits.runs.across import verdicts_across
from audits.stats import EVIDENCE, Estimate, judge
from audits.stats.design import Design, design_difference, design_share, make_design
from audits.stats.sequential import DriftTest
from benchmarks.calibration import Row

LEVEL = 0.05
_KINDS = (
    "five rows a person, intra-class correlation .6",
    "clusters of ten with both groups",
    "weights of CV 1",
)


def rows(worlds: int) -> Iterator[Row]:
    """Yield a row a setting."""
    for kind in _KINDS:
        for n in (100, 400, 2000):
            for share in (0.5, 0.1):
                yield from _designed(kind, n, share, worlds)
    yield _session(max(worlds, 2000))
    for shape in ("normal", "six of ten exactly 0"):
        yield _drift(shape, worlds)


def _designed(kind: str, n: int, share: float, worlds: int) -> Iterator[Row]:
    rng = np.random.default_rng([n, round(100 * share)])
    covered = alarms = 0
    for _ in range(worlds):
        rows, member, event = _drawn(kind, n, share, rng)
        one, other = (design_share(rows, each, event, level=LEVEL) for each in (member, ~member))
        gap = design_difference(rows, one, other, level=LEVEL)
        covered += bool((one.estimate.low or 0.0) <= share <= (one.estimate.high or 1.0))
        alarms += not (gap.low or -1.0) <= 0 <= (gap.high or 1.0)
    setting = f"{kind}, {n:,} rows, share {share:g}"
    yield Row("all", "interval of a share", setting, "coverage", 1 - LEVEL, covered, worlds)
    yield Row("all", "difference of two shares", setting, "false alarms", LEVEL, alarms, worlds)


def _drawn(
    kind: str, n: int, share: float, rng: np.random.Generator
) -> tuple[Design, np.ndarray, np.ndarray]:
    if kind.startswith("weights"):
        weights = rng.lognormal(0, np.sqrt(np.log(2)), n)  # coefficient of variation 1
        return make_design(n, weights=weights), rng.random(n) < 0.5, rng.random(n) < share
    size, concentration = (5, 2 / 3) if kind.startswith("five") else (10, 2.0)
    own = np.repeat(np.arange(n // size), size)
    chance = rng.beta(share * concentration, (1 - share) * concentration, n // size)[own]
    member = (own % 2 == 0) if size == 5 else rng.random(len(own)) < 0.5
    return make_design(len(own), cluster=own), member, rng.random(len(own)) < chance


def _drift(shape: str, worlds: int) -> Row:
    """A monitor without drift, looked at after each of 100 batches of 20 people."""
    rng = np.random.default_rng(9)

    def draw(n: int) -> np.ndarray:
        return (
            rng.normal(size=n)
            if shape == "normal"
            else np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n))
        )

    alarms = 0
    for seed in range(worlds):
        test = DriftTest(draw(500), seed=seed)
        for _ in range(100):
            test.update(draw(20))
        alarms += test.p_value <= LEVEL  # the smallest so far
    setting = f"100 looks at 20 people each, reference of 500, {shape}"
    return Row("all", "drift of a monitor", setting, "false alarms", LEVEL, alarms, worlds)


def _session(worlds: int) -> Row:
    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(worlds):
        results = []
        for p in rng.uniform(size=8):
            judged = judge(Estimate(0.2, 0.1, 0.3, 400, "drawn"), immaterial=(-0.1, 0.1), p_value=p)
            results.append(SimpleNamespace(judged=judged, verdict=judged.verdict))
        alarms += EVIDENCE in verdicts_across(results, [LEVEL] * 8)
    return Row(
        "all",
        "any evidence in a run of eight audits",
        "p-values as claimed",
        "false alarms",
        LEVEL,
        alarms,
        worlds,
    )
