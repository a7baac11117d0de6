"""Is evidence of a rule-set audit as rare without an effect as it says, and found when there is one?

    python -m benchmarks.rule_sets_calibration [WORLDS [SETTING ...]]

Every world is a whole audit (search, shuffles, intervals, halves, verdict) of people with a sex, one of four
races and an age in five bins. Without an effect decisions are drawn alike for all: the share of worlds with
evidence must be at most the level, and so must the share in which any corrected interval misses. With an
effect, women of race d (5 % of people) are decided favourably less often by so many points.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.progress import silent
from audits.rule_sets import RuleSetsOptions, RuleSetsResult, rule_sets
from audits.rule_sets.audit import audit_cells
from audits.rule_sets.measures.values import WORDS, compared_values, measured
from audits.rule_sets.options import MEASURES, search_options
from audits.rule_sets.packing import AuditedPeople
from audits.rule_sets.perturbation.terms import _adjusted, _Pattern
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, wilson
from audits.stats.means import mean_test
from audits.subgroups.attributes import Attribute, End, category, interval
from audits.subgroups.cells import Cells, count_cells, memberships
from audits.subgroups.search import Search
from audits.subgroups.sums import GroupSums
from benchmarks.calibration import SLOW, Row, Simulation

LEVEL = 0.05
PLANTED = "sex = f, race = d"
NOBODY = pd.DataFrame({"cell": [], "favorable": [], "score": []})


def people(n: int, rng: np.random.Generator) -> tuple[tuple[Attribute, ...], list[int]]:
    """Return attributes of random people, and their levels' numbers."""
    bins = [End(str(k), str(k + 1)) for k in range(5)]
    attributes = (
        category("sex", rng.integers(0, 2, n), ["f", "m"]),
        category("race", rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1]), list("abcd")),
        interval("age", rng.integers(0, 5, n), list("01234"), bins),
    )
    return attributes, [2, 4, 5]


def world(
    n: int, rate: float, effect: float, options: RuleSetsOptions, seed: int
) -> tuple[RuleSetsResult, np.ndarray]:
    """Draw a world, audit it, and return the true difference of every rule set of its table."""
    rng = np.random.default_rng(seed)
    attributes, sizes = people(n, rng)
    chance = rate - effect * ((attributes[0].codes == 0) & (attributes[1].codes == 3))
    cells = count_cells([item.codes for item in attributes], sizes, rng.random(n) < chance)
    audited = AuditedPeople(n, "favorable", False, NOBODY)
    unsampled = (lambda *_: None), silent, (lambda _: None), ()
    result = audit_cells(audited, attributes, cells, options, (), rng.spawn(5), *unsampled)
    return result, _truth(result, attributes, cells, chance)


def _truth(
    result: RuleSetsResult, attributes: tuple[Attribute, ...], cells: Cells, chance: np.ndarray
) -> np.ndarray:
    table = result.rule_sets
    inside = memberships(cells, attributes, table[["rule 0", "rule 1", "rule 2"]].to_numpy()).astype(float)
    good, n = inside @ np.bincount(cells.row_cell, chance), table["n_in"].to_numpy()
    return np.asarray(good / n - (chance.sum() - good) / (cells.total - n))


def held(result: RuleSetsResult, truth: np.ndarray) -> bool:
    """Whether every corrected interval holds the truth."""
    table = result.rule_sets
    return bool(((truth >= table["low"]) & (truth <= table["high"])).all())


def first_held(result: RuleSetsResult, truth: np.ndarray) -> bool:
    """Whether the score without the luck of being picked has an interval that holds the first one's truth."""
    gaps = result.rule_sets["difference"].to_numpy()
    place = int(np.abs(gaps).argmax())
    return bool(result.shrunken.low <= np.sign(gaps[place]) * truth[place] <= result.shrunken.high)


def wrongly_harmless(result: RuleSetsResult, truth: np.ndarray) -> bool:
    """Whether nothing is said to matter although something does."""
    return result.verdict == NO_MATERIAL and bool(np.abs(truth).max() > result.options["material"])


def share(hits: list[bool]) -> str:
    """Word a share of worlds with its Monte-Carlo interval."""
    found = wilson(float(sum(hits)), float(len(hits)), level=0.05)
    value, low, high = (100 * (part or 0.0) for part in (found.value, found.low, found.high))
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"


NO_EFFECT = {
    f"none-{n}-{round(100 * rate)}-{correction}": (n, rate, correction)
    for n, rate, correction in (
        (300, 0.4, "max"), (2000, 0.4, "max"), (2000, 0.05, "max"), (2000, 0.4, "holm"),
        (2000, 0.05, "holm"), (2000, 0.4, "bh"), (20000, 0.4, "max"),
    )
}  # fmt: skip
PLANTED_EFFECTS = {
    f"planted-{n}-{round(100 * effect)}": (n, effect)
    for n, effect in ((1000, 0.2), (1000, 0.3), (4000, 0.1), (4000, 0.2), (4000, 0.3), (16000, 0.1))
}


