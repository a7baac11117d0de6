"""How often groups' bias is said to differ in every optimal coupling, and whether recourse's verdicts hold.

A world of outcome transport is a whole audit of two policies on the same people, a fifth of whom are group
b. Both policies' outcomes are drawn at random, so that everybody's counterparts are a draw from everybody,
and groups' bias can differ by their features alone. In `alike` groups differ in nothing; in `same_mean`
group b is mostly like everybody and sometimes far from all, group a always half far, so that mean bias is
the same and its spread is not: evidence is a false alarm in both. In `spread_2`, `spread_5` and `spread_10`
group b's features are spread so many times as widely: evidence is found. Outcomes are `unique` (scores of
any value under the squared norm: one optimal coupling), `pairs` and `fives` (scores rounded, so that two or
five people share each), `plain` (of any value, under the plain norm) and `decisions` (labels against
decisions). W is measured by itself, between groups of one size.

Of recourse, groups are alike, or one has further to go. Counterparts are people of the same sample, so what
an interval is for is not known beforehand: coverage is of the mean over all worlds drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from audits.outcome_transport import OutcomeTransportOptions, OutcomeTransportResult
from audits.outcome_transport.bias.groups import CellMasses, group_list
from audits.outcome_transport.comparison.sides import Side, TwoSides
from audits.outcome_transport.inference import ResultParts, distances, judge_all
from audits.outcome_transport.matching.outcomes import match_outcomes
from audits.outcome_transport.matching.resampling import distance_error, distance_null
from audits.progress import silent
from audits.recourse import RecourseResult
from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import LEVEL, Facts, alarm, covers, found
from tests.outcome_transport.conftest import scored
from tests.outcome_transport.subjects import Linear, flows_of, recourse_of, subject_of

_OFTEN = 0.25  # how often a person of group b is far from all, where means are the same
_SHARE = 0.2  # of people in group b
# how far they are: the root of E|a - Y| = E|b - Y| for Y of everybody, 28/19, as brentq ends there
_FAR = 1.4736842105263155


def features(crowd: str, in_b: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the features of people, of whom those `in_b` (n,) are of group b."""
    n = len(in_b)
    if crowd == "same_mean":
        sign = rng.choice([-1.0, 1.0], n)
        far = _FAR * (rng.random(n) < _OFTEN)
        return pd.DataFrame({"x": sign * np.where(in_b, far, 1.0)})
    times = 1.0 if crowd == "alike" else float(crowd.removeprefix("spread_"))
    drawn = rng.normal(size=(n, 2)) * np.where(in_b, times, 1.0)[:, None]
    return pd.DataFrame(drawn, columns=["x", "z"])


def world(crowd: str, outcomes: str, seed: int, people: int = 200) -> OutcomeTransportResult:
    """Audit one world."""
    rng = np.random.default_rng(seed)
    in_b = np.arange(people) < round(_SHARE * people)
    frame = features(crowd, in_b, rng)
    names = tuple(frame.columns)
    frame["group"] = np.where(in_b, "b", "a")
    score, other = rng.random(people), rng.random(people)
    if alike := {"pairs": 2, "fives": 5}.get(outcomes):
        levels = people / alike
        score, other = (np.floor(values * levels) / levels for values in (score, other))
    frame["score"], frame["other"] = score, other
    frame["label"] = (other < 0.5).astype(int)
    against = "label" if outcomes == "decisions" else {"score": "other"}
    cost = "euclidean" if outcomes in {"plain", "decisions"} else "squared_euclidean"
    asked = {"against": against, "cost": cost, "permutations": 99, "draws": 0}
    return flows_of(scored(frame, features=names), **asked, rng=seed)


