"""How many flips chance alone gives, and how far the flips above it could lie from what was seen.

Membership is permuted and people are matched again (section 5.1), as many people as the time given allows.
Where that is everybody, observed and permuted flips are those of one sample, and the permutations an exact
test. Where it is not, observed and permuted flips are averaged over the same random subsamples: an incomplete
U-statistic, whose variance is at most the subsamples' own times their part of the people (Hoeffding 1948).

The interval comes from subsamples too, drawn without replacement, because people drawn twice would be their
own counterparts: the variance among subsamples of the part f of both groups, times f / (1 - f), is the
variance at full size, at the rate of a root of n (Politis, Romano & Wolf, "Subsampling", 1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from audits.errors import InputError
from audits.flipset.counterparts.inventing import Inventor
from audits.flipset.counterparts.matching import Matched, atoms, draw_rows
from audits.flipset.counterparts.people import Compared
from audits.flipset.options import again_seconds, map_options
from audits.progress import Progress
from audits.stats import apportion, p_value
from audits.transport import exact_coupling, pairwise_cost, plan_for_costs
from audits.transport.costs import weighted
from audits.transport.levels import plant
from audits.transport.maps import MAPS, OPTIONS, LinearMap, UnbalancedMap

__all__ = ["Chance", "measure"]

_REFITTED = {"linear": "a linear", "entropic": "an entropic", "unbalanced": "an unbalanced"}
_HALVES = 80  # subsamples behind the interval where chance is measured on everybody
_FEWEST = 50  # people drawn whatever time was given
_FEWEST_INTERVAL = 10  # people of a group below which subsamples would pretend to know
_NOBODY_MORE = 1.9  # over n: nothing seen among n people may still be 3.7 of them (rule of three)


@dataclass(frozen=True, eq=False)
class Chance:
    """Flips observed and by chance, both as shares of `n_source` people matched with `n_target`.

    Attributes
    ----------
    observed : array (2,)
        Positive and negative, averaged over subsamples where there are several.
    larger : float
        The larger of the two, averaged likewise.
    null : array (permutations, 2)
    error : float or None
        Standard error of what the larger flipset holds above chance; None for too few people.
    p_value : float
        Of as large a flipset when membership says nothing.
    planted : float or None
        What a material difference planted among permuted people adds; None where counterparts are invented.
    method : str
    least : float
        What of the error stays however many people there are: it is of the draws that `seconds` allow.
    """

    n_source: int
    n_target: int
    observed: np.ndarray
    larger: float
    null: np.ndarray
    error: float | None
    p_value: float
    planted: float | None
    method: str
    least: float = 0.0


def measure(
    compared: Compared, matched: list[Matched], rng: np.random.Generator, progress: Progress
) -> Chance | None:
    """Count flips when membership says nothing; None if no permutations are asked for.

    Raises
    ------
    InputError
        There are more strata than people to be drawn.
    """
    options = compared.options
    if options.permutations == 0:
        return None
    invents = any(item.there.invented is not None for item in matched)
    strata = [(item.source, item.target) for item in matched]
    pools: Sequence[_Matching | _Mapping]
    if invents:
        kind: str = options.transport
        details = map_options(options)
        if kind not in _REFITTED:  # training a network a hundred times would take hours
            kind, details = LinearMap.kind, OPTIONS[LinearMap.kind]()
        seed = int(rng.integers(2**32))
        pools = [_Mapping(s, t, Inventor(compared), kind, details, seed) for s, t in strata]
        method = f"{_REFITTED[kind]} map refitted each time"
    else:
        pools = [_Matching.build(compared, s, t) for s, t in strata]
        method = "matched exactly"
    return _measured(compared, pools, method, invents, rng, progress)


def _measured(
    compared: Compared,
    pools: Sequence[_Matching | _Mapping],
    method: str,
    invents: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> Chance:
    sizes = compared.sizes
    totals = [(float(sizes[p.source].sum()), float(sizes[p.target].sum())) for p in pools]
    n, m = (sum(total[side] for total in totals) for side in (0, 1))
    most = _most_people(compared, n, m, invents)
    everybody = most >= max(n, m) - 0.5
    wanted = _sample_sizes(totals, most)
    draws = _Draws(pools, sizes, rng)
    permutations = compared.options.permutations
    fixed = draws.people(wanted) if everybody else None
    observed, null = [], []
    for b in range(permutations):
        progress(0.8 * b / permutations, f"Counting flips by chance: permutation {b + 1} of {permutations}")
        people = draws.people(wanted) if fixed is None else fixed
        if fixed is None or b == 0:
            observed.append(draws.flips(people))
        null.append(draws.flips(draws.shuffled(people)))
    seen, chance = np.array(observed), np.array(null)  # (draws, variants, 2)
    larger, by_chance = seen.max(2), chance.max(2)
    excess = float(larger[:, 0].mean() - by_chance[:, 0].mean())
    error, least = None, 0.0
    if min(n, m) >= _FEWEST_INTERVAL:
        error, least = _error(draws, totals, wanted, larger[:, 0], by_chance[:, 0], (n, m), progress)
    if everybody:
        p = p_value(float(larger[0, 0]), by_chance[:, 0])
    else:
        p = 1.0 if error is None else float(2 * norm.sf(max(excess, 0.0) / error))
    return Chance(
        n_source=sum(size for size, _ in wanted),
        n_target=sum(size for _, size in wanted),
        observed=seen[:, 0].mean(0),
        larger=float(larger[:, 0].mean()),
        null=chance[:, 0],
        error=error,
        p_value=min(max(p, 1 / (permutations + 1)), 1.0),  # what so many permutations can tell
        planted=None if invents else float((by_chance[:, 1] - by_chance[:, 0]).mean()),
        method=method,
        least=least,
    )


def _most_people(compared: Compared, n: float, m: float, invents: bool) -> float:
    """People of each group for whom all permutations fit into the time given: everybody, or at most half.

    Above a half subsamples would overlap too much to tell how far their mean can be trusted.
    """
    options = compared.options
    if options.noise_people is not None and options.noise_people < max(n, m):
        return float(options.noise_people)

    def fits(people: float, times: float) -> bool:
        a, b = int(min(n, people)), int(min(m, people))
        once = again_seconds(options, a, b, compared.width, invents=invents)
        return times * options.permutations * once <= options.seconds

    if fits(max(n, m), 1.5):
        return max(n, m)
    people = max(n, m) / 2
    while people > _FEWEST and not fits(people, 2.0):
        people *= 0.95
    return max(people, min(_FEWEST, max(n, m)))


def _sample_sizes(totals: list[tuple[float, float]], people: float) -> list[tuple[int, int]]:
    """People to draw from both groups of each stratum, at most `people` a group in all."""
    most = int(min(people, 5_000_000))
    ours, theirs = (
        apportion(np.maximum(np.rint([total[side] for total in totals]), 1), most, least=1) for side in (0, 1)
    )
    if not (ours.all() and theirs.all()):
        raise InputError(
            "flipset.noise_people",
            f"must be at least the number of strata, {len(totals)}",
            most,
            "raise it, or set permutations to 0",
        )
    return list(zip(ours.tolist(), theirs.tolist(), strict=True))


def _error(
    draws: _Draws,
    totals: list[tuple[float, float]],
    wanted: list[tuple[int, int]],
    larger: np.ndarray,
    by_chance: np.ndarray,
    people: tuple[float, float],
    progress: Progress,
) -> tuple[float, float]:
    """Standard error of the larger flipset above chance, and what of it is of the draws alone.

    From subsamples of at most half of either group.
    """
    few = [
        (min(a, max(round(n / 2), 1)), min(b, max(round(m / 2), 1)))
        for (a, b), (n, m) in zip(wanted, totals, strict=True)
    ]
    drawn = larger
    if few != wanted:
        found = []
        for k in range(_HALVES):
            progress(0.8 + 0.2 * k / _HALVES, f"Drawing half of the people: {k + 1} of {_HALVES}")
            found.append(draws.flips(draws.people(few))[0].max())
        drawn = np.array(found)
    n, m = people
    parts = (sum(a for a, _ in few) / n, sum(b for _, b in few) / m)
    rate = max(min(part, 0.5) / (1 - min(part, 0.5)) for part in parts)
    # the mean over draws has an error of its own, on either side
    own = float(by_chance.var(ddof=1)) / len(by_chance) if len(by_chance) > 1 else 0.0
    if len(larger) > 1:
        own += float(larger.var(ddof=1)) / len(larger)
    return float(max(np.sqrt(rate * drawn.var(ddof=1) + own), _NOBODY_MORE / min(n, m))), float(np.sqrt(own))


Rows = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class _Draws:
    """People drawn and shuffled, stratum by stratum, as rows into each stratum's pool."""

    pools: Sequence[_Matching | _Mapping]
    sizes: np.ndarray
    rng: np.random.Generator

    def people(self, wanted: list[tuple[int, int]]) -> Rows:
        """Rows of so many people of both groups, drawn without replacement."""
        return [
            (
                draw_rows(self.sizes[pool.source], n, self.rng),
                len(pool.source) + draw_rows(self.sizes[pool.target], m, self.rng),
            )
            for pool, (n, m) in zip(self.pools, wanted, strict=True)
        ]

    def shuffled(self, people: Rows) -> Rows:
        """The same people, their membership permuted within each stratum."""
        found = []
        for ours, theirs in people:
            both = self.rng.permutation(np.concatenate([ours, theirs]))
            found.append((both[: len(ours)], both[len(ours) :]))
        return found

    def flips(self, people: Rows) -> np.ndarray:
        """Shares (variants, 2) of source people in the positive and the negative flipset."""
        counted = sum(
            pool.flips(ours, theirs) for pool, (ours, theirs) in zip(self.pools, people, strict=True)
        )
        return np.clip(counted, 0, None) / sum(len(ours) for ours, _ in people)


