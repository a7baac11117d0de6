"""From flips and what chance gives to one verdict a group, corrected for all groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from audits.barycenter.people import GroupComparison
from audits.flipset.inference import not_comparable
from audits.flipset.null_distribution import NullDistribution, above, why_unsettled
from audits.stats import (
    AVERAGE,
    POWER,
    Condition,
    Estimate,
    Judgment,
    as_people,
    judge_conditions,
    limit_name,
    p_value,
    settle_all,
    weighted_sum,
    wilson,
)
from audits.stats.intervals import cautious_difference
from audits.stats.vocabulary import vocabulary
from audits.transport.levels import LevelDifference, level_conditions, level_differences, people_for_levels

ABOVE_CHANCE = "flips above chance"
"""What decides where the larger of both ways of flipping does."""

_DRAWS = 999
_MOST = 20_000  # people who are shuffled


def differing(compared: GroupComparison, rng: np.random.Generator) -> tuple[float, str]:
    """Test for equal rates and equal means of features by permuting membership; the two share the level.

    Features are those that go with the decisions among all people, which membership has no part in.

    Returns
    -------
    float
        P-value of groups that differ neither in their rates nor in a feature that decisions go with.
    str
        The one of those features in which they differ most; empty where no decision goes with any.
    """
    rows, _ = as_people(compared.sizes, most=_MOST)
    if len(rows) > _MOST:
        rows = rng.choice(rows, _MOST, replace=False)
    group, decided = compared.group[rows], compared.decisions[rows]
    x = compared.points[rows]
    goes = _goes_with(x, decided, compared.options.level)
    columns = np.column_stack([decided, x[:, goes]])
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(rows)))[:, None]
    centered = columns[order] - columns.mean(0)
    spread = np.maximum((centered**2).mean(0), 1e-300)

    def apart(values: np.ndarray) -> np.ndarray:
        return np.asarray((np.add.reduceat(values, starts, axis=0) ** 2 / sizes).sum(0) / spread)

    seen = apart(centered)
    null = np.array([apart(centered[rng.permutation(len(rows))]) for _ in range(_DRAWS)])
    by_rates = p_value(float(seen[0]), null[:, 0])
    if not len(goes):
        return by_rates, ""
    by_feature = p_value(float(seen[1:].max()), null[:, 1:].max(1))
    feature = str(compared.axes[goes[int(seen[1:].argmax())]])
    return min(1.0, 2 * min(by_rates, by_feature)), feature


def _goes_with(x: np.ndarray, decided: np.ndarray, level: float) -> np.ndarray:
    """Columns of `x` that go with the decisions, corrected for their number."""
    centered, other = x - x.mean(0), decided - decided.mean()
    scale = np.sqrt((centered**2).sum(0) * (other**2).sum())
    together = np.divide(centered.T @ other, scale, out=np.zeros(x.shape[1]), where=scale > 0)
    return np.flatnonzero(np.abs(together) * np.sqrt(len(x)) > norm.isf(level / 2 / x.shape[1]))


def rates(compared: GroupComparison, level: float) -> list[Estimate]:
    """Favorable rate of each group."""
    favored = np.bincount(compared.group, compared.sizes * compared.decisions, len(compared.names))
    return [wilson(float(f), float(n), level=level) for f, n in zip(favored, compared.n, strict=True)]


def net_differences(compared: GroupComparison) -> list[Estimate]:
    """Each group's rate less the others' by their shares, intervals of all groups together.

    Those favored only as themselves less those favored only as counterparts (Proposition 2). Where groups
    count by their people the others are one group. Else the interval allows for groups of other rates, and
    leaves out 0 only where it would do so of one group that tells as much as the others together.
    """
    level, n = _each(compared), compared.n
    favored = np.bincount(compared.group, compared.sizes * compared.decisions, len(n))
    told, found = rates(compared, level), []
    for k in range(len(n)):
        part = np.where(np.arange(len(n)) == k, 0.0, compared.shares / (1 - compared.shares[k]))
        alike = 1 / float(part**2 @ (1 / n))  # people of one group who tell as much as all others together
        net = cautious_difference(
            float(favored[k]), float(n[k]), alike * float(part @ (favored / n)), alike, level=level
        )
        if not np.allclose(compared.shares, n / n.sum(), rtol=1e-9):
            exact = net
            net = weighted_sum(told, np.where(part > 0, -part, 1.0).tolist())
            if (exact.low or 0.0) <= 0 <= (exact.high or 0.0):
                net = replace(net, low=min(net.low or 0.0, 0.0), high=max(net.high or 0.0, 0.0))
        found.append(replace(net, n=told[k].n))
    return found


def _each(compared: GroupComparison) -> float:
    """The level of one interval: two for every group, of net flips and of flips above chance, share it."""
    return compared.options.level / (2 * len(compared.names))


def levels_of_groups(compared: GroupComparison) -> list[tuple[LevelDifference, ...]]:
    """Each group's rate beside the others' at every level of the features, intervals of all together."""
    number = len(compared.names)
    return [
        level_differences(
            compared.levels,
            compared.decisions,
            compared.sizes,
            compared.group == k,
            level=compared.options.level,
            looks=number,
        )
        for k in range(number)
    ]


def judge_groups(
    compared: GroupComparison,
    chance: NullDistribution | None,
    differ_p: float | None,
    nets: list[Estimate],
    levels: list[tuple[LevelDifference, ...]],
) -> list[tuple[Estimate, Judgment]]:
    """Hold each group's net flips, and its flips above chance, against none: the excess, and the verdict.

    Evidence is either: more flips one way than the other, which is a difference of rates, or more than chance
    gives, both ways taken together with groups that differ in what decisions go with. An all-clear also needs
    every level of the features inside twice the limit.
    """
    options, number = compared.options, len(compared.names)
    bounds = (-compared.limit, compared.limit)
    found = []
    for k, net in enumerate(nets):
        n, reach, p = float(compared.n[k]), compared.limit, None
        if chance is None or differ_p is None:
            excess = Estimate(None, None, None, n, "not measured without permutations")
            why = "chance was not measured: set permutations above 0"
        else:
            excess = above(chance, k, n, _each(compared))
            planted = compared.limit if chance.planted is None else chance.planted[k]
            reach = float(min(compared.limit, max(planted, 1e-9)))
            p = min(1.0, 2 * max(float(chance.p_values[k]), differ_p))
            other = options.level < 2 * differ_p
            why = why_unsettled(
                chance, k, excess, options.level, compared.limit, looks=2, other_features=other
            )
        rates_p = _p_of(net, _each(compared), 2 * number)
        conditions = [
            Condition(name=AVERAGE, interval=net, immaterial=bounds, p_value=rates_p),
            Condition(name=ABOVE_CHANCE, interval=excess, immaterial=(-reach, reach), p_value=p),
            *level_conditions(levels[k], compared.limit),
        ]
        judged = judge_conditions(
            conditions if excess.value is not None else [conditions[0]],
            level=options.level,
            people_needed=_people(compared, k, conditions[:2], levels[k]),
            cannot_clear=why or not_comparable(compared.left_out, levels[k]),
        )
        named = limit_name(options.material, options.material_on, compared.limit)
        judged = replace(judged, unit="points", limit_name=named)
        found.append((excess, judged))
    sizes = compared.n.tolist()
    settled = settle_all(
        (judged for _, judged in found), f"{vocabulary().people} in all", sizes=sizes, everyone=sum(sizes)
    )
    return [(excess, judged) for (excess, _), judged in zip(found, settled, strict=True) if judged]


def _p_of(net: Estimate, level: float, looks: int) -> float:
    """P-value of no difference, corrected: at most the level where the interval excludes 0."""
    if net.value is None or net.low is None or net.high is None:
        return 1.0
    reach = net.value - net.low if net.value > 0 else net.high - net.value
    if reach <= 0:
        return 1.0
    return float(min(1.0, looks * 2 * norm.sf(abs(net.value) / reach * norm.isf(level / 2))))


def _people(
    compared: GroupComparison,
    k: int,
    conditions: Sequence[Condition],
    levels: tuple[LevelDifference, ...],
) -> int | None:
    """About how many people of group `k` settle it: the average, flips above chance, and every level."""
    level, material = compared.options.level / len(compared.names), compared.limit
    times = [1.1, people_for_levels(levels, material, level)]
    for each in conditions:
        if each.interval.low is None or each.interval.high is None:
            return None
        half = (each.interval.high - each.interval.low) / 2
        times.append((half * (1 + float(norm.ppf(POWER)) / 1.96) / each.immaterial[1]) ** 2)
    return int(np.ceil(float(compared.n[k]) * max(times) / 10) * 10)