def calibrate(setting: str, worlds: int) -> None:
    """Without an effect: evidence, confirmed groups and missed intervals, each at most the level."""
    n, rate, correction = NO_EFFECT[setting]
    options = RuleSetsOptions(permutations=199, samples=0, level=LEVEL, correction=correction)
    drawn = [world(n, rate, 0.0, options, seed) for seed in range(worlds)]
    evident = [result.verdict == EVIDENCE for result, _ in drawn]
    confirmed = [result.discovery.confirmed > 0 for result, _ in drawn]
    missed = [not held(*each) for each in drawn]
    first = [first_held(*each) for each in drawn]
    settled = [result.verdict == NO_MATERIAL for result, _ in drawn]
    print(
        f"no effect, n {n:,}, rate {rate:.0%}, {correction}: evidence {share(evident)}, "
        f"any confirmed {share(confirmed)}, any interval missed {share(missed)}, first score's interval "
        f"holds {share(first)}, no material difference {share(settled)}"
    )


def power(setting: str, worlds: int) -> None:
    """With an effect: evidence, the planted group first in rank, confirmed, all intervals hold the truth."""
    options = RuleSetsOptions(permutations=199, samples=0, level=LEVEL, support=0.04, rank_by="evidence")
    n, effect = PLANTED_EFFECTS[setting]
    drawn = [world(n, 0.4, effect, options, 10**6 + seed) for seed in range(worlds)]
    evident = [result.verdict == EVIDENCE for result, _ in drawn]
    named = [result.leaderboard[0].rule_set == PLANTED for result, _ in drawn]
    confirmed = [
        any(row.confirmed for row in result.leaderboard if row.rule_set == PLANTED) for result, _ in drawn
    ]
    missed = [not held(*each) for each in drawn]
    first = [first_held(*each) for each in drawn]
    harmless = [wrongly_harmless(*each) for each in drawn]
    print(
        f"planted {PLANTED!r}, n {n:,}, {100 * effect:.0f} points: evidence {share(evident)}, "
        f"first {share(named)}, confirmed {share(confirmed)}, any interval missed {share(missed)}, first "
        f"score's interval holds {share(first)}, wrongly nothing material {share(harmless)}"
    )


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for n, rate in ((300, 0.4), (2000, 0.4), (2000, 0.05)):
        setting = f"no difference, {n:,} people, rate {rate:g}"
        found.append(Simulation("rule_sets", setting, partial(_no_effect, n, rate, setting), part=SLOW))
    for n in (300, 2000):
        setting = f"no difference, {n:,} people, errors"
        found.append(Simulation("rule_sets", setting, partial(_errors, n, setting), part=SLOW))
    for n, effect in ((1000, 0.2), (4000, 0.2)):
        setting = f"{n:,} people, one of 40 groups {100 * effect:.0f} points lower"
        found.append(Simulation("rule_sets", setting, partial(_planted, n, effect, setting), part=SLOW))
    for n in (30, 200):
        setting = f"{n:,} texts, 14 terms exchanged"
        found.append(Simulation("rule_sets", setting, partial(_exchanged, n, setting), part=0.2))
    for n, world_of in ((500, "by lot"), (2000, "by lot"), (2000, "by income")):
        setting = f"run's search, {n:,} people, decided {world_of}"
        run = partial(_searched, n, world_of, setting)
        found.append(Simulation("rule_sets", setting, run, part=SLOW))
    for n in (2000, 5000):
        setting = f"run's search, {n:,} people, 3.4 % accepted 15 % instead of 60 %"
        found.append(Simulation("rule_sets", setting, partial(_searched, n, "hidden", setting), part=SLOW))
    return found


def _searched(n: int, world_of: str, setting: str, numbers: range) -> Iterator[Row]:
    """The run's search with five features, where nothing is to be found, or women over 50 with children."""
    hits = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 21])
        frame = pd.DataFrame(
            {
                "sex": rng.choice(["woman", "man"], n),
                "age": rng.integers(18, 71, n),
                "children": rng.choice([0, 1], n, p=[0.83, 0.17]),
                "city": rng.choice(list("abcd"), n),
                "income": rng.normal(size=n),
                "debt": rng.normal(size=n),
            }
        )
        hidden = (frame["sex"] == "woman") & (frame["age"] > 50) & (frame["children"] == 1)
        rate = np.where(hidden & (world_of == "hidden"), 0.15, 0.6)
        frame["accepted"] = (rng.random(n) < rate).astype(int)
        if world_of == "by income":
            frame["accepted"] = (frame["income"] + 0.3 * rng.normal(size=n) > -0.2).astype(int)
        features = tuple(name for name in frame if name not in {"sex", "accepted"})
        spec = DataSpec(label="accepted", favorable=1, protected=("sex",), features=features)
        subject = make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "accepted"}}))
        hits += rule_sets(subject, search_options(subject.data), rng=number).verdict == EVIDENCE
    kind, nominal = ("power", 0.8) if world_of == "hidden" else ("false alarms", LEVEL)
    yield Row("rule_sets", "evidence of a difference", setting, kind, nominal, hits, len(numbers))


