"""Do groups differ in mean bias? Group labels are permuted among people.

Labels are exchangeable only where groups differ in nothing. Groups of the same mean bias that differ in
spread would be told apart by chance far too often, the smaller and more spread out the one; so each
difference is measured in its own standard error, which is taken anew in every permutation (Janssen 1997;
Chung, Romano 2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from audits.outcome_transport.identified import Ranges, least_apart
from audits.stats import as_people, p_value

__all__ = ["GroupTest", "group_test"]

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
