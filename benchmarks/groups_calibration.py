"""Do the overview's intervals and verdicts hold as often as they say?

    python -m benchmarks.groups_calibration [WORLDS]

Worlds of 2, 8 and 20 groups of 20, 50, 200 and 1,000 people: without a difference, and with one group of a
rate of 0.6 among rates of 0.4. Impact ratios (all of a table together, and one of them), verdicts on
differences, partially pooled rates of intersections, and bounds from probabilities.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from audits.groups.audit import groups_from_people
from audits.groups.by_probability import column_name, compare_probable
from audits.groups.judging import GroupLimit, judge_difference
from audits.groups.labels import KNOWN, LABEL
from audits.groups.metrics import Metric, by_jackknife
from audits.groups.options import GroupsOptions
from audits.stats import EVIDENCE, Estimate, largest_gap, wilson
from audits.stats.pooling import pooled_shares
from audits.stats.ratios import ratios_to_highest
from benchmarks.calibration import Row, Simulation

LEVEL = 0.05
MATERIAL = 0.10
LIMIT = GroupLimit(difference=MATERIAL)
GROUPS = (2, 8, 20)
PEOPLE = (20, 50, 200, 1000)


def share(hits: float, worlds: float) -> str:
    """Word a share with its Monte-Carlo interval."""
    found = wilson(float(hits), float(worlds))
    value, low, high = (100 * (part or 0.0) for part in (found.value, found.low, found.high))
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"


def rates_of(k: int, setting: str) -> np.ndarray:
    """Return the true rates of k groups."""
    rates = np.full(k, 0.02 if setting == "rare" else 0.4)
    if setting == "one":
        rates[0] = 0.6
    return rates


def impact_ratios(worlds: int) -> None:
    """Together and one by one; some group wholly below 0.8 although all are equal."""
    for k in GROUPS:
        for n in PEOPLE:
            for setting in ("none", "one", "rare"):
                rng, rates = np.random.default_rng([k, n]), rates_of(k, setting)
                truth = rates / rates.max()
                together = each = below = 0.0
                for _ in range(worlds):
                    count = rng.binomial(n, rates)
                    ratios, _ = ratios_to_highest(count, np.full(k, n), level=LEVEL)
                    held = [
                        r.value is None or r.low - 1e-9 <= true <= r.high + 1e-9
                        for r, true in zip(ratios, truth, strict=True)
                    ]
                    together += all(held)
                    each += float(np.mean(held))
                    below += any(r.value is not None and r.high < 0.8 for r in ratios)
                print(
                    f"impact ratio, {k} groups of {n}, {setting}: together {share(together, worlds)}, one "
                    f"{share(each, worlds)}, some wholly below 0.8 {share(below, worlds)}",
                    flush=True,
                )


def verdicts(worlds: int) -> None:
    """Any evidence without a difference; verdict on a group that differs by 20 points, or by 10 or 5."""
    for k in GROUPS:
        for n in PEOPLE:
            for gap in (0.0, 0.05, 0.1, 0.2):
                rng, found = np.random.default_rng([k, n, 1]), Counter[str]()
                wrong = 0
                for _ in range(worlds):
                    rates = np.full(k, 0.4)
                    rates[-1] += gap
                    count = rng.binomial(n, rates).astype(float)
                    judged = [
                        judge_difference((count[j], n), (count[0], n), n, limit=LIMIT, level=LEVEL / (k - 1))
                        for j in range(1, k)
                    ]
                    found[judged[-1].verdict] += 1
                    none = judged if gap == 0 else judged[:-1]
                    wrong += any(item.verdict == "evidence of a difference" for item in none)
                    wrong += gap >= MATERIAL and judged[-1].verdict == "no material difference"
                told = ", ".join(f"{name} {share(times, worlds)}" for name, times in found.most_common())
                print(
                    f"difference {gap:.2f}, {k} groups of {n}: any wrong verdict {share(wrong, worlds)}; the "
                    f"last group: {told}",
                    flush=True,
                )


def pooled(worlds: int) -> None:
    """Coverage of partially pooled rates over groups, and lengths beside Wilson's: 2, 8, 20 intersections."""
    for first, second in ((1, 3), (2, 4), (4, 5)):
        k = first * second
        cells = np.array([(a, b) for a in range(first) for b in range(second)])
        design = np.column_stack(
            [cells[:, 0] == a for a in range(1, first)] + [cells[:, 1] == b for b in range(1, second)]
        ).astype(float)
        for n in PEOPLE:
            for spread in (0.0, 0.3, 1.0):
                rng = np.random.default_rng([k, n, 2])
                held = length = raw_held = raw_length = error = raw_error = 0.0
                for _ in range(worlds):
                    effects = rng.normal(0, 0.5, design.shape[1])
                    odds = -0.4 + design @ effects + rng.normal(0, spread, k)
                    truth = 1 / (1 + np.exp(-odds))
                    size = rng.poisson(n, k) + 1
                    count = rng.binomial(size, truth)
                    own = pooled_shares(count, size, design, rng, level=LEVEL)
                    for item, true, a, b in zip(own, truth, count, size, strict=True):
                        raw = wilson(float(a), float(b), level=LEVEL)
                        held += item.low <= true <= item.high
                        raw_held += raw.low <= true <= raw.high
                        length += item.high - item.low
                        raw_length += raw.high - raw.low
                        error += (item.value - true) ** 2
                        raw_error += (raw.value - true) ** 2
                total = worlds * k
                print(
                    f"pooled, {first} x {second} groups of about {n}, interaction {spread} log odds: covers "
                    f"{share(held, total)} (Wilson {share(raw_held, total)}), length "
                    f"{length / raw_length:.2f} and squared error {error / raw_error:.2f} of the raw rate's",
                    flush=True,
                )


