"""Does what mitigation states of the model it chose hold, although it was chosen among several?

Models are simulated by their decisions on the people held out: each decides by a number that it has in part
in common with the others, none treats the group otherwise than the rest, or each by five points less so.
Counting, choosing and judging are the audit's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import ndtri

from audits.mitigation.audit import chosen_step
from audits.mitigation.judging import judge_step, level_of_a_step
from audits.mitigation.result import Step
from audits.stats import EVIDENCE, Estimate, wilson
from audits.stats.intervals import cautious_difference
from benchmarks.calibration import Row, Simulation

LEVEL = 0.05
_MODELS = 4


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for n in (200, 1000, 5000):
        for gap in (0.0, 0.2):
            words = "none treats the group otherwise" if gap == 0 else "the first 20 points, the last 5"
            setting = f"{n:,} people held out, {_MODELS} models, {words}"
            found.append(Simulation("mitigation", setting, partial(_rows, n, gap, setting)))
    return found


def _rows(n: int, gap: float, setting: str, numbers: range) -> Iterator[Row]:
    gaps = np.linspace(-gap, -gap / 4, _MODELS)
    alarms = difference = inside = outside = accuracy = 0
    for number in numbers:
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
        alarms += judged.verdict == EVIDENCE
        difference += _holds(judged.interval, gaps[chosen])
        inside += _holds(step.favorable_in, 0.5 + gaps[chosen])
        outside += _holds(step.favorable_out, 0.5)
        if gap == 0:  # decisions and labels are both signs of normal numbers that hang together
            accuracy += _holds(step.accuracy, 0.5 + np.arcsin(np.sqrt(0.7)) / np.pi)
    worlds = len(numbers)
    if gap == 0:
        shown = "evidence of a difference"
        yield Row("mitigation", shown, setting, "false alarms", LEVEL, alarms, worlds)
        shown = "accuracy of the model chosen"
        yield Row("mitigation", shown, setting, "coverage", 1 - LEVEL, accuracy, worlds)
    for shown, hits in (
        ("difference that is left", difference),
        ("favorable share of the group", inside),
        ("favorable share of everyone else", outside),
    ):
        yield Row("mitigation", shown, setting, "coverage", 1 - LEVEL, hits, worlds)


def _step(decided: np.ndarray, member: np.ndarray, label: np.ndarray, added: int) -> Step:
    n, total = float(member.sum()), float(len(member))
    favorable, good = float(decided[member].sum()), float(decided.sum())
    level = level_of_a_step(LEVEL, _MODELS)
    return Step(
        added=added,
        difference=cautious_difference(favorable, n, good - favorable, total - n, level=level),
        favorable_in=wilson(favorable, n, level=LEVEL),
        favorable_out=wilson(good - favorable, total - n, level=LEVEL),
        accuracy=wilson(float((decided == label).sum()), total, level=LEVEL),
        worst="",
        worst_score=0.0,
        also=(),
    )


def _holds(found: Estimate, truth: float) -> bool:
    return found.low is None or found.high is None or found.low <= truth <= found.high
