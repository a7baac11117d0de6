"""How often paired intervals of a change hold it, and how often models that differ in noise alone seem to.

Decisions of two models agree as far as both follow what is shared by a person; what is left of each is noise
of its own. Where models are equal in distribution the true change is 0, and evidence of one is a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd

from audits.comparison.intervals import Moved, People, apart, mean_moved, ratio_moved, share_moved
from audits.groups import GroupsOptions
from audits.groups.audit import groups_from_people
from audits.groups.labels import LABEL
from audits.runs.comparison.two_models import audit_change
from audits.runs.result import AuditResult
from audits.stats import EVIDENCE
from audits.stats.design import make_design
from benchmarks.calibration import LEVEL, SLOW, Facts, alarm, covers, grid, inside

_TAIL_SAID = (
    "where a few people make most of the change, the interval's method says that it misses more often"
)
World = Callable[[np.random.Generator], tuple[Moved, float]]


def _pair(
    rng: np.random.Generator, n: int, first: float, second: float, shared: float = 0.75
) -> tuple[np.ndarray, np.ndarray]:
    """Decisions of two models (n,) of these rates, which both follow the same for a part of the people."""
    both, own = rng.random(n), rng.random((2, n))
    same = rng.random(n) < shared
    return np.where(same, both, own[0]) < first, np.where(same, both, own[1]) < second


def _plain(n: int) -> tuple[People, np.ndarray]:
    return People.counted(np.ones(n)), np.ones(n, dtype=bool)


def _share(n: int, rate: float, by: float, rng: np.random.Generator) -> tuple[Moved, float]:
    people, everyone = _plain(n)
    first, second = _pair(rng, n, rate, rate + by)
    return share_moved(people, (everyone, first), (everyone, second)), by


def _gap(n: int, rng: np.random.Generator) -> tuple[Moved, float]:
    people, _ = _plain(2 * n)
    inside = np.arange(2 * n) < n
    first, second = _pair(rng, 2 * n, 0.4, 0.4)
    own, rest = (share_moved(people, (part, first), (part, second)) for part in (inside, ~inside))
    return apart(rest, own, people), 0.0


def _others(n: int, rng: np.random.Generator) -> tuple[Moved, float]:
    """Of whom each model is about, some have a property: others with the second model, as often."""
    people, _ = _plain(n)
    about, has = _pair(rng, n, 0.5, 0.5), _pair(rng, n, 0.3, 0.3)
    return share_moved(people, (about[0], has[0]), (about[1], has[1])), 0.0


def _mean(n: int, tail: float, rng: np.random.Generator) -> tuple[Moved, float]:
    """Values whose logarithm has the deviation √(0.75² + 0.5²), after times `tail`."""
    people, everyone = _plain(n)
    shared = 0.75 * rng.normal(size=n)
    first, second = (np.exp(k * (shared + 0.5 * rng.normal(size=n))) for k in (1.0, tail))
    spread = 0.75**2 + 0.5**2
    return mean_moved(people, everyone, first, second), float(
        np.exp(tail**2 * spread / 2) - np.exp(spread / 2)
    )


def _ratio(n: int, rng: np.random.Generator) -> tuple[Moved, float]:
    people, _ = _plain(n)
    below = [rng.gamma(2, 1, n), rng.gamma(2, 1, n)]
    shared = rng.gamma(2, 1, n)
    above = [0.5 * part + 0.3 * shared + 0.2 * rng.gamma(2, 1, n) for part in below]
    return ratio_moved(people, (above[0], below[0]), (above[1], below[1])), 0.0


def _multiple(n: int, rng: np.random.Generator) -> tuple[Moved, float]:
    """A group's mean as a multiple of everyone else's, linearised as prediction sensitivity does."""
    from audits.comparison.sensitivity import _times

    people, _ = _plain(n)
    inside = rng.random(n) < 0.4
    shared = rng.normal(size=n)
    sides = [np.exp(0.7 * shared + 0.4 * rng.normal(size=n)) * np.where(inside, 1.5, 1.0) for _ in range(2)]
    ratios = [float(side[inside].mean() / side[~inside].mean()) for side in sides]
    both = [SimpleNamespace(ratio=SimpleNamespace(value=ratio), spread=0.0) for ratio in ratios]
    return _times(people, inside, sides, pd.DataFrame(index=range(n)), tuple(both)), 0.0


def _clusters(k: int, rng: np.random.Generator) -> tuple[Moved, float]:
    """Persons with several rows, whose decisions hang together."""
    person = np.repeat(np.arange(k), rng.integers(1, 6, k))
    n = len(person)
    own = [np.where(rng.random(k) < 0.7, part, 0.4) for part in rng.random((2, k))]
    first, second = (np.where(rng.random(n) < 0.6, part[person] < 0.4, rng.random(n) < 0.4) for part in own)
    people = People.sampled(make_design(n, cluster=person))
    everyone = np.ones(n, dtype=bool)
    return share_moved(people, (everyone, first), (everyone, second)), 0.0


def _flips(k: int, rng: np.random.Generator) -> tuple[Moved, float]:
    """Two people share a counterpart: their flips hang together, and count as one cluster."""
    counterpart = np.repeat(np.arange(k), 2)
    ours = _pair(rng, 2 * k, 0.5, 0.5)
    theirs = [side[counterpart] for side in _pair(rng, k, 0.6, 0.6)]
    flips = [here & ~there for here, there in zip(ours, theirs, strict=True)]
    people = People.counted(np.ones(2 * k), counterpart)
    everyone = np.ones(2 * k, dtype=bool)
    return share_moved(people, (everyone, flips[0]), (everyone, flips[1])), 0.0


def _change(drawn: tuple[str, str, World], number: int) -> Facts:
    """Whether the interval holds the change, and where nothing changes, whether it leaves out 0."""
    setting, shown, world = drawn
    said = _TAIL_SAID if setting == "100 people, lognormal, a longer tail then" else ""
    moved, truth = world(np.random.default_rng([number, 13]))
    told = moved.interval(LEVEL)
    if told.low is not None and told.high is not None:
        yield covers(shown, told, truth, said=said)
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


def _changes() -> Iterator[tuple[str, str, World]]:
    """Yield settings of one change: people, what is shown, and what draws it."""
    for n, rate, moved in product((30, 200, 1000), (0.4, 0.05), (0.0, 0.1)):
        setting = f"{n:,} people, rates of {rate:g} and {rate + moved:g}"
        yield setting, "change of a share", partial(_share, n, rate, moved)
    for n in (100, 1000):
        yield f"2 groups of {n:,}", "change of a gap between groups", partial(_gap, n)
        yield f"{n:,} people, each model about half", "change of a share of others", partial(_others, n)
        yield f"{n:,} people, lognormal, the same tails", "change of a mean", partial(_mean, n, 1.0)
        yield f"{n:,} people, lognormal, a longer tail then", "change of a mean", partial(_mean, n, 1.2)
        yield f"{n:,} people, long-tailed sums", "change of a ratio of sums", partial(_ratio, n)
        group = f"{n:,} people, two in five in the group"
        yield group, "change of a mean as a multiple of others'", partial(_multiple, n)
    for k in (30, 200):
        yield f"{k} persons of 1 to 5 rows", "change of a share", partial(_clusters, k)
        yield f"{2 * k} people, {k} counterparts", "change of a share of flips", partial(_flips, k)


_PAIRS = {
    "runs of 400 people, the second in another order": "permuted",
    "runs of 400 other people each, with the same row numbers": "disjoint",
    "runs of 400 people each, half of them in both": "overlapping",
}
_LABELS = {"100 people, without": (100, False), "1,000 people, with": (1000, True)}
SETTINGS = [
    *grid("paired", "{drawn}", _change, drawn={name: (name, *more) for name, *more in _changes()}),
    *grid("paired", "{who}", _runs, who=_PAIRS, part=SLOW),
    *grid("paired", "overview of 3 groups, {drawn} labels", _overview, drawn=_LABELS, part=SLOW / 2),
]
