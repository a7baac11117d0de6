"""How many flips chance alone gives in each group: see `audits.flipset.null_distribution`.

Membership is permuted among all people, the groups as large as they are, and the barycenter found again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from audits.barycenter.barycenters import group_of, meet
from audits.barycenter.options import BarycenterOptions, once
from audits.barycenter.people import GroupComparison
from audits.flipset.null_distribution import (
    MIN_INTERVAL,
    NullDistribution,
    affordable,
    permute,
    standard_error,
)
from audits.progress import Progress
from audits.stats import apportion, as_people, p_value
from audits.transport import Cost
from audits.transport.levels import plant

__all__ = ["MAX_SHUFFLED", "flip_shares", "measure"]

MAX_SHUFFLED = 20_000
"""People who are shuffled one by one."""
_MIN = 60  # people drawn in all whatever time was given


def flip_shares(
    points: np.ndarray,
    group: np.ndarray,
    decided: np.ndarray,
    shares: np.ndarray,
    options: BarycenterOptions,
    cost: Cost,
) -> np.ndarray:
    """Shares of each group favored only as oneself and only as counterpart, (k, 2, 2).

    First by the decisions (n,), then with a material difference planted in the group.
    """
    sides = [np.flatnonzero(group == k) for k in range(len(shares))]
    groups = [group_of(points[side], np.ones(len(side))) for side in sides]
    own = [each.mean(decided[side][:, None]) for each, side in zip(groups, sides, strict=True)]
    met = meet(groups, shares, rounds=options.rounds, cost=cost)
    found = []
    for each, h, g in zip(groups, own, met.others(groups, own, shares), strict=True):
        both = np.column_stack([h, plant(h, float(each.weights @ h[:, 0]), options.material)])
        found.append(np.column_stack([each.weights @ (both * (1 - g)), each.weights @ ((1 - both) * g)]))
    return np.stack(found)


def measure(
    compared: GroupComparison, rng: np.random.Generator, progress: Progress
) -> NullDistribution | None:
    """Count flips when membership says nothing; None if no permutations are asked for."""
    options = compared.options
    if options.permutations == 0:
        return None
    rows, _ = as_people(compared.sizes)
    draws = _Draws(rows, compared, rng)
    sizes = np.bincount(compared.group[rows], minlength=len(compared.names))
    most = _most_people(compared, len(rows))
    everybody = most >= len(rows)
    wanted = sizes if everybody else _places(sizes, most)
    seen, chance = permute(draws, wanted, options.permutations, everybody=everybody, progress=progress)
    larger, by_chance = seen.max(3)[:, :, 0], chance.max(3)  # (draws, k), (permutations, k, variants)
    few = np.maximum(np.minimum(wanted, sizes // 2), 1)
    fewer = few if (few != wanted).any() else None
    error, _ = standard_error(draws, fewer, larger, by_chance[:, :, 0], few / sizes, sizes, progress)
    if everybody:
        p = _adjusted_p_values(larger[0], by_chance[:, :, 0])
    else:
        above = larger.mean(0) - by_chance[:, :, 0].mean(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.minimum(len(sizes) * 2 * norm.sf(np.maximum(above, 0.0) / error), 1.0)
        p = np.where(np.isnan(p), 1.0, p)
    return NullDistribution(
        people=wanted,
        larger=larger.mean(0),
        null=chance[:, :, 0],
        error=error,
        p_values=np.maximum(p, 1 / (options.permutations + 1)),  # what so many permutations can tell
        planted=(by_chance[:, :, 1] - by_chance[:, :, 0]).mean(0),
        everybody=everybody,
    )


def _adjusted_p_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """P-values (k,) of the largest of k flips, each in its own deviations (Westfall, Young 1993)."""
    every = np.vstack([observed, null])
    spread = every.std(0)
    scaled = (every - every.mean(0)) / np.where(spread > 0, spread, 1.0)
    most = scaled[1:].max(1)
    return np.array([p_value(float(value), most) for value in scaled[0]])


def _most_people(compared: GroupComparison, n: int) -> int:
    """People in all for whom all permutations fit into the time given: everyone, or at most half."""
    options, width = compared.options, compared.points.shape[1]

    def each(people: float) -> float:
        return once(int(people), width, len(compared.names), options.rounds)

    if 1.2 * options.permutations * each(n) <= options.seconds or n <= _MIN:
        return n
    return int(max(affordable(options.seconds, options.permutations, n, _MIN, each), min(_MIN, n / 2)))


def _places(sizes: np.ndarray, most: int) -> np.ndarray:
    """People to draw of each group, in proportion but at least ten, and at most half of it."""
    wanted = np.maximum(apportion(sizes, most, least=1), np.minimum(MIN_INTERVAL, sizes // 2))
    return np.maximum(np.minimum(wanted, sizes // 2), 1)


@dataclass(frozen=True, eq=False)
class _Draws:
    """Single people, each a row of those compared: who takes part, and the group of each."""

    rows: np.ndarray
    compared: GroupComparison
    rng: np.random.Generator

    def people(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, group = [], self.compared.group[self.rows]
        for k, n in enumerate(wanted):
            here = np.flatnonzero(group == k)
            found.append(here if n >= len(here) else self.rng.choice(here, int(n), replace=False))
        people = np.concatenate(found)
        return self.rows[people], group[people]

    def shuffled(self, people: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return people[0], self.rng.permutation(people[1])

    def flips(self, people: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        compared, (rows, group) = self.compared, people
        points, decided = compared.points[rows], compared.decisions[rows]
        return flip_shares(points, group, decided, compared.shares, compared.options, compared.cost)
