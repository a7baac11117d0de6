"""How sure: intervals by resampling people and coupling them again, and what chance alone would give.

Intervals come from a pool of people of both sides, drawn by subgroup. The pool is resampled with
replacement, outcomes are coupled anew each time, and the spread is scaled from the pool's size to that of
all people (m out of n; Bickel, Götze, van Zwet 1997). So they carry the sampling of the people, of their
counterparts, and of the coupling itself, also of a blurred one, whose blur follows the outcomes' spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import norm
from scipy.stats import t as student

from audits.outcomes.comparison import Comparison
from audits.outcomes.identified import Ranges, least_apart
from audits.outcomes.matching import Matched, OutcomeCost, match_outcomes
from audits.outcomes.pools import effective, lifted, pool
from audits.progress import Progress
from audits.stats import p_value
from audits.transport import Cost, pairwise_cost

__all__ = ["GroupTest", "Resampled", "distance_null", "group_test", "resample", "simultaneous"]

_POOL = 500  # people of each side behind an interval; of vectors, whose coupling is no closed form:
_SMALL_POOL = 100  # and of blurred couplings, which are iterated


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
    flows : array (draws, r, c)
        Deviations of the share of each source subgroup that goes to each target subgroup, scaled likewise.
    pool : int
        People of the source side in the pool.
    """

    distance: np.ndarray
    excess: np.ndarray
    moves: np.ndarray
    flows: np.ndarray
    pool: int


def resample(
    comparison: Comparison,
    spaces: Sequence[tuple[np.ndarray, np.ndarray]],
    memberships: np.ndarray,
    *,
    a: np.ndarray,
    b: np.ndarray,
    couple: Callable[..., Matched],
    exact: bool,
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
    couple : callable
        ``couple(outcomes, others, a=weights, b=weights)`` couples as the audit does; `exact` says whether
        that is exact transport.
    """
    source, target = comparison.source, comparison.target
    size = _POOL if exact and source.outcomes.shape[1] == 1 else _SMALL_POOL
    ours = pool(source.subgroup, size, rng)
    theirs = ours if comparison.same_people else pool(target.subgroup, size, rng)
    codes = source.subgroup, (source if comparison.same_people else target).subgroup
    base = lifted(a, ours, codes[0]), lifted(b, theirs, codes[1])
    far = [pairwise_cost(x[ours], y[theirs], distance) for x, y in spaces]
    x, y = source.outcomes[ours], target.outcomes[theirs]
    inside = memberships[:, ours].astype(float)
    rows = np.eye(len(source.subgroups))[:, source.subgroup[ours]]
    columns = np.eye(len(target.subgroups))[target.subgroup[theirs]]

    def statistics(w: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _recoupled(x, y, w, v, far, inside, (rows, columns), couple)

    centre_cost, centre, centre_flows = statistics(base[0], base[1])
    costs, moves = np.empty((draws, 2)), np.empty((draws, *centre.shape))
    flows = np.empty((draws, *centre_flows.shape))
    for draw in range(draws):
        counts = rng.multinomial(len(ours), np.full(len(ours), 1 / len(ours)))
        again = (
            counts
            if comparison.same_people
            else rng.multinomial(len(theirs), np.full(len(theirs), 1 / len(theirs)))
        )
        costs[draw], moves[draw], flows[draw] = statistics(base[0] * counts, base[1] * again)
        if draw % 10 == 0:
            progress(draw / draws, "Resampling people for the intervals")
    theirs_kept = effective(base[1]) / effective(b)
    reach = _reach(memberships, ours, a, base[0], theirs_kept)
    row_reach = _reach(source.subgroup == np.arange(len(rows))[:, None], ours, a, base[0], theirs_kept)
    shrink = (1 / effective(a) + 1 / effective(b)) / (1 / effective(base[0]) + 1 / effective(base[1]))
    moves = np.where(np.isfinite(moves), moves - centre, 0.0) * np.sqrt(reach)
    flows = np.where(np.isfinite(flows), flows - centre_flows, 0.0) * np.sqrt(row_reach)[:, None]
    apart = (costs - centre_cost) * np.sqrt(min(shrink, 1.0))
    return Resampled(apart.std(axis=0), np.maximum(apart.mean(axis=0), 0.0), moves, flows, len(ours))


def _reach(
    members: np.ndarray, rows: np.ndarray, weights: np.ndarray, pooled: np.ndarray, others: float
) -> np.ndarray:
    """By how much the variance of the statistics of `members` (g, n) shrinks from the pool to everybody."""
    in_pool = np.array([effective(pooled[one]) for one in members[:, rows]])
    everyone = np.array([effective(weights[one]) for one in members])
    return np.minimum(np.maximum(in_pool / everyone, others), 1.0)


def _recoupled(
    x: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    v: np.ndarray,
    far: list[np.ndarray],
    inside: np.ndarray,
    subgroups: tuple[np.ndarray, np.ndarray],
    couple: Callable[..., Matched],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances of order 1 and 2, mean bias of each group (s, g), flows (r, c), of weighted people."""
    here, there = w > 0, v > 0
    matched = couple(x[here], y[there], a=w[here], b=v[there])
    costs = np.array([matched.mean_cost("euclidean"), np.sqrt(matched.mean_cost("squared_euclidean"))])
    atoms = matched.target
    members = sparse.csr_array(
        (atoms.shares, atoms.of, np.arange(len(atoms.of) + 1)), shape=(len(atoms.of), len(atoms.first))
    )
    shares = (matched.shares @ members.T).tocsr()[matched.source.of]
    reached = w[here] * (1.0 if matched.exact else matched.matched_share[matched.source.of])
    weights = inside[:, here] * reached
    means = np.empty((len(far), len(inside)))
    rows = subgroups[0][:, here] * reached
    with np.errstate(invalid="ignore", divide="ignore"):
        for k, d in enumerate(far):
            near = shares.multiply(d[np.ix_(here, there)]).sum(axis=1)
            means[k] = weights @ np.asarray(near).ravel() / weights.sum(axis=1)
        flows = rows @ (shares @ subgroups[1][there]) / rows.sum(axis=1)[:, None]
    return costs, means, flows


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
        rows = pool(comparison.source.subgroup, _SMALL_POOL, rng)
        columns = rows if comparison.same_people else pool(comparison.target.subgroup, _SMALL_POOL, rng)
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
    which that is hardest. All of these are of the coupling given; `everywhere` is the largest p-value over
    all optimal couplings, and `leeway` says whether some of them could set two groups materially apart.
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
        return GroupTest(1.0, np.ones(k), 1.0, 0.0, 1.0, _leeway(ranges, size, material))

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
    least = float(observed.max())
    if ranges is not None:
        here = size > 0
        within = ranges[0][here], ranges[1][here]
        least = min(least, least_apart(within, size[here] / size.sum(), unit[here]))
    return GroupTest(
        p_value(float(observed.max()), null),
        np.array([p_value(float(one), null) for one in observed]),
        power,
        float(needed),
        p_value(least, null),
        _leeway(ranges, size, material),
    )


def _leeway(ranges: Ranges | None, size: np.ndarray, material: float) -> bool:
    """Whether two different groups' ranges hold means that are materially apart."""
    if ranges is None:
        return False
    reach = ranges[1][:, None] - ranges[0]
    np.fill_diagonal(reach, 0.0)
    here = size > 0
    return bool(reach[np.ix_(here, here)].max(initial=0.0) > material)
