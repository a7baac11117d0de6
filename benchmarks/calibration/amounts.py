"""Do intervals and verdicts on a numeric outcome hold as often as they say?

Worlds of two to thirteen groups: pay that is log-normal (σ .6 and 1), rounded pay, losses that are 0 for nine
in ten, twelve tiny groups beside a large one, sampling weights, several rows a person, a difference in the
upper tenth alone, pay that is missing for some, and one huge value. Where groups do not differ, any evidence
is an alarm; where they do, every stated interval of a difference is held against the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import lognorm, norm

from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import SLOW, Facts, alarm, audited, covers, decided, found, grid, inside

_PAY = {"label": "pay", "outcome": "numeric"}
_SHARES = {"median": 0.5, "q10": 0.1, "q90": 0.9}


Draw = Callable[[np.random.Generator, int, int], np.ndarray]


class _World(NamedTuple):
    """How groups "a", "b", … are drawn: how many people each, and from what.

    `apart` are the true differences of the second group from the first by measure; without any no group
    differs; `own` are the true numbers of the first.
    """

    sizes: tuple[int, ...]
    draw: Draw
    apart: dict[str, float] | None = None
    own: dict[str, float] | None = None
    rows: int = 1
    weighted: bool = False
    missing: float = 0.0


def _table(world: _World, rng: np.random.Generator) -> pd.DataFrame:
    group = np.repeat(np.arange(len(world.sizes)), world.sizes)
    pay = np.concatenate([world.draw(rng, place, n) for place, n in enumerate(world.sizes)])
    table = pd.DataFrame({"g": [f"g{place}" for place in group], "pay": pay, "who": np.arange(len(group))})
    if world.weighted:  # people of much pay are sampled twice as often
        often = np.where(pay > np.median(pay), 1.0, 0.5)
        table = table[rng.random(len(table)) < often].assign(w=lambda kept: 1 / often[kept.index])
    if world.rows > 1:  # several years of each person, much alike
        table = table.loc[table.index.repeat(world.rows)].reset_index(drop=True)
        table["pay"] *= rng.lognormal(0, 0.1, len(table))
    if world.missing:
        table.loc[rng.random(len(table)) < world.missing, "pay"] = np.nan
    return table


def _drawn(world: _World, number: int) -> Facts:
    rng = np.random.default_rng([number, *world.sizes, 71])
    design = {"weights": {"column": "w", "kind": "sampling"}} if world.weighted else {}
    if world.rows > 1:
        design["person"] = "who"
    drawn = _table(world, rng)
    people = decided(drawn, "pay", score=True, **_PAY, protected=["g"], features=[], **design)
    result = audited("groups", people, 0, reference={"g": "g0"})
    rows = [row for row in result.amounts.table if not row.is_reference]
    apart = world.apart
    if apart is None:
        yield alarm("evidence of a difference in amounts", result.verdict == EVIDENCE)
        gaps = [gap.estimate for row in rows for gap in row.differences.values()]
        yield covers("differences of amounts, all together", all(inside(gap, 0.0) for gap in gaps))
        return
    yield found("evidence of a difference in amounts", result.verdict == EVIDENCE)
    yield alarm("all-clear of amounts that differ", result.verdict == NO_MATERIAL)
    held = [inside(rows[0].differences[name].estimate, truth) for name, truth in apart.items()]
    yield covers("differences of amounts, all together", all(held))
    if world.own:
        [reference] = (row for row in result.amounts.table if row.is_reference)
        own = [inside(getattr(reference, name), truth) for name, truth in world.own.items()]
        yield covers("a group's own mean and percentiles, each", sum(own) / len(own))
        relative, truth = rows[0].relative, apart["mean"] / world.own["mean"]
        yield covers("difference of means as a share", relative is not None and inside(relative, truth))


def _times(spread: float, ratio: float, rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    """Log-normal pay, of the other groups so many times the first's."""
    return rng.lognormal(np.log(ratio) if place else 0.0, spread, n)


_EQUAL, _WIDE = partial(_times, 0.6, 1.0), partial(_times, 1.0, 1.0)


