"""Recourse burden: how far each group's rejected people have to go, whether that differs, and the verdict.

Two things are looked at, which share the level: who is accepted at the last step, and how far those have to
go for whom some step helps. Each is compared with everyone else's, all groups together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from audits.recourse.paths import RecoursePath, Walk
from audits.recourse.text import rejected, yes_word
from audits.stats import (
    EVIDENCE,
    Estimate,
    Judgment,
    judge,
    largest_gap,
    limit_of,
    newcombe,
    settle_all,
    worst_of,
)
from audits.stats.group_means import GroupMeans, group_means, judge_groups
from audits.stats.intervals import percent_level
from audits.stats.means import mean_test
from audits.stats.verdicts import outlasts_run, place_of_evidence

_LOOKS = 2  # shares accepted, and burdens


@dataclass(frozen=True, eq=False)
class Burden:
    """Per person (n,): smallest α that flips, its cost, and whether none does; per group: estimates.

    `differences` and `shares` are of each group's mean burden and share accepted, minus those of everyone
    else; None where nothing can be said.
    """

    alpha: np.ndarray
    cost: np.ndarray
    never: np.ndarray
    mean: tuple[Estimate, ...]
    median_alpha: tuple[float | None, ...]
    gap: Estimate
    differences: tuple[Judgment | None, ...]
    shares: tuple[Judgment | None, ...]
    p_value: float | None
    judged: Judgment


def burden_of(way: RecoursePath, path: Walk, rng: np.random.Generator) -> Burden:
    """Compare groups by how far their people have to go."""
    options, people = way.options, way.people
    code, weights, k = people.code, people.weights, len(people.names)
    first = path.decisions.argmax(axis=1)
    never = np.asarray(~path.decisions.any(axis=1), dtype=bool)
    alpha = np.array(path.grid)[first]
    cost = path.costs[np.arange(len(first)), first]
    means, medians = [], []
    for g in range(k):
        here = code == g
        means.append(_mean(cost[here & ~never], weights[here & ~never], options.level, k))
        medians.append(_median(np.where(never, np.inf, alpha)[here], weights[here]))
    size = np.bincount(code, weights, k)
    last = max(step for step in path.grid if step <= max(options.steps) + 1e-9)
    at_end = path.decisions[:, path.grid.index(last)]
    gap = largest_gap(np.bincount(code, weights * at_end, k), size, level=options.level / 2)
    differences, p = _burdens(way, np.where(never, np.nan, cost), rng)
    shares = _shares(way, at_end, size, rng, known=None not in differences)
    parts = settle_all((*differences, *shares), f"{rejected()} in all", everyone=float(size.sum()))
    differences, shares = parts[:k], parts[k:]
    further = sorted(filter(None, differences), key=lambda one: -(one.interval.value or 0.0))
    fewer = sorted(filter(None, shares), key=lambda one: one.interval.value or 0.0)
    # of two groups both differences are the same one, and the group that is worse off the one to name
    if k == 2:
        further, fewer = further[:1], fewer[:1]
    nothing = Estimate(None, None, None, float(size.sum()), "there is one group only")
    judged = _leading(further, fewer, options.level) or judge(
        nothing, immaterial=(0, 0), reason=nothing.method
    )
    return Burden(alpha, cost, never, tuple(means), tuple(medians), gap, differences, shares, p, judged)


def _leading(further: list[Judgment], fewer: list[Judgment], level: float) -> Judgment | None:
    """Return what the verdict rests on; of evidence as sure, shares before burdens of those helped alone."""

    def place(part: Judgment) -> int:
        return place_of_evidence(part.material, outlasts=outlasts_run(part.p_value, level))

    evident = [part for part in (*fewer, *further) if part.verdict == EVIDENCE]
    if not evident:
        return worst_of([*further, *fewer]) if further or fewer else None
    first = min(map(place, evident))
    shares = [part for part in evident if part in fewer and place(part) == first]
    return worst_of(shares or [part for part in evident if place(part) == first])


def _tested(way: RecoursePath, values: np.ndarray, rng: np.random.Generator) -> GroupMeans | None:
    """Compare each group's mean of `values` (n,) with that of everyone else."""
    options, people = way.options, way.people
    level, draws = options.level / _LOOKS, options.permutations
    return group_means(values, people.weights, people.code, level=level, permutations=draws, rng=rng)


def _burdens(
    way: RecoursePath, cost: np.ndarray, rng: np.random.Generator
) -> tuple[tuple[Judgment | None, ...], float | None]:
    """Judge mean burdens of those for whom some step helps; a cost of NaN is of the others."""
    options, people, tested = way.options, way.people, _tested(way, cost, rng)
    if tested is None:
        return (None,) * len(people.names), None
    known = np.isfinite(cost)
    material = options.material * float(np.average(cost[known], weights=people.weights[known]))
    judged = tuple(
        one and replace(one, unit="standard deviations")
        for one in judge_groups(tested, material=material, looks=_LOOKS)
    )
    return judged, min(1.0, _LOOKS * tested.p_value)


def _shares(
    way: RecoursePath, accepted: np.ndarray, size: np.ndarray, rng: np.random.Generator, *, known: bool
) -> tuple[Judgment | None, ...]:
    """Judge the share of each group that is accepted at the last step.

    Equal ones clear nobody unless it is `known` of every group how far its people have to go.
    """
    options, people, k = way.options, way.people, len(size)
    tested = _tested(way, accepted.astype(float), rng)
    if tested is None:
        return (None,) * k
    pairs = 1 if k == 2 else k  # of two groups both differences are the same one
    count = np.bincount(people.code, people.weights * accepted, k)
    found: list[Judgment | None] = []
    for g in range(k):
        if size[g] < 2:
            found.append(None)
            continue
        level = options.level / _LOOKS / pairs
        apart = newcombe(count[g], size[g], count.sum() - count[g], size.sum() - size[g], level=level)
        method = f"Newcombe {percent_level(options.level)}, all groups and burdens together"
        interval = Estimate(apart.value, apart.low, apart.high, float(size[g]), method)
        overall, others = count.sum() / size.sum(), (count.sum() - count[g]) / (size.sum() - size[g])
        limit = limit_of(options.material, options.material_on, rate=float(others), overall=float(overall))
        needed, least = None, min(-limit[0], limit[1])
        if apart.low is not None and apart.high is not None and least > 0:
            # an interval that is half as long as what matters either excludes 0 or lies within it
            needed = int(np.ceil(size[g] * ((apart.high - apart.low) / least) ** 2))
        judged = judge(
            interval,
            immaterial=limit,
            p_value=float(min(1.0, _LOOKS * tested.adjusted[g])),
            level=options.level,
            people_needed=needed,
            cannot_clear="" if known else f"nobody in some group is {yes_word()} on the way",
        )
        found.append(judged)
    return tuple(found)


def _mean(values: np.ndarray, weights: np.ndarray, level: float, k: int) -> Estimate:
    if not len(values):
        return Estimate(None, None, None, 0.0, "nobody to average")
    found = mean_test(values, weights).interval(level / k)
    if found.low is None:
        return found
    method = found.method.replace(percent_level(level / k), f"{percent_level(level)}, all groups together")
    return Estimate(found.value, found.low, found.high, found.n, method)


def _median(alpha: np.ndarray, weights: np.ndarray) -> float | None:
    order = np.argsort(alpha, kind="stable")
    reached = np.cumsum(weights[order])
    value = float(alpha[order][np.searchsorted(reached, reached[-1] / 2 * (1 - 1e-12))])
    return value if np.isfinite(value) else None
