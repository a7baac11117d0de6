"""Is evidence of a rule-set audit as rare without an effect as it says, and found when there is one?

Every world is a whole audit (search, shuffles, intervals, halves, verdict) of people with a sex, one of four
races and an age in five bins. Without an effect decisions are drawn alike for all: the share of worlds with
evidence must be at most the level, and so must the share in which any corrected interval misses. With an
effect, women of race d (5% of people) are decided favorably less often by so many points.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from audits.rule_sets import RuleSetsResult, rule_sets
from audits.rule_sets.measures.values import WORDS, compared_values, measure_people
from audits.rule_sets.options import MEASURES, search_options
from audits.rule_sets.perturbation.terms import _adjusted_p_values, _Pattern
from audits.stats import EVIDENCE, Estimate
from audits.stats.means import mean_test
from audits.subgroups.attributes import Attribute, End, category, interval
from audits.subgroups.cells import count_cells, memberships
from audits.subgroups.search import Search
from audits.subgroups.sums import GroupSums
from benchmarks.calibration import LEVEL, SLOW, Facts, alarm, audited, covers, decided, found, grid, inside


def people(n: int, rng: np.random.Generator) -> tuple[Attribute, ...]:
    """Return attributes of random people."""
    bins = [End(str(k), str(k + 1)) for k in range(5)]
    return (
        category("sex", rng.integers(0, 2, n), ["f", "m"]),
        category("race", rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1]), list("abcd")),
        interval("age", rng.integers(0, 5, n), list("01234"), bins),
    )


def world(
    n: int, rate: float, effect: float, seed: int, **options: object
) -> tuple[RuleSetsResult, np.ndarray]:
    """Draw a world, audit it, and return the true difference of every rule set of its table."""
    rng = np.random.default_rng(seed)
    attributes = people(n, rng)
    chance = rate - effect * ((attributes[0].codes == 0) & (attributes[1].codes == 3))
    frame = pd.DataFrame({item.name: np.array(item.levels)[item.codes] for item in attributes})
    frame["favored"] = rng.random(n) < chance
    frame, kinds = frame.astype({"age": int, "favored": int}), {"age": "integer"}
    names = [item.name for item in attributes]
    subject = decided(frame, "favored", favorable=1, protected=names, features=[], kinds=kinds)
    result = audited("rule_sets", subject, rng, samples=0, level=LEVEL, **options)
    cells, table = count_cells(attributes, subject.decisions), result.rule_sets
    within = memberships(cells, table[["rule 0", "rule 1", "rule 2"]].to_numpy()).astype(float)
    good, inside = within @ np.bincount(cells.row_cell, chance), table["n_in"].to_numpy()
    return result, np.asarray(good / inside - (chance.sum() - good) / (cells.total - inside))


def _apart(decided: np.ndarray) -> list[Estimate]:
    rest = (decided.sum(1, keepdims=True) - decided) / (decided.shape[1] - 1)
    level = LEVEL / decided.shape[1]
    return [mean_test(column).interval(level) for column in (decided - rest).T]


def _listed(result: RuleSetsResult, truth: np.ndarray) -> Facts:
    table, gaps = result.rule_sets, result.rule_sets["difference"].to_numpy()
    held = ((truth >= table["low"]) & (truth <= table["high"])).all()
    yield covers("every interval of the list", bool(held))
    first = int(np.abs(gaps).argmax())
    own = inside(result.shrunken, np.sign(gaps[first]) * truth[first])
    yield covers("first score, without the luck of being picked", own)


def _no_effect(drawn: tuple[int, float], correction: str, number: int) -> Facts:
    result, truth = world(*drawn, 0.0, number, permutations=199, correction=correction)
    yield alarm("evidence of a difference", result.verdict == EVIDENCE)
    yield alarm("a group confirmed on a half", result.discovery.confirmed > 0)
    yield from _listed(result, truth)


def _planted(n: int, effect: float, number: int) -> Facts:
    result, truth = world(n, 0.4, effect, 10**6 + number, permutations=199, support=0.04)
    yield found("evidence of a difference", result.verdict == EVIDENCE)
    yield from _listed(result, truth)


def _errors(n: int, number: int) -> Facts:
    """Each measure of error of a model that is right about everybody alike, at its whole level."""
    rng = np.random.default_rng(number)
    attributes = people(n, rng)
    frame = pd.DataFrame({"p": rng.beta(2, 3, n)})
    frame["label"] = (rng.random(n) < frame["p"]).astype(int)
    frame["group"] = rng.choice(["a", "b"], n)
    spec = {"label": "label", "favorable": 1, "protected": ["group"], "features": ["group"]}
    subject = decided(frame, "p", score=True, **spec)
    cells = count_cells(attributes, subject.decisions)
    search = Search(cells, support=0.05)
    search.run(10**6)
    groups = GroupSums(cells, search.found().rules)
    for values in measure_people(subject, cells, MEASURES, {}):
        tested = compared_values([values], groups, draws=199, level=LEVEL, rng=rng)[0]
        yield alarm(WORDS[values.name].name.lower(), bool((tested.adjusted_p <= LEVEL).any()))
        yield covers("every interval of a measure", not ((tested.low > 0) | (tested.high < 0)).any())


def _exchanged(n: int, number: int) -> Facts:
    """Texts with terms exchanged: alike for all terms, and with one of them 20 points less often favored."""
    rng = np.random.default_rng([number, n, 20])
    share = 0.2 + 0.8 * rng.beta(1, 1, n)[:, None]
    drawn = rng.random((n, 14))
    p = _adjusted_p_values([_Pattern((0,), np.arange(14)[:, None], drawn < share)], 199, rng)[0]
    apart = zip(p, _apart(drawn < share), strict=True)
    yield alarm("evidence on exchanged texts", any(q <= LEVEL and not inside(gap, 0.0) for q, gap in apart))
    lower = np.where(np.arange(14) == 0, 0.2, 0.0)
    truth = -lower + (lower.sum() - lower) / 13
    yield covers("every interval on exchanged texts", all(map(inside, _apart(drawn < share - lower), truth)))


def _searched(drawn: tuple[int, str], number: int) -> Facts:
    """The run's search with five features, where nothing is to be found, or women over 50 with children."""
    n, of = drawn
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
    frame["accepted"] = (rng.random(n) < np.where(hidden & (of == "hidden"), 0.15, 0.6)).astype(int)
    if of == "by income":
        frame["accepted"] = (frame["income"] + 0.3 * rng.normal(size=n) > -0.2).astype(int)
    features = [name for name in frame if name not in {"sex", "accepted"}]
    spec = {"label": "accepted", "favorable": 1, "protected": ["sex"], "features": features}
    subject = decided(frame, "accepted", **spec)
    told = rule_sets(subject, search_options(subject.data), rng=number)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=of != "hidden")


