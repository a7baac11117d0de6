"""How sure: intervals by resampling people and coupling them again, and what chance alone would give.

Intervals come from a pool of people of both sides, drawn by subgroup. The pool is resampled with
replacement, outcomes are coupled anew each time, and the spread is scaled from the pool's size to that of
all people (m out of n; Bickel, Götze, van Zwet 1997). So they carry the sampling of the people, of their
counterparts, and of the coupling itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import norm
from scipy.stats import t as student

from audits.outcomes.comparison import Comparison
from audits.outcomes.matching import OutcomeCost, match_outcomes
from audits.progress import Progress
from audits.stats import p_value
from audits.transport import Cost, pairwise_cost

__all__ = ["GroupTest", "Resampled", "distance_null", "group_test", "resample", "simultaneous"]

_POOL = 500  # people of each side behind an interval; of vectors, whose coupling is no closed form:
_SMALL_POOL = 100
_AT_LEAST = 40  # people of each subgroup in the pool, where there are so many


@dataclass(frozen=True, eq=False)
class Resampled:
    """Spread of the statistics of `resample`.

    Attributes
    ----------
    distance : array (2,)
        Standard error of the Wasserstein distances of order 1 and 2.
    excess : array (2,)
        By how much resampling raises them: sampling makes equal outcomes look apart.
    moves : array (draws, s, g)
        Deviations of each group's mean bias in each space, scaled to all people.
    pool : int
        People of the source side in the pool.
    """

    distance: np.ndarray
    excess: np.ndarray
    moves: np.ndarray
    pool: int


def resample(
    comparison: Comparison,
    spaces: Sequence[tuple[np.ndarray, np.ndarray]],
    memberships: np.ndarray,
    *,
    a: np.ndarray,
    b: np.ndarray,
    ground: OutcomeCost,
    distance: Cost,
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Resampled:
    """Resample people, couple their outcomes again, and measure bias again.

    Parameters
    ----------
    spaces : sequence of (array (n, d), array (m, d))
        Features of both sides, one pair for each set of features that bias is taken over.
    memberships : bool array (g, n)
        Groups of source people.
    a, b : arrays (n,), (m,)
        People each row stands for.
    """
    source, target = comparison.source, comparison.target
    size = _POOL if source.outcomes.shape[1] == 1 else _SMALL_POOL
    ours = _pool(source.subgroup, size, rng)
    theirs = ours if comparison.same_people else _pool(target.subgroup, size, rng)
    codes = source.subgroup, (source if comparison.same_people else target).subgroup
    base = _lifted(a, ours, codes[0]), _lifted(b, theirs, codes[1])
    far = [pairwise_cost(x[ours], y[theirs], distance) for x, y in spaces]
    x, y = source.outcomes[ours], target.outcomes[theirs]
    inside = memberships[:, ours].astype(float)

    def statistics(w: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _recoupled(x, y, w, v, far, inside, ground)

    centre_cost, centre = statistics(base[0], base[1])
    costs, moves = np.empty((draws, 2)), np.empty((draws, *centre.shape))
    for draw in range(draws):
        counts = rng.multinomial(len(ours), np.full(len(ours), 1 / len(ours)))
        again = (
            counts
            if comparison.same_people
            else rng.multinomial(len(theirs), np.full(len(theirs), 1 / len(theirs)))
        )
        costs[draw], moves[draw] = statistics(base[0] * counts, base[1] * again)
        if draw % 10 == 0:
            progress(draw / draws, "Resampling people for the intervals")
    in_pool = np.array([_effective(base[0][rows]) for rows in memberships[:, ours]])
    everyone = np.array([_effective(a[rows]) for rows in memberships])
    theirs_kept = _effective(base[1]) / _effective(b)
    reach = np.minimum(np.maximum(in_pool / everyone, theirs_kept), 1.0)
    shrink = (1 / _effective(a) + 1 / _effective(b)) / (1 / _effective(base[0]) + 1 / _effective(base[1]))
    moves = np.where(np.isfinite(moves), moves - centre, 0.0) * np.sqrt(reach)
    apart = (costs - centre_cost) * np.sqrt(min(shrink, 1.0))
    return Resampled(apart.std(axis=0), np.maximum(apart.mean(axis=0), 0.0), moves, len(ours))


def _pool(code: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of about `size` people, those of small subgroups overrepresented."""
    if len(code) <= size:
        return np.arange(len(code))
    found = []
    for one in np.unique(code):
        rows = np.flatnonzero(code == one)
        wanted = min(len(rows), max(round(size * len(rows) / len(code)), _AT_LEAST))
        found.append(rng.choice(rows, wanted, replace=False))
    return np.sort(np.concatenate(found))


def _effective(weights: np.ndarray) -> float:
    """People of equal weight that would carry as much (Kish); 1 for nobody."""
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 1.0


