"""What survives having looked at every rule set: shuffled decisions, halves, and the winner's curse.

Under the null hypothesis decisions have nothing to do with the attributes of the rules. Shuffling them among
all people gives every cell a count from one multivariate hypergeometric draw, so no person is touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom, norm

from audits.progress import Progress, part, silent
from audits.stats.sampling import draw_counts, hypergeometric
from audits.stats.shares import newcombe_ends
from audits.subgroups.cells import Cells
from audits.subgroups.scores import differences, z_factor
from audits.subgroups.sums import GroupSums

_DRAWN_AT_ONCE = 4_000_000
_EXACT_FLOAT32 = 2**24
_MAX_Z = 37.0
_HALVINGS = 40
_BEYOND = 1e-12  # the open end of an interval that leaves out 0
_PLAUSIBLE = 0.1  # share of the error rate that goes into which groups could have come first
_FIRST_DRAWS = 399


@dataclass(frozen=True, eq=False)
class PeopleCounts:
    """Whole people per cell: `n` and `favorable`, int arrays (C,)."""

    n: np.ndarray
    favorable: np.ndarray

    @property
    def total(self) -> int:
        """Everyone."""
        return int(self.n.sum())

    @property
    def rate(self) -> float:
        """Favorable share of everyone; 0 of nobody."""
        return float(self.favorable.sum() / max(self.n.sum(), 1))

    @property
    def dtype(self) -> type[np.float32] | type[np.float64]:
        """The cheapest type in which sums of people are exact."""
        return np.float32 if self.total < _EXACT_FLOAT32 else np.float64


def whole_people(cells: Cells) -> PeopleCounts:
    """Round fractional weights to whole people per cell: shuffling and halving need people.

    Running sums are rounded, so that what many small cells hold together is kept.
    """
    favorable, others = _whole(cells.favorable), _whole(cells.n - cells.favorable)
    return PeopleCounts(favorable + others, favorable)


def _whole(amounts: np.ndarray) -> np.ndarray:
    return np.diff(np.rint(np.cumsum(np.maximum(amounts, 0.0))), prepend=0.0).astype(np.int64)


def maxima(
    people: PeopleCounts,
    groups: GroupSums,
    *,
    draws: int,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> np.ndarray:
    """Largest absolute z-score of all rule sets in each of `draws` shuffles of the decisions, (draws,).

    References
    ----------
    Westfall, Young (1993), Resampling-Based Multiple Testing, single-step max-T.
    """
    if people.rate in (0.0, 1.0):  # nothing to shuffle
        return np.zeros(draws)
    largest = np.zeros(draws)
    n = groups.of(people.n[:, None])[:, 0]
    offset: np.ndarray = (n * people.rate).astype(people.dtype)[:, None]
    factor: np.ndarray = z_factor(n, people.total, people.rate).astype(people.dtype)[:, None]
    block = max(1, _DRAWN_AT_ONCE // len(people.n))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        progress(start / draws, "Shuffling decisions")
        shuffled = draw_counts(people.n, int(people.favorable.sum()), rng, draws=size)
        table: np.ndarray = np.ascontiguousarray(shuffled.T, dtype=people.dtype)
        for chosen, columns, sums in groups.blocks(table):
            sums -= offset[chosen]
            sums *= factor[chosen]
            there = slice(start + columns.start, start + columns.stop)
            largest[there] = np.maximum(largest[there], np.maximum(sums.max(0), -sums.min(0)))
    return largest


def adjusted_p_values(z: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Simultaneous p-values (S,): share of shuffles whose largest z-score reaches a rule set's own.

    The observed data count as one of the shuffles, so none falls below 1 / (len(null) + 1).
    """
    # the shuffles are summed in float32: what is equal up to its rounding counts as reached
    reached = len(null) - np.searchsorted(np.sort(null), np.abs(z) * (1 - 1e-5) - 1e-5)
    return (1 + reached) / (1 + len(null))


def critical(null: np.ndarray, level: float) -> float:
    """z-score that a rule set must exceed for a simultaneous p-value of at most `level`."""
    place = int(np.ceil((1 - level) * (len(null) + 1)))
    return float(np.sort(null)[place - 1]) if place <= len(null) else np.inf


def touching(
    first_count: np.ndarray, first_n: np.ndarray, second_count: np.ndarray, second_n: np.ndarray
) -> np.ndarray:
    """z-score up to which Newcombe's interval of first minus second share leaves out 0, (S,)."""
    counts = first_count, first_n, second_count, second_n
    least, most = np.zeros(len(first_n)), np.full(len(first_n), _MAX_Z)
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        low, high = newcombe_ends(*counts, level=2 * norm.sf(middle))
        apart = (low > 0) | (high < 0)
        least, most = np.where(apart, middle, least), np.where(apart, most, middle)
    return least


