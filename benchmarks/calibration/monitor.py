"""A monitor's false alarms and delays, of every kind, over simulated deployments.

People have six columns that hang together, scores, sensitivities, two groups and outcomes; with `persons` a
third of them come again, five times in a row. Without a change, alarms of all kinds together are counted
against the promise of one in 10,000 people; with a change, whether its kind alarms within so many people.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from audits.monitor.detectors import SHARES, Detectors, Outcomes
from audits.monitor.profile import BatchContext, Look, Profile
from audits.monitor.rates import Tally
from audits.sensitivity.monitor.bins import number_cells, numbers, row_hashes
from audits.sensitivity.monitor.reference import beside_others
from audits.stats import wilson
from audits.stats.control import design_chart, flag_rate_bound
from benchmarks.calibration import Facts, alarm, covers, found, inside

BUDGET, REFERENCE, COLUMNS, BATCH, PEOPLE = 10_000.0, 1000, 6, 500, 2000


def draw(n: int, rng: np.random.Generator, *, again: bool = False, change: str = "") -> SimpleNamespace:
    """Draw people; with `again` a third come up to five times in a row."""
    x = 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, COLUMNS))
    group, own, persons = (rng.random(n) < 0.4).astype(int), rng.normal(size=n), np.arange(n)
    if again:
        persons = np.repeat(np.arange(n), np.where(rng.random(n) < 1 / 3, 5, 1))[:n]
    x, group, own = x[persons], group[persons], own[persons]
    scores = 1 / (1 + np.exp(-(x[:, 0] + 0.5 * x[:, 1])))
    sensitivity = np.abs(x[:, 2]) * np.exp(0.3 * own)
    good = rng.random(n) < scores - (0.15 * group if change == "outcomes" else 0)
    x[:, 5] += {"inputs": 0.5, "joint": 0.25}.get(change, 0.0)
    if change == "scores":
        scores = np.clip(scores - 0.1, 0, 1)
    if change == "sensitivity":
        sensitivity *= 1.25
    if change == "repeats":
        twice = np.flatnonzero(rng.random(n - 1) < 0.1)
        x[twice + 1] = x[twice]
    told = {"scores": scores, "sensitivity": sensitivity, "group": group, "good": good}
    return SimpleNamespace(x=x, persons=persons, **told)


def profile_of(people: SimpleNamespace) -> Profile:
    """Return what an audit of these people would keep."""
    ones, decided = np.ones(len(people.scores)), people.scores >= 0.5

    def two(where: np.ndarray) -> list[float]:
        return [float((where & ~decided).sum()), float((where & decided).sum())]

    groups = {}
    for code in (0, 1):
        mine = people.group == code
        given = {"decisions": two(mine), "good": two(mine & people.good), "bad": two(mine & ~people.good)}
        apart = numbers(people.good[mine] - people.scores[mine], ones[mine])
        groups[f"g{code}"] = {"people": float(mine.sum()), **given, "apart": apart}
    columns = [numbers(people.x[:, k], ones) for k in range(COLUMNS)]
    plain = {
        "people": float(len(ones)),
        "columns": [
            {"column": f"c{k}", **each, "counts": [*each["counts"], 0.0]} for k, each in enumerate(columns)
        ],
        "joint": [{"column": f"c{k}", **beside_others(people.x, k, ones)} for k in range(COLUMNS)],
        "score": numbers(people.scores, ones),
        "sensitivity": numbers(people.sensitivity, ones),
        "decisions": two(np.ones_like(decided)),
        "threshold": 0.5,
        "unfavorable": False,
        "groups": {"group": groups},
        "repeats": {"block": 20, "bound": flag_rate_bound(0, len(ones) // 20), "pairs": 0.0},
    }
    return Profile(plain, [], [])


def deployment(
    rng: np.random.Generator, people: int, *, again: bool = False, change: str = "", before: int = 0
) -> set[str]:
    """Run one; return the kinds of its alarms, until the first of the kind that changed.

    The change comes after `before` people; alarms before it are not returned.
    """
    reference = draw(REFERENCE, rng)
    profile = profile_of(reference)
    streams = Detectors(profile, BUDGET)
    threshold = np.quantile(reference.sensitivity, 0.95, method="inverted_cdf")
    above = int((reference.sensitivity > threshold).sum())
    chart = design_chart(flag_rate_bound(above, REFERENCE), people_between=BUDGET / SHARES["flags"])
    value, found = 0, set()
    names = np.array(["g0", "g1"], dtype=object)
    for done in range(0, before + people, BATCH):
        now = change if done >= before else ""
        own = draw(BATCH, rng, again=again, change=now)
        counts = np.concatenate([[True], own.persons[1:] != own.persons[:-1]])
        alone = [number_cells(own.x[:, k], each) for k, each in enumerate(profile.plain["columns"])]
        beside = [number_cells(own.x @ np.array(each["direction"]), each) for each in profile.plain["joint"]]
        cells = np.column_stack([*alone, *beside])
        cannot = (rng.random(BATCH) < 0.02) if now == "impossible" else np.zeros(BATCH, dtype=bool)
        decided = own.scores >= 0.5
        refused = rng.random(BATCH) < (1 / 3 if now == "groups" else 0.2)
        if now in {"decisions", "groups"}:
            decided &= ~refused | ((now == "groups") & (own.group == 0))
        sent_scores = own.scores + (0.1 * (rng.random(BATCH) < 0.05) if now == "model" else 0.0)
        flagged = own.sensitivity > threshold
        if now == "flags":
            flagged |= rng.random(BATCH) < 0.05
        run = chart.follow(flagged[counts], value)
        value = run.value
        found |= {"flags"} if run.alarms else set()
        given = tuple(np.minimum(sent_scores, 1.0).tolist()), tuple(decided.tolist())
        sent = BatchContext(*given, (), {"group": tuple(names[own.group])})
        look = Look(cells, cannot, {}, (), row_hashes(own.x))
        followed = streams.follow(look, own.scores, own.sensitivity, sent, counts)
        known = [each[counts] for each in (own.good, own.scores, decided.astype(int))]
        outcomes = Outcomes(*known, [{"group": name} for name in names[own.group[counts]]])
        found |= {stream.kind for _, stream in [*followed, *streams.learn(outcomes)]}
        if done + BATCH <= before:
            found = set()
        if now in found:
            break
    return found


def _rates(number: int) -> Facts:
    """Whether every interval of every group holds the truth at every look."""
    rng = np.random.default_rng([number, 15])
    tally, fine = Tally({}), True
    truths = {"selection": 0.4, "true_positives": 0.4, "false_positives": 0.4, "calibration": 0.0}
    for _ in range(PEOPLE // 50):
        group = rng.choice(["a", "b", "c"], 50, p=[0.6, 0.3, 0.1]).tolist()
        score = rng.random(50)
        good, decided = rng.random(50) < score, (rng.random(50) < 0.4).astype(int)
        tally.add({"group": group}, decided, np.ones(50, dtype=bool))
        tally.learn(Outcomes(good, score, decided, [{"group": name} for name in group]))
        for each in tally.rates():
            for what, truth in truths.items():
                fine &= inside(getattr(each, what), truth) and inside(getattr(each, f"{what}_gap"), 0.0)
    yield covers("rates of groups, all of them at all times", fine)


def _chart(number: int) -> Facts:
    """Whether the chart alarms sooner than once in so many people, reference of 1,000 drawn anew."""
    rng = np.random.default_rng([number, 16])
    chart = design_chart(flag_rate_bound(50, 1000), people_between=10_000)
    own = float(rng.beta(51, 950))  # what share of people to come the reference's threshold flags
    flags = rng.random(1000) < own
    yield alarm("an alarm of the chart", bool(chart.follow(flags).alarms), claimed=0.1)
    yield covers("share flagged among the latest", wilson(float(flags[-500:].sum()), 500.0), own)


def _quiet(again: bool, number: int) -> Facts:
    """Whether an alarm comes without a change: of one in BUDGET people on average, at most this often.

    All kinds together have the whole budget, each kind its share.
    """
    kinds = deployment(np.random.default_rng((number, 7)), PEOPLE, again=again)
    yield alarm("any alarm", bool(kinds), claimed=PEOPLE / BUDGET)
    for kind, share in SHARES.items():
        yield alarm(f"an alarm of {kind}", kind in kinds, claimed=share * PEOPLE / BUDGET)


def _changed(change: str, before: int, within: int, number: int) -> Facts:
    """Whether a change is found, by an alarm of its own kind, within so many people."""
    kinds = deployment(np.random.default_rng((number, 8)), within, change=change, before=before)
    yield found(f"an alarm of {change}", change in kinds)