def _apart(sizes: tuple[int, int], spread: float, ratio: float) -> _World:
    """Two groups whose log-normal pay differs; the mean and percentiles of the first are known."""
    own = {"mean": float(np.exp(spread**2 / 2))}
    own |= {name: float(lognorm.ppf(share, spread)) for name, share in _SHARES.items()}
    truth = {name: (ratio - 1) * each for name, each in own.items()}
    return _World(sizes, partial(_times, spread, ratio), truth, own)


def _tied(rng: np.random.Generator, _place: int, n: int) -> np.ndarray:
    return np.round(2 * rng.lognormal(0, 0.6, n)) / 2


def _spike(rng: np.random.Generator, _place: int, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(0, 1, n))


def _huge(rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    pay = rng.lognormal(0, 0.6, n)
    pay[0] = 1e6 if place == 1 and rng.random() < 0.5 else pay[0]
    return pay


def _upper(rng: np.random.Generator, place: int, n: int) -> np.ndarray:
    """Normal pay of which the second group's upper fifth gets half as much more above its lower end."""
    pay = rng.normal(10, 2, n)
    end = norm.ppf(0.8, 10, 2)
    return np.where((pay > end) & (place == 1), end + 2.5 * (pay - end), pay)


def _upper_truth() -> dict[str, float]:
    end, high = norm.ppf([0.8, 0.9], 10, 2)
    return {"median": 0.0, "q10": 0.0, "q90": 1.5 * float(high - end)}


_TINY = (2000, *(15,) * 12)
_WORLDS = {
    "log-normal pay (σ .6), 300 and 800": _World((800, 300), _EQUAL),
    "log-normal pay (σ .6), 40 and 40": _World((40, 40), _EQUAL),
    "log-normal pay (σ 1), 300 and 800": _World((800, 300), _WIDE),
    "log-normal pay (σ 1), 30 and 800": _World((800, 30), _WIDE),
    "log-normal pay (σ .6) of .85 times, 600 and 600": _apart((600, 600), 0.6, 0.85),
    "log-normal pay (σ 1) of .7 times, 150 and 600": _apart((600, 150), 1.0, 0.7),
    "rounded pay, 200 and 400": _World((400, 200), _tied),
    "losses, nine in ten 0, 200 and 800": _World((800, 200), _spike),
    "losses, nine in ten 0, 25 and 800": _World((800, 25), _spike),
    "12 groups of 15 beside 2,000": _World(_TINY, _EQUAL),
    "sampling weights, 400 and 400": _World((400, 400), _EQUAL, weighted=True),
    "four rows a person, 100 and 200 persons": _World((200, 100), _EQUAL, rows=4),
    "one in five without pay, 300 and 500": _World((500, 300), _EQUAL, missing=0.2),
    "one value of a million in half of the worlds, 200 and 400": _World((400, 200), _huge),
    "a difference in the upper fifth alone, 500 and 500": _World((500, 500), _upper, _upper_truth()),
}


def _explained(cells: bool, number: int) -> Facts:
    """Skewed pay that schooling explains wholly: nothing is left like for like."""
    rng = np.random.default_rng([number, int(cells), 72])
    woman = rng.random(800) < 0.4
    schooling = rng.normal(13 - woman, 2)
    schooling = np.clip(np.round(schooling / 2) * 2, 10, 16) if cells else schooling
    pay = (1 + 0.9 * schooling) * rng.lognormal(0, 0.5, 800)
    table = pd.DataFrame({"sex": np.where(woman, "f", "m"), "schooling": schooling, "pay": pay})
    subject = decided(table, "pay", score=True, **_PAY, protected=["sex"])
    sides = {"source": {"sex": "f"}, "target": {"sex": "m"}}
    result = audited("explain", subject, number, **sides, explainers=["schooling"])
    yield alarm("evidence of a difference in amounts", result.verdict == EVIDENCE)
    yield covers("what is left of a gap in amounts", result.together.unexplained, 0.0)


SETTINGS = [
    *grid("groups", "amounts: {world}", _drawn, world=_WORLDS),
    *grid("explain", "amounts: skewed pay, by cells", _explained, cells=(True,)),
    *grid("explain", "amounts: skewed pay, by learners", _explained, cells=(False,), part=SLOW),
]
