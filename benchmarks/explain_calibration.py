"""How often `explain` says that a gap is left among people alike where none is, and how its intervals cover.

    python -m benchmarks.calibration --only explain

One column goes with the gap and explains all of it; others are noise. Explainers that are taken together are
chosen on one half of the people and measured on the other, so that choosing makes no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from audits.stats import EVIDENCE
from benchmarks.calibration import SLOW, Row, Simulation
from tests.explain.test_explain import audited, crowd

_FEW_SAID = (
    "a warning: below 100 people of the smaller group in the half, it covers less often than it claims"
)


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    rare = [
        Simulation("explain", setting, partial(_nothing_left, n, 2, setting, rate=rate), part=SLOW)
        for rate in (0.02, 0.1)
        for n in (500, 2000)
        for setting in (f"{n:,} people, rates of about {100 * rate:.0f} %, one column explains all",)
    ]
    return rare + [
        Simulation("explain", setting, partial(_nothing_left, n, noise, setting), part=SLOW)
        for n in (200, 500, 1000)
        for noise in (0, 4)
        for setting in (f"{n:,} people, one column explains all, {noise} of noise",)
    ]


def _nothing_left(
    n: int, noise: int, setting: str, numbers: range, rate: float | None = None
) -> Iterator[Row]:
    alarms = chosen = together = alone = 0
    for number in numbers:
        people = crowd(n, number, noise=noise)
        if rate is not None:  # the departments' rates in the same proportions
            chance = 2 * rate * (0.2 + 0.3 * people["department"].astype(int))
            people["decision"] = (np.random.default_rng([number, n]).random(n) < chance).astype(int)
        found = audited(people, rng=number)
        alarms += found.verdict == EVIDENCE
        if "department" in found.together.columns:  # without it a gap is left, of a size unknown here
            left = found.together.unexplained
            chosen += 1
            together += left.low is None or left.low <= 0 <= left.high
        own = next(item for item in found.each if item.columns == ("department",)).unexplained
        alone += own.low is None or own.low <= 0 <= own.high
    worlds = len(numbers)
    yield Row("explain", "evidence of a difference", setting, "false alarms", 0.05, alarms, worlds)
    shown = "left among people alike in the column, corrected for the columns"
    yield Row("explain", shown, setting, "coverage", 0.95, alone, worlds)
    shown = "left among people alike in the best columns, that one among them"
    if chosen:
        said = _FEW_SAID if n < 400 else ""
        yield Row("explain", shown, setting, "coverage", 0.95, together, chosen, said=said)