def agreeing(
    gaps: np.ndarray, low: np.ndarray, high: np.ndarray, differs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of intervals that leave out 0 just where the test finds a difference, (S,) each.

    Where it finds none the nearer end moves out to 0, which can only make an interval cover more. Where it
    finds one, but the interval is corrected by a blunter rule and holds 0, it ends just beyond 0: the test,
    at the error rate of the family, has excluded 0 and the other side.

    Parameters
    ----------
    gaps : array (S,)
        Differences of shares.
    differs : bool array (S,)
        Whether the adjusted p-value is at most the level.

    References
    ----------
    Guilbaud (2008), Simultaneous confidence regions corresponding to Holm's step-down procedure.
    """
    low, high = np.where(differs, low, np.minimum(low, 0.0)), np.where(differs, high, np.maximum(high, 0.0))
    low = np.where(differs & (gaps > 0), np.maximum(low, _BEYOND), low)
    return low, np.where(differs & (gaps < 0), np.minimum(high, -_BEYOND), high)


def exact_p(n: np.ndarray, favorable: np.ndarray, total: float, good: float) -> np.ndarray:
    """Two-sided exact p-value of each rule set by itself, (S,): Fisher's test, smaller tail doubled.

    Parameters
    ----------
    n, favorable : array (S,)
        People inside and favorable ones of them, rounded to whole people.
    total, good : float
        The same of everyone.
    """
    counts = np.broadcast_arrays(*(np.rint(each) for each in (favorable, total, good, n)))
    inside, everyone, all_good, people = (np.atleast_1d(each) for each in counts)

    def lower(rows: np.ndarray) -> np.ndarray:
        return np.asarray(hypergeom.cdf(inside[rows], everyone[rows], all_good[rows], people[rows]))

    def upper(rows: np.ndarray) -> np.ndarray:
        return np.asarray(hypergeom.sf(inside[rows] - 1, everyone[rows], all_good[rows], people[rows]))

    few = inside * everyone <= people * all_good
    tail = np.empty(few.shape)
    tail[few], tail[~few] = lower(few), upper(~few)
    # both tails hold the count itself: of the two, one of at most a half is the smaller
    for rows, other in ((few & (tail > 0.5), upper), (~few & (tail > 0.5), lower)):
        tail[rows] = np.minimum(tail[rows], other(rows))
    return np.clip(2 * tail, 0.0, 1.0).reshape(counts[0].shape)


@dataclass(frozen=True, eq=False)
class Halves:
    """What was found on one random half of the people and tried on the other.

    Attributes
    ----------
    discovered, confirmed : bool array (S,)
        Evidence on the first half; and evidence again, in the same direction, on the second, corrected for
        all that were discovered.
    first, second : float array (S,)
        Difference of favorable shares on each half; NaN where a half has nobody inside or outside.
    counts : tuple of float arrays (S,)
        On the second half: favorable people and people inside, and of those whom they are compared with,
        which within a context are not all others.
    second_people : PeopleCounts
        The second half.
    """

    discovered: np.ndarray
    confirmed: np.ndarray
    first: np.ndarray
    second: np.ndarray
    counts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    second_people: PeopleCounts


def confirm(
    people: PeopleCounts,
    groups: GroupSums,
    *,
    draws: int,
    level: float,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Halves:
    """Split the people at random, find on one half, confirm on the other."""
    first, second = split_halves(people, rng)
    z_first, gap_first, _, _ = observed_statistics(first, groups)
    z_second, gap_second, n_second, good_second = observed_statistics(second, groups)
    null = maxima(first, groups, draws=draws, rng=rng, progress=part(progress, 0.0, 0.6))
    discovered = adjusted_p_values(z_first, null) <= level
    confirmed = np.zeros(len(groups), dtype=bool)
    if discovered.any():
        tried = np.flatnonzero(discovered)
        fewer = GroupSums(groups.cells, groups.rules[tried])
        null = maxima(second, fewer, draws=draws, rng=rng, progress=part(progress, 0.6, 1.0))
        agrees = np.sign(z_first[tried]) == np.sign(z_second[tried])
        confirmed[tried] = (adjusted_p_values(z_second[tried], null) <= level) & agrees
    rest = float(second.favorable.sum()) - good_second, second.total - n_second
    return Halves(discovered, confirmed, gap_first, gap_second, (good_second, n_second, *rest), second)


def shrinkage(people: PeopleCounts, groups: GroupSums, *, splits: int, rng: np.random.Generator) -> float:
    """How far the largest score lies above the truth because it was picked as the largest, at least 0.

    The winner on a random half is looked up on the other half, which did not pick it; the mean loss, over
    the square root of 2 because noise on all people is that much smaller than on half of them, is the bias.
    It is 0 where the same group wins by far every time, and the whole score where there is no effect.
    """
    n, favorable = _halve(people, splits, rng)
    totals = n.sum(0), favorable.sum(0)
    all_n, all_favorable = groups.of(np.column_stack([people.n, people.favorable])).T
    best, lost = np.full(splits, -1.0), np.full(splits, np.nan)
    tables = (np.ascontiguousarray(side, dtype=people.dtype) for side in (n, favorable))
    for (chosen, where, first_n), (_, _, first_good) in zip(
        *(groups.blocks(table) for table in tables), strict=True
    ):
        size = np.abs(differences(first_n, first_good, totals[0][where], totals[1][where]))
        size[np.isnan(size)] = -1.0
        winner, column = size.argmax(0), np.arange(size.shape[1])
        won = first_n[winner, column], first_good[winner, column], totals[0][where], totals[1][where]
        whole = all_n[chosen][winner], all_favorable[chosen][winner], people.total, people.favorable.sum()
        second = differences(*(everyone - half for everyone, half in zip(whole, won, strict=True)))
        largest = size[winner, column]
        better = largest > best[where]
        best[where] = np.where(better, largest, best[where])
        lost[where] = np.where(better, largest - np.sign(differences(*won)) * second, lost[where])
    lost = lost[~np.isnan(lost)]
    return max(0.0, float(lost.mean()) / np.sqrt(2)) if lost.size else 0.0


@dataclass(frozen=True, eq=False)
class LeaderInterval:
    """The interval of the true difference of the rule set that came first, in its direction.

    Attributes
    ----------
    low, high : float
    plausible : int
        Rule sets that could have come first: those that the interval is corrected for.
    """

    low: float
    high: float
    plausible: int


def first_interval(
    people: PeopleCounts,
    groups: GroupSums,
    counts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    null: np.ndarray,
    *,
    level: float,
    rng: np.random.Generator,
) -> LeaderInterval:
    """Return an interval of the true difference of whichever rule set has the largest score.

    A tenth of the error rate decides which rule sets could have come first on other people like these: those
    whose score lies within twice both half-widths of the largest. For the rest of it the interval is
    corrected for these alone: far fewer than all where one leads clearly, all where none does.

    Parameters
    ----------
    counts : arrays (S,)
        Favorable people and people inside, and outside.
    null : array
        Largest z-scores of all rule sets under shuffled decisions.

    References
    ----------
    Zrnic, Fithian (2024), Locally simultaneous inference, Annals of Statistics 52:1227-1253.
    """
    gaps = counts[0] / counts[1] - counts[2] / counts[3]
    size = np.abs(gaps)
    place, family = int(size.argmax()), len(size)
    low, high = newcombe_ends(*counts, level=_interval_level(null, _PLAUSIBLE * level, family))
    half = np.maximum(gaps - low, high - gaps)
    could = np.flatnonzero(size + 2 * half >= (size - 2 * half).max())
    left = (1 - _PLAUSIBLE) * level
    if 2 * len(could) > family:
        own = _interval_level(null, left, family)
    else:
        fewer = GroupSums(groups.cells, groups.rules[could])
        drawn = maxima(people, fewer, draws=min(len(null), _FIRST_DRAWS), rng=rng)
        own = _interval_level(drawn, left, len(could))
    ends = newcombe_ends(*(side[place : place + 1] for side in counts), level=own)
    low_, high_ = sorted(float(np.sign(gaps[place]) or 1.0) * float(end[0]) for end in ends)
    return LeaderInterval(low_, high_, len(could))


def _interval_level(null: np.ndarray, level: float, family: int) -> float:
    """Error rate of one interval so that all hold together; Bonferroni's where the shuffles cannot say."""
    z = critical(null, level)
    if not np.isfinite(z) or not null.any():
        return max(level / family, 1e-12)
    return max(2 * float(norm.sf(z)), 1e-12)


def split_halves(people: PeopleCounts, rng: np.random.Generator) -> tuple[PeopleCounts, PeopleCounts]:
    """Split the people into two random halves, drawn within each cell without a look at decisions."""
    n, favorable = _halve(people, 1, rng)
    first = PeopleCounts(n[:, 0], favorable[:, 0])
    return first, PeopleCounts(people.n - first.n, people.favorable - first.favorable)


def _halve(people: PeopleCounts, splits: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Half of each cell's people, drawn blind to decisions: people and favorable ones, (C, splits)."""
    odd = rng.integers(0, 2, (len(people.n), splits))
    n = people.n[:, None] // 2 + odd * (people.n[:, None] % 2)
    favorable = hypergeometric(people.favorable[:, None], (people.n - people.favorable)[:, None], n, rng)
    return n, favorable


def observed_statistics(
    people: PeopleCounts, groups: GroupSums
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """z-score, difference of shares, people and favorable ones of each rule set, (S,) each."""
    n, favorable = groups.of(np.column_stack([people.n, people.favorable])).T
    z = (favorable - n * people.rate) * z_factor(n, people.total, people.rate)
    return z, differences(n, favorable, people.total, people.favorable.sum()), n, favorable
