"""Recourse burden: how far each group's rejected people have to go, and whether that differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from audits.recourse.options import RecourseOptions
from audits.stats import (
    INSUFFICIENT,
    Estimate,
    Verdict,
    as_people,
    largest_gap,
    p_value,
    people_needed,
    power_of_difference,
    verdict,
    weighted_sum,
)
from audits.stats.intervals import percent_level
from audits.stats.means import mean_test

__all__ = ["Burden", "burden_of"]


@dataclass(frozen=True, eq=False)
class Burden:
    """Per person (n,): smallest α that flips, its cost, and whether none does; per group: estimates."""

    alpha: np.ndarray
    cost: np.ndarray
    never: np.ndarray
    mean: tuple[Estimate, ...]
    difference: tuple[Estimate, ...]
    median_alpha: tuple[float | None, ...]
    gap: Estimate
    p_value: float | None
    verdict: Verdict
    people_needed: int | None


def burden_of(
    decisions: np.ndarray,
    costs: np.ndarray,
    grid: tuple[float, ...],
    code: np.ndarray,
    weights: np.ndarray,
    k: int,
    options: RecourseOptions,
    rng: np.random.Generator,
) -> Burden:
    """Compare groups by how far their people have to go.

    Parameters
    ----------
    decisions, costs : arrays (n, s)
        Favourable decision and cost at each α of `grid` (s,).
    code : array (n,)
        Group of each person, below `k`.
    """
    first = decisions.argmax(axis=1)
    never = np.asarray(~decisions.any(axis=1), dtype=bool)
    alpha = np.array(grid)[first]
    cost = costs[np.arange(len(first)), first]
    helped = ~never
    means, differences, medians = [], [], []
    level = options.level
    for g in range(k):
        here = code == g
        means.append(_mean(cost[here & helped], weights[here & helped], level))
        # all groups are looked at, so each difference gets its part of the error rate
        each = level / k
        ours, rest = (_mean(cost[who & helped], weights[who & helped], each) for who in (here, ~here))
        difference = weighted_sum([ours, rest], [1.0, -1.0])
        differences.append(
            Estimate(
                difference.value,
                difference.low,
                difference.high,
                difference.n,
                f"{difference.method}, {percent_level(level)} for all groups together",
            )
        )
        medians.append(_median(np.where(never, np.inf, alpha)[here], weights[here]))
    size = np.bincount(code, weights, k)
    at_end = np.bincount(code, weights * decisions[:, grid.index(_last(options, grid))], k)
    gap = largest_gap(at_end, size, level=level / 2)
    p, judged, needed = _judged(
        np.where(never, np.inf, cost), code, weights, size, at_end, gap, k, options, rng
    )
    return Burden(
        alpha, cost, never, tuple(means), tuple(differences), tuple(medians), gap, p, judged, needed
    )


def _last(options: RecourseOptions, grid: tuple[float, ...]) -> float:
    return max(step for step in grid if step <= max(options.steps) + 1e-9)


def _mean(values: np.ndarray, weights: np.ndarray, level: float) -> Estimate:
    if not len(values):
        return Estimate(None, None, None, 0.0, "nobody to average")
    return mean_test(values, weights).interval(level)


def _median(alpha: np.ndarray, weights: np.ndarray) -> float | None:
    order = np.argsort(alpha, kind="stable")
    reached = np.cumsum(weights[order])
    value = float(alpha[order][np.searchsorted(reached, reached[-1] / 2 * (1 - 1e-12))])
    return value if np.isfinite(value) else None


def _judged(
    cost: np.ndarray,
    code: np.ndarray,
    weights: np.ndarray,
    size: np.ndarray,
    at_end: np.ndarray,
    gap: Estimate,
    k: int,
    options: RecourseOptions,
    rng: np.random.Generator,
) -> tuple[float | None, Verdict, int | None]:
    """Two looks that share the level: shares reclassified, and ranks of the burden, labels permuted."""
    if k < 2:
        return None, INSUFFICIENT, None
    rows, each = as_people(weights)
    code, rank = code[rows], rankdata(cost[rows])
    apart = each * (rank - np.average(rank, weights=each))

    def spread(labels: np.ndarray) -> float:
        people = np.bincount(labels, each, k)
        total = np.bincount(labels, apart, k)
        return float((total**2 / np.where(people > 0, people, 1.0)).sum())

    null = np.array([spread(rng.permutation(code)) for _ in range(options.permutations)])
    p = p_value(spread(code), null)
    seen = p <= options.level / 2 or (gap.low is not None and gap.low > 0)
    share = float(at_end.sum() / size.sum())
    pairs = k * (k - 1) / 2
    smallest, second = np.sort(size)[:2]
    level = options.level / 2 / pairs
    power = power_of_difference(share, options.material, float(smallest), float(second), level=level)
    judged = verdict(excludes_no_difference=seen, power=power)
    needed = people_needed(share, options.material, level=level) if judged == INSUFFICIENT else None
    return p, judged, needed
