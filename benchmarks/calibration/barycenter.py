"""How often `barycenter` sees a difference of three groups where there is none, and how its intervals cover.

The last of three groups, the smallest, is like the others or decided less favorably. Without a difference
flips above chance are 0, and every group's at once must be covered; a net difference is that of the rates.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.stats import EVIDENCE
from benchmarks.calibration import SLOW, Facts, audited, covers, found, grid, inside
from tests.barycenter.test_barycenter import subject_of

_SIZES = (0.5, 0.3, 0.2)


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


_WORLDS = {
    "120 people of three groups alike, everybody matched again": (120, 0.0, 20.0),
    "400 people of three groups alike, samples matched again": (400, 0.0, 0.5),
    "400 people, the smallest of three groups favored 30% less often": (400, 0.3, 0.5),
}
SETTINGS = [
    *grid("barycenter", "{world}", _world, world=_WORLDS, part=SLOW / 2),
    *grid(
        "barycenter",
        "{small} people and 1,000, 2% favored, equal weights",
        _rare,
        small=(5, 20),
        part=SLOW / 2,
    ),
]
