"""Which features carry a group's gap in mean score: Shapley values of the difference between two groups.

People of the two groups are paired at random, each as often as they count, and the features of the one are
put in place of the other's one after the other, in a random order and in its reverse. What the score gains
with a feature, on average over orders and pairs, is the feature's part of the gap: Shapley's value of the
game whose coalitions are features taken from the source, the rest being the target's. The path of a pair
leads from the score of the one to that of the other, so the parts sum to the gap exactly, however few the
orders.

The people are a random sample of at most `MAX_PEOPLE` of each group. Intervals are of the people behind the
two means (a two-sample U-statistic's projections); a person's own part is a mean over few orders and
partners, whose spread is in the projections, too: intervals are a little too wide rather than too narrow.

References
----------
Shapley (1953), A value for n-person games. Strumbelj, Kononenko (2014), Knowledge and Information Systems
41:647-665 (sampling orders). Mitchell, Cooper, Frank, Holmes (2022), Journal of Machine Learning Research
23:43 (orders and their reverses). Hoeffding (1948), Annals of Mathematical Statistics 19:293-325.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from audits.data.partition import sample_people
from audits.errors import InputError
from audits.explain.result import Attribution, FeaturePart
from audits.models import Subject
from audits.progress import Progress
from audits.stats import Estimate
from audits.stats.intervals import percent_level

MAX_PEOPLE = 2_000
"""People of a group at most."""

_EVALUATIONS = 400_000  # rows that the model scores, about
_MIN_ROUNDS, _MAX_ROUNDS = 4, 32
_ROWS = 200_000  # handed to the model at once
_MIN_UNITS = 10  # independent people of a group, for an interval


@dataclass(frozen=True, eq=False)
class _Side:
    """People of one group.

    Attributes
    ----------
    rows : int array (m,)
        Places in the data.
    weight : float array (m,)
        Of each row; they sum to 1.
    unit : int array (m,)
        Independent people: rows of one share a code, from 0 on.
    copies : float array (m,)
        Independent people that a row stands for.
    """

    rows: np.ndarray
    weight: np.ndarray
    unit: np.ndarray
    copies: np.ndarray

    @property
    def people(self) -> np.ndarray:
        """Independent people of each unit (u,)."""
        return np.asarray(np.bincount(self.unit, self.copies) / np.bincount(self.unit))

    @property
    def units(self) -> float:
        """Independent people."""
        return float(self.people.sum())

    def variance(self, values: np.ndarray) -> np.ndarray:
        """Return the sampling variance of the weighted means of `values` (m, k), (k,)."""
        people, n = self.people, self.units
        total = np.zeros((len(people), values.shape[1]))
        np.add.at(total, self.unit, self.weight[:, None] * (values - self.weight @ values))
        return np.asarray((total**2 / people[:, None]).sum(axis=0) * n / max(n - 1, 1))


def attribution(
    subject: Subject,
    side: np.ndarray,
    *,
    level: float,
    rng: np.random.Generator,
    progress: Progress,
) -> Attribution:
    """Attribute the gap in mean score between two groups to the features that the model reads.

    Parameters
    ----------
    side : int array (n,)
        1 for source people, 0 for target people, -1 for all others.

    Raises
    ------
    InputError
        If the model cannot be asked about people who do not exist.
    """
    if not subject.model.invents:
        raise InputError(
            "explain.attribution", "needs the model itself, not a column of predictions", subject.model.name,
            "leave it out, or upload the model or train one",
        )  # fmt: skip
    names = tuple(sorted(subject.model.columns))
    sides = [_sampled(subject, np.flatnonzero(side == k), rng) for k in (1, 0)]
    rows = len(sides[0].rows) + len(sides[1].rows)
    rounds = int(np.clip(_EVALUATIONS // (2 * rows * (len(names) + 1)), _MIN_ROUNDS, _MAX_ROUNDS))
    parts = [np.zeros((len(each.rows), len(names))) for each in sides]
    by_round = np.zeros((rounds, len(names)))
    score = np.asarray(subject.probabilities, dtype=float)
    for place in range(rounds):
        progress(place / rounds, "Attributing the gap to features")
        first, second, weight = _pairs(sides[0], sides[1], rng)
        gains = _gains(subject, names, sides[0].rows[first], sides[1].rows[second], score, rng)
        by_round[place] = weight @ gains
        for total, at, each in zip(parts, (first, second), sides, strict=True):
            np.add.at(total, at, gains * (weight / each.weight[at])[:, None] / rounds)
    return _packed(names, sides, parts, by_round, score, level)


def _sampled(subject: Subject, rows: np.ndarray, rng: np.random.Generator) -> _Side:
    """Return at most `MAX_PEOPLE` rows of a group, people drawn by chance, and what each weighs."""
    data = subject.data
    rows, weight = sample_people(data, rows, MAX_PEOPLE, rng)
    copies, unit = weight.copy(), np.arange(len(rows))
    if data.design is not None:
        weight, copies = data.design.weights[rows], np.ones(len(rows))
        unit = np.unique(data.design.cluster[rows], return_inverse=True)[1]
    return _Side(rows, weight / weight.sum(), unit, copies)


def _pairs(
    source: _Side, target: _Side, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pair both groups at random, each row by its weight: the corners of two cumulated shares."""
    orders = [rng.permutation(len(each.rows)) for each in (source, target)]
    ends = [np.cumsum(each.weight[order]) for each, order in zip((source, target), orders, strict=True)]
    for each in ends:
        each[-1] = 1.0
    cuts = np.union1d(*ends)
    weight = np.diff(np.concatenate([[0.0], cuts]))
    kept = weight > 1e-15
    places = [
        order[np.minimum(np.searchsorted(each, cuts - weight / 2, side="right"), len(order) - 1)][kept]
        for each, order in zip(ends, orders, strict=True)
    ]
    return places[0], places[1], weight[kept]


