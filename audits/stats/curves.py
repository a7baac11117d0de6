"""ROC curves of several scores on the same people: bands, areas, and how the areas differ."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level, wilson

_GRID = np.linspace(0.0, 1.0, 51)
_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Roc:
    """Curves of m scores on a grid of false-positive rates.

    Attributes
    ----------
    grid : (g,)
        False-positive rates.
    rate, low, high : (m, g)
        True-positive rates and their pointwise bootstrap band.
    area : (m,)
        Areas under the curves, ties counting half.
    draws : (draws, m)
        Areas of the bootstrap draws, the same people in every column.
    """

    grid: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    area: np.ndarray
    draws: np.ndarray

    def difference(self, first: int, second: int, n: float, *, level: float = 0.05) -> Estimate:
        """Area of one score minus that of another, with the paired bootstrap's interval."""
        gap = float(self.area[first] - self.area[second])
        moves = self.draws[:, first] - self.draws[:, second]
        if np.ptp(moves) == 0:
            return Estimate(gap, None, None, n, "no interval: all draws of these people agree")
        low, high = np.quantile(moves, [level / 2, 1 - level / 2])
        method = f"paired bootstrap {percent_level(level)}"
        return Estimate(gap, float(min(low, gap)), float(max(high, gap)), n, method)


def roc_curves(
    scores: np.ndarray,
    member: np.ndarray,
    rng: np.random.Generator,
    *,
    weights: np.ndarray | None = None,
    draws: int = 300,
    level: float = 0.05,
) -> Roc:
    """Return the ROC curves of `scores` (m, n) for telling `member` (n,) bool from the rest.

    Members and the rest are resampled apart, so no draw is without either; both must occur.
    """
    counts = np.ones(len(member)) if weights is None else np.asarray(weights, dtype=float)
    prepared = [_score_ranks(score, member) for score in scores]
    whole = [_curve(each, counts, member) for each in prepared]
    areas = np.empty((draws, len(scores)))
    rates = np.empty((draws, len(scores), len(_GRID)))
    for draw in range(draws):
        resampled = _bootstrap_counts(counts, [member, ~member], rng)
        for place, each in enumerate(prepared):
            areas[draw, place], rates[draw, place] = _curve(each, resampled, member)
    low, high = np.quantile(rates, [level / 2, 1 - level / 2], axis=0)
    rate = np.array([curve for _, curve in whole])
    return Roc(
        _GRID, rate, np.minimum(low, rate), np.maximum(high, rate), np.array([a for a, _ in whole]), areas
    )


def area_within(
    score: np.ndarray,
    member: np.ndarray,
    band: np.ndarray,
    rng: np.random.Generator,
    *,
    weights: np.ndarray | None = None,
    draws: int = 300,
    level: float = 0.05,
) -> Estimate:
    """Area under the curve among pairs of people of the same `band` (n,) of int, pairs counting equally.

    0.5 says that the score tells nothing that the band does not; None where no band has both sides.
    """
    counts = np.ones(len(member)) if weights is None else np.asarray(weights, dtype=float)
    parts = [np.flatnonzero(band == value) for value in np.unique(band)]
    parts = [rows for rows in parts if member[rows].any() and not member[rows].all()]
    method = f"bootstrap {percent_level(level)}, within {len(parts)} bands"
    n = float(sum(counts[rows].sum() for rows in parts))
    if not parts:
        return Estimate(None, None, None, 0.0, method)
    prepared = [(rows, _score_ranks(score[rows], member[rows])) for rows in parts]

    def pooled(weight: np.ndarray) -> float:
        total = pairs = 0.0
        for rows, ranked in prepared:
            inside = member[rows]
            here = float(weight[rows][inside].sum() * weight[rows][~inside].sum())
            if here > 0:
                total += here * _curve(ranked, weight[rows], inside)[0]
                pairs += here
        return total / pairs if pairs else 0.5

    value = pooled(counts)
    sides = [side for rows in parts for side in (rows[member[rows]], rows[~member[rows]])]
    found = np.array([pooled(_bootstrap_counts(counts, sides, rng)) for _ in range(draws)])
    cases = float(sum(counts[rows][member[rows]].sum() for rows in parts))
    return _with_ends(Estimate(value, None, None, n, method), found, cases, level)


