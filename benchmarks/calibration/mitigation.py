"""Does what mitigation states of the model it chose hold, although it was chosen among several?

Models are simulated by their decisions on the people held out: each decides by a number that it has in part
in common with the others, none treats the group otherwise than the rest, or each by five points less so.
Counting, choosing and judging are the audit's own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtri

from audits.mitigation.audit import chosen_step
from audits.mitigation.frontier import Candidate, frontier_of
from audits.mitigation.inference import judge_step
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import Step
from audits.stats import EVIDENCE, wilson
from audits.stats.intervals import cautious_difference
from benchmarks.calibration import LEVEL, Facts, alarm, covers, decided, grid, inside

_MODELS = 4


def _step(accepted: np.ndarray, member: np.ndarray, label: np.ndarray, added: int) -> Step:
    n, total = float(member.sum()), float(len(member))
    favorable, good = float(accepted[member].sum()), float(accepted.sum())
    level = LEVEL / _MODELS
    return Step(
        added=added,
        difference=cautious_difference(favorable, n, good - favorable, total - n, level=level),
        favorable_in=wilson(favorable, n, level=LEVEL),
        favorable_out=wilson(good - favorable, total - n, level=LEVEL),
        accuracy=wilson(float((accepted == label).sum()), total, level=LEVEL),
        worst="",
        worst_score=0.0,
        also=(),
    )


def _world(n: int, gap: float, number: int) -> Facts:
    gaps = np.linspace(-gap, -gap / 4, _MODELS)
    rng = np.random.default_rng([number, n, 17])
    member = rng.random(n) < 0.2
    common = rng.normal(size=n)
    label = common > 0
    own = np.sqrt(0.7) * common + np.sqrt(0.3) * rng.normal(size=(_MODELS, n))
    chance = 0.5 + np.outer(gaps, member)
    steps = [_step(each, member, label, k) for k, each in enumerate(own > -ndtri(chance))]
    chosen = chosen_step(steps)
    step = steps[chosen]
    judged = judge_step(steps, chosen, level=LEVEL, material=0.1)
    if gap == 0:  # decisions and labels are both signs of normal numbers that hang together
        yield alarm("evidence of a difference", judged.verdict == EVIDENCE)
        truth = 0.5 + np.arcsin(np.sqrt(0.7)) / np.pi
        yield covers("accuracy of the model chosen", step.accuracy, truth)
    yield covers("difference that is left", judged.interval, gaps[chosen])
    yield covers("favorable share of the group", step.favorable_in, 0.5 + gaps[chosen])
    yield covers("favorable share of everyone else", step.favorable_out, 0.5)


def _frontier(n: int, number: int) -> Facts:
    """Accuracy and gap of every point of a frontier, all together: models err more or less in one group."""
    rng = np.random.default_rng([number, n, 23])
    y, group = rng.random(n) < 0.5, np.arange(n) % 2
    people = pd.DataFrame({"g": group.astype(str), "y": y.astype(int)})
    luck, held = rng.random(n), True
    # of both groups the share accepted among the favorable and the other labels
    rates = np.array([[[0.8, 0.2 + k / 40], [0.8 - k / 20, 0.2]] for k in range(2 * _MODELS)])
    tried = (luck < np.where(y, own[group, 0], own[group, 1]) for own in rates)
    told = {"label": "y", "favorable": 1, "protected": ["g"], "features": []}
    subjects = (decided(people.assign(decision=each.astype(int)), "decision", **told) for each in tried)
    models = [Candidate("reweighing", 1.0, subject) for subject in subjects]
    points = frontier_of(models, "g", MitigationOptions())[0]
    for own, point in zip(rates, points, strict=True):
        chosen = own.mean(axis=1)
        held &= inside(point.gap, float(np.ptp(chosen)))
        held &= inside(point.accuracy, float((own[:, 0] + 1 - own[:, 1]).mean() / 2))
    yield covers("every accuracy and gap of a frontier", held, claimed=1 - 2 * LEVEL)


_TOLD = {"none treats the group otherwise": 0.0, "the first 20 points, the last 5": 0.2}
_HELD, _POINTS = "{n:,} people held out, ", f"{2 * _MODELS} points of a frontier"
SETTINGS = [
    *grid("mitigation", f"{_HELD}{_MODELS} models, {{gap}}", _world, n=(200, 1000, 5000), gap=_TOLD),
    *grid("mitigation", _HELD + _POINTS, _frontier, n=(200, 1000)),
]