def _exchanged(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Texts with terms exchanged: alike for all terms, and with one of them 20 points less often favored."""
    alarms = held = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 20])
        share = 0.2 + 0.8 * rng.beta(1, 1, n)[:, None]
        drawn = rng.random((n, 14))
        terms = np.arange(14)[:, None]
        p = _adjusted([_Pattern((0,), terms, drawn < share)], 199, rng)[0]
        alarms += any(
            each <= LEVEL and not _holds(interval, 0.0)
            for each, interval in zip(p, _apart(drawn < share), strict=True)
        )
        lower = np.where(np.arange(14) == 0, 0.2, 0.0)
        truth = -lower + (lower.sum() - lower) / 13
        held += all(map(_holds, _apart(drawn < share - lower), truth))
    shown, worlds = "evidence on exchanged texts", len(numbers)
    yield Row("rule_sets", shown, setting, "false alarms", LEVEL, alarms, worlds)
    shown = "every interval on exchanged texts"
    yield Row("rule_sets", shown, setting, "coverage", 1 - LEVEL, held, worlds)


def _apart(decided: np.ndarray) -> list[Estimate]:
    rest = (decided.sum(1, keepdims=True) - decided) / (decided.shape[1] - 1)
    level = LEVEL / decided.shape[1]
    return [mean_test(column).interval(level) for column in (decided - rest).T]


def _holds(interval: Estimate, truth: float) -> bool:
    return interval.low is None or interval.high is None or interval.low <= truth <= interval.high


def _no_effect(n: int, rate: float, setting: str, numbers: range) -> Iterator[Row]:
    options, worlds = RuleSetsOptions(permutations=199, samples=0, level=LEVEL), len(numbers)
    drawn = [world(n, rate, 0.0, options, number) for number in numbers]
    hits = sum(result.verdict == EVIDENCE for result, _ in drawn)
    yield Row("rule_sets", "evidence of a difference", setting, "false alarms", LEVEL, hits, worlds)
    confirmed = sum(result.discovery.confirmed > 0 for result, _ in drawn)
    yield Row("rule_sets", "a group confirmed on a half", setting, "false alarms", LEVEL, confirmed, worlds)
    yield from _intervals(drawn, setting)


def _errors(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Each measure of error of a model that is right about everybody alike, at its whole level."""
    hits, held = dict.fromkeys(MEASURES, 0), 0
    for world_number in numbers:
        rng = np.random.default_rng(world_number)
        attributes, sizes = people(n, rng)
        frame = pd.DataFrame({"p": rng.beta(2, 3, n)})
        frame["label"] = (rng.random(n) < frame["p"]).astype(int)
        frame["group"] = rng.choice(["a", "b"], n)
        spec = DataSpec(label="label", favorable=1, protected=("group",), features=("group",))
        subject = make_subject(build_data(frame, spec), model_spec({"predictions": {"score": "p"}}))
        cells = count_cells([item.codes for item in attributes], sizes, subject.decisions)
        search = Search(cells, attributes, support=0.05)
        search.run(10**6)
        groups = GroupSums(cells, attributes, search.found().rules)
        for values in measured(subject, cells, MEASURES, {}):
            tested = compared_values([values], groups, draws=199, level=LEVEL, rng=rng)[0]
            hits[values.name] += bool((tested.adjusted_p <= LEVEL).any())
            held += not bool(((tested.low > 0) | (tested.high < 0)).any())
    for name, found in hits.items():
        yield Row("rule_sets", WORDS[name].name.lower(), setting, "false alarms", LEVEL, found, len(numbers))
    worlds = len(numbers) * len(MEASURES)
    yield Row("rule_sets", "every interval of a measure", setting, "coverage", 1 - LEVEL, held, worlds)


def _planted(n: int, effect: float, setting: str, numbers: range) -> Iterator[Row]:
    options = RuleSetsOptions(permutations=199, samples=0, level=LEVEL, support=0.04)
    drawn = [world(n, 0.4, effect, options, 10**6 + number) for number in numbers]
    hits = sum(result.verdict == EVIDENCE for result, _ in drawn)
    yield Row("rule_sets", "evidence of a difference", setting, "power", 0.8, hits, len(drawn))
    yield from _intervals(drawn, setting)


def _intervals(drawn: list[tuple[RuleSetsResult, np.ndarray]], setting: str) -> Iterator[Row]:
    all_held = sum(held(*each) for each in drawn)
    yield Row("rule_sets", "every interval of the list", setting, "coverage", 0.95, all_held, len(drawn))
    first = sum(first_held(*each) for each in drawn)
    shown = "first score, without the luck of being picked"
    yield Row("rule_sets", shown, setting, "coverage", 0.95, first, len(drawn))


if __name__ == "__main__":
    count, *chosen = sys.argv[1:] or ["1000"]
    start = time.perf_counter()
    for setting in chosen or [*NO_EFFECT, *PLANTED_EFFECTS]:
        (calibrate if setting in NO_EFFECT else power)(setting, int(count))
    print(f"{time.perf_counter() - start:.0f} s for {count} worlds a setting")
