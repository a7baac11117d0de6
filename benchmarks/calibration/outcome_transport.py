"""How often groups' bias is said to differ in every optimal coupling: where it does not, and where it does.

Every world is a whole audit of two policies on the same people, a fifth of whom are group b. Both policies'
outcomes are drawn at random, so that everybody's counterparts are a draw from everybody, and groups' bias can
differ by their features alone:

* `alike`: groups differ in nothing. Evidence is a false alarm; at most the level may be.
* `same_mean`: group b is mostly like everybody and sometimes far from all, group a always half far, so that
  mean bias is the same and its spread is not. Evidence is a false alarm, too.
* `spread_2`, `spread_5`, `spread_10`: group b's features are spread so many times as widely. Evidence is
  found.

Outcomes: `unique` (scores of any value under the squared norm: one optimal coupling), `pairs` and `fives`
(scores rounded, so that two or five people share each outcome), `plain` (scores of any value under the plain
norm) and `decisions` (labels against decisions). W is measured by itself, between groups of one size.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from audits.outcome_transport import (
    OutcomeTransportOptions,
    OutcomeTransportResult,
    Policy,
    outcome_transport,
)
from audits.outcome_transport.bias.groups import CellMasses, group_list
from audits.outcome_transport.comparison.sides import Side, TwoSides
from audits.outcome_transport.inference import ResultParts, distances
from audits.outcome_transport.matching.outcomes import OutcomeCost, match_outcomes
from audits.outcome_transport.matching.resampling import distance_error, distance_null
from audits.progress import silent
from audits.stats import EVIDENCE
from benchmarks.calibration.harness import LEVEL, SLOW, Found, alarm, covers, simulation
from tests.outcome_transport.conftest import crowd as crowd_of
from tests.outcome_transport.conftest import scored

_OFTEN = 0.25  # how often a person of group b is far from all, where means are the same
_SHARE = 0.2  # of people in group b


class Said(NamedTuple):
    """What a world's audit said: evidence in every coupling, evidence in the even one, bias of b over a's."""

    evidence: bool
    even: bool
    ratio: float


def features(crowd: str, in_b: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the features of people, of whom those `in_b` (n,) are of group b."""
    n = len(in_b)
    if crowd == "same_mean":
        sign = rng.choice([-1.0, 1.0], n)
        far = _far() * (rng.random(n) < _OFTEN)
        return pd.DataFrame({"x": sign * np.where(in_b, far, 1.0)})
    times = 1.0 if crowd == "alike" else float(crowd.removeprefix("spread_"))
    drawn = rng.normal(size=(n, 2)) * np.where(in_b, times, 1.0)[:, None]
    return pd.DataFrame(drawn, columns=["x", "z"])


def _far() -> float:
    """How far the far ones of b are for both groups to be equally far from everybody: solved, not guessed."""

    def gap(far: float) -> float:
        a, at_a = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
        b, at_b = np.array([-far, 0.0, far]), np.array([_OFTEN / 2, 1 - _OFTEN, _OFTEN / 2])
        everybody, mass = np.concatenate([a, b]), np.concatenate([(1 - _SHARE) * at_a, _SHARE * at_b])
        of_a, of_b = (
            chances @ np.abs(points[:, None] - everybody) @ mass for points, chances in ((a, at_a), (b, at_b))
        )
        return float(of_a - of_b)

    return float(brentq(gap, 1.0, 10.0))


def world(crowd: str, outcomes: str, seed: int, people: int = 200) -> OutcomeTransportResult:
    """Audit one world."""
    rng = np.random.default_rng(seed)
    in_b = np.arange(people) < round(_SHARE * people)
    frame = features(crowd, in_b, rng)
    names = tuple(frame.columns)
    frame["group"] = np.where(in_b, "b", "a")
    score, other = rng.random(people), rng.random(people)
    alike = {"pairs": 2, "fives": 5}.get(outcomes)
    if alike:
        levels = people / alike
        score, other = (np.floor(values * levels) / levels for values in (score, other))
    frame["score"], frame["other"] = score, other
    frame["label"] = (other < 0.5).astype(int)
    options = OutcomeTransportOptions(
        against="label" if outcomes == "decisions" else Policy(score="other"),
        cost="euclidean" if outcomes in {"plain", "decisions"} else "squared_euclidean",
        level=LEVEL,
        permutations=99,
        draws=0,
    )
    return outcome_transport(scored(frame, features=names), options, rng=seed)


def said(result: OutcomeTransportResult) -> Said:
    """Read a world's answer."""
    mean = {row.group: row.mean.value or 0.0 for row in result.bias if row.level == "group"}
    even = result.group_p_value is not None and result.group_p_value <= LEVEL
    return Said(result.verdict == EVIDENCE, even, mean["b"] / mean["a"])


def outcomes_of(kind: str, n: int, apart: float, rng: np.random.Generator) -> np.ndarray:
    """Draw outcomes of `n` people, further up the larger `apart` is."""
    if kind == "normal":
        return np.asarray(rng.normal(size=n) + apart)
    if kind == "binary":
        return np.asarray(rng.random(n) < 0.3 + apart, dtype=float)
    if kind == "fives":
        return np.floor(5 * rng.random(n) ** (1 / (1 + apart))) / 4
    return np.exp(rng.normal(size=n)) * (1 + apart)


