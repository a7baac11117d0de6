"""Whether accuracy, area under the curve and log loss hold, of rows that are one person each or are not.

python -m benchmarks.calibration --only quality
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from audits.models.quality import accuracy, area_under_curve, by_design, log_loss
from audits.stats.design import make_design
from benchmarks.calibration import Row, Simulation

_ALIKE = 0.6  # of the variance is a person's own, the rest a row's
_FEW = "docs/limits.md: of twenty people with unequal weights the area's interval is too narrow"
_NAMES = ("accuracy", "area under the curve", "log loss")


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for rows in (100, 400, 2_000):
        for each, weighted in ((1, False), (1, True), (5, False), (5, True)):
            setting = f"{rows:,} rows, {'one row' if each == 1 else f'{each} rows'} a person"
            setting += ", weights of CV 1" if weighted else ""
            run = partial(_worlds, rows // each, each, weighted, setting)
            found.append(Simulation("quality", setting, run))
    return found


def world(rng: np.random.Generator, people: int, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Who each row is of (n,), labels (n,) and scores in [0, 1] (n,) that tell some of them."""
    who = np.repeat(np.arange(people), each)

    def drawn() -> np.ndarray:
        own, other = rng.normal(size=people)[who], rng.normal(size=len(who))
        return np.sqrt(_ALIKE) * own + np.sqrt(1 - _ALIKE) * other

    true = drawn()
    return who, true > 0.2, 1 / (1 + np.exp(-(0.96 * true + 0.72 * drawn())))


@cache
def truth() -> np.ndarray:
    """What holds of everybody, from 800,000 rows: it depends neither on weights nor on rows a person."""
    _, y, scores = world(np.random.default_rng(7), 800_000, 1)
    one = np.ones(len(y))
    found = accuracy(scores >= 0.5, y, one), area_under_curve(scores, y, one), log_loss(scores, y, one)
    return np.array([each.value for each in found], dtype=float)


def _worlds(people: int, each: int, weighted: bool, setting: str, numbers: range) -> Iterator[Row]:
    held = np.zeros(len(_NAMES))
    for number in numbers:
        rng = np.random.default_rng([number, people])
        who, y, scores = world(rng, people, each)
        if weighted or each > 1:
            weights = np.exp(np.sqrt(np.log(2)) * rng.normal(size=people))[who] if weighted else None
            design = make_design(len(y), weights=weights, cluster=who)
            found = by_design(design, scores, scores >= 0.5, y)
        else:
            one = np.ones(len(y))
            found = (
                accuracy(scores >= 0.5, y, one),
                area_under_curve(scores, y, one),
                log_loss(scores, y, one),
            )
        for place, (told, true) in enumerate(zip(found, truth(), strict=True)):
            held[place] += told.low is not None and told.high is not None and told.low <= true <= told.high
    for name, hits in zip(_NAMES, held, strict=True):
        said = _FEW if people * each <= 100 and weighted and each > 1 and name == _NAMES[1] else ""
        yield Row(
            "quality", f"{name} of a model", setting, "coverage", 0.95, int(hits), len(numbers), said=said
        )
