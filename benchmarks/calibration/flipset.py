"""Whether verdicts and intervals of flipset and barycenter hold: whole audits, the truth of which is known.

Flipset's worlds are those of tests/flipset/worlds.py. What lies above chance is an interval for the average
over all studies. Where groups are alike, or one rule decides and rates are equal, evidence is a false alarm.

Of barycenter's three groups the last, the smallest, is like the others or decided less favorably. Without a
difference flips above chance are 0, and every group's at once must be covered; a net difference is that of
the rates.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from audits.flipset import FlipsetOptions, FlipsetResult, flipset
from audits.flipset.comparisons.marginals import marginals
from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import Facts, alarm, audited, covers, found, inside
from tests.barycenter.test_barycenter import subject_of
from tests.flipset.worlds import subject

_SIZES = (0.5, 0.3, 0.2)
_SIDES = {"source": {"group": "a"}, "target": {"group": "b"}}
_NO_DIFFERENCE = ("alike", "hangs together otherwise", "proxy", "equal by lot")
"""Kinds of world in which evidence is a false alarm."""
_PLANTED = ("turned", "turned one way", "by lot", "parents")
"""Kinds in which people with the same features are decided differently, a tenth of them or more."""


def _audited(kind: str, n: int, d: int, seed: int, **more: float) -> FlipsetResult:
    options = FlipsetOptions(**_SIDES, bootstrap=100, **more)
    return flipset(subject(kind, n, d, seed), options, rng=seed % 1000)


def _cleared(number: int) -> Facts:
    """How often the number of people stated settles that there is nothing, in another sample of so many."""
    n = _audited("equal by lot", 400, 2, number).people_needed
    if n is not None:
        yield found(NO_MATERIAL, _audited("equal by lot", n, 2, 1000 + number).verdict == NO_MATERIAL)


def _stability(number: int) -> Facts:
    """How often 19 of 20 seeds give one verdict, in data sets whose p-value is not at the border.

    At the border is a mean p-value within two Monte-Carlo errors of 199 permutations from the level.
    """
    options = FlipsetOptions(**_SIDES, seconds=1.0, bootstrap=100)
    kinds = ("alike", "hangs together otherwise", "shifted", "turned", "turned one way")
    people = subject(kinds[number % len(kinds)], 100, 2, number)
    told = [flipset(people, options, rng=seed) for seed in range(20)]
    p = float(np.mean([each.judged.p_value for each in told]))
    if abs(p - 0.05) > 2 * np.sqrt(0.05 * 0.95 / 199):
        agreed = Counter(each.verdict for each in told).most_common(1)[0][1] >= 19
        yield covers("one verdict in 19 of 20 seeds", agreed)


def _by_lot(drawn: tuple[int, int], number: int) -> Facts:
    """Marginals of a flipset that was drawn by lot: how often some feature is said to differ."""
    n, size = drawn
    rng = np.random.default_rng([number, n, 21])
    frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.exponential(size=n)})
    frame["few"], frame["many"] = rng.choice(["a", "b"], n), rng.choice(list("abcdefgh"), n)
    flips = np.zeros(n)
    flips[rng.choice(n, size, replace=False)] = 1.0
    scaled = {"x": True, "y": True, "few": False, "many": False}
    told = marginals(frame, scaled, flips, np.ones(n), rng)
    yield alarm("features of a flipset by lot", min(each.adjusted_p or 0.0 for each in told) <= 0.05)


def _audit(world: tuple[str, int, int], number: int) -> Facts:
    """A whole audit, a second for the level of chance, and whether what lies above it is covered."""
    kind, n, d = world
    told = _audited(kind, n, d, number, seconds=1.0)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=kind in _NO_DIFFERENCE)
    if kind in _PLANTED:
        yield alarm("no material difference, where there is one", told.verdict == NO_MATERIAL)
    if told.above_chance is not None:
        yield covers("flips above chance (their mean over studies)", told.above_chance.excess)


def world(n: int, lower: float, number: int) -> pd.DataFrame:
    """Two features, one of which decisions follow; the last group is favored less often by `lower`."""
    rng = np.random.default_rng([number, n, 16])
    group = np.repeat([0, 1, 2], np.round(np.array(_SIZES) * n).astype(int))
    x = rng.normal(size=(len(group), 2))
    chance = np.where(group == 2, 1 - lower, 1.0) / (1 + np.exp(-x[:, 0]))
    frame = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "group": np.array(list("abc"))[group]})
    return frame.assign(decision=(rng.random(len(group)) < chance).astype(int))


def _world(drawn: tuple[int, float, float], number: int) -> Facts:
    n, lower, seconds = drawn
    rates, shares = np.array([0.5, 0.5, 0.5 * (1 - lower)]), np.array(_SIZES)
    truth = dict(zip("abc", rates - (shares @ rates - shares * rates) / (1 - shares), strict=True))
    people = subject_of(world(n, lower, number))
    told = audited("barycenter", people, number, permutations=39, seconds=seconds, rounds=0)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=not lower)
    # both kinds of intervals share the level: each holds for all groups at half of it
    if not lower:
        above = all(inside(each.excess, 0) for each in told.groups)
        yield covers("flips above chance, all groups together", above, claimed=0.975)
    net = all(inside(each.net, truth[each.group]) for each in told.groups)
    yield covers("net flips, all groups together", net, claimed=0.975)
    yield covers("favorable share of a group", told.groups[2].rate, rates[2])


def _rare(small: int, number: int) -> Facts:
    """A tiny group among 1,000 others that weigh as much, where 2% of either are favored."""
    rng = np.random.default_rng([number, small])
    group = np.repeat(["a", "b"], [small, 1000])
    frame = pd.DataFrame({"x": rng.normal(size=len(group)), "z": rng.normal(size=len(group)), "group": group})
    people = subject_of(frame.assign(decision=(rng.random(len(group)) < 0.02).astype(int)))
    asked = {"permutations": 19, "seconds": 0.2, "rounds": 0, "weights": "equal", "fewest": 2}
    told = audited("barycenter", people, number, **asked)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=True)