def area_equally_far(
    score: np.ndarray,
    member: np.ndarray,
    distance: np.ndarray,
    rng: np.random.Generator,
    *,
    weights: np.ndarray | None = None,
    draws: int = 300,
    level: float = 0.05,
) -> Estimate:
    """Area under the curve of `score` among people equally far, whatever the score owes to `distance`.

    Each member is compared with up to ten of the rest who are just nearer and as many who are just
    farther. A score that is any monotone function of the distance wins half of these and has 0.5 exactly,
    which bands of distance do not give: within a band the distance still differs. None where no member
    has others on both sides.

    Notes
    -----
    `weights` (people a row stands for) count for members and in the bootstrap, not among the compared.
    """
    counts = np.ones(len(member)) if weights is None else np.asarray(weights, dtype=float)
    method = f"bootstrap {percent_level(level)}, beside {_NEIGHBORS} just nearer and just farther"
    cases, others = np.flatnonzero(member), np.flatnonzero(~member)
    n = float(counts.sum())
    if not cases.size or not others.size:
        return Estimate(None, None, None, n, method)
    others = others[np.argsort(distance[others], kind="stable")]
    value = _beside(score, distance, cases, counts[cases], others)
    if value is None:
        return Estimate(None, None, None, n, method)
    found = []
    for _ in range(draws):
        times = _bootstrap_counts(counts, [cases], rng)[cases]
        drawn = rng.multinomial(len(others), counts[others] / counts[others].sum())
        again = _beside(score, distance, cases, times, np.repeat(others, drawn))
        if again is not None:
            found.append(again)
    return _with_ends(
        Estimate(value, None, None, n, method), np.array(found or [value]), float(counts[cases].sum()), level
    )


def _with_ends(area: Estimate, drawn: np.ndarray, members: float, level: float) -> Estimate:
    """Return an area with the ends of its draws; where these agree, as of a share of the members."""
    value, (low, high) = float(area.value or 0.0), np.quantile(drawn, [level / 2, 1 - level / 2])
    if low == high:
        share = wilson(value * members, members, level=level)
        return replace(area, low=share.low, high=share.high, method=f"{share.method} of the members")
    return replace(area, low=float(min(low, value)), high=float(max(high, value)))


def _beside(
    score: np.ndarray, distance: np.ndarray, cases: np.ndarray, weights: np.ndarray, others: np.ndarray
) -> float | None:
    """Weighted mean share of neighbors on both sides that a case outscores; `others` rise in distance."""
    place = np.searchsorted(distance[others], distance[cases])
    reach = np.minimum(np.minimum(place, len(others) - place), _NEIGHBORS)  # as many on either side
    steps = np.arange(_NEIGHBORS)
    used = steps < reach[:, None]
    wins = np.zeros(len(cases))
    for side in (place[:, None] - 1 - steps, place[:, None] + steps):
        gap = score[cases][:, None] - score[others[np.clip(side, 0, len(others) - 1)]]
        wins += (used * ((gap > 0) + 0.5 * (gap == 0))).sum(axis=1)
    counted = (reach > 0) * weights
    if counted.sum() <= 0:
        return None
    return float(counted @ (wins / np.maximum(2 * reach, 1)) / counted.sum())


def _bootstrap_counts(counts: np.ndarray, sides: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """How often each row is drawn, (n,), when the people of each side are drawn again; others never are."""
    found = np.zeros(len(counts))
    for side in sides:
        people = counts[side].sum()
        found[side] = rng.multinomial(max(round(people), 1), counts[side] / people)
    return found


def _score_ranks(score: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, int]:
    """Return for each person the place of the score among the distinct ones, highest first, and how many."""
    distinct, place = np.unique(-np.asarray(score, dtype=float), return_inverse=True)
    return place.reshape(len(member)), len(distinct)


def _curve(
    ranked: tuple[np.ndarray, int], weights: np.ndarray, member: np.ndarray
) -> tuple[float, np.ndarray]:
    """Area and true-positive rates on the grid; both sides must have weight."""
    place, distinct = ranked
    good = np.bincount(place, weights * member, distinct)
    bad = np.bincount(place, weights * ~member, distinct)
    true = np.concatenate([[0.0], np.cumsum(good)]) / good.sum()
    false = np.concatenate([[0.0], np.cumsum(bad)]) / bad.sum()
    area = float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))
    keep = np.append(np.diff(false) > 0, True)  # where the curve rises straight up, its upper end counts
    return area, np.interp(_GRID, false[keep], true[keep])