def by_probability(worlds: int) -> None:
    """Bounds and estimate of a difference of two groups known by probability, whether or not it holds."""
    for n in (100, 400, 2000):
        for sharp in (0.1, 0.3, 1.0):
            chance = np.random.default_rng(0).beta(sharp, sharp, 400_000)
            p_mean, spread = chance.mean(), (chance * (1 - chance)).mean()
            for by_group in (0.0, 0.2):
                truth = -0.2 * ((chance**2).mean() / p_mean - spread / (1 - p_mean))
                truth -= by_group * spread * (1 / p_mean + 1 / (1 - p_mean))
                held = estimated = length = 0.0
                for seed in range(worlds):
                    rng = np.random.default_rng([n, seed])
                    p = rng.beta(sharp, sharp, n)
                    member = rng.random(n) < p
                    decided = rng.random(n) < 0.6 - 0.2 * p - by_group * (member - p)
                    people = pd.DataFrame({"decision": decided, "people": 1.0})
                    people[column_name("g", "a")], people[column_name("g", "b")] = p, 1 - p
                    found = compare_probable(
                        people, "g", {"a": "", "b": ""}, reference="b", proxy_error=0.0,
                        material=MATERIAL, level=LEVEL, corrected=LEVEL, rng=rng,
                    )  # fmt: skip
                    item = next(group for group in found if group.group == "a")
                    held += item.difference_bounds.low <= truth <= item.difference_bounds.high
                    estimated += item.difference.low <= truth <= item.difference.high
                    length += item.difference_bounds.high - item.difference_bounds.low
                print(
                    f"by probability, {n} people, beta({sharp}, {sharp}), beyond the probability {by_group}: "
                    f"bounds cover {share(held, worlds)}, {100 * length / worlds:.0f} points long; the "
                    f"estimate {share(estimated, worlds)}",
                    flush=True,
                )


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for k in GROUPS:
        for n in PEOPLE:
            for setting, words in _RATES.items():
                run = partial(_ratios, k, n, setting)
                found.append(Simulation("groups", f"{words}, {k} groups of {n:,}", run))
    for first, second in ((1, 3), (2, 4), (4, 5)):
        for n in (20, 100, 400):
            setting = f"{first * second} groups of about {n:,}, which differ"
            found.append(Simulation("groups", setting, partial(_pooled_rows, first, second, n)))
    for n in (100, 1000):
        setting = f"{n:,} people, a metric of one's own (F1)"
        found.append(Simulation("groups", setting, partial(_own_metric, n, setting)))
    for n in (100, 400, 2000):
        for sharp in (0.1, 0.3, 1.0):
            for by_group in (0.0, 0.2):
                more = "nothing beside" if by_group == 0 else "something beside"
                setting = f"{n:,} people, probabilities of beta({sharp:g}, {sharp:g}), {more} them"
                run = partial(_probable_rows, n, sharp, by_group)
                found.append(Simulation("groups", setting, run))
    for rates, words in _SELECTIVE.items():
        for refused in (0.0, 0.2):
            setting = f"{words}, labels of the accepted and {100 * refused:.0f} % of the refused"
            found.append(Simulation("groups", setting, partial(_selective, rates, refused, setting)))
    for k in (3, 5, 8):
        for tiny in (0, 2):
            setting = f"{k} groups of 300, {tiny} of 4, one of .6 among .4"
            found.append(Simulation("groups", setting, partial(_least_ratio, k, tiny, setting)))
    for rates, n, words in _LOW:
        setting = f"{words}, 2 groups of {n:,}"
        found.append(Simulation("groups", setting, partial(_low_rates, rates, n, setting)))
    return found