@dataclass(frozen=True, eq=False)
class _Matching:
    """One stratum's people: atom and decision (n,) of each, the source's first."""

    source: np.ndarray
    target: np.ndarray
    points: np.ndarray
    atom: np.ndarray
    decisions: np.ndarray
    compared: Compared

    @classmethod
    def build(cls, compared: Compared, source: np.ndarray, target: np.ndarray) -> _Matching:
        rows = np.concatenate([source, target])
        varying = (np.ptp(compared.encoded.values[rows], axis=0) * compared.encoded.weights) > 0
        varying[0] |= not varying.any()
        points, atom = atoms(compared.encoded.values[rows][:, varying])
        points, _ = weighted(points, points[:1], compared.options.cost, compared.encoded.weights[varying])
        return cls(source, target, points, atom, compared.decisions[rows].astype(float), compared)

    def flips(self, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """Positive and negative flips (2, 2), in people, when `ours` are the source.

        First by their decisions, then with a material difference planted in them.
        """
        h, a = self._atoms(ours)
        g, b = self._atoms(theirs)
        here, there = np.flatnonzero(a), np.flatnonzero(b)
        x, y, cost = self.points[here], self.points[there], self.compared.options.cost
        if x.shape[1] == 1:
            plan = exact_coupling(x, y, cost=cost, a=a[here], b=b[there]).plan.tocoo()
        else:
            plan = plan_for_costs(pairwise_cost(x, y, cost, np.ones(x.shape[1])), a[here], b[there])
        i, j = plan.coords
        own, other = (h[here] / a[here])[i], (g[there] / b[there])[j]
        both = np.column_stack([own, plant(own, float(h.sum() / a.sum()), self.compared.limit)])
        other = other[:, None]
        return len(ours) * np.column_stack(
            [plan.data @ (both * (1 - other)), plan.data @ ((1 - both) * other)]
        )

    def _atoms(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Favorable decisions and people (atoms,) of these rows."""
        k = len(self.points)
        favored = np.bincount(self.atom[rows], self.decisions[rows], k)
        return favored, np.bincount(self.atom[rows], minlength=k).astype(float)


@dataclass(frozen=True, eq=False)
class _Mapping:
    """One stratum's people, whose counterparts a map invents that is fitted anew each time."""

    source: np.ndarray
    target: np.ndarray
    inventor: Inventor
    kind: str
    options: Any
    seed: int

    def flips(self, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """Positive and negative flips (1, 2), in people, when `ours` are the source."""
        rows = np.concatenate([self.source, self.target])
        here, there = rows[ours], rows[theirs]
        values, weights = self.inventor.encoded.values, self.inventor.encoded.weights
        fitted = MAPS[self.kind].fit(
            values[here], values[there], feature_weights=weights, options=self.options, rng=self.seed
        )
        g = self.inventor.invent(fitted.transform(values[here]), there).decisions
        h = self.inventor.compared.decisions[here]
        found = np.ones(len(here))
        if isinstance(fitted, UnbalancedMap):
            found = np.minimum(fitted.matched_share(values[here]), 1.0)
        return np.array([[found @ (h & ~g), found @ (~h & g)]])