def _lifted(weights: np.ndarray, rows: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Weights of the pool's rows such that each subgroup keeps its total."""
    total = np.bincount(code, weights)
    pooled = np.bincount(code[rows], weights[rows], len(total))
    return weights[rows] * (total / np.where(pooled > 0, pooled, 1.0))[code[rows]]


def _recoupled(
    x: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    v: np.ndarray,
    far: list[np.ndarray],
    inside: np.ndarray,
    ground: OutcomeCost,
) -> tuple[np.ndarray, np.ndarray]:
    """Distances of order 1 and 2, and the mean bias of each group (s, g), of weighted people."""
    here, there = w > 0, v > 0
    matched = match_outcomes(x[here], y[there], a=w[here], b=v[there], ground=ground)
    costs = np.array([matched.mean_cost("euclidean"), np.sqrt(matched.mean_cost("squared_euclidean"))])
    atoms = matched.target
    members = sparse.csr_array(
        (atoms.shares, atoms.of, np.arange(len(atoms.of) + 1)), shape=(len(atoms.of), len(atoms.first))
    )
    shares = (matched.shares @ members.T).tocsr()[matched.source.of]
    weights = inside[:, here] * w[here]
    mass = weights.sum(axis=1)
    means = np.empty((len(far), len(inside)))
    for k, d in enumerate(far):
        near = shares.multiply(d[np.ix_(here, there)]).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[k] = weights @ np.asarray(near).ravel() / mass
    return costs, means


def simultaneous(
    value: np.ndarray, moves: np.ndarray, people: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends (g,) of intervals that hold for all groups together (max-t); NaN for groups of one.

    Parameters
    ----------
    moves : array (draws, g)
        Deviations of the bootstrap.
    people : array (g,)
        People behind each value, for Student's correction.
    """
    spread = moves.std(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(spread > 0, np.abs(moves) / spread, 0.0)
    freedom = np.maximum(people - 1, 1.0)
    normal = max(float(np.quantile(ratio.max(axis=1), 1 - level)), float(norm.isf(level / 2)))
    reach = student.isf(norm.sf(normal), freedom) * spread
    reach = np.where(people >= 2, reach, np.nan)
    return np.maximum(value - reach, 0.0), value + reach


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
        rows = _pool(comparison.source.subgroup, _SMALL_POOL, rng)
        columns = rows if comparison.same_people else _pool(comparison.target.subgroup, _SMALL_POOL, rng)
        x, y, a, b = x[rows], y[columns], a[rows], b[columns]
    both, weights = np.concatenate([x, y]), np.concatenate([a, b])
    n = len(x)
    order = np.argsort(both[:, 0], kind="stable")
    observed = _distance(both, weights, np.arange(len(both)) < n, order, ground)
    null = np.empty(permutations)
    for k in range(permutations):
        if comparison.same_people:
            swap = rng.random(n) < 0.5
            first = np.concatenate([~swap, swap])
        else:
            first = rng.permutation(len(both)) < n
        null[k] = _distance(both, weights, first, order, ground)
        if k % 10 == 0:
            progress(k / permutations, "Measuring what chance alone gives")
    return observed, null


def _distance(
    both: np.ndarray, weights: np.ndarray, first: np.ndarray, order: np.ndarray, ground: OutcomeCost
) -> float:
    """Wasserstein distance between the outcomes of `first` and of the others; `order` sorts them."""
    if both.shape[1] > 1 or ground == "squared_euclidean":
        matched = match_outcomes(
            both[first], both[~first], a=weights[first], b=weights[~first], ground=ground
        )
        return matched.cost if ground == "euclidean" else float(np.sqrt(matched.cost))
    mass = np.where(first, weights / weights[first].sum(), -weights / weights[~first].sum())[order]
    return float(np.abs(np.cumsum(mass)[:-1]) @ np.diff(both[order, 0]))


@dataclass(frozen=True, eq=False)
class GroupTest:
    """Do groups differ in mean bias? Group labels permuted among people.

    `p_value` is of the largest difference, `adjusted` (g,) of each group against everybody (Westfall, Young:
    the largest difference of each permutation), `power` the chance to see a material one of the group for
    which that is hardest.
    """

    p_value: float
    adjusted: np.ndarray
    power: float
    people_needed: float


def group_test(
    bias: np.ndarray,
    weights: np.ndarray,
    group: np.ndarray,
    *,
    material: float,
    level: float,
    permutations: int,
    rng: np.random.Generator,
) -> GroupTest | None:
    """Test mean `bias` (n,) of the people of each `group` (n,) against everybody's; None for one group.

    `material` is the difference that would matter, in the unit of the bias.
    """
    known = np.isfinite(bias)
    bias, weights, group = bias[known], weights[known], group[known]
    k = int(group.max(initial=-1)) + 1
    if len(np.unique(group)) < 2 or permutations == 0:
        return None
    mean = np.average(bias, weights=weights)
    apart = bias - mean
    spread = float(np.sqrt(np.average(apart**2, weights=weights)))
    size = np.bincount(group, weights, k)
    rest = np.maximum(1 - size / size.sum(), 1e-12)
    unit = np.where(size > 0, spread / np.sqrt(np.maximum(size, 1e-300) / rest), np.inf)
    if spread <= 1e-12 * max(abs(mean), 1e-300):
        return GroupTest(1.0, np.ones(k), 1.0, 0.0)

    def distances(code: np.ndarray) -> np.ndarray:
        people = np.bincount(code, weights, k)
        total = np.bincount(code, weights * apart, k)
        return np.abs(np.divide(total, people, out=np.zeros(k), where=people > 0)) / unit

    observed = distances(group)
    null = np.array([distances(rng.permutation(group)).max() for _ in range(permutations)])
    critical = float(np.quantile(null, 1 - level))
    hardest = float(unit[np.isfinite(unit)].max())
    power = float(norm.cdf(material / hardest - critical)) if 1 / (permutations + 1) <= level else 0.0
    needed = ((critical + norm.isf(0.2)) * spread / material) ** 2 if material > 0 else np.inf
    return GroupTest(
        p_value(float(observed.max()), null),
        np.array([p_value(float(one), null) for one in observed]),
        power,
        float(needed),
    )
