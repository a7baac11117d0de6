"""How many flips chance alone gives in each group, and how far those above it could lie from what was seen.

Membership is permuted among all people, the groups as large as they are, and the barycenter found anew. Where
the time given allows that for everybody, observed and permuted flips are those of one sample and the
permutations an exact test; else both are averaged over the same random samples of people (an incomplete
U-statistic, Hoeffding 1948). The interval comes from samples of the part f of every group, drawn without
replacement: their variance times f / (1 - f) is that at full size (Politis, Romano, Wolf 1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from audits.barycenter.meeting import group_of, meet
from audits.barycenter.options import BarycenterOptions, once
from audits.barycenter.people import ComparedGroups
from audits.progress import Progress
from audits.stats import apportion, as_people, p_value
from audits.transport import Cost
from audits.transport.levels import plant

__all__ = ["MOST_SHUFFLED", "ChancePerGroup", "flip_shares", "measure"]

MOST_SHUFFLED = 20_000
"""People who are shuffled one by one."""
_HALVES = 80  # samples behind the interval where chance is measured on everybody
_FEWEST = 60  # people drawn in all whatever time was given
_FEWEST_INTERVAL = 10  # people of a group below which samples would pretend to know
_NOBODY_MORE = 1.9  # over n: nothing seen among n people may still be 3.7 of them (rule of three)


@dataclass(frozen=True, eq=False)
class ChancePerGroup:
    """Flips observed and by chance, as shares of each of k groups.

    Attributes
    ----------
    people : array of int (k,)
        People of each group, at a time.
    observed : array (k, 2)
        Favoured only as oneself, and only as counterpart; averaged over samples where there are several.
    larger : array (k,)
        The larger of the two, averaged likewise.
    null : array (permutations, k, 2)
    error : array (k,)
        Standard error of what the larger holds above chance; NaN for groups of too few people.
    p_values : array (k,)
        Of as much when membership says nothing, corrected for all groups.
    planted : array (k,)
        What a material difference planted in the group, among permuted people, adds.
    everybody : bool
        Whether all people compared took part at once.
    """

    people: np.ndarray
    observed: np.ndarray
    larger: np.ndarray
    null: np.ndarray
    error: np.ndarray
    p_values: np.ndarray
    planted: np.ndarray
    everybody: bool

    @property
    def expected(self) -> np.ndarray:
        """Mean of the larger flips by chance, (k,)."""
        return np.asarray(self.null.max(2).mean(0))


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


def measure(compared: ComparedGroups, rng: np.random.Generator, progress: Progress) -> ChancePerGroup | None:
    """Count flips when membership says nothing; None if no permutations are asked for."""
    options = compared.options
    if options.permutations == 0:
        return None
    draws = _Draws.build(compared, rng)
    sizes = np.bincount(draws.group, minlength=len(compared.names))
    most = _most_people(compared, len(draws.group))
    everybody = most >= len(draws.group)
    wanted = sizes if everybody else _places(sizes, most)
    observed, null = [], []
    people = draws.people(sizes) if everybody else None
    for b in range(options.permutations):
        progress(0.8 * b / options.permutations, f"Permutation {b + 1} of {options.permutations}")
        here = draws.people(wanted) if people is None else people
        if people is None or b == 0:
            observed.append(draws.flips(here, draws.group[here]))
        null.append(draws.flips(here, rng.permutation(draws.group[here])))
    seen, chance = np.array(observed), np.array(null)  # (draws, k, versions, 2)
    larger, by_chance = seen.max(3), chance.max(3)
    above = larger[:, :, 0].mean(0) - by_chance[:, :, 0].mean(0)  # (k,)
    error = _error(draws, sizes, wanted, larger[:, :, 0], by_chance[:, :, 0], progress)
    if everybody:
        p = _corrected(larger[0, :, 0], by_chance[:, :, 0])
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.minimum(len(sizes) * 2 * norm.sf(np.maximum(above, 0.0) / error), 1.0)
        p = np.where(np.isnan(p), 1.0, p)
    return ChancePerGroup(
        people=wanted,
        observed=seen[:, :, 0].mean(0),
        larger=larger[:, :, 0].mean(0),
        null=chance[:, :, 0],
        error=error,
        p_values=np.maximum(p, 1 / (options.permutations + 1)),  # what so many permutations can tell
        planted=(by_chance[:, :, 1] - by_chance[:, :, 0]).mean(0),
        everybody=everybody,
    )


def _corrected(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """P-values (k,) of the largest of k flips, each in its own deviations (Westfall, Young 1993)."""
    every = np.vstack([observed, null])
    spread = every.std(0)
    scaled = (every - every.mean(0)) / np.where(spread > 0, spread, 1.0)
    most = scaled[1:].max(1)
    return np.array([p_value(float(value), most) for value in scaled[0]])


def _most_people(compared: ComparedGroups, n: int) -> int:
    """People in all for whom all permutations fit into the time given: everybody, or at most half."""
    options, width = compared.options, compared.points.shape[1]

    def fits(people: float, times: float) -> bool:
        each = once(int(people), width, len(compared.names), options.rounds)
        return times * options.permutations * each <= options.seconds

    if fits(n, 1.2) or n <= _FEWEST:
        return n
    people = n / 2
    while people > _FEWEST and not fits(people, 2.0):
        people *= 0.95
    return int(max(people, min(_FEWEST, n / 2)))


def _places(sizes: np.ndarray, most: int) -> np.ndarray:
    """People to draw of each group, in proportion but at least ten, and at most half of it."""
    wanted = np.maximum(apportion(sizes, most, least=1), np.minimum(_FEWEST_INTERVAL, sizes // 2))
    return np.maximum(np.minimum(wanted, sizes // 2), 1)


def _error(
    draws: _Draws,
    sizes: np.ndarray,
    wanted: np.ndarray,
    larger: np.ndarray,
    by_chance: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Standard errors (k,) of the larger flips above chance, from samples of at most half of every group."""
    few = np.maximum(np.minimum(wanted, sizes // 2), 1)
    drawn = larger
    if (few != wanted).any():
        found = []
        for k in range(_HALVES):
            progress(0.8 + 0.2 * k / _HALVES, f"Drawing half of the people: {k + 1} of {_HALVES}")
            here = draws.people(few)
            found.append(draws.flips(here, draws.group[here])[:, 0].max(1))
        drawn = np.array(found)
    part = few / sizes
    rate = (part / np.maximum(1 - part, 0.5)).max()  # every group's flips depend on all groups' people
    # the mean over draws has an error of its own, on either side
    own = by_chance.var(0, ddof=1) / len(by_chance) if len(by_chance) > 1 else 0.0
    if len(larger) > 1:
        own = own + larger.var(0, ddof=1) / len(larger)
    error = np.sqrt(rate * drawn.var(0, ddof=1) + own) if len(drawn) > 1 else np.full(len(sizes), np.nan)
    return np.where(sizes >= _FEWEST_INTERVAL, np.maximum(error, _NOBODY_MORE / sizes), np.nan)


@dataclass(frozen=True, eq=False)
class _Draws:
    """Single people: points (n, d), group and decision (n,)."""

    points: np.ndarray
    group: np.ndarray
    decided: np.ndarray
    compared: ComparedGroups
    rng: np.random.Generator

    @classmethod
    def build(cls, compared: ComparedGroups, rng: np.random.Generator) -> _Draws:
        rows, _ = as_people(compared.sizes)
        return cls(compared.points[rows], compared.group[rows], compared.decisions[rows], compared, rng)

    def people(self, wanted: np.ndarray) -> np.ndarray:
        """Places of so many people of each group, drawn without replacement."""
        found = []
        for k, n in enumerate(wanted):
            here = np.flatnonzero(self.group == k)
            found.append(here if n >= len(here) else self.rng.choice(here, int(n), replace=False))
        return np.concatenate(found)

    def flips(self, people: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Flip shares (k, 2, 2) of these people when `group` are their groups."""
        points, decided, compared = self.points[people], self.decided[people], self.compared
        return flip_shares(points, group, decided, compared.shares, compared.options, compared.cost)
