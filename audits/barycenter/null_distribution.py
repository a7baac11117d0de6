"""How many flips chance alone gives in each group: see `audits.flipset.null_distribution`.

Membership is permuted among all people, the groups as large as they are, and the barycenter found again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.barycenter.barycenters import meet
from audits.barycenter.options import once
from audits.barycenter.people import GroupComparison
from audits.flipset.counterparts.matching import Group
from audits.flipset.null_distribution import (
    MIN_INTERVAL,
    NullDistribution,
    affordable,
    measure_draws,
)
from audits.progress import Progress
from audits.stats import apportion, as_people
from audits.transport.levels import plant

MAX_SHUFFLED = 20_000
"""People who are shuffled one by one."""
_MIN = 60  # people drawn in all whatever time was given


def measure(
    compared: GroupComparison, rng: np.random.Generator, progress: Progress
) -> NullDistribution | None:
    """Count flips when membership says nothing; None if no permutations are asked for."""
    options = compared.options
    if options.permutations == 0:
        return None
    rows, _ = as_people(compared.sizes)
    sizes = np.bincount(compared.group[rows], minlength=len(compared.names))
    most = _most_people(compared, len(rows))
    everybody = most >= len(rows)
    wanted = sizes if everybody else _places(sizes, most)
    few = np.maximum(np.minimum(wanted, sizes // 2), 1)
    draws = _Draws(rows, compared, rng)
    return measure_draws(draws, sizes, wanted, few, options, progress, everybody=everybody)


def _most_people(compared: GroupComparison, n: int) -> int:
    """People in all for whom all permutations fit into the time given: everyone, or at most half."""
    options, width = compared.options, compared.points.shape[1]

    def each(people: float) -> float:
        return once(int(people), width, len(compared.names), options.rounds)

    return int(max(affordable(options, n, each, fewest=_MIN, spare=1.2), min(_MIN, n / 2)))


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
        """Shares of each group favored only as oneself and only as counterpart, (k, 2, 2).

        First by the decisions, then with a material difference planted in the group.
        """
        compared, (rows, group), one = self.compared, people, np.ones(len(people[0]))
        options, points, decided = compared.options, compared.points[rows], compared.decisions[rows]
        groups = [Group.build(np.flatnonzero(group == k), points, one) for k in range(len(compared.names))]
        own = [each.mean(decided) for each in groups]
        met = meet(groups, compared.shares, rounds=options.rounds, cost=compared.cost)
        found = []
        for each, h, g in zip(groups, own, met.others(groups, own, compared.shares), strict=True):
            both, g = np.column_stack([h, plant(h, each.weights @ h, options.material)]), g[:, None]
            found.append(np.column_stack([each.weights @ (both * (1 - g)), each.weights @ ((1 - both) * g)]))
        return np.stack(found)
