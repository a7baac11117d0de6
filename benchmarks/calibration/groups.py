"""Do the overview's intervals and verdicts hold as often as they say, of decisions and of amounts?

Worlds of 2, 8 and 20 groups of 20, 50, 200 and 1,000 people: without a difference, and with one group of a
rate of 0.6 among rates of 0.4. Impact ratios (all of a table together, and one of them), verdicts on
differences, partially pooled rates of intersections, and bounds from probabilities.

Of amounts, two to thirteen groups: pay that is log-normal (σ .6 and 1), rounded pay, losses that are 0 for
nine in ten, twelve tiny groups beside a large one, sampling weights, several rows a person, a difference in
the upper tenth alone, pay that is missing for some, and one huge value. Where groups do not differ, any
evidence is an alarm; where they do, every stated interval of a difference is held against the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import lognorm, norm, rankdata

from audits.groups.audit import groups_from_people
from audits.groups.by_probability import column_name, compare_probable
from audits.groups.inference import GroupLimit, judge_difference
from audits.groups.labels import KNOWN, LABEL
from audits.groups.measures import measure_groups
from audits.groups.metrics import Labels, Metric, Rows, by_jackknife
from audits.groups.options import GroupsOptions
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment, largest_gap
from audits.stats.pooling import pooled_shares
from audits.stats.ratios import ratios_to_highest
from benchmarks.calibration import LEVEL, SLOW, Facts, alarm, audited, covers, decided, found, grid, inside

MATERIAL = 0.10
LIMIT = GroupLimit(difference=MATERIAL)
_SELECTIVE = {"decision rates of .5 and .5": (0.5, 0.5), "decision rates of .4 and .65": (0.4, 0.65)}
_LOW = {
    "call-backs of 6.45 and 9.65%, 2 groups of 2,435": (0.0645, 0.0965, 2435),
    "equal rates of .06, 2 groups of 1,000": (0.06, 0.06, 1000),
    "rates of .04 and .05, at the ratio, 2 groups of 10,000": (0.04, 0.05, 10_000),
}


def _decided(rates: Sequence[float], n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two groups of so many people, decided at these rates."""
    group = np.repeat(["a", "b"], n)
    yes = rng.random(2 * n) < np.repeat(rates, n)
    return pd.DataFrame({"group: g": group, "decision": yes, "score": yes.astype(float), "people": 1.0})


def _judged(people: pd.DataFrame) -> Judgment:
    return groups_from_people(people, ("g",), GroupsOptions(bootstrap=0), "", len(people), 0).judged


def _holds(gap: Estimate, rates: Sequence[float]) -> bool:
    """Whether an interval holds the difference of decision rates, one way round or the other."""
    ends = sorted((abs(gap.low or 0.0), abs(gap.high or 0.0)))
    return ends[0] <= abs(rates[0] - rates[1]) <= ends[1]


def _selective(rates: tuple[float, float], refused: float, number: int) -> Facts:
    """Labels of those who were accepted and of some others, more often favorable in the second group."""
    equal, rng = rates[0] == rates[1], np.random.default_rng([number, 41])
    people = _decided(rates, 400, rng)
    yes = people["decision"].to_numpy(dtype=bool)
    good = rng.random(800) < np.where(yes, 0.85, np.repeat([0.3, 0.6], 400))
    known = yes | (rng.random(800) < refused)
    people = people.assign(**{LABEL: good & known, KNOWN: known})
    judged = _judged(people)
    wrong = judged.verdict == EVIDENCE and (equal or not _holds(judged.interval, rates))
    yield alarm("evidence of a difference" if equal else "evidence of another difference", wrong)
    if not equal:
        yield alarm("all-clear of 25 points", judged.verdict == "no material difference")


