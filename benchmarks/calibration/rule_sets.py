"""Is evidence of a rule-set audit as rare without an effect as it says, found when there is one, and mended?

Every world is a whole audit (search, shuffles, intervals, halves, verdict) of people with a sex, one of four
races and an age in five bins. Without an effect decisions are drawn alike for all: the share of worlds with
evidence must be at most the level, and so must the share in which any corrected interval misses. With an
effect, women of race d (5% of people) are decided favorably less often by so many points.

Mitigation states what holds of the model that it chose among several. Models are simulated by their decisions
on the people held out: each decides by a number that it has in part in common with the others, none treats
the group otherwise than the rest, or each by five points less so. Counting, choosing and judging are the
audit's own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtri

from audits.mitigation.audit import chosen_step
from audits.mitigation.frontier import Candidate, frontier_of
from audits.mitigation.inference import judge_step
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import Step
from audits.rule_sets import RuleSetsResult, rule_sets
from audits.rule_sets.measures.values import WORDS, compared_values, measure_people
from audits.rule_sets.options import MEASURES, search_options
from audits.rule_sets.perturbation.terms import _adjusted_p_values, _Pattern
from audits.stats import EVIDENCE, Estimate, wilson
from audits.stats.intervals import cautious_difference
from audits.stats.means import mean_test
from audits.subgroups.attributes import Attribute, End, category, interval
from audits.subgroups.cells import count_cells, memberships
from audits.subgroups.search import Search
from audits.subgroups.sums import GroupSums
from benchmarks.calibration import LEVEL, Facts, alarm, audited, covers, decided, found, inside

_MODELS = 4


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


def _step(accepted: np.ndarray, member: np.ndarray, label: np.ndarray, added: int) -> Step:
    n, total = float(member.sum()), float(len(member))
    favorable, good = float(accepted[member].sum()), float(accepted.sum())
    level = LEVEL / _MODELS
    gap = cautious_difference(favorable, n, good - favorable, total - n, level=level)
    counts = (favorable, n), (good - favorable, total - n), (float((accepted == label).sum()), total)
    return Step(added, gap, *(wilson(*each, level=LEVEL) for each in counts), "", 0.0, ())


def _world(n: int, gap: float, number: int) -> Facts:
    gaps = np.linspace(-gap, -gap / 4, _MODELS)
    rng = np.random.default_rng([number, n, 17])
    member = rng.random(n) < 0.2
    common = rng.normal(size=n)
    label = common > 0
    own = np.sqrt(0.7) * common + np.sqrt(0.3) * rng.normal(size=(_MODELS, n))
    chance = 0.5 + np.outer(gaps, member)
    steps = [_step(each, member, label, k) for k, each in enumerate(own > -ndtri(chance))]
    chosen = chosen_step(steps)
    step = steps[chosen]
    judged = judge_step(steps, chosen, level=LEVEL, material=0.1)
    if gap == 0:  # decisions and labels are both signs of normal numbers that hang together
        yield alarm("evidence of a difference", judged.verdict == EVIDENCE)
        truth = 0.5 + np.arcsin(np.sqrt(0.7)) / np.pi
        yield covers("accuracy of the model chosen", step.accuracy, truth)
    yield covers("difference that is left", judged.interval, gaps[chosen])
    yield covers("favorable share of the group", step.favorable_in, 0.5 + gaps[chosen])
    yield covers("favorable share of everyone else", step.favorable_out, 0.5)


def _frontier(n: int, number: int) -> Facts:
    """Accuracy and gap of every point of a frontier, all together: models err more or less in one group."""
    rng = np.random.default_rng([number, n, 23])
    y, group = rng.random(n) < 0.5, np.arange(n) % 2
    people = pd.DataFrame({"g": group.astype(str), "y": y.astype(int)})
    luck, held = rng.random(n), True
    # of both groups the share accepted among the favorable and the other labels
    rates = np.array([[[0.8, 0.2 + k / 40], [0.8 - k / 20, 0.2]] for k in range(2 * _MODELS)])
    tried = (luck < np.where(y, own[group, 0], own[group, 1]) for own in rates)
    told = {"label": "y", "favorable": 1, "protected": ["g"], "features": []}
    subjects = (decided(people.assign(decision=each.astype(int)), "decision", **told) for each in tried)
    models = [Candidate("reweighing", 1.0, subject) for subject in subjects]
    points = frontier_of(models, "g", MitigationOptions())[0]
    for own, point in zip(rates, points, strict=True):
        chosen = own.mean(axis=1)
        held &= inside(point.gap, float(np.ptp(chosen)))
        held &= inside(point.accuracy, float((own[:, 0] + 1 - own[:, 1]).mean() / 2))
    yield covers("every accuracy and gap of a frontier", held, claimed=1 - 2 * LEVEL)
