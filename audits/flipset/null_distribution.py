"""How many flips chance alone gives, and how far the flips above it could lie from what was seen.

Membership is permuted and people are matched again (section 5.1), as many people as the time given allows.
Where that is everyone, observed and permuted flips are those of one sample, and the permutations an exact
test. Where it is not, observed and permuted flips are averaged over the same random subsamples: an incomplete
U-statistic, whose variance is at most the subsamples' own times their part of the people (Hoeffding 1948).

The interval comes from subsamples too, drawn without replacement, because people drawn twice would be their
own counterparts: the variance among subsamples of the part f of all groups, times f / (1 - f), is the
variance at full size, at the rate of a root of n (Politis, Romano & Wolf, "Subsampling", 1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.stats import norm

from audits.errors import InputError
from audits.flipset.counterparts.generated import PeopleGenerator
from audits.flipset.counterparts.matching import Matching, draw_rows
from audits.flipset.counterparts.people import Comparison
from audits.flipset.options import map_options, repeat_seconds
from audits.progress import Progress
from audits.stats import Estimate, apportion, p_value
from audits.stats.intervals import percent_level
from audits.transport import exact_coupling, pairwise_cost, plan_for_costs
from audits.transport.atoms import Atoms
from audits.transport.costs import scale_points
from audits.transport.levels import plant
from audits.transport.maps import MAPS, OPTIONS, LinearMap, UnbalancedMap

MIN_INTERVAL = 10
"""People of a group below which subsamples would pretend to know."""
_REFITTED = {"linear": "a linear", "entropic": "an entropic", "unbalanced": "an unbalanced"}
_HALVES = 80  # subsamples behind the interval where chance is measured on everyone
_MIN = 50  # people drawn whatever time was given
_NOBODY_MORE = 1.9  # over n: nothing seen among n people may still be 3.7 of them (rule of three)
_NOTHING = 0.05  # of a planted difference, above chance: as good as none
_OTHER_FEATURES = (
    "flips are more than chance, but may come from features that are related differently: neither the "
    "groups' rates nor any single feature linked to decisions differs by more than chance"
)


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """Flips observed and by chance, as shares of each of k groups looked at.

    Attributes
    ----------
    people : array of int
        People of every group that took part, at a time.
    larger : array (k,)
        The larger of both ways of flipping, averaged over subsamples where there are several.
    null : array (permutations, k, 2)
        Both ways when membership says nothing.
    error : array (k,)
        Standard error of what the larger way holds above chance; NaN for too few people.
    p_values : array (k,)
        Of as many flips when membership says nothing, corrected for all groups.
    planted : array (k,) or None
        What a material difference planted among permuted people adds; None where counterparts are invented.
    everyone : bool
        Whether all people compared took part at once.
    method : str
    least : float
        What of the error stays however many people there are: it is of the draws that `seconds` allow.
    """

    people: np.ndarray
    larger: np.ndarray
    null: np.ndarray
    error: np.ndarray
    p_values: np.ndarray
    planted: np.ndarray | None
    everybody: bool
    method: str = "matched exactly"
    least: float = 0.0

    @property
    def expected(self) -> np.ndarray:
        """Mean of the larger flips by chance, (k,)."""
        return np.asarray(self.null.max(2).mean(0))


class Draws(Protocol):
    """People drawn and shuffled, and the flips that they make."""

    def people(self, wanted: np.ndarray) -> Any:
        """Draw so many people of every group without replacement."""

    def shuffled(self, people: Any) -> Any:
        """Permute membership among the same people."""

    def flips(self, people: Any) -> np.ndarray:
        """Return flip shares (k, variants, 2): by the decisions, and with a difference planted in them."""


def measure_draws(
    draws: Draws,
    totals: np.ndarray,
    wanted: np.ndarray,
    few: np.ndarray,
    options: Any,
    progress: Progress,
    *,
    method: str = "matched exactly",
    everybody: bool,
) -> NullDistribution:
    """Count flips seen and by chance, and how sure their difference is.

    Parameters
    ----------
    totals, wanted, few : arrays (groups,) or (strata, groups)
        People that there are, that take part at a time, and for the error, of which `few` is at most half.
    everybody : bool
        Whether `wanted` is everyone: the permutations are then an exact test.
    """
    permutations, people = options.permutations, np.atleast_2d(totals).sum(0)
    observed, null = [], []
    fixed = draws.people(wanted) if everybody else None
    for b in range(permutations):
        progress(0.8 * b / permutations, f"Counting flips by chance: permutation {b + 1} of {permutations}")
        drawn = draws.people(wanted) if fixed is None else fixed
        if fixed is None or b == 0:
            observed.append(draws.flips(drawn))
        null.append(draws.flips(draws.shuffled(drawn)))
    chance = np.array(null)  # (permutations, k, variants, 2)
    larger, by_chance = np.array(observed)[:, :, 0].max(2), chance.max(3)
    own = by_chance[:, :, 0]
    behind = people if own.shape[1] == len(people) else people.min(keepdims=True)
    error, least = np.full(len(behind), np.nan), 0.0
    if behind.max() >= MIN_INTERVAL:
        drawn = larger if (few == wanted).all() else _halves(draws, few, progress)
        parts = np.minimum(np.atleast_2d(few).sum(0) / people, 0.5)
        error, least = _standard_error(drawn, larger, own, (parts / (1 - parts)).max(), behind)
    if everybody:
        p = _adjusted_p_values(larger[0], own)
    else:
        excess = np.maximum(larger.mean(0) - own.mean(0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.nan_to_num(np.minimum(len(behind) * 2 * norm.sf(excess / error), 1.0), nan=1.0)
    return NullDistribution(
        people=np.atleast_2d(wanted).sum(0),
        larger=larger.mean(0),
        null=chance[:, :, 0],
        error=error,
        p_values=np.maximum(p, 1 / (permutations + 1)),  # what so many permutations can tell
        planted=(by_chance[:, :, 1] - own).mean(0) if by_chance.shape[2] > 1 else None,
        everybody=everybody,
        method=method,
        least=least,
    )


def _adjusted_p_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """P-values (k,) of the largest of k flips, each in its own deviations (Westfall, Young 1993)."""
    if len(observed) == 1:
        return np.array([p_value(float(observed[0]), null[:, 0])])
    every = np.vstack([observed, null])
    spread = every.std(0)
    scaled = (every - every.mean(0)) / np.where(spread > 0, spread, 1.0)
    most = scaled[1:].max(1)
    return np.array([p_value(float(value), most) for value in scaled[0]])


def _halves(draws: Draws, few: np.ndarray, progress: Progress) -> np.ndarray:
    """Larger flips (draws, k) among half of the people or fewer."""
    found = []
    for k in range(_HALVES):
        progress(0.8 + 0.2 * k / _HALVES, f"Drawing half of the people: {k + 1} of {_HALVES}")
        found.append(draws.flips(draws.people(few))[:, 0].max(1))
    return np.array(found)


def _standard_error(
    drawn: np.ndarray, larger: np.ndarray, by_chance: np.ndarray, rate: float, people: np.ndarray
) -> tuple[np.ndarray, float]:
    """Standard errors (k,) of the larger flips above chance, and what of the first is of the draws alone.

    `rate` is that of the group of which most are drawn: every group's flips depend on all groups' people.
    """
    # the mean over draws has an error of its own, on either side
    own = sum(each.var(0, ddof=1) / len(each) for each in (by_chance, larger) if len(each) > 1)
    own = np.broadcast_to(own, people.shape)
    error = np.sqrt(rate * drawn.var(0, ddof=1) + own) if len(drawn) > 1 else np.full(len(people), np.nan)
    error = np.where(people >= MIN_INTERVAL, np.maximum(error, _NOBODY_MORE / people), np.nan)
    return error, float(np.sqrt(own[0]))


def affordable(options: Any, n: float, once: Any, *, fewest: int, spare: float) -> float:
    """People for whom all permutations fit into the time given: everyone (`n`), or at most half.

    Above a half subsamples would overlap too much to tell how far their mean can be trusted. `once` is the
    time of one permutation, `spare` how many times it everyone may take.
    """
    if spare * options.permutations * once(n) <= options.seconds or n <= fewest:
        return n
    people = n / 2
    while people > fewest and 2.0 * options.permutations * once(people) > options.seconds:
        people *= 0.95
    return people


def above(chance: NullDistribution, k: int, n: float, level: float) -> Estimate:
    """Return what the larger flips of a group hold above chance."""
    value = float(chance.larger[k] - chance.expected[k])
    if not np.isfinite(chance.error[k]):
        return Estimate(value, None, None, n, "no interval for so few people")
    reach = float(norm.isf(level / 2)) * float(chance.error[k])
    method = f"above {len(chance.null)} permutations, subsampling {percent_level(level)}"
    return Estimate(value, value - reach, value + reach, n, method)


def why_unsettled(
    chance: NullDistribution,
    k: int,
    excess: Estimate,
    level: float,
    material: float,
    *,
    looks: int = 1,
    other_features: bool,
) -> str:
    """Return why more people would not settle whether flips are above chance; empty where they would.

    Parameters
    ----------
    looks : int
        Numbers that share the level.
    other_features : bool
        Whether neither rates nor a feature that decisions go with differ, nor people equal in all features.
    """
    if excess.low is None:
        return "a group has too few people for an interval"
    if looks / (len(chance.null) + 1) > level:
        return f"so few permutations can never show a difference: use at least {200 * looks - 1} or more"
    if excess.low > 0 and looks * chance.p_values[k] <= level and other_features:
        return _OTHER_FEATURES
    if chance.planted is not None and chance.planted[k] <= _NOTHING * material:
        return "a difference planted in these people hardly exceeds chance, however many they are"
    return ""


def measure(
    compared: Comparison, matched: list[Matching], rng: np.random.Generator, progress: Progress
) -> NullDistribution | None:
    """Count a flipset's flips when membership says nothing; None if no permutations are asked for.

    Raises
    ------
    InputError
        There are more strata than people to be drawn.
    """
    options = compared.options
    if options.permutations == 0:
        return None
    invents = any(item.there.invented is not None for item in matched)
    pools: Sequence[_Matching | _Mapping]
    if invents:
        kind: str = options.transport
        details = map_options(options)
        if kind not in _REFITTED:  # training a network a hundred times would take hours
            kind, details = LinearMap.kind, OPTIONS[LinearMap.kind]()
        seed = int(rng.integers(2**32))
        pools = [_Mapping(item, PeopleGenerator(compared), kind, details, seed) for item in matched]
        method = f"{_REFITTED[kind]} map refitted each time"
    else:
        pools = [_Matching.build(compared, item) for item in matched]
        method = "matched exactly"
    totals = np.array([[item.source.people.sum(), item.target.people.sum()] for item in matched])
    people = totals.sum(0)
    most = _most_people(compared, people, invents)
    everybody = bool(most >= people.max() - 0.5)
    wanted = _sample_sizes(totals, most)
    few = np.minimum(wanted, np.maximum(np.rint(totals / 2), 1).astype(np.int64))
    draws = _Draws(pools, rng)
    return measure_draws(draws, totals, wanted, few, options, progress, method=method, everybody=everybody)


def _most_people(compared: Comparison, people: np.ndarray, invents: bool) -> float:
    """People of each group for whom all permutations fit into the time given: everyone, or at most half."""
    options, (n, m) = compared.options, people.tolist()
    if options.noise_people is not None and options.noise_people < max(n, m):
        return float(options.noise_people)

    def once(people: float) -> float:
        sides = int(min(n, people)), int(min(m, people))
        return repeat_seconds(options, *sides, compared.width, invents=invents)

    found = affordable(options, max(n, m), once, fewest=_MIN, spare=1.5)
    return max(found, min(_MIN, max(n, m)))


def _sample_sizes(totals: np.ndarray, people: float) -> np.ndarray:
    """People to draw from both groups of each stratum (strata, 2), at most `people` a group in all."""
    most = int(min(people, 5_000_000))
    ours, theirs = (apportion(np.maximum(np.rint(side), 1), most, least=1) for side in totals.T)
    if not (ours.all() and theirs.all()):
        raise InputError(
            "flipset.noise_people",
            f"must be at least the number of strata, {len(totals)}",
            most,
            "raise it, or set permutations to 0",
        )
    return np.column_stack([ours, theirs])


Rows = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class _Draws:
    """People drawn and shuffled, stratum by stratum, as rows into each stratum's pool."""

    pools: Sequence[_Matching | _Mapping]
    rng: np.random.Generator

    def people(self, wanted: np.ndarray) -> Rows:
        found = []
        for pool, (n, m) in zip(self.pools, wanted.tolist(), strict=True):
            source, target = pool.part.source, pool.part.target
            ours = draw_rows(source.people, n, self.rng)
            found.append((ours, len(source.rows) + draw_rows(target.people, m, self.rng)))
        return found

    def shuffled(self, people: Rows) -> Rows:
        found = []
        for ours, theirs in people:
            both = self.rng.permutation(np.concatenate([ours, theirs]))
            found.append((both[: len(ours)], both[len(ours) :]))
        return found

    def flips(self, people: Rows) -> np.ndarray:
        counted = sum(
            pool.flips(ours, theirs) for pool, (ours, theirs) in zip(self.pools, people, strict=True)
        )
        return np.clip(counted, 0, None)[None] / sum(len(ours) for ours, _ in people)


@dataclass(frozen=True, eq=False)
class _Matching:
    """One stratum's people: atom and decision (n,) of each, the source's first."""

    part: Matching
    points: np.ndarray
    atom: np.ndarray
    decisions: np.ndarray
    compared: Comparison

    @classmethod
    def build(cls, compared: Comparison, part: Matching) -> _Matching:
        rows = np.concatenate([part.source.rows, part.target.rows])
        varying = (np.ptp(compared.encoded.values[rows], axis=0) * compared.encoded.weights) > 0
        varying[0] |= not varying.any()
        points = compared.encoded.values[rows][:, varying]
        merged = Atoms.merge(points, np.ones(len(points)))
        points, _ = scale_points(
            points[merged.first], points[:1], compared.options.cost, compared.encoded.weights[varying]
        )
        return cls(part, points, merged.of, compared.decisions[rows].astype(float), compared)

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
    """One stratum's people, whose counterparts a map invents that is fitted again each time."""

    part: Matching
    inventor: PeopleGenerator
    kind: str
    options: Any
    seed: int

    def flips(self, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """Positive and negative flips (1, 2), in people, when `ours` are the source."""
        rows = np.concatenate([self.part.source.rows, self.part.target.rows])
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