def _least_ratio(k: int, tiny: int, number: int) -> Facts:
    """The smallest impact ratio among groups of at least 2%, beside tiny ones."""
    n = np.r_[np.full(k, 300), np.full(tiny, 4)]
    rates = np.r_[0.6, np.full(k - 1, 0.4), np.linspace(0.05, 0.95, tiny)]
    count = np.random.default_rng([number, k, tiny, 42]).binomial(n, rates)
    _, least = ratios_to_highest(count, n, level=LEVEL)
    yield covers("smallest impact ratio", least, 0.4 / 0.6)
    yield alarm("smallest impact ratio, upper end too low", least.high < 0.4 / 0.6)


def _low_rates(drawn: tuple[float, float, int], number: int) -> Facts:
    """Differences far below 10 points, whose ratio is not."""
    *rates, n = drawn
    judged = _judged(_decided(rates, n, np.random.default_rng([number, n, 43])))
    if rates[0] == rates[1]:
        yield alarm("evidence of a difference", judged.verdict == EVIDENCE)
    else:
        small = judged.badge in ("small difference", "no material difference")
        yield alarm("called small or immaterial", small)


def _ratios(k: int, n: int, drawn: tuple[float, float], number: int) -> Facts:
    """Impact ratios, gaps and differences of k groups, of which the first may have another rate."""
    first, rest = drawn
    rates, full = np.r_[first, np.full(k - 1, rest)], np.full(k, float(n))
    truth, equal = rates / rates.max(), first == rest
    count = np.random.default_rng([number, k, n, 3]).binomial(n, rates).astype(float)
    ratios, _ = ratios_to_highest(count, full, level=LEVEL)
    stated = [(r, true) for r, true in zip(ratios, truth, strict=True) if r.value is not None]
    together = all(r.low - 1e-9 <= true <= r.high + 1e-9 for r, true in stated)
    yield covers("impact ratios, all together", together)
    gap = largest_gap(count, full, level=LEVEL)
    held = gap.low - 1e-9 <= rates.max() - rates.min() <= gap.high
    yield covers("demographic parity difference", held)
    reference = int(count.argmax())  # of equally large groups the one of the highest rate
    wrong = any(
        judge_difference(
            (count[j], n), (count[reference], n), n, limit=LIMIT, level=LEVEL / (k * (k - 1) // 2)
        ).verdict
        == EVIDENCE
        for j in np.flatnonzero(rates == rates[reference])
    )
    yield alarm("evidence of a difference", wrong)
    if equal:
        below = any(r.value is not None and r.high < 0.8 for r in ratios)
        yield alarm("some impact ratio wholly below 0.8", below)


def _f1(labels: np.ndarray, decisions: np.ndarray, people: np.ndarray) -> float:
    return float(2 * (people @ (labels & decisions)) / (people @ labels + people @ decisions))


def _own_metric(n: int, number: int) -> Facts:
    """A function of labels and decisions that somebody added, by the jackknife."""
    metric = Metric(name="f1", words="F1", function=_f1)
    cells = np.random.default_rng([number, n, 18]).multinomial(n, [0.35, 0.15, 0.35, 0.15]).astype(float)
    told = by_jackknife(metric, cells, LEVEL)
    yield covers("a metric added", told.low is None or told.high is None or inside(told, 0.7))


def _auc(labels: np.ndarray, _decisions: np.ndarray, scores: np.ndarray) -> float:
    ranks, n = rankdata(scores), int(labels.sum())
    return float((ranks[labels].sum() - n * (n + 1) / 2) / (n * (len(labels) - n)))


def _measured(n: int, number: int) -> Facts:
    """Functions of labels and scores in two groups alike, by the bootstrap: AUC, and a skewed cost."""
    rng = np.random.default_rng([number, n, 19])
    group, labels = np.repeat([0, 1], n), rng.random(2 * n) < 0.4
    score = rng.normal(size=2 * n) + labels
    costs = Metric(name="cost", words="cost", measure=lambda y, _, s: np.exp(s - y).mean())
    metrics = [Metric(name="auc", words="AUC", measure=_auc), costs]
    known = Labels(labels, np.ones(2 * n, dtype=bool))
    rows = Rows(group, score > 0.5, score, np.ones(2 * n), known)
    measured = measure_groups(metrics, rows, 2, rng, draws=200)
    truths = ("auc", "AUC", float(ndtr(np.sqrt(0.5)))), ("cost", "a skewed cost", np.exp(0.5))
    for name, words, truth in truths:
        one, other = measured[name]
        apart = one.minus(other).estimate(LEVEL)
        yield covers(f"{words} of a group, by the bootstrap", one.estimate(LEVEL), truth)
        yield covers(f"difference in {words}, by the bootstrap", apart, 0.0)


def _pooled(crossed: tuple[int, int], n: int, number: int) -> Facts:
    """Partially pooled rates of intersections that differ by main effects and by more."""
    first, second = crossed
    k = first * second
    row, column = np.indices((first, second)).reshape(2, -1)
    marks = [*(row == a for a in range(1, first)), *(column == b for b in range(1, second))]
    design = np.column_stack(marks).astype(float)
    rng = np.random.default_rng([number, k, n, 2])
    odds = -0.4 + design @ rng.normal(0, 0.5, design.shape[1]) + rng.normal(0, 0.3, k)
    truth, size = 1 / (1 + np.exp(-odds)), rng.poisson(n, k) + 1
    own = pooled_shares(rng.binomial(size, truth), size, design, rng, level=LEVEL)
    for item, true in zip(own, truth, strict=True):
        yield covers("partially pooled rate", item, true)


@cache
def _truth(sharp: float, by_group: float) -> float:
    chance = np.random.default_rng(0).beta(sharp, sharp, 400_000)
    p_mean, spread = chance.mean(), (chance * (1 - chance)).mean()
    truth = -0.2 * ((chance**2).mean() / p_mean - spread / (1 - p_mean))
    return float(truth - by_group * spread * (1 / p_mean + 1 / (1 - p_mean)))


def _probable(n: int, sharp: float, by_group: float, number: int) -> Facts:
    """Bounds of a difference of two groups known by probability, and the estimate where its terms hold."""
    rng, truth = np.random.default_rng([number, n, 4]), _truth(sharp, by_group)
    p = rng.beta(sharp, sharp, n)
    member = rng.random(n) < p
    decided = rng.random(n) < 0.6 - 0.2 * p - by_group * (member - p)
    people = pd.DataFrame({"decision": decided, "people": 1.0})
    people[column_name("g", "a")], people[column_name("g", "b")] = p, 1 - p
    asked = {"by_probability": {"g": {"a": "", "b": ""}}, "reference": {"g": "b"}}
    options = GroupsOptions(**asked, material=MATERIAL, level=LEVEL)
    told = compare_probable(people, "g", options, corrected=LEVEL, rng=rng)
    item = next(group for group in told if group.group == "a")
    held = inside(item.difference_bounds, truth)
    yield covers("bounds of a difference, groups known by probability", held)
    if by_group == 0:
        estimated = inside(item.difference, truth)
        yield covers("estimate of a difference, groups known by probability", estimated)


_RATES = {
    "equal rates of .4": (0.4, 0.4),
    "rates of .4, of one group .6": (0.6, 0.4),
    "equal rates of .02": (0.02, 0.02),
}
_CROSSED = {3: (1, 3), 8: (2, 4), 20: (4, 5)}
_BESIDE = {"nothing beside": 0.0, "something beside": 0.2}
_KNOWN = {"0%": 0.0, "20%": 0.2}
_BETA = "{n:,} people, probabilities of beta({sharp:g}, {sharp:g}), {more} them"
_LABELED = "{rates}, labels of the accepted and {refused} of the refused"
_LEAST = "{k} groups of 300, {tiny} of 4, one of .6 among .4"
_of = partial(grid, "groups")


_PAY = {"label": "pay", "outcome": "numeric"}
_SHARES = {"median": 0.5, "q10": 0.1, "q90": 0.9}


class _World(NamedTuple):
    """How groups "g0", "g1", … are drawn: how many people each, and from what, by a group's place.

    `apart` are the true differences of the second group from the first by measure; without any no group
    differs; `own` are the true numbers of the first.
    """

    sizes: tuple[int, ...]
    draw: Callable[[np.random.Generator, int, int], np.ndarray]
    apart: dict[str, float] | None = None
    own: dict[str, float] | None = None
    rows: int = 1
    weighted: bool = False
    missing: float = 0.0


def _table(world: _World, rng: np.random.Generator) -> pd.DataFrame:
    group = np.repeat(np.arange(len(world.sizes)), world.sizes)
    pay = np.concatenate([world.draw(rng, place, n) for place, n in enumerate(world.sizes)])
    table = pd.DataFrame({"g": [f"g{place}" for place in group], "pay": pay, "who": np.arange(len(group))})
    if world.weighted:  # people of much pay are sampled twice as often
        often = np.where(pay > np.median(pay), 1.0, 0.5)
        table = table[rng.random(len(table)) < often].assign(w=lambda kept: 1 / often[kept.index])
    if world.rows > 1:  # several years of each person, much alike
        table = table.loc[table.index.repeat(world.rows)].reset_index(drop=True)
        table["pay"] *= rng.lognormal(0, 0.1, len(table))
    if world.missing:
        table.loc[rng.random(len(table)) < world.missing, "pay"] = np.nan
    return table


def _amounts(world: _World, number: int) -> Facts:
    design = {"weights": {"column": "w", "kind": "sampling"}} if world.weighted else {}
    design |= {"person": "who"} if world.rows > 1 else {}
    drawn = _table(world, np.random.default_rng([number, *world.sizes, 71]))
    people = decided(drawn, "pay", score=True, **_PAY, protected=["g"], features=[], **design)
    result = audited("groups", people, 0, reference={"g": "g0"})
    reference, *rows = sorted(result.amounts.table, key=lambda row: not row.is_reference)
    yield found(
        "evidence of a difference in amounts", result.verdict == EVIDENCE, no_difference=not world.apart
    )
    if world.apart is None:
        gaps = [gap.estimate for row in rows for gap in row.differences.values()]
        yield covers("differences of amounts, all together", all(inside(gap, 0.0) for gap in gaps))
        return
    yield alarm("all-clear of amounts that differ", result.verdict == NO_MATERIAL)
    held = [inside(rows[0].differences[name].estimate, truth) for name, truth in world.apart.items()]
    yield covers("differences of amounts, all together", all(held))
    if world.own:
        own = [inside(getattr(reference, name), truth) for name, truth in world.own.items()]
        yield covers("a group's own mean and percentiles, each", sum(own) / len(own))
        relative, truth = rows[0].relative, world.apart["mean"] / world.own["mean"]
        yield covers("difference of means as a share", relative is not None and inside(relative, truth))


def _times(spread: float, ratio: float, rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    """Log-normal pay, of the other groups so many times the first's."""
    return rng.lognormal(np.log(ratio) if place else 0.0, spread, n)


def _apart(sizes: tuple[int, int], spread: float, ratio: float) -> _World:
    """Two groups whose log-normal pay differs; the mean and percentiles of the first are known."""
    own = {"mean": float(np.exp(spread**2 / 2))}
    own |= {name: float(lognorm.ppf(share, spread)) for name, share in _SHARES.items()}
    truth = {name: (ratio - 1) * each for name, each in own.items()}
    return _World(sizes, partial(_times, spread, ratio), truth, own)


def _losses(rng: np.random.Generator, _place: int, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(0, 1, n))


def _huge(rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    pay = rng.lognormal(0, 0.6, n)
    pay[0] = 1e6 if place == 1 and rng.random() < 0.5 else pay[0]
    return pay


_END, _HIGH = norm.ppf([0.8, 0.9], 10, 2)


def _upper(rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    """Normal pay of which the second group's upper fifth gets half as much more above its lower end."""
    pay = rng.normal(10, 2, n)
    return np.where((pay > _END) & (place == 1), _END + 2.5 * (pay - _END), pay)


_EQUAL, _WIDE = partial(_times, 0.6, 1.0), partial(_times, 1.0, 1.0)
_UPPER = {"median": 0.0, "q10": 0.0, "q90": 1.5 * float(_HIGH - _END)}
_WORLDS = {
    "log-normal pay (σ .6), 300 and 800": _World((800, 300), _EQUAL),
    "log-normal pay (σ .6), 40 and 40": _World((40, 40), _EQUAL),
    "log-normal pay (σ 1), 300 and 800": _World((800, 300), _WIDE),
    "log-normal pay (σ 1), 30 and 800": _World((800, 30), _WIDE),
    "log-normal pay (σ .6) of .85 times, 600 and 600": _apart((600, 600), 0.6, 0.85),
    "log-normal pay (σ 1) of .7 times, 150 and 600": _apart((600, 150), 1.0, 0.7),
    "rounded pay, 200 and 400": _World((400, 200), lambda *of: np.round(2 * _EQUAL(*of)) / 2),
    "losses, nine in ten 0, 200 and 800": _World((800, 200), _losses),
    "losses, nine in ten 0, 25 and 800": _World((800, 25), _losses),
    "12 groups of 15 beside 2,000": _World((2000, *(15,) * 12), _EQUAL),
    "sampling weights, 400 and 400": _World((400, 400), _EQUAL, weighted=True),
    "four rows a person, 100 and 200 persons": _World((200, 100), _EQUAL, rows=4),
    "one in five without pay, 300 and 500": _World((500, 300), _EQUAL, missing=0.2),
    "one value of a million in half of the worlds, 200 and 400": _World((400, 200), _huge),
    "a difference in the upper fifth alone, 500 and 500": _World((500, 500), _upper, _UPPER),
}


def _explained(cells: bool, number: int) -> Facts:
    """Skewed pay that schooling explains wholly: nothing is left like for like."""
    rng = np.random.default_rng([number, int(cells), 72])
    woman = rng.random(800) < 0.4
    schooling = rng.normal(13 - woman, 2)
    schooling = np.clip(np.round(schooling / 2) * 2, 10, 16) if cells else schooling
    pay = (1 + 0.9 * schooling) * rng.lognormal(0, 0.5, 800)
    table = pd.DataFrame({"sex": np.where(woman, "f", "m"), "schooling": schooling, "pay": pay})
    subject = decided(table, "pay", score=True, **_PAY, protected=["sex"])
    sides = {"source": {"sex": "f"}, "target": {"sex": "m"}}
    result = audited("explain", subject, number, **sides, explainers=["schooling"])
    yield alarm("evidence of a difference in amounts", result.verdict == EVIDENCE)
    yield covers("what is left of a gap in amounts", result.together.unexplained, 0.0)


SETTINGS = [
    *_of("{rates}, {k} groups of {n:,}", _ratios, k=(2, 8, 20), n=(20, 50, 200, 1000), rates=_RATES),
    *_of("{k} groups of about {n:,}, which differ", _pooled, k=_CROSSED, n=(20, 100, 400)),
    *_of("{n:,} people, a metric of one's own (F1)", _own_metric, n=(100, 1000)),
    *_of("2 groups of {n:,}, functions of scores", _measured, n=(50, 200, 1000), part=SLOW),
    *_of(_BETA, _probable, n=(100, 400, 2000), sharp=(0.1, 0.3, 1.0), more=_BESIDE),
    *_of(_LABELED, _selective, rates=_SELECTIVE, refused=_KNOWN),
    *_of(_LEAST, _least_ratio, k=(3, 5, 8), tiny=(0, 2)),
    *_of("{drawn}", _low_rates, drawn=_LOW),
    *grid("groups", "amounts: {world}", _amounts, world=_WORLDS),
    *grid("explain", "amounts: skewed pay, by cells", _explained, cells=(True,)),
    *grid("explain", "amounts: skewed pay, by learners", _explained, cells=(False,), part=SLOW),
]
