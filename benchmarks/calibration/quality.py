"""Whether accuracy, area under the curve and log loss hold, of rows that are one person each or are not."""

from __future__ import annotations

from functools import cache

import numpy as np

from audits.models.quality import accuracy, area_under_curve, by_design, log_loss
from audits.stats.design import make_design
from benchmarks.calibration.harness import Findings, covers, grid, inside

_ALIKE = 0.6  # of the variance is a person's own, the rest a row's


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


_FEW = "docs/limits.md: of twenty people with unequal weights the area's interval is too narrow"


def _world(rows: int, each: int, weighted: bool, number: int) -> Findings:
    people = rows // each
    rng = np.random.default_rng([number, people])
    who, y, scores = world(rng, people, each)
    if weighted or each > 1:
        weights = np.exp(np.sqrt(np.log(2)) * rng.normal(size=people))[who] if weighted else None
        told = by_design(make_design(len(y), weights=weights, cluster=who), scores, scores >= 0.5, y)
    else:
        one = np.ones(len(y))
        told = accuracy(scores >= 0.5, y, one), area_under_curve(scores, y, one), log_loss(scores, y, one)
    few = rows <= 100 and weighted and each > 1
    for name, one, true in zip(("accuracy", "area under the curve", "log loss"), told, truth(), strict=True):
        stated = one.low is not None and one.high is not None
        said = _FEW if few and name.startswith("area") else ""
        yield covers(f"{name} of a model", stated and inside(one, true), said=said)


_EACH = {"one row": 1, "5 rows": 5}
_WEIGHTED = {"": False, ", weights of CV 1": True}
_ROWS = "{rows:,} rows, {each} a person{weighted}"
SETTINGS = grid("quality", _ROWS, _world, rows=(100, 400, 2_000), each=_EACH, weighted=_WEIGHTED)
