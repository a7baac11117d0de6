"""Whether flipset verdicts and intervals hold: whole audits, in worlds of which the truth is known.

Worlds are those of tests/flipset/worlds.py. What lies above chance is an interval for the average over all
studies. Where groups are alike, or one rule decides and rates are equal, evidence is a false alarm.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from audits.flipset import FlipsetOptions, FlipsetResult, flipset
from audits.flipset.comparisons.marginals import marginals
from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import SLOW, Facts, alarm, covers, found, grid
from tests.flipset.worlds import subject

_SIDES = {"source": {"group": "a"}, "target": {"group": "b"}}
_NO_DIFFERENCE = ("alike", "hangs together otherwise", "proxy", "equal by lot")
"""Kinds of world in which evidence is a false alarm."""
_PLANTED = ("turned", "turned one way", "by lot", "parents")
"""Kinds in which people with the same features are decided differently, a tenth of them or more."""
_KINDS = {
    "alike": ((100, 1), (100, 2), (100, 8), (400, 2), (1_000, 8), (2_000, 2)),
    "proxy": ((100, 8), (400, 2), (1_000, 2)),
    "hangs together otherwise": ((100, 2), (400, 2), (200, 8), (1_000, 2), (2_000, 8)),
    "shifted": ((100, 2), (400, 8)),
    "turned": ((100, 2), (200, 8), (1_000, 8)),
    "turned one way": ((200, 2),),
    "by lot": ((200, 1), (1_000, 1)),
    "parents": ((400, 2),),
    "equal by lot": ((400, 2),),
}


def _audited(kind: str, n: int, d: int, seed: int, **more: float) -> FlipsetResult:
    options = FlipsetOptions(**_SIDES, bootstrap=100, **more)
    return flipset(subject(kind, n, d, seed), options, rng=seed % 1000)


def _cleared(seed: int) -> Facts:
    """How often the number of people stated settles that there is nothing, in another sample of so many."""
    n = _audited("equal by lot", 400, 2, seed).people_needed
    if n is not None:
        yield found(NO_MATERIAL, _audited("equal by lot", n, 2, 1000 + seed).verdict == NO_MATERIAL)


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


def _audit(world: tuple[str, int, int], seed: int) -> Facts:
    """A whole audit, a second for the level of chance, and whether what lies above it is covered."""
    kind, n, d = world
    told = _audited(kind, n, d, seed, seconds=1.0)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=kind in _NO_DIFFERENCE)
    if kind in _PLANTED:
        yield alarm("no material difference, where there is one", told.verdict == NO_MATERIAL)
    if told.above_chance is not None:
        yield covers("flips above chance (their mean over studies)", told.above_chance.excess)


_STABLE = "100 a group, 2 features, data sets of five kinds in turn, 20 seeds each"
_NEEDED = "equal by lot, as many people as 400 a group say are needed, 2 features"
_SETTINGS = {
    f"{kind}, {n:,} a group, {d} feature{'s' if d > 1 else ''}": (kind, n, d)
    for kind, sizes in _KINDS.items()
    for n, d in sizes
}
_LOTS = {f"{n:,} people, {size} of them": (n, size) for n, size in ((100, 10), (400, 40))}
SETTINGS = [
    *grid("flipset", "{world}", _audit, world=_SETTINGS, part=SLOW),
    *grid("flipset", "{drawn} by lot, four features", _by_lot, drawn=_LOTS),
    *grid("flipset", _STABLE, _stability, part=0.05),
    *grid("flipset", _NEEDED, _cleared, part=0.02),
]
