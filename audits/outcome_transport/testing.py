"""What chance alone would give: distances, and differences of groups' mean bias, by permutation.

Labels are exchangeable only where groups differ in nothing. Groups of the same mean bias that differ in
spread would be told apart by chance far too often, the smaller and more spread out the one; so each
difference is measured in its own standard error, which is taken anew in every permutation (Janssen 1997;
Chung, Romano 2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.stats import norm

from audits.outcome_transport.comparison import Comparison
from audits.outcome_transport.matching import OutcomeCost, match_outcomes
from audits.outcome_transport.resampling import SMALL_POOL, pool
from audits.progress import Progress
from audits.stats import as_people, p_value

__all__ = ["GroupTest", "Ranges", "distance_null", "group_test", "least_apart"]

_PRIOR = 1.0  # people of everybody's spread that a group's own is steadied with: two or three say little


@dataclass(frozen=True, eq=False)
class GroupTest:
    """What permuting group labels says.

    `p_value` is of the largest difference, `adjusted` (g,) of each group against everybody (Westfall, Young:
    the largest difference of each permutation), `power` the chance to see a material one of the group for
    which that is hardest. All of these are of the coupling given; `everywhere` is the largest p-value over
    all optimal couplings, and `leeway` says whether some of them could set two groups materially apart.
    `people_needed` is of the smallest group, all growing alike.
    """

    p_value: float
    adjusted: np.ndarray
    power: float
    people_needed: float
    everywhere: float
    leeway: bool


def group_test(
    bias: np.ndarray,
    weights: np.ndarray,
    group: np.ndarray,
    *,
    material: float,
    level: float,
    permutations: int,
    rng: np.random.Generator,
    ranges: Ranges | None = None,
) -> GroupTest | None:
    """Test mean `bias` (n,) of the people of each `group` (n,) against everybody's; None for one group.

    `material` is the difference that would matter, in the unit of the bias; `ranges` those of the groups'
    means over all optimal couplings, where there is more than one.
    """
    known = np.isfinite(bias)
    rows, weights = as_people(weights[known])
    bias, group = bias[known][rows], group[known][rows]
    k = int(group.max(initial=-1)) + 1
    if len(np.unique(group)) < 2 or permutations == 0:
        return None
    mean = np.average(bias, weights=weights)
    apart = bias - mean
    size = np.bincount(group, weights, k)
    if float(np.average(apart**2, weights=weights)) <= (1e-12 * max(abs(mean), 1e-300)) ** 2:
        return GroupTest(1.0, np.ones(k), 1.0, 0.0, 1.0, _leeway(ranges, size, material))
    distance, unit = _apart(apart, weights, group, k)
    observed = distance / unit

    def largest(code: np.ndarray) -> float:
        distance, unit = _apart(apart, weights, code, k)
        return float((distance / unit).max())

    null = np.array([largest(rng.permutation(group)) for _ in range(permutations)])
    critical = float(np.quantile(null, 1 - level))
    here = size > 0
    hardest = float(unit[here].max())
    power = float(norm.cdf(material / hardest - critical)) if 1 / (permutations + 1) <= level else 0.0
    times = ((critical + norm.isf(0.2)) * hardest / material) ** 2 if material > 0 else np.inf
    least = float(observed.max())
    if ranges is not None:
        within = ranges[0][here], ranges[1][here]
        least = min(least, least_apart(within, size[here] / size.sum(), unit[here]))
    return GroupTest(
        p_value(float(observed.max()), null),
        np.array([p_value(float(one), null) for one in observed]),
        power,
        float(times * size[here].min()),
        p_value(least, null),
        _leeway(ranges, size, material),
    )


def _apart(apart: np.ndarray, weights: np.ndarray, code: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """How far each group's mean lies from everybody's, which is 0, and that distance's standard error.

    A group's distance from everybody is a part of its distance from the rest, whose error is Welch's; inf for
    an empty group.
    """
    size = np.bincount(code, weights, k)
    total = np.bincount(code, weights * apart, k)
    square = np.bincount(code, weights * apart**2, k)
    everybody, rest = size.sum(), np.maximum(size.sum() - size, 1e-300)
    people = np.where(size > 0, size, 1.0)
    prior = _PRIOR * square.sum() / everybody
    own, others = (
        (np.maximum(squares - total**2 / number, 0.0) + prior) / (number - 1 + _PRIOR)
        for squares, number in ((square, people), (square.sum() - square, rest))
    )
    unit = rest / everybody * np.sqrt(own / people + others / rest)
    return np.abs(total / people), np.where(size > 0, unit, np.inf)


def _leeway(ranges: Ranges | None, size: np.ndarray, material: float) -> bool:
    """Whether two different groups' ranges hold means that are materially apart."""
    if ranges is None:
        return False
    reach = ranges[1][:, None] - ranges[0]
    np.fill_diagonal(reach, 0.0)
    here = size > 0
    return bool(reach[np.ix_(here, here)].max(initial=0.0) > material)


