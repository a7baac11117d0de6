"""Has a stream of numbers left the distribution of a reference sample? An answer to look at any time.

Each new number's rank among the reference and everything before it is uniform while nothing changes
(conformal ranks, ties broken by a coin). A player who bets on ranks, by how often each tenth of the ranks
has come so far, then cannot be expected to win: by Ville's inequality the chance that their stake ever grows
`1 / level`-fold is at most the level, however often it is looked at.

References
----------
Vovk, Gammerman, Shafer (2022), Algorithmic Learning in a Random World, chapters 8 and 9. Krichevsky, Trofimov
(1981), IEEE Transactions on Information Theory 27:199-207 (how the player bets).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

from audits.checks import finite
from audits.stats.estimate import Estimate

_RATE = "confidence sequence (beta-binomial mixture)"
_MEAN = "confidence sequence (normal mixture)"

_CELLS = 256  # values are told apart down to these quantiles of the reference
_TENTHS = 10
_AT_ONCE = 2048


class DriftTest:
    """Evidence that a stream has left its reference, valid under continuous looking.

    Parameters
    ----------
    reference : array (m,)
        Numbers of the people audited.
    seed : int
        Decides the coins between ties, and nothing else.

    Examples
    --------
    >>> same, other = np.random.default_rng(0), np.random.default_rng(1)
    >>> test = DriftTest(same.normal(size=1000))
    >>> test.update(same.normal(size=500))
    >>> test.p_value > 0.05
    True
    >>> test.update(other.normal(1.0, size=500))
    >>> test.p_value < 0.001
    True
    """

    def __init__(self, reference: np.ndarray, *, seed: int = 0) -> None:
        reference = finite("reference", reference)
        quantiles = np.quantile(reference, np.linspace(0, 1, _CELLS + 1)[1:-1]) if len(reference) else []
        self._edges = np.unique(np.asarray(quantiles, dtype=float))
        self._seen = np.bincount(self._cells(reference), minlength=len(self._edges) + 1).astype(float)
        self._tenths = np.zeros(_TENTHS)
        self._coins = np.random.default_rng(seed)
        self._evidence = self._most = 0.0
        self.people = 0

    @property
    def p_value(self) -> float:
        """At most this chance of evidence as strong at any time so far, while nothing has changed."""
        return math.exp(-self._most)

    def update(self, values: np.ndarray) -> None:
        """Take the next numbers (k,), in their order."""
        values = finite("values", values)
        for start in range(0, len(values), _AT_ONCE):
            self._bet(self._ranks(self._cells(values[start : start + _AT_ONCE])))
        self.people += len(values)

    def _cells(self, values: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._edges, values, side="right")

    def _ranks(self, cells: np.ndarray) -> np.ndarray:
        """Return the uniform rank of each value among all before it, and count the values in."""
        k, width = len(cells), len(self._seen)
        own = np.zeros((k, width))
        own[np.arange(k), cells] = 1.0
        before = np.vstack([np.zeros(width), own.cumsum(axis=0)[:-1]]) + self._seen
        below = before.cumsum(axis=1)[np.arange(k), cells] - before[np.arange(k), cells]
        equal = before[np.arange(k), cells] + 1.0
        self._seen += own.sum(axis=0)
        places: np.ndarray = (below + self._coins.random(k) * equal) / (before.sum(axis=1) + 1.0)
        return places

    def _bet(self, ranks: np.ndarray) -> None:
        tenths = np.minimum((ranks * _TENTHS).astype(int), _TENTHS - 1)
        own = np.zeros((len(tenths), _TENTHS))
        own[np.arange(len(tenths)), tenths] = 1.0
        before = np.vstack([np.zeros(_TENTHS), own.cumsum(axis=0)[:-1]]) + self._tenths
        chance = (before[np.arange(len(tenths)), tenths] + 0.5) / (before.sum(axis=1) + 0.5 * _TENTHS)
        path = self._evidence + np.cumsum(np.log(_TENTHS * chance))
        self._tenths += own.sum(axis=0)
        self._evidence = float(path[-1])
        self._most = max(self._most, float(path.max()))


def rate_sequence(events: float, people: float, *, level: float = 0.95) -> Estimate:
    """Return the share of events with an interval that holds at all times together.

    With chance `level` the true share lies in this interval after 1, 2, 3, … people, so it may be looked at
    as often
    as one likes. It holds every share that a player who thinks all shares equally likely has not bet against
    `1 / (1 - level)`-fold.

    References
    ----------
    Robbins (1970), Annals of Mathematical Statistics 41:1397-1409; Howard, Ramdas, McAuliffe, Sekhon (2021),
    Annals
    of Statistics 49:1055-1080, proposition 7.

    Examples
    --------
    >>> found = rate_sequence(50, 100)
    >>> round(found.low, 3), round(found.high, 3)
    (0.345, 0.655)
    """
    if not people:
        return Estimate(None, None, None, 0.0, _RATE)
    stake = betaln(events + 1, people - events + 1)
    most = math.log(1 / (1 - level))

    def above(share: float) -> float:
        return float(stake - xlogy(events, share) - xlog1py(people - events, -share)) - most

    rate = events / people
    low = 0.0 if events == 0 else float(brentq(above, 1e-300, rate)) if above(1e-300) > 0 else 0.0
    high = 1.0 if events == people else float(brentq(above, rate, 1 - 1e-15)) if above(1 - 1e-15) > 0 else 1.0
    return Estimate(rate, low, high, float(people), _RATE)


def calibration_sequence(apart: float, people: float, *, level: float = 0.95) -> Estimate:
    """Return the mean of outcome minus stated chance, with an interval that holds at all times together.

    Parameters
    ----------
    apart : float
        Sum of outcome minus stated chance over the people.

    References
    ----------
    Howard, Ramdas, McAuliffe, Sekhon (2021), equation 14: the normal mixture; a yes or no moves
    as a normal number of variance 1/4 at most. Tightest near 1,000 people.
    """
    if not people:
        return Estimate(None, None, None, 0.0, _MEAN)
    variance, tuned = people / 4, 250.0
    half = math.sqrt((variance + tuned) * math.log((variance + tuned) / (tuned * (1 - level) ** 2))) / people
    mean = apart / people
    return Estimate(mean, max(mean - half, -1.0), min(mean + half, 1.0), float(people), _MEAN)


def gap_sequence(first: Estimate, second: Estimate) -> Estimate:
    """Return first minus second with the interval that follows from theirs: it holds where both hold."""
    if first.value is None or second.value is None:
        return Estimate(None, None, None, 0.0, first.method)
    low, high = first.low - second.high, first.high - second.low  # type: ignore[operator]
    return Estimate(first.value - second.value, low, high, min(first.n, second.n), first.method)
