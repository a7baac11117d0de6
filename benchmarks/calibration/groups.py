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
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import lognorm, norm
from sklearn.metrics import roc_auc_score

from audits.groups.audit import groups_from_people
from audits.groups.by_probability import column_name, compare_probable
from audits.groups.inference import GroupLimit, judge_difference
from audits.groups.labels import KNOWN, LABEL
from audits.groups.measures import measure_groups
from audits.groups.metrics import Labels, Metric, Rows, by_jackknife
from audits.groups.options import GroupsOptions
from audits.stats import EVIDENCE, NO_MATERIAL, Judgment, largest_gap
from audits.stats.pooling import pooled_shares
from audits.stats.ratios import ratios_to_highest
from benchmarks.calibration import LEVEL, Facts, alarm, audited, covers, decided, found, inside

_PAY = {"label": "pay", "outcome": "numeric"}
_SHARES = {"median": 0.5, "q10": 0.1, "q90": 0.9}
_END, _HIGH = norm.ppf([0.8, 0.9], 10, 2)
MATERIAL = 0.10
LIMIT = GroupLimit(difference=MATERIAL)


def _decided(rates: Sequence[float], n: int | Sequence[int], rng: np.random.Generator) -> pd.DataFrame:
    """Two groups of so many people, each or one after the other, decided at these rates."""
    group = np.repeat(["a", "b"], n)
    yes = rng.random(len(group)) < np.repeat(rates, n)
    return pd.DataFrame({"group: g": group, "decision": yes, "score": yes.astype(float), "people": 1.0})


def _judged(people: pd.DataFrame) -> Judgment:
    return groups_from_people(people, ("g",), GroupsOptions(bootstrap=0), "", len(people), 0).judged


def _selective(rates: tuple[float, float], refused: float, number: int) -> Facts:
    """Labels of those who were accepted and of some others, more often favorable in the second group."""
    equal, rng = rates[0] == rates[1], np.random.default_rng([number, 41])
    people = _decided(rates, 400, rng)
    yes = people["decision"].to_numpy(dtype=bool)
    good = rng.random(800) < np.where(yes, 0.85, np.repeat([0.3, 0.6], 400))
    known = yes | (rng.random(800) < refused)
    people = people.assign(**{LABEL: good & known, KNOWN: known})
    judged = _judged(people)
    # the interval is of the difference one way round or the other
    ends = sorted(abs(end or 0.0) for end in (judged.interval.low, judged.interval.high))
    wrong = judged.verdict == EVIDENCE and (equal or not ends[0] <= abs(rates[0] - rates[1]) <= ends[1])
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


def _low_rates(drawn: tuple[float, float, Any], number: int) -> Facts:
    """Differences far below 10 points, whose ratio is not; and a handful beside a crowd."""
    *rates, n = drawn
    judged = _judged(_decided(rates, n, np.random.default_rng([number, np.max(n), 43])))
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


def _own_metric(n: int, number: int) -> Facts:
    """A function of labels and decisions that somebody added, by the jackknife."""
    metric = Metric(name="f1", words="F1", function=lambda y, d, n: 2 * (n @ (y & d)) / (n @ y + n @ d))
    cells = np.random.default_rng([number, n, 18]).multinomial(n, [0.35, 0.15, 0.35, 0.15]).astype(float)
    told = by_jackknife(metric, cells, LEVEL)
    yield covers("a metric added", told.low is None or told.high is None or inside(told, 0.7))


def _measured(n: int, number: int) -> Facts:
    """Functions of labels and scores in two groups alike, by the bootstrap: AUC, and a skewed cost."""
    rng = np.random.default_rng([number, n, 19])
    group, labels = np.repeat([0, 1], n), rng.random(2 * n) < 0.4
    score = rng.normal(size=2 * n) + labels
    costs = Metric(name="cost", words="cost", measure=lambda y, _, s: np.exp(s - y).mean())
    metrics = [Metric(name="auc", words="AUC", measure=lambda y, _, s: float(roc_auc_score(y, s))), costs]
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
def _difference(sharp: float, by_group: float) -> float:
    chance = np.random.default_rng(0).beta(sharp, sharp, 400_000)
    p_mean, spread = chance.mean(), (chance * (1 - chance)).mean()
    truth = -0.2 * ((chance**2).mean() / p_mean - spread / (1 - p_mean))
    return float(truth - by_group * spread * (1 / p_mean + 1 / (1 - p_mean)))


