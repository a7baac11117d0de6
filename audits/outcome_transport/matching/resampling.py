"""How sure: intervals by resampling people and coupling them again, and what chance alone would give.

Intervals come from a pool of people of both sides, drawn by subgroup. The pool is resampled with
replacement, outcomes are coupled again each time, and the spread is scaled from the pool's size to that of
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

from audits.outcome_transport.comparison.sides import TwoSides
from audits.outcome_transport.matching.outcomes import OutcomeCost, OutcomePlan, match_outcomes
from audits.progress import Progress
from audits.stats import as_people
from audits.stats.means import ALIKE
from audits.transport import Cost, pairwise_cost

_LEVELS = 2000  # at which inverse distribution functions are compared
_POOL = 500  # people of each side behind an interval; of vectors, whose coupling is no closed form:
SMALL_POOL = 100
"""And of blurred couplings, which are iterated."""
_MAX_RESAMPLED = 20_000  # people that are drawn one by one; of more, bundles


@dataclass(frozen=True, eq=False)
class BootstrapSpread:
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
    comparison: TwoSides,
    spaces: Sequence[tuple[np.ndarray, np.ndarray]],
    memberships: np.ndarray,
    *,
    a: np.ndarray,
    b: np.ndarray,
    couple: Callable[..., OutcomePlan],
    exact: bool,
    distance: Cost,
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> BootstrapSpread:
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
    size = _POOL if exact and source.outcomes.shape[1] == 1 else SMALL_POOL
    (ours, w), (theirs, v) = _pools(comparison, a, b, size, rng)
    codes = (source if comparison.same_people else target).subgroup
    base = with_subgroup_totals(a, ours, source.subgroup, w), with_subgroup_totals(b, theirs, codes, v)
    people = whole(w), whole(v)
    far = [pairwise_cost(x[ours], y[theirs], distance) for x, y in spaces]
    x, y = source.outcomes[ours], target.outcomes[theirs]
    inside = memberships[:, ours].astype(float)
    rows = np.eye(len(source.subgroups))[:, source.subgroup[ours]]
    columns = np.eye(len(target.subgroups))[target.subgroup[theirs]]

    def statistics(w: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _resampled_statistics(x, y, w, v, far, inside, (rows, columns), couple)

    center_cost, center, center_flows = statistics(base[0], base[1])
    costs, moves = np.empty((draws, 2)), np.empty((draws, *center.shape))
    flows = np.empty((draws, *center_flows.shape))
    for draw in range(draws):
        counts, again = _drawn_again(comparison, people, rng)
        costs[draw], moves[draw], flows[draw] = statistics(base[0] * counts, base[1] * again)
        if draw % 10 == 0:
            progress(draw / draws, "Resampling people for the intervals")
    kept = [effective(w, n) for w, n in zip(base, people, strict=True)]
    full = [effective(w, whole(w)) for w in (a, b)]
    pooled = base[0], people[0]
    reach = _reach(memberships, ours, a, pooled, kept[1] / full[1])
    subgroups = source.subgroup == np.arange(len(rows))[:, None]
    row_reach = _reach(subgroups, ours, a, pooled, kept[1] / full[1])
    moves = np.where(np.isfinite(moves), moves - center, 0.0) * np.sqrt(reach)
    flows = np.where(np.isfinite(flows), flows - center_flows, 0.0) * np.sqrt(row_reach)[:, None]
    apart = (costs - center_cost) * _shrinkage(kept, full)
    return BootstrapSpread(
        apart.std(axis=0), np.maximum(apart.mean(axis=0), 0.0), moves, flows, round(people[0].sum())
    )


def _pools(
    comparison: TwoSides, a: np.ndarray, b: np.ndarray, size: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of about `size` people of each side, and what each person weighs.

    The same ones where the same people stand on both sides, and whether people alike are one row or several.
    """
    sides = [(comparison.source.subgroup, a), (comparison.target.subgroup, b)]
    found = []
    for code, weights in sides[:1] if comparison.same_people else sides:
        rows, each = as_people(weights)
        chosen = pool(code[rows], size, rng)
        found.append((rows[chosen], each[chosen]))
    return [found[0], found[-1]]