_SELECTIVE = {(0.5, 0.5): "decision rates of .5 and .5", (0.4, 0.65): "decision rates of .4 and .65"}
_LOW = (
    ((0.0645, 0.0965), 2435, "call-backs of 6.45 and 9.65 %"),
    ((0.06, 0.06), 1000, "equal rates of .06"),
    ((0.04, 0.05), 10_000, "rates of .04 and .05, at the ratio"),
)


def _decided(rates: Sequence[float], n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two groups of so many people, decided at these rates."""
    group = np.repeat(["a", "b"], n)
    yes = rng.random(2 * n) < np.repeat(rates, n)
    return pd.DataFrame({"group: g": group, "decision": yes, "score": yes.astype(float), "people": 1.0})


def _holds(gap: Estimate, rates: Sequence[float]) -> bool:
    """Whether an interval holds the difference of decision rates, one way round or the other."""
    ends = sorted((abs(gap.low or 0.0), abs(gap.high or 0.0)))
    return ends[0] <= abs(rates[0] - rates[1]) <= ends[1]


def _selective(rates: tuple[float, float], refused: float, setting: str, numbers: range) -> Iterator[Row]:
    """Labels of those who were accepted and of some others, more often favorable in the second group."""
    options, wrong, cleared = GroupsOptions(bootstrap=0), 0, 0
    equal = rates[0] == rates[1]
    for number in numbers:
        rng = np.random.default_rng([number, 41])
        people = _decided(rates, 400, rng)
        yes = people["decision"].to_numpy(dtype=bool)
        good = rng.random(800) < np.where(yes, 0.85, np.repeat([0.3, 0.6], 400))
        known = yes | (rng.random(800) < refused)
        people = people.assign(**{LABEL: good & known, KNOWN: known})
        judged = groups_from_people(people, ("g",), options, "", 800, 0).judged
        cleared += judged.verdict == "no material difference"
        wrong += judged.verdict == EVIDENCE and (equal or not _holds(judged.interval, rates))
    shown = "evidence of a difference" if equal else "evidence of another difference"
    yield Row("groups", shown, setting, "false alarms", LEVEL, wrong, len(numbers))
    if not equal:
        yield Row("groups", "all-clear of 25 points", setting, "false alarms", LEVEL, cleared, len(numbers))


def _least_ratio(k: int, tiny: int, setting: str, numbers: range) -> Iterator[Row]:
    """The smallest impact ratio among groups of at least 2 %, beside tiny ones."""
    n = np.r_[np.full(k, 300), np.full(tiny, 4)]
    rates = np.r_[0.6, np.full(k - 1, 0.4), np.linspace(0.05, 0.95, tiny)]
    held = above = 0
    for number in numbers:
        count = np.random.default_rng([number, k, tiny, 42]).binomial(n, rates)
        _, least = ratios_to_highest(count, n, level=LEVEL)
        held += least.low <= 0.4 / 0.6 <= least.high
        above += least.high < 0.4 / 0.6
    yield Row("groups", "smallest impact ratio", setting, "coverage", 1 - LEVEL, held, len(numbers))
    shown = "smallest impact ratio, upper end too low"
    yield Row("groups", shown, setting, "false alarms", LEVEL, above, len(numbers))


def _low_rates(rates: tuple[float, float], n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Differences far below 10 points, whose ratio is not."""
    small = found = 0
    for number in numbers:
        people = _decided(rates, n, np.random.default_rng([number, n, 43]))
        options = GroupsOptions(bootstrap=0)
        judged = groups_from_people(people, ("g",), options, "", 2 * n, 0).judged
        small += judged.badge in ("small difference", "no material difference")
        found += judged.verdict == EVIDENCE
    if rates[0] == rates[1]:
        yield Row("groups", "evidence of a difference", setting, "false alarms", LEVEL, found, len(numbers))
    else:
        shown = "called small or immaterial"
        yield Row("groups", shown, setting, "false alarms", LEVEL, small, len(numbers))


_RATES = {"none": "equal rates of .4", "one": "rates of .4, of one group .6", "rare": "equal rates of .02"}


def _ratios(k: int, n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Impact ratios, gaps and differences."""
    rates, full = rates_of(k, setting), np.full(k, float(n))
    truth, equal = rates / rates.max(), setting != "one"
    together = below = wrong = gaps = 0
    for number in numbers:
        rng = np.random.default_rng([number, k, n, 3])
        count = rng.binomial(n, rates).astype(float)
        ratios, _ = ratios_to_highest(count, full, level=LEVEL)
        together += all(
            r.value is None or r.low - 1e-9 <= true <= r.high + 1e-9
            for r, true in zip(ratios, truth, strict=True)
        )
        below += any(r.value is not None and r.high < 0.8 for r in ratios)
        gap = largest_gap(count, full, level=LEVEL)
        gaps += gap.low - 1e-9 <= rates.max() - rates.min() <= gap.high
        judged = [
            judge_difference((count[j], n), (count[-1], n), n, limit=LIMIT, level=LEVEL / (k - 1))
            for j in range(k - 1)
        ]
        wrong += any(one.verdict == EVIDENCE for one in judged[0 if equal else 1 :])
    words, worlds = f"{_RATES[setting]}, {k} groups of {n:,}", len(numbers)
    yield Row("groups", "impact ratios, all together", words, "coverage", 0.95, together, worlds)
    yield Row("groups", "demographic parity difference", words, "coverage", 0.95, gaps, worlds)
    shown = "evidence of a difference"
    yield Row("groups", shown, words, "false alarms", LEVEL, wrong, worlds)
    if equal:
        shown = "some impact ratio wholly below 0.8"
        yield Row("groups", shown, words, "false alarms", LEVEL, below, worlds)


def _own_metric(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """A function of labels and decisions that somebody added, by the jackknife."""

    def f1(labels: np.ndarray, decisions: np.ndarray, people: np.ndarray) -> float:
        hits = people @ (labels & decisions)
        return float(2 * hits / (people @ labels + people @ decisions))

    metric, shares = Metric(name="f1", words="F1", function=f1), [0.35, 0.15, 0.35, 0.15]
    held = 0
    for number in numbers:
        cells = np.random.default_rng([number, n, 18]).multinomial(n, shares).astype(float)
        found = by_jackknife(metric, cells, LEVEL)
        held += found.low is None or found.high is None or found.low <= 0.7 <= found.high
    yield Row("groups", "a metric added", setting, "coverage", 1 - LEVEL, held, len(numbers))


def _pooled_rows(first: int, second: int, n: int, numbers: range) -> Iterator[Row]:
    """Partially pooled rates of intersections that differ by main effects and by more."""
    k = first * second
    cells = np.array([(a, b) for a in range(first) for b in range(second)])
    design = np.column_stack(
        [cells[:, 0] == a for a in range(1, first)] + [cells[:, 1] == b for b in range(1, second)]
    ).astype(float)
    held = 0
    for number in numbers:
        rng = np.random.default_rng([number, k, n, 2])
        odds = -0.4 + design @ rng.normal(0, 0.5, design.shape[1]) + rng.normal(0, 0.3, k)
        truth, size = 1 / (1 + np.exp(-odds)), rng.poisson(n, k) + 1
        count = rng.binomial(size, truth)
        own = pooled_shares(count, size, design, rng, level=LEVEL)
        held += sum(bool(item.low <= true <= item.high) for item, true in zip(own, truth, strict=True))
    setting = f"{k} groups of about {n:,}, which differ"
    yield Row("groups", "partially pooled rate", setting, "coverage", 0.95, held, k * len(numbers))


def _probable_rows(n: int, sharp: float, by_group: float, numbers: range) -> Iterator[Row]:
    """Bounds of a difference of two groups known by probability, and the estimate where its terms hold."""
    chance = np.random.default_rng(0).beta(sharp, sharp, 400_000)
    p_mean, spread = chance.mean(), (chance * (1 - chance)).mean()
    truth = -0.2 * ((chance**2).mean() / p_mean - spread / (1 - p_mean))
    truth -= by_group * spread * (1 / p_mean + 1 / (1 - p_mean))
    held = estimated = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 4])
        p = rng.beta(sharp, sharp, n)
        member = rng.random(n) < p
        decided = rng.random(n) < 0.6 - 0.2 * p - by_group * (member - p)
        people = pd.DataFrame({"decision": decided, "people": 1.0})
        people[column_name("g", "a")], people[column_name("g", "b")] = p, 1 - p
        found = compare_probable(
            people, "g", {"a": "", "b": ""}, reference="b", proxy_error=0.0,
            material=MATERIAL, level=LEVEL, corrected=LEVEL, rng=rng,
        )  # fmt: skip
        item = next(group for group in found if group.group == "a")
        held += bool(item.difference_bounds.low <= truth <= item.difference_bounds.high)
        estimated += bool(item.difference.low <= truth <= item.difference.high)
    more = "nothing beside" if by_group == 0 else "something beside"
    setting = f"{n:,} people, probabilities of beta({sharp:g}, {sharp:g}), {more} them"
    shown = "bounds of a difference, groups known by probability"
    yield Row("groups", shown, setting, "coverage", 0.95, held, len(numbers))
    if by_group == 0:
        shown = "estimate of a difference, groups known by probability"
        yield Row("groups", shown, setting, "coverage", 0.95, estimated, len(numbers))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    start = time.perf_counter()
    for each in (impact_ratios, verdicts, pooled, by_probability):
        each(count if each is not pooled else max(count // 10, 20))
    print(f"{time.perf_counter() - start:.0f} s for {count} worlds a setting")
