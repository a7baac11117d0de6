"""What audits share: shares, quality, rows that are no person each, a run's verdicts, and changes of models.

Decisions of two models agree as far as both follow what is shared by a person; what is left of each is noise
of its own. Where models are equal in distribution the true change is 0, and evidence of one is a false alarm.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import audits
from audits.comparison.intervals import Moved, People, apart, mean_moved, ratio_moved, share_moved
from audits.comparison.sensitivity import _times
from audits.groups import GroupsOptions
from audits.groups.audit import groups_from_people
from audits.groups.labels import LABEL
from audits.models.quality import accuracy, area_under_curve, by_design, log_loss
from audits.runs.comparison.two_models import audit_change
from audits.runs.multiple_testing import counted_together
from audits.runs.result import AuditResult
from audits.stats import EVIDENCE, Estimate, judge, wilson
from audits.stats.design import design_share, make_design
from audits.stats.group_means import group_means
from audits.stats.intervals import cautious_difference
from audits.stats.sequential import DriftTest
from benchmarks.calibration import LEVEL, Facts, alarm, audited, covers, decided, inside

_ALIKE = 0.6  # of the variance is a person's own, the rest a row's
_SPREAD = 0.75**2 + 0.5**2  # variance of the logarithm of values
_PERSONS = "five rows a person, intra-class correlation .6"


def _drawn(kind: str, n: int, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Rows with group and decision, 0 or 1, and what is known of how they were sampled."""
    if kind.startswith("weights"):
        weights = rng.lognormal(0, np.sqrt(np.log(2)), n)  # coefficient of variation 1
        member, event, sampled = rng.random(n) < 0.5, rng.random(n) < share, {"weights": weights}
    else:
        (size, concentration), strata = (5, 2 / 3) if kind == _PERSONS else (10, 2.0), "strata" in kind
        own, mean = np.repeat(np.arange(n // size), size), share
        if strata:  # rates a half above and below, each stratum half of the clusters
            mean = share * np.where(np.arange(n // size) % 2 == 0, 1.5, 0.5)
        chance = rng.beta(mean * concentration, (1 - mean) * concentration, n // size)[own]
        member = (own % 2 == 0) if size == 5 else rng.random(len(own)) < 0.5
        event, sampled = rng.random(len(own)) < chance, {"cluster": own}
        if strata:
            sampled["strata"] = own % 2
    return pd.DataFrame({"group": member.astype(int), "decision": event.astype(int), **sampled})


def _designed(kind: str, n: int, share: float, number: int) -> Facts:
    frame = _drawn(kind, n, share, np.random.default_rng([number, n, round(100 * share)]))
    told = {name: frame[name].to_numpy() for name in ("cluster", "strata", "weights") if name in frame}
    member, event = (frame[name].to_numpy() == 1 for name in ("group", "decision"))
    one = design_share(make_design(len(frame), **told), member, event, level=LEVEL).estimate
    yield covers("interval of a share", one, share)


def _compared(kind: str, n: int, share: float, number: int) -> Facts:
    """Two groups alike in the overview; labels say nothing of decisions."""
    rng = np.random.default_rng([number, n, round(100 * share)])
    frame = _drawn(kind, n, share, rng)
    frame["label"] = rng.integers(0, 2, len(frame))
    column = "weights" if "weights" in frame else "ones"
    named = {name: name for name in ("strata", "cluster") if name in frame}
    sampling = {"weights": {"column": column, "kind": "sampling", **named}}
    design = {"person": "cluster"} if kind == _PERSONS else sampling
    people = frame.assign(ones=1.0)
    people = decided(people, "decision", label="label", favorable=1, protected=["group"], **design)
    told = audited("groups", people, number, bootstrap=0)
    yield alarm("evidence of a difference", told.verdict == EVIDENCE)


def _shares(n: int, share: float, number: int) -> Facts:
    """A share, and differences from another group's of as many people."""
    a, b = np.random.default_rng([number, n, round(100 * share), 1]).binomial(n, share, 2)
    yield covers("share of people", wilson(float(a), float(n), level=LEVEL), share)
    gap = cautious_difference(float(a), float(n), float(b), float(n), level=LEVEL)
    yield alarm("difference of two shares", not inside(gap, 0))


def _means(n: int, skewed: bool, number: int) -> Facts:
    """Means of groups against everybody else's, as recourse and outcome_transport compare them."""
    rng = np.random.default_rng([number, n, 2])
    values = rng.exponential(size=(4 * n)) if skewed else rng.normal(size=4 * n)
    of = np.arange(4 * n) // n // 3
    tested = group_means(values, np.ones(4 * n), of, level=LEVEL, permutations=199, rng=rng)
    yield alarm("means of groups", tested is not None and tested.p_value <= LEVEL)


def _drift(mixed: bool, number: int) -> Facts:
    """A monitor without drift, looked at after each of 100 batches of 20 people."""
    rng = np.random.default_rng([number, 9])

    def draw(n: int) -> np.ndarray:
        return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)) if mixed else rng.normal(size=n)

    test = DriftTest(draw(500), seed=number)
    for _ in range(100):
        test.update(draw(20))
    yield alarm("drift of a monitor", test.p_value <= LEVEL)  # the smallest so far


def _session(number: int) -> Facts:
    results = []
    for p in np.random.default_rng([number, 8]).uniform(size=8):
        judged = judge(Estimate(0.2, 0.1, 0.3, 400, "drawn"), immaterial=(-0.1, 0.1), p_value=p)
        results.append(SimpleNamespace(judged=judged, verdict=judged.verdict))
    wrong = EVIDENCE in [each.verdict for each in counted_together(results, [{"level": LEVEL}] * 8)]
    yield alarm("any evidence in a run, after Holm over it", wrong)


def _scored(rng: np.random.Generator, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,), and scores (n,) in [0, 1] that tell some of them; `who` each row is of (n,)."""

    def drawn() -> np.ndarray:
        own, other = rng.normal(size=who.max() + 1)[who], rng.normal(size=len(who))
        return np.sqrt(_ALIKE) * own + np.sqrt(1 - _ALIKE) * other

    true = drawn()
    return true > 0.2, 1 / (1 + np.exp(-(0.96 * true + 0.72 * drawn())))


def _stated(
    rng: np.random.Generator, who: np.ndarray, y: np.ndarray, scores: np.ndarray, *, weighted: bool = False
) -> tuple[Estimate, Estimate, Estimate]:
    """Accuracy, area under the curve and log loss as stated of these rows."""
    if weighted or who.max() + 1 < len(who):
        weights = np.exp(np.sqrt(np.log(2)) * rng.normal(size=who.max() + 1))[who] if weighted else None
        return by_design(make_design(len(y), weights=weights, cluster=who), scores, scores >= 0.5, y)
    one = np.ones(len(y))
    return accuracy(scores >= 0.5, y, one), area_under_curve(scores, y, one), log_loss(scores, y, one)


@cache
def _qualities() -> tuple[Estimate, Estimate, Estimate]:
    """What holds of everybody, from 800,000 rows: it depends neither on weights nor on rows a person."""
    rng, who = np.random.default_rng(7), np.arange(800_000)
    return _stated(rng, who, *_scored(rng, who))


def _quality(rows: int, each: int, weighted: bool, number: int) -> Facts:
    rng, who = np.random.default_rng([number, rows // each]), np.repeat(np.arange(rows // each), each)
    told = _stated(rng, who, *_scored(rng, who), weighted=weighted)
    names = "accuracy", "area under the curve", "log loss"
    for name, one, true in zip(names, told, _qualities(), strict=True):
        held = one.low is not None and one.high is not None and inside(one, true.value)
        yield covers(f"{name} of a model", held)


def _nearly_certain(rows: int, each: int, weighted: bool, number: int) -> Facts:
    """Scores of 2 and 98%, as often wrong as they say: of few people nobody may be."""
    people = rows // each
    rng = np.random.default_rng([number, people, 3])
    who, stated = np.repeat(np.arange(people), each), np.where(rng.random(people) < 0.5, 0.02, 0.98)
    y, scores = (rng.random(people) < stated)[who], (stated + rng.uniform(-1e-3, 1e-3, people))[who]
    told = _stated(rng, who, y, scores, weighted=weighted)[2]
    true = -0.02 * np.log(0.02) - 0.98 * np.log(0.98)
    yield covers("log loss of a model", told.low is None or inside(told, true))


_SHOWN = {
    "_share": "change of a share",
    "_gap": "change of a gap between groups",
    "_others": "change of a share of others",
    "_mean": "change of a mean",
    "_ratio": "change of a ratio of sums",
    "_multiple": "change of a mean as a multiple of others'",
    "_clusters": "change of a share",
    "_flips": "change of a share of flips",
}


def _pair(
    rng: np.random.Generator, n: int, first: float, second: float, shared: float = 0.75
) -> tuple[np.ndarray, np.ndarray]:
    """Decisions of two models (n,) of these rates, which both follow the same for a part of the people."""
    both, own = rng.random(n), rng.random((2, n))
    same = rng.random(n) < shared
    return np.where(same, both, own[0]) < first, np.where(same, both, own[1]) < second


def _plain(n: int) -> tuple[People, np.ndarray]:
    return People.counted(np.ones(n)), np.ones(n, dtype=bool)


def _share(n: int, rate: float, by: float, rng: np.random.Generator) -> Moved:
    people, everyone = _plain(n)
    first, second = _pair(rng, n, rate, rate + by)
    return share_moved(people, (everyone, first), (everyone, second))


def _gap(n: int, rng: np.random.Generator) -> Moved:
    (people, _), inside = _plain(2 * n), np.arange(2 * n) < n
    first, second = _pair(rng, 2 * n, 0.4, 0.4)
    own, rest = (share_moved(people, (part, first), (part, second)) for part in (inside, ~inside))
    return apart(rest, own, people)


def _others(n: int, rng: np.random.Generator) -> Moved:
    """Of whom each model is about, some have a property: others with the second model, as often."""
    about, has = _pair(rng, n, 0.5, 0.5), _pair(rng, n, 0.3, 0.3)
    return share_moved(_plain(n)[0], *zip(about, has, strict=True))


def _mean(n: int, rng: np.random.Generator, tail: float = 1.0) -> Moved:
    """Values whose logarithm has the variance `_SPREAD`, after times the square of `tail`."""
    people, everyone = _plain(n)
    shared = 0.75 * rng.normal(size=n)
    first, second = (np.exp(k * (shared + 0.5 * rng.normal(size=n))) for k in (1.0, tail))
    return mean_moved(people, everyone, first, second)


def _ratio(n: int, rng: np.random.Generator) -> Moved:
    below = [rng.gamma(2, 1, n), rng.gamma(2, 1, n)]
    shared = rng.gamma(2, 1, n)
    above = [0.5 * part + 0.3 * shared + 0.2 * rng.gamma(2, 1, n) for part in below]
    return ratio_moved(_plain(n)[0], *zip(above, below, strict=True))


def _multiple(n: int, rng: np.random.Generator) -> Moved:
    """A group's mean as a multiple of everyone else's, linearised as prediction sensitivity does."""
    inside, shared = rng.random(n) < 0.4, rng.normal(size=n)
    sides = [np.exp(0.7 * shared + 0.4 * rng.normal(size=n)) * np.where(inside, 1.5, 1.0) for _ in range(2)]
    ratios = [float(side[inside].mean() / side[~inside].mean()) for side in sides]
    both = (SimpleNamespace(ratio=SimpleNamespace(value=ratio), spread=0.0) for ratio in ratios)
    return _times(_plain(n)[0], inside, sides, pd.DataFrame(index=range(n)), tuple(both))


def _clusters(k: int, rng: np.random.Generator) -> Moved:
    """Persons with several rows, whose decisions hang together."""
    person = np.repeat(np.arange(k), rng.integers(1, 6, k))
    everyone = np.ones(len(person), dtype=bool)
    own = [np.where(rng.random(k) < 0.7, part, 0.4)[person] for part in rng.random((2, k))]
    sides = [
        np.where(rng.random(len(person)) < 0.6, part < 0.4, rng.random(len(person)) < 0.4) for part in own
    ]
    people = People.sampled(make_design(len(person), cluster=person))
    return share_moved(people, *((everyone, side) for side in sides))


def _flips(k: int, rng: np.random.Generator) -> Moved:
    """Two people share a counterpart: their flips hang together, and count as one cluster."""
    counterpart, everyone = np.repeat(np.arange(k), 2), np.ones(2 * k, dtype=bool)
    ours, theirs = _pair(rng, 2 * k, 0.5, 0.5), _pair(rng, k, 0.6, 0.6)
    flips = [here & ~there[counterpart] for here, there in zip(ours, theirs, strict=True)]
    people = People.counted(np.ones(2 * k), counterpart)
    return share_moved(people, *((everyone, side) for side in flips))


def _change(drawn: dict[str, Any], number: int) -> Facts:
    """Whether the interval holds the change, and where nothing changes, whether it leaves out 0."""
    of, truth = dict(drawn), drawn.get("by", 0.0)
    shown, world = _SHOWN[of["of"]], globals()[of.pop("of")]
    if "tail" in of:
        truth = np.exp(of["tail"] ** 2 * _SPREAD / 2) - np.exp(_SPREAD / 2)
    told = world(rng=np.random.default_rng([number, 13]), **of).interval(LEVEL)
    if told.low is not None and told.high is not None:
        yield covers(shown, told, truth)
        if truth == 0:
            yield alarm(shown, not inside(told, 0))


def _runs(who: str, number: int) -> Facts:
    """Whether `compare` of two runs finds a change of two models that are equal in distribution."""
    rng = np.random.default_rng([number, 32])
    first, second = _pair(rng, 800, 0.4, 0.4)
    frame = pd.DataFrame({"x": rng.normal(size=800), "first": first, "second": second}).astype(float)
    frame["sex"] = np.where(rng.random(800) < 0.5, "f", "m")
    one, two = frame[:400], frame[:400].sample(frac=1, random_state=number)
    if who != "permuted":
        two = frame[400:].reset_index(drop=True) if who == "disjoint" else frame[200:600]
    runs = [
        audits.audit(
            None, people, predictions=name, favorable=1.0, protected="sex", features=["x"],
            audits={"groups": {"bootstrap": 0}},
        )
        for people, name in ((one, "first"), (two, "second"))
    ]  # fmt: skip
    [told] = audits.compare(*runs).audits
    row = next(row for row in told.rows if row.where == "table[sex: f].selection_rate")
    yield covers("change of a rate, by `compare`", row.change, 0)
    yield alarm("evidence, by `compare`", told.judged.verdict == EVIDENCE)


def _overview(drawn: tuple[int, bool], number: int) -> Facts:
    """Whether anything among all rates and gaps of an overview seems to change where nothing does."""
    n, labels = drawn
    rng = np.random.default_rng([number, n, 14])
    people = pd.DataFrame({"score": 0.5, "decision": False, "people": 1.0}, index=range(n))
    if labels:
        people[LABEL] = rng.random(n) < 0.5
    people["group: g"] = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    options = GroupsOptions(bootstrap=0)
    results = [
        AuditResult(
            "groups", {"level": LEVEL},
            groups_from_people(people.assign(decision=side), ("g",), options, "favorable", n, 0),
        )
        for side in _pair(rng, n, 0.4, 0.4)
    ]  # fmt: skip
    yield alarm("evidence of any change", audit_change(*results, 0).verdict == EVIDENCE)