_LOTS = {"500 people, decided by lot": (500, "by lot"), "2,000 people, decided by lot": (2000, "by lot")}
_LOTS |= {"2,000 people, decided by income": (2000, "by income")}
_LOTS |= {f"{n:,} people, 3.4% accepted 15% instead of 60%": (n, "hidden") for n in (2000, 5000)}
_NO = {f"{n:,} people, rate {rate:g}": (n, rate) for n, rate in ((300, 0.4), (2000, 0.4), (2000, 0.05))}
_GROUP = "{n:,} people, one of 40 groups 20 points lower"
_of, _slow = partial(grid, "rule_sets"), partial(grid, "rule_sets", part=SLOW)
SETTINGS = [
    *_slow("no difference, {drawn}", _no_effect, drawn=_NO, correction=("max",)),
    *_slow("no difference, {n:,} people, errors", _errors, n=(300, 2000)),
    *_slow(_GROUP, _planted, n=(1000, 4000), effect=(0.2,)),
    *_of("{n} texts, 14 terms exchanged", _exchanged, n=(30, 200), part=0.2),
    *_slow("run's search, {drawn}", _searched, drawn=_LOTS),
]
MORE = [
    *_of("no effect, {drawn}, {correction}", _no_effect, drawn=_NO, correction=("holm", "bh")),
    *_of("planted, {n:,} people, 30 points", _planted, n=(1000, 4000), effect=(0.3,)),
    *_of("planted, {n:,} people, 10 points", _planted, n=(4000, 16_000), effect=(0.1,)),
]