def _drawn_again(
    comparison: TwoSides, people: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> list[np.ndarray]:
    """How often each row's people come up on either side, per person, drawn with replacement."""
    sides = people[:1] if comparison.same_people else people
    counts = [rng.multinomial(round(each.sum()), each / each.sum()) / each for each in sides]
    return [counts[0], counts[-1]]


def _shrinkage(kept: Sequence[float], full: Sequence[float]) -> float:
    """By how much standard errors shrink from the `kept` people of both sides to all of them."""
    return float(np.sqrt(min((1 / full[0] + 1 / full[1]) / (1 / kept[0] + 1 / kept[1]), 1.0)))


def _reach(
    members: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    pooled: tuple[np.ndarray, np.ndarray],
    others: float,
) -> np.ndarray:
    """By how much the variance of the statistics of `members` (g, n) shrinks from the pool to everyone.

    `pooled` are the weights and people of the pool's `rows`.
    """
    in_pool = np.array([effective(pooled[0][one], pooled[1][one]) for one in members[:, rows]])
    everyone = np.array([effective(weights[one], whole(weights[one])) for one in members])
    return np.minimum(np.maximum(in_pool / everyone, others), 1.0)


def _resampled_statistics(
    x: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    v: np.ndarray,
    far: list[np.ndarray],
    inside: np.ndarray,
    subgroups: tuple[np.ndarray, np.ndarray],
    couple: Callable[..., OutcomePlan],
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
    i, j = shares.tocoo().coords  # distances of those who are matched alone
    one, other = np.flatnonzero(here)[i], np.flatnonzero(there)[j]
    with np.errstate(invalid="ignore", divide="ignore"):
        for k, d in enumerate(far):
            near = np.bincount(i, shares.data * d[one, other], len(reached))
            means[k] = weights @ near / weights.sum(axis=1)
        flows = rows @ (shares @ subgroups[1][there]) / rows.sum(axis=1)[:, None]
    return costs, means, flows


def distance_error(
    comparison: TwoSides,
    *,
    a: np.ndarray,
    b: np.ndarray,
    ground: OutcomeCost,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """How far the distance can lie from that of the people sampled from, in each of some resamples, (draws,).

    The distance between outcomes on a line is the norm of F - G, of their distribution functions (order 1) or
    of those functions' inverses (order 2). So its error is at most the norm of the error of F - G, whatever F
    and G are, and that norm is what resampling finds (Bickel, Freedman 1981): the interval made of it holds
    where the distance is 0 as well as far from it. Vectors: the signed measure that resampling adds is
    transported, which is the same bound by Kantorovich's duality; of order 2, the triangle's.
    """
    x, y = comparison.source.outcomes, comparison.target.outcomes
    if x.shape[1] > 1:
        return _vectors_error(comparison, a, b, ground, draws, rng)
    values = np.union1d(x, y)
    (ours, a), (theirs, b) = as_people(a, most=_MAX_RESAMPLED), as_people(b, most=_MAX_RESAMPLED)
    at = np.searchsorted(values, x[ours, 0]), np.searchsorted(values, y[theirs, 0])
    people = whole(a), whole(b)
    center = [np.bincount(k, w, len(values)) / w.sum() for k, w in zip(at, (a, b), strict=True)]
    gaps = np.diff(values)
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    inverse = [_inverse(values, one, levels) for one in center]
    found = np.empty(draws)
    for k in range(draws):
        again = [
            np.bincount(where, w * c, len(values)) / (w @ c)
            for where, w, c in zip(at, (a, b), _drawn_again(comparison, people, rng), strict=True)
        ]
        if ground == "euclidean":
            moved = (again[0] - center[0]) - (again[1] - center[1])
            found[k] = np.abs(np.cumsum(moved)[:-1]) @ gaps
        else:
            new = [_inverse(values, one, levels) for one in again]
            found[k] = np.sqrt(np.mean(((new[0] - inverse[0]) - (new[1] - inverse[1])) ** 2))
    return found


def _inverse(values: np.ndarray, mass: np.ndarray, levels: np.ndarray) -> np.ndarray:
    up_to = np.cumsum(mass)
    return values[np.minimum(np.searchsorted(up_to, levels * up_to[-1]), len(values) - 1)]


def _vectors_error(
    comparison: TwoSides,
    a: np.ndarray,
    b: np.ndarray,
    ground: OutcomeCost,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    (rows, w), (columns, v) = _pools(comparison, a, b, SMALL_POOL, rng)
    x, y = comparison.source.outcomes[rows], comparison.target.outcomes[columns]
    people = whole(w), whole(v)
    found = np.empty(draws)
    for k in range(draws):
        counts, others = _drawn_again(comparison, people, rng)
        moves = w * counts / (w @ counts) - w / w.sum(), v * others / (v @ others) - v / v.sum()
        if ground == "euclidean":
            both = np.concatenate([x, y]), np.concatenate([moves[0], -moves[1]])
            found[k] = _transport_cost(*both, ground)
        else:
            found[k] = _transport_cost(x, moves[0], ground) + _transport_cost(y, moves[1], ground)
    if ground != "euclidean":
        return found  # of order 2 the error can shrink more slowly than with the square root of the people
    kept = [effective(one, whole(one)) for one in (w, v)]
    full = [effective(one, whole(one)) for one in (a, b)]
    return found * _shrinkage(kept, full)


def _transport_cost(points: np.ndarray, signed: np.ndarray, ground: OutcomeCost) -> float:
    """What it costs to make the negative part of a measure of sum 0 of the positive one."""
    up, down = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
    mass = up.sum()
    if mass <= 1e-12:
        return 0.0
    matched = match_outcomes(points[up > 0], points[down > 0], a=up[up > 0], b=down[down > 0], ground=ground)
    cost = float(matched.cost * mass)
    return cost if ground == "euclidean" else float(np.sqrt(cost))


def distance_null(
    comparison: TwoSides,
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
    sides or not. Outcomes on a line use everyone; vectors a pool, on which the observed distance is taken
    too.
    """
    x, y = comparison.source.outcomes, comparison.target.outcomes
    if x.shape[1] > 1:
        (rows, a), (columns, b) = _pools(comparison, a, b, SMALL_POOL, rng)
        x, y = x[rows], y[columns]
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
            progress(k / permutations, "Measuring chance")
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


def simultaneous(
    value: np.ndarray, moves: np.ndarray, people: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends (g,) of intervals that hold for all groups together (max-t); NaN for one person, or few alike.

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
    known = (people >= 2) & ((spread > 1e-12 * np.maximum(np.abs(value), 1.0)) | (people >= ALIKE))
    reach = np.where(known, reach, np.nan)
    return np.maximum(value - reach, 0.0), value + reach


_AT_LEAST = 40  # people of each subgroup in the pool, where there are so many


def pool(code: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of about `size` people, those of small subgroups `code` (n,) overrepresented."""
    if len(code) <= size:
        return np.arange(len(code))
    found = []
    for one in np.unique(code):
        rows = np.flatnonzero(code == one)
        wanted = min(len(rows), max(round(size * len(rows) / len(code)), _AT_LEAST))
        found.append(rng.choice(rows, wanted, replace=False))
    return np.sort(np.concatenate(found))


def whole(weights: np.ndarray) -> np.ndarray:
    """Whole people of each row, at least one."""
    return np.maximum(np.rint(weights), 1.0)


def effective(weights: np.ndarray, people: np.ndarray) -> float:
    """People of equal weight that would carry as much (Kish), `people` sharing each weight; 1 for nobody."""
    return float(weights.sum() ** 2 / (weights**2 / people).sum()) if weights.any() else 1.0


def with_subgroup_totals(
    weights: np.ndarray, rows: np.ndarray, code: np.ndarray, each: np.ndarray | None = None
) -> np.ndarray:
    """Weights of the pool's rows, or of `each` person at one, such that each subgroup keeps its total."""
    own, total = weights[rows] if each is None else each, np.bincount(code, weights)
    pooled = np.bincount(code[rows], own, len(total))
    return own * (total / np.where(pooled > 0, pooled, 1.0))[code[rows]]