def _gains(
    subject: Subject,
    names: tuple[str, ...],
    first: np.ndarray,
    second: np.ndarray,
    score: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return what the score of each pair gains with each feature of the source, (pairs, features).

    The mean over a random order of the features and its reverse.
    """
    d = len(names)
    order = np.argsort(rng.random((len(first), d)), axis=1)
    found = np.zeros((len(first), d))
    for each in (order, order[:, ::-1]):
        rank = np.empty_like(each)
        np.put_along_axis(rank, each, np.arange(d)[None], axis=1)
        path = np.empty((len(first), d + 1))
        path[:, 0], path[:, d] = score[second], score[first]
        chunk = max(_ROWS // max(d - 1, 1), 1)
        for start in range(0, len(first), chunk) if d > 1 else ():
            here = slice(start, start + chunk)
            path[here, 1:d] = _scored(subject, names, first[here], second[here], rank[here])
        np.put_along_axis(found, each, np.take_along_axis(found, each, 1) + np.diff(path, axis=1) / 2, axis=1)
    return found


def _scored(
    subject: Subject, names: tuple[str, ...], first: np.ndarray, second: np.ndarray, rank: np.ndarray
) -> np.ndarray:
    """Return the scores on the way, (pairs, features - 1): the first 1, 2, … features are the source's."""
    steps = np.arange(1, len(names))
    frame = {}
    for place, name in enumerate(names):
        taken = rank[:, place, None] < steps  # (pairs, steps)
        rows = np.where(taken, first[:, None], second[:, None]).ravel()
        frame[name] = subject.data.frame[name].take(rows).reset_index(drop=True)
    return subject.probability_of(pd.DataFrame(frame)).reshape(len(first), len(steps))


def _packed(
    names: tuple[str, ...],
    sides: list[_Side],
    parts: list[np.ndarray],
    by_round: np.ndarray,
    score: np.ndarray,
    level: float,
) -> Attribution:
    """Return the parts with their intervals, the largest first."""
    values = by_round.mean(axis=0)
    errors = np.sqrt(sum(each.variance(part) for each, part in zip(sides, parts, strict=True)))
    units = min(each.units for each in sides)
    people = float(sum(each.copies.sum() for each in sides))
    monte_carlo = by_round.std(axis=0, ddof=1) / np.sqrt(len(by_round))
    own = np.sqrt(sum(each.variance(score[each.rows][:, None])[0] for each in sides))
    means = [float(each.weight @ score[each.rows]) for each in sides]
    corrected = level / max(len(names), 1)
    method = f"Shapley, {len(by_round)} rounds, {percent_level(corrected)}"
    found = [
        FeaturePart(
            name, _interval(float(values[k]), float(errors[k]), units, people, corrected, method),
            float(monte_carlo[k]),
        )
        for k, name in enumerate(names)
    ]  # fmt: skip
    found.sort(key=lambda each: -abs(each.part.value or 0.0))
    gap = _interval(means[0] - means[1], float(own), units, people, level, f"Welch {percent_level(level)}")
    return Attribution(
        gap=gap,
        features=tuple(found),
        rounds=len(by_round),
        n_source=float(sides[0].copies.sum()),
        n_target=float(sides[1].copies.sum()),
    )


def _interval(value: float, error: float, units: float, people: float, level: float, method: str) -> Estimate:
    if units < _MIN_UNITS:
        return Estimate(value, None, None, people, f"no interval below {_MIN_UNITS} people of a group")
    reach = -float(stdtrit(units - 1, level / 2)) * error
    return Estimate(value, value - reach, value + reach, people, method)
