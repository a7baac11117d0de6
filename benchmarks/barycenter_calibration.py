"""How often `barycenter` sees a difference of three groups where there is none, and how its intervals cover.

    python -m benchmarks.calibration --only barycenter

The last of three groups, the smallest, is like the others or decided less favourably. Without a difference
flips above chance are 0, and every group's at once must be covered; a net difference is that of the rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from audits.barycenter import BarycenterOptions, BarycenterResult, barycenter
from audits.flipset import FlipsetOptions, flipset
from audits.stats import EVIDENCE
from benchmarks.calibration import SLOW, Row, Simulation
from tests.barycenter.test_barycenter import subject_of

_SIZES = (0.5, 0.3, 0.2)


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    alike = [
        Simulation("barycenter", setting, partial(_drawn, n, 0.0, setting, draws), part=part)
        for n, draws, part in ((120, 20.0, SLOW / 2), (400, 0.5, SLOW / 2))
        for how in ("everybody matched again" if draws > 1 else "samples matched again",)
        for setting in (f"{n} people of three groups alike, {how}",)
    ]
    lower = [
        Simulation("barycenter", setting, partial(_drawn, n, 0.3, setting, 0.5), part=SLOW / 2)
        for n in (400,)
        for setting in (f"{n} people, the smallest of three groups favored 30 % less often",)
    ]
    same = "two groups of 60 to 120 people, flips of either group within a thousandth of the flipset's"
    return [*alike, *lower, Simulation("barycenter", same, partial(_two_groups, same), part=SLOW)]


def _two_groups(setting: str, numbers: range) -> Iterator[Row]:
    """How often a barycenter of two groups flips the people whom a flipset flips."""
    same = 0
    for number in numbers:
        n = 60 + number % 61
        frame = world(2 * n, 0.3, number)
        frame["group"] = np.where(frame["group"] == "a", "a", "b")
        people = subject_of(frame)
        one = barycenter(people, BarycenterOptions(permutations=0), rng=number).group("a")
        asked = FlipsetOptions(source={"group": "a"}, target={"group": "b"}, permutations=0, bootstrap=100)
        other = flipset(people, asked, rng=number)
        shares = other.positive.share.value, other.negative.share.value
        same += np.allclose((one.only_self, one.only_counterpart), shares, atol=1e-3)
    yield Row("barycenter", "flips are a flipset's", setting, "coverage", 0.95, same, len(numbers))


def world(n: int, lower: float, number: int) -> pd.DataFrame:
    """Two features, one of which decisions follow; the last group is favoured less often by `lower`."""
    rng = np.random.default_rng([number, n, 16])
    group = np.repeat([0, 1, 2], np.round(np.array(_SIZES) * n).astype(int))
    x = rng.normal(size=(len(group), 2))
    chance = np.where(group == 2, 1 - lower, 1.0) / (1 + np.exp(-x[:, 0]))
    frame = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "group": np.array(list("abc"))[group]})
    return frame.assign(decision=(rng.random(len(group)) < chance).astype(int))


def _audit(frame: pd.DataFrame, number: int, seconds: float) -> BarycenterResult:
    options = BarycenterOptions(permutations=39, seconds=seconds, rounds=0)
    return barycenter(subject_of(frame), options, rng=number)


def _drawn(n: int, lower: float, setting: str, seconds: float, numbers: range) -> Iterator[Row]:
    rates = np.array([0.5, 0.5, 0.5 * (1 - lower)])
    shares = np.array(_SIZES)
    others = (shares @ rates - shares * rates) / (1 - shares)
    truth = dict(zip("abc", rates - others, strict=True))
    alarms = above = net = share = 0
    for number in numbers:
        found = _audit(world(n, lower, number), number, seconds)
        alarms += found.verdict == EVIDENCE
        above += all(each.excess.low <= 0 <= each.excess.high for each in found.groups)
        net += all(each.net.low <= truth[each.group] <= each.net.high for each in found.groups)
        share += found.groups[2].rate.low <= rates[2] <= found.groups[2].rate.high
    worlds = len(numbers)
    kind, aim = ("power", 0.8) if lower else ("false alarms", 0.05)
    yield Row("barycenter", "evidence of a difference", setting, kind, aim, alarms, worlds)
    # both kinds of intervals share the level: each holds for all groups at half of it
    if not lower:
        yield Row(
            "barycenter", "flips above chance, all groups together", setting, "coverage", 0.975, above, worlds
        )
    yield Row("barycenter", "net flips, all groups together", setting, "coverage", 0.975, net, worlds)
    yield Row("barycenter", "favorable share of a group", setting, "coverage", 0.95, share, worlds)