def _probable(n: int, sharp: float, by_group: float, number: int) -> Facts:
    """Bounds of a difference of two groups known by probability, and the estimate where its terms hold."""
    rng, truth = np.random.default_rng([number, n, 4]), _difference(sharp, by_group)
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


def _table(world: dict[str, Any], rng: np.random.Generator) -> pd.DataFrame:
    """People of groups "g0", "g1", … of these sizes, whose pay is drawn as `pay` names it."""
    sizes, (kind, *given) = world["sizes"], world["pay"]
    group = np.repeat(np.arange(len(sizes)), sizes)
    pay = np.concatenate([_PAID[kind](rng, place, n, *given) for place, n in enumerate(sizes)])
    table = pd.DataFrame({"g": [f"g{place}" for place in group], "pay": pay, "who": np.arange(len(group))})
    if "weighted" in world:  # people of much pay are sampled twice as often
        often = np.where(pay > np.median(pay), 1.0, 0.5)
        table = table[rng.random(len(table)) < often].assign(w=lambda kept: 1 / often[kept.index])
    if "rows" in world:  # several years of each person, much alike
        table = table.loc[table.index.repeat(world["rows"])].reset_index(drop=True)
        table["pay"] *= rng.lognormal(0, 0.1, len(table))
    if "missing" in world:
        table.loc[rng.random(len(table)) < world["missing"], "pay"] = np.nan
    return table


def _amounts(world: dict[str, Any], number: int) -> Facts:
    apart, own = _truth(*world["pay"])
    design = {"weights": {"column": "w", "kind": "sampling"}} if "weighted" in world else {}
    design |= {"person": "who"} if "rows" in world else {}
    drawn = _table(world, np.random.default_rng([number, *world["sizes"], 71]))
    people = decided(drawn, "pay", score=True, **_PAY, protected=["g"], features=[], **design)
    result = audited("groups", people, 0, reference={"g": "g0"})
    reference, *rows = sorted(result.amounts.table, key=lambda row: not row.is_reference)
    yield found("evidence of a difference in amounts", result.verdict == EVIDENCE, no_difference=not apart)
    if not apart:
        gaps = [gap.estimate for row in rows for gap in row.differences.values()]
        yield covers("differences of amounts, all together", all(inside(gap, 0.0) for gap in gaps))
        return
    yield alarm("all-clear of amounts that differ", result.verdict == NO_MATERIAL)
    held = [inside(rows[0].differences[name].estimate, truth) for name, truth in apart.items()]
    yield covers("differences of amounts, all together", all(held))
    if own:
        held = [inside(getattr(reference, name), truth) for name, truth in own.items()]
        yield covers("a group's own mean and percentiles, each", sum(held) / len(held))
        relative, truth = rows[0].relative, apart["mean"] / own["mean"]
        yield covers("difference of means as a share", relative is not None and inside(relative, truth))


def _truth(kind: str, spread: float = 0.6, ratio: float = 1.0) -> tuple[dict[str, float], dict[str, float]]:
    """The true differences of the second group from the first, if any, and the first's own numbers."""
    if kind == "upper":
        return {"median": 0.0, "q10": 0.0, "q90": 1.5 * float(_HIGH - _END)}, {}
    own = {"mean": float(np.exp(spread**2 / 2))}
    own |= {name: float(lognorm.ppf(share, spread)) for name, share in _SHARES.items()}
    return ({}, {}) if ratio == 1 else ({name: (ratio - 1) * each for name, each in own.items()}, own)


def _times(
    rng: np.random.Generator, place: int, n: int, spread: float = 0.6, ratio: float = 1.0
) -> np.ndarray:
    """Log-normal pay, of the other groups so many times the first's."""
    return rng.lognormal(np.log(ratio) if place else 0.0, spread, n)


def _huge(rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    pay = _times(rng, place, n)
    pay[0] = 1e6 if place == 1 and rng.random() < 0.5 else pay[0]
    return pay


def _upper(rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    """Normal pay of which the second group's upper fifth gets half as much more above its lower end."""
    pay = rng.normal(10, 2, n)
    return np.where((pay > _END) & (place == 1), _END + 2.5 * (pay - _END), pay)


_PAID: dict[str, Callable[..., np.ndarray]] = {
    "times": _times,
    "rounded": lambda *of: np.round(2 * _times(*of)) / 2,
    "losses": lambda rng, _, n: np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(0, 1, n)),
    "huge": _huge,
    "upper": _upper,
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
