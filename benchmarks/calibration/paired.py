"""How often paired intervals of a change hold it, and how often models that differ in noise alone seem to.

Decisions of two models agree as far as both follow what is shared by a person; what is left of each is noise
of its own. Where models are equal in distribution the true change is 0, and evidence of one is a false alarm.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from audits.comparison.intervals import Moved, People, apart, mean_moved, ratio_moved, share_moved
from audits.comparison.sensitivity import _times
from audits.groups import GroupsOptions
from audits.groups.audit import groups_from_people
from audits.groups.labels import LABEL
from audits.runs.comparison.two_models import audit_change
from audits.runs.result import AuditResult
from audits.stats import EVIDENCE
from audits.stats.design import make_design
from benchmarks.calibration import LEVEL, Facts, alarm, covers, inside

_SPREAD = 0.75**2 + 0.5**2  # variance of the logarithm of values
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
    import audits

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