Ranges = tuple[np.ndarray, np.ndarray]  # lowest and highest mean of each group, (k,) and (k,)


def least_apart(ranges: Ranges, share: np.ndarray, unit: np.ndarray) -> float:
    """Least that the most distant group can be from everybody, in its unit.

    Parameters
    ----------
    ranges : pair of arrays (k,)
    share : array (k,)
        Groups' shares of all people; they sum to 1.
    unit : array (k,)
        Standard error of each group's distance, above 0.
    """
    low, high = ranges
    k = len(share)
    apart = np.eye(k) - share  # (k, k): each group's mean minus everybody's
    scale = max(float(np.abs([low, high]).max()), 1e-300)
    unit = unit / scale
    found = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.vstack([np.column_stack([apart, -unit]), np.column_stack([-apart, -unit])]),
        b_ub=np.zeros(2 * k),
        bounds=[*zip(low / scale, high / scale, strict=True), (0, None)],
        method="highs",
    )
    return float(found.x[-1]) if found.success else 0.0


def distance_null(
    comparison: Comparison,
    *,
    a: np.ndarray,
    b: np.ndarray,
    ground: OutcomeCost,
    permutations: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[float, np.ndarray]:
    """Wasserstein distance observed, and those that chance gives (permutations,).

    Two groups: membership is permuted. The same people under two policies: each person's two outcomes change
    sides or not. Outcomes on a line use everybody; vectors a pool, on which the observed distance is taken
    too.
    """
    x, y = comparison.source.outcomes, comparison.target.outcomes
    if x.shape[1] > 1:
        rows = pool(comparison.source.subgroup, SMALL_POOL, rng)
        columns = rows if comparison.same_people else pool(comparison.target.subgroup, SMALL_POOL, rng)
        x, y, a, b = x[rows], y[columns], a[rows], b[columns]
    both, n = np.concatenate([x, y]), len(x)
    order = np.argsort(both[:, 0], kind="stable")
    ours, theirs = np.concatenate([a, np.zeros(len(y))]), np.concatenate([np.zeros(n), b])
    observed = _distance(both, ours, theirs, order, ground)
    rows, each = as_people(a if comparison.same_people else ours + theirs)
    size = int(np.count_nonzero(rows < n))
    null = np.empty(permutations)
    for k in range(permutations):
        if comparison.same_people:
            swap = rng.random(len(rows)) < 0.5
            moved = np.bincount(rows[swap], each[swap], n)
            stay = np.bincount(rows[~swap], each[~swap], n)
            first, others = np.concatenate([stay, moved]), np.concatenate([moved, stay])
        else:
            here = rng.permutation(len(rows)) < size
            first = np.bincount(rows[here], each[here], len(both))
            others = np.bincount(rows[~here], each[~here], len(both))
        null[k] = _distance(both, first, others, order, ground)
        if k % 10 == 0:
            progress(k / permutations, "Measuring what chance alone gives")
    return observed, null


def _distance(
    both: np.ndarray, first: np.ndarray, others: np.ndarray, order: np.ndarray, ground: OutcomeCost
) -> float:
    """Wasserstein distance between outcomes of weights `first` and `others`, (n,); `order` sorts them."""
    if both.shape[1] > 1 or ground == "squared_euclidean":
        here, there = first > 0, others > 0
        matched = match_outcomes(both[here], both[there], a=first[here], b=others[there], ground=ground)
        return matched.cost if ground == "euclidean" else float(np.sqrt(matched.cost))
    mass = (first / first.sum() - others / others.sum())[order]
    return float(np.abs(np.cumsum(mass)[:-1]) @ np.diff(both[order, 0]))
