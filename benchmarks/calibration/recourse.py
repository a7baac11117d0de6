"""Do recourse's verdicts and intervals hold? Whole audits of groups alike, and of one with further to go.

Counterparts are people of the same sample, so what an interval is for is not known beforehand: coverage is of
the mean over all worlds drawn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.recourse import RecourseResult
from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import Facts, alarm, covers, found
from tests.outcome_transport.subjects import Linear, recourse_of, subject_of


def world(n: int, apart: float, seed: int, groups: str = "ab") -> RecourseResult:
    """Audit `n` people, of whom the last group's have so much less of what is asked for."""
    rng = np.random.default_rng([seed, n])
    group = rng.choice(list(groups), n)
    x = rng.normal(size=(n, 2))
    x[group == groups[-1], 0] -= apart
    frame = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "group": group})
    subject = subject_of(frame, Linear(x=1.0, z=0.5), ("x",))
    return recourse_of(subject, permutations=199, resolution=0.05, fewest=False, rng=seed)


def _savers(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Most lack a little, one in forty lacks much; savings are skewed."""
    needs = np.where(rng.random(n) < 0.025, 15.0, rng.uniform(0.5, 2.5, n))
    x = rng.lognormal(0.0, 1.0, n).round(2)
    return pd.DataFrame({"x": x, "z": needs, "group": rng.choice(["a", "b"], n)})


def _actions(number: int) -> Facts:
    """Hold what a group's action is said to do against 20,000 new people of the group."""
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
        truth = float((moved - there["z"] >= 0).mean())
        yield covers("share accepted after a group's action, among new people", row.coverage, truth)


def _audit(crowd: tuple[int, str], apart: float, number: int) -> Facts:
    n, groups = crowd
    drawn = world(n, apart, number, groups)
    yield found("evidence of a difference", drawn.verdict == EVIDENCE, no_difference=apart == 0)
    if apart > 0:
        yield alarm("no material difference, where there is one", drawn.verdict == NO_MATERIAL)
    last = next(row for row in drawn.by_group if row.group == groups[-1])
    yield covers("mean burden of a group (its mean over studies)", last.burden)
    yield covers("mean burden minus the others' (its mean over studies)", last.burden_difference)
    yield covers("share accepted half way (its mean over studies)", drawn.by_alpha[2].reclassified)