@cache
def true_distance(kind: str, apart: float, ground: OutcomeCost) -> float:
    """W between the distributions themselves, from 200,000 people of each."""
    if apart == 0:
        return 0.0
    rng = np.random.default_rng(0)
    whole = [np.sort(outcomes_of(kind, 200_000, far, rng)) for far in (apart, 0.0)]
    difference = np.abs(whole[0] - whole[1])
    return float(difference.mean() if ground == "euclidean" else np.sqrt((difference**2).mean()))


def distance_covers(
    kind: str, apart: float, sizes: tuple[int, int], ground: OutcomeCost, seed: int
) -> tuple[bool, bool]:
    """Whether W's interval holds the truth in one world, and whether it lies above 0."""
    rng, truth = np.random.default_rng(seed), true_distance(kind, apart, ground)
    sides = [
        Side(name, np.arange(n), outcomes_of(kind, n, far, rng)[:, None], code, (name,), code, (name,))
        for name, n, far in zip("ab", sizes, (apart, 0.0), strict=True)
        for code in [np.zeros(n, dtype=int)]
    ]
    comparison = TwoSides(sides[0], sides[1], False, "score", 1.0, {}, ())
    people = {"a": np.ones(sizes[0]), "b": np.ones(sizes[1])}
    observed, null = distance_null(
        comparison, **people, ground=ground, permutations=99, rng=rng, progress=silent
    )
    both: tuple[OutcomeCost, ...] = ("euclidean", "squared_euclidean")
    parts = ResultParts(
        comparison=comparison,
        matched=match_outcomes(sides[0].outcomes, sides[1].outcomes, ground=ground),
        spaces={},
        groups=group_list(sides[0]),
        measured=[],
        ranges=[],
        cells=CellMasses(np.zeros((1, 1)), None, None),
        errors={cost: distance_error(comparison, **people, ground=cost, draws=199, rng=rng) for cost in both},
        observed=observed,
        null=null,
        **people,
    )
    found, _ = distances(parts, OutcomeTransportOptions(cost=ground, level=LEVEL))
    low, high = float(found.low or 0.0), float(found.high or 0.0)
    return low <= truth + 1e-9 and truth <= high, low > 0


def _distance(
    kind: str, apart: float, sizes: tuple[int, int], ground: OutcomeCost, number: int
) -> Iterator[Found]:
    held, above = distance_covers(kind, apart, sizes, ground, number)
    yield covers("Wasserstein distance", held)
    if apart == 0:
        yield alarm("evidence of a difference", above)


def _policies(crowd: str, outcomes: str, n: int, number: int) -> Iterator[Found]:
    yield alarm("evidence of a difference", said(world(crowd, outcomes, number, n)).evidence)


@cache
def _everyone(ties: bool) -> tuple[pd.DataFrame, OutcomeTransportResult, dict[str, tuple[float, float]]]:
    """A population of 8,000, its own audit, and the unit of each feature."""
    everyone = crowd_of(8000, seed=11, ties=ties)
    everyone.loc[everyone["group"] == "a", "score"] *= 0.8
    subject = scored(everyone)
    exactly = OutcomeTransportOptions(source={"group": "a"}, target={"group": "b"}, permutations=0, draws=0)
    return everyone, outcome_transport(subject, exactly), subject.space.scale


def _sampled(ties: bool, people: int, number: int) -> Iterator[Found]:
    """Whether everybody's bias, the distance and all shares of a sample hold the population's."""
    everyone, whole, unit = _everyone(ties)
    subject = scored(everyone.sample(people, random_state=10_000 + number).reset_index(drop=True))
    asked = OutcomeTransportOptions(
        source={"group": "a"}, target={"group": "b"}, draws=100, permutations=0, by=("group",)
    )
    result = outcome_transport(subject, asked, rng=number)
    ratio = np.mean([subject.space.scale[name][1] / unit[name][1] for name in ("x", "z")])
    truth, flows = np.array(whole.flows.share), result.flows
    low, high = np.array(flows.sampling_low), np.array(flows.sampling_high)
    bias, distance = result.bias[0].mean, result.wasserstein
    yield covers("bias", bias.low <= whole.bias[0].mean.value / ratio <= bias.high)
    yield covers("Wasserstein distance", distance.low <= whole.wasserstein.value <= distance.high)
    yield covers("all shares together", bool(((low <= truth) & (truth <= high)).all()))


_APART = {0.0: "equal distributions", 0.1: "0.1 apart"}
SETTINGS = [
    *(
        simulation(
            "outcome_transport",
            f"{kind}, {words}, {n:,} and {n:,} people",
            *(_distance, kind, apart, (n, n), "euclidean"),
            part=SLOW,
        )
        for kind in ("normal", "binary", "fives", "lognormal")
        for apart, words in _APART.items()
        for n in (100, 500, 2000)
    ),
    *(
        simulation(
            "outcome_transport",
            f"two policies, groups {words}, {outcomes}, {n:,} people",
            *(_policies, crowd, outcomes, n),
            part=SLOW,
        )
        for crowd, words in (("alike", "alike"), ("same_mean", "same of the mean"))
        for outcomes in ("unique", "fives", "decisions")
        for n in (200, 1000)
    ),
]
MORE = [
    *(
        simulation("outcome_transport", f"policies, {crowd}, {outcomes}", _policies, crowd, outcomes, 200)
        for crowd in ("alike", "same_mean", "spread_2", "spread_5", "spread_10")
        for outcomes in ("unique", "pairs", "fives", "plain", "decisions")
    ),
    *(
        simulation("outcome_transport", f"samples of 200 people, outcomes {words}", _sampled, ties, 200)
        for ties, words in ((True, "tied"), (False, "continuous"))
    ),
]  # fmt: skip