OUTCOMES: dict[str, Callable[[np.random.Generator, int, float], np.ndarray]] = {
    "normal": lambda rng, n, apart: rng.normal(size=n) + apart,
    "binary": lambda rng, n, apart: (rng.random(n) < 0.3 + apart).astype(float),
    # seldom unfavorable, so that everybody of a few is alike
    "decision": lambda rng, n, apart: (rng.random(n) < 0.95 - apart).astype(float),
    # all but a few alike
    "probability": lambda rng, n, apart: (
        np.where(rng.random(n) < 0.02 + apart, 0.95, 0.05) + rng.uniform(-0.02, 0.02, n)
    ),
    "fives": lambda rng, n, apart: np.floor(5 * rng.random(n) ** (1 / (1 + apart))) / 4,
    "lognormal": lambda rng, n, apart: np.exp(rng.normal(size=n)) * (1 + apart),
}
"""Outcomes of so many people by kind, further up the larger `apart` is."""


@cache
def true_distance(kind: str, apart: float) -> float:
    """W between the distributions themselves under the plain norm, from 200,000 people of each."""
    if apart == 0:
        return 0.0
    if kind == "decision":
        return apart
    rng = np.random.default_rng(0)
    whole = [np.sort(OUTCOMES[kind](rng, 200_000, far)) for far in (apart, 0.0)]
    return float(np.abs(whole[0] - whole[1]).mean())


def _distance(kind: str, apart: float, sizes: tuple[int, int], number: int) -> Facts:
    """Whether W's interval holds the truth, whether it lies above 0 where that is 0, and what clears."""
    n, m = sizes
    rng, named = np.random.default_rng(number), kind if kind in {"decision", "probability"} else "score"
    unit = 1.0 if named == "score" else float(np.sqrt(2))
    truth = unit * true_distance(kind, apart)
    sides = []
    for name, people, far in (("a", n, apart), ("b", m, 0.0)):
        code, drawn = np.zeros(people, dtype=int), unit * OUTCOMES[kind](rng, people, far)[:, None]
        sides.append(Side(name, np.arange(people), np.ones(people), drawn, code, (name,), code, (name,)))
    comparison, ground = TwoSides(*sides, False, named, unit, {}, ()), "euclidean"
    two = {"comparison": comparison, "a": np.ones(n), "b": np.ones(m)}
    observed, null = distance_null(**two, ground=ground, permutations=99, rng=rng, progress=silent)
    costs = ("euclidean", "squared_euclidean")
    errors = {cost: distance_error(**two, ground=cost, draws=199, rng=rng) for cost in costs}
    matched, groups = match_outcomes(*(side.outcomes for side in sides), ground=ground), group_list(sides[0])
    told = {"errors": errors, "observed": observed, "null": null, "matched": matched, "groups": groups}
    none = {"spaces": {}, "measured": [], "ranges": [], "cells": CellMasses(np.zeros((1, 1)), None, None)}
    parts = ResultParts(**two, **told, **none)
    options = OutcomeTransportOptions(cost=ground, level=LEVEL)
    distance, _ = distances(parts, options)
    yield covers("Wasserstein distance", distance, truth)
    if apart == 0:
        yield alarm("evidence of a difference", float(distance.low or 0.0) > 0)
    elif kind in {"decision", "probability"}:  # of more than the limit
        cleared = judge_all(parts, options, distance).judged.verdict == NO_MATERIAL
        yield alarm("no material difference, where there is one", cleared)


def _policies(crowd: str, outcomes: str, n: int, number: int) -> Facts:
    yield alarm("evidence of a difference", world(crowd, outcomes, number, n).verdict == EVIDENCE)


def _further(n: int, apart: float, seed: int, groups: str = "ab") -> RecourseResult:
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
    drawn = _further(n, apart, number, groups)
    yield found("evidence of a difference", drawn.verdict == EVIDENCE, no_difference=apart == 0)
    if apart > 0:
        yield alarm("no material difference, where there is one", drawn.verdict == NO_MATERIAL)
    last = next(row for row in drawn.by_group if row.group == groups[-1])
    yield covers("mean burden of a group (its mean over studies)", last.burden)
    yield covers("mean burden minus the others' (its mean over studies)", last.burden_difference)
    yield covers("share accepted half way (its mean over studies)", drawn.by_alpha[2].reclassified)
