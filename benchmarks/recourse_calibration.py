"""Do recourse's verdicts and intervals hold? Whole audits of groups alike, and of one with further to go.

Counterparts are people of the same sample, so what an interval is for is not known beforehand: coverage is of
the mean over all worlds drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from audits.recourse import RecourseResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate
from benchmarks.calibration import SLOW, Row, Simulation

LEVEL = 0.05


def world(n: int, apart: float, seed: int, groups: str = "ab") -> RecourseResult:
    """Audit `n` people, of whom the last group's have so much less of what is asked for."""
    from tests.outcome_transport.subjects import Linear, recourse_of, subject_of

    rng = np.random.default_rng([seed, n])
    group = rng.choice(list(groups), n)
    x = rng.normal(size=(n, 2))
    x[group == groups[-1], 0] -= apart
    frame = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "group": group})
    subject = subject_of(frame, Linear(x=1.0, z=0.5), ("x",))
    return recourse_of(subject, permutations=199, resolution=0.05, fewest=False, rng=seed)


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for apart in (0.0, 1.5):
        for n, groups in ((200, "ab"), (200, "abcd"), (1000, "ab"), (2000, "abcd")):
            words = "groups alike" if apart == 0 else "one with further to go"
            setting = f"{n:,} people, {len(groups)} {words}"
            run = partial(_rows, n, apart, groups, setting)
            found.append(Simulation("recourse", setting, run, part=SLOW))
    setting = "500 people, one action a group, of which the best helps a few more at ten times the cost"
    found.append(Simulation("recourse", setting, partial(_actions, setting), part=SLOW))
    return found


def _actions(setting: str, numbers: range) -> Iterator[Row]:
    """Hold what a group's action is said to do against 20,000 new people of the group."""
    from tests.outcome_transport.subjects import Linear, recourse_of, subject_of

    held = stated = 0
    for number in numbers:
        rng = np.random.default_rng([number, 23])
        frame = _savers(500, rng)
        subject = subject_of(frame, Linear(x=1.0, z=-1.0), ("x",))
        asked = {"ways": 3, "noise": 0.0, "permutations": 19, "resolution": 0.25, "fewest": False}
        result = recourse_of(subject, **asked, rng=number)
        new = _savers(40_000, rng)
        for row in result.group_actions:
            more = float(row.action.split()[1].replace(",", ""))
            there = new[(new["group"] == row.group) & (new["x"] - new["z"] < 0)]
            moved = np.minimum(there["x"] + more, frame["x"].max())
            held += _inside(row.coverage, float((moved - there["z"] >= 0).mean()))
            stated += 1
    shown = "share accepted after a group's action, among new people"
    yield Row("recourse", shown, setting, "coverage", 1 - LEVEL, held, stated)


def _savers(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Most lack a little, one in forty lacks much; savings are skewed."""
    needs = np.where(rng.random(n) < 0.025, 15.0, rng.uniform(0.5, 2.5, n))
    x = rng.lognormal(0.0, 1.0, n).round(2)
    return pd.DataFrame({"x": x, "z": needs, "group": rng.choice(["a", "b"], n)})


def _inside(found: Estimate, truth: float) -> bool:
    return (found.low or 0.0) <= truth <= (1.0 if found.high is None else found.high)


def _rows(n: int, apart: float, groups: str, setting: str, numbers: range) -> Iterator[Row]:
    drawn = [world(n, apart, number, groups) for number in numbers]
    worlds = len(drawn)
    hits = sum(each.verdict == EVIDENCE for each in drawn)
    kind, nominal = ("false alarms", LEVEL) if apart == 0 else ("power", 0.8)
    yield Row("recourse", "evidence of a difference", setting, kind, nominal, hits, worlds)
    if apart > 0:
        wrong = sum(each.verdict == NO_MATERIAL for each in drawn)
        shown = "no material difference, where there is one"
        yield Row("recourse", shown, setting, "false alarms", LEVEL, wrong, worlds)
    last = [next(row for row in each.by_group if row.group == groups[-1]) for each in drawn]
    shown = "mean burden of a group (its mean over studies)"
    yield _covered(shown, setting, [row.burden for row in last])
    shown = "mean burden minus the others' (its mean over studies)"
    yield _covered(shown, setting, [row.burden_difference for row in last])
    half = [each.by_alpha[2].reclassified for each in drawn]
    yield _covered("share accepted half way (its mean over studies)", setting, half)


def _covered(shown: str, setting: str, found: list[Estimate]) -> Row:
    ends = [each for each in found if each.value is not None and each.low is not None]
    truth = float(np.mean([each.value for each in ends]))
    held = sum(bool((each.low or 0.0) <= truth <= (each.high or 0.0)) for each in ends)
    return Row("recourse", shown, setting, "coverage", 1 - LEVEL, held, len(ends))
