"""Has any of many streams changed? Detectors that share one rate of false alarms, asked after everyone.

A *rank stream* brings cells of a distribution (sixteenths of a column, levels of a category). Each new cell's
rank among a reference and everything before it is uniform and independent of all earlier ranks while nothing
changes (conformal ranks, ties broken by a coin): the size of the reference is accounted for exactly. An
*event stream* brings yes or no, and has not changed while the chance of yes is at most its bound. On either,
players bet: each step multiplies a player's stake by a number whose mean is at most 1 while nothing changes,
and never lets it stay below 1. A stream alarms when the stake of one of its players reaches (people between
its false alarms) x (players), and begins again.

Such a detector waits at least that many people on average, and so do the waits after each alarm; numbers of
false alarms of several streams add up whatever hangs together among them. So shares of one budget, one a
stream, keep the budget for all of them, as long as people come independently of each other.

*Other than the reference from the first person on.* Whoever comes joins those among whom ranks are taken, so
that a change fades from the ranks: of one that is there at the first person no more is ever to be seen than a
reference of that size can show. A rank stream therefore has a second detector, with half of its budget. Its
players bet from the first person on, less and less, as such a change fades: by m / (m + t - 1) at person t
after a reference of m. Their mean stake M does not grow on average while nothing changes, so that it ever
reaches b with a chance of at most 1 / b (Ville). It alarms where M reaches 4 / 2^k times the people between
false alarms, among the people 2^k to 2^(k + 1) - 1, but never below 200: so the chance of having alarmed by
person t is at most t / 2 over the people between false alarms. A stake that begins but once needs to grow far
less than those that may begin with anyone. Once it has alarmed the stream begins again, as if the reference
were all that it knew: found again and again while people differ from it, and no more once they do not.

References
----------
Shin, Ramdas, Rinaldo (2024), E-detectors, New England Journal of Statistics in Data Science 2:229-260,
sections 2 and 3. Vovk (2021), Testing randomness online, Statistical Science 36:595-611 (conformal ranks).
Ville (1939), Étude critique de la notion de collectif, Gauthier-Villars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.errors import InputError

CELLS = 20
"""Cells of a rank stream at most."""

_FINE = 64  # ranks are told apart down to these parts
_AT_ONCE = 512
_AFTER_ALARM = 256  # people looked at together where a stream alarms again and again


def _rank_players() -> np.ndarray:
    """Return the logarithm of each player's factor by part of the ranks, (64, players); the means are 1."""
    middle = (np.arange(_FINE) + 0.5) / _FINE
    centered = 2 * middle - 1
    spread = 12 * (middle - 0.5) ** 2 - 1
    bets = [1 + tilt * centered for tilt in (-0.7, -0.2, 0.2, 0.7)]
    bets += [1 + tilt * (spread - spread.mean()) for tilt in (-0.45, 0.8)]
    eighth = np.arange(_FINE) // 8
    for share in (0.25, 0.5):
        bets += [np.where(eighth == k, 8 * share, (1 - share) * 8 / 7) for k in range(8)]
    end = np.where(np.arange(_FINE) == 0, _FINE / 8, 7 / 8 * _FINE / (_FINE - 1))
    logs: np.ndarray = np.log(np.column_stack([*bets, end, end[::-1]]))
    return logs


def _fading_players() -> np.ndarray:
    """Return each player's first bet by part of the ranks, (64, players): mean 0, root mean square 0.2."""
    parts = np.arange(_FINE)
    middle = (parts + 0.5) / _FINE
    shapes = [middle, (middle - 0.5) ** 2]
    shapes += [(parts < _FINE * share).astype(float) for share in (0.125, 0.25, 0.5, 0.75, 0.875)]
    shapes += [(parts // 8 == k).astype(float) for k in range(8)]
    centered = np.column_stack(shapes)
    centered -= centered.mean(axis=0)
    centered *= 0.2 / np.sqrt((centered**2).mean(axis=0))
    return np.hstack([centered, -centered])


_RANKS = _rank_players()
_PLAYERS = _RANKS.shape[1]
_FADING = _fading_players()
_WEIGHTS = np.full(_FADING.shape[1], 0.6 / (_FADING.shape[1] - 2))
_WEIGHTS[[0, _FADING.shape[1] // 2]] = 0.2  # of all stakes, those on ranks that rise or fall
_MIN_STAKE = 200.0  # a stake below which nothing is said, however long it took


def _event_players(bound: float) -> np.ndarray:
    """Return the logarithm of each player's factor for no and yes, (2, players), by a share in mind."""
    shares = 1 - (1 - bound) * np.geomspace(0.97, 0.05, _PLAYERS)
    logs: np.ndarray = np.log(np.array([(1 - shares) / (1 - bound), shares / bound]))
    return logs


@dataclass(frozen=True)
class Crossing:
    """A stream that alarmed, and at which of the people given."""

    person: int
    stream: int


class ChangeWatch:
    """Watches rank streams and event streams, which are numbered in this order.

    Parameters
    ----------
    reference : (s, CELLS)
        People of the reference by cell, for each rank stream.
    bounds : sequence of float in (0, 1)
        For each event stream the largest chance of yes that is no change.
    between : (s + e,)
        People between false alarms of each stream, on average at least.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> watch = ChangeWatch(np.full((1, CELLS), 50.0), [0.01], [1000, 1000])
    >>> rng = np.random.default_rng(0)
    >>> watch.update(rng.integers(0, CELLS, (200, 1)), np.zeros((200, 1), dtype=int))
    []
    >>> found = watch.update(np.zeros((20, 1), dtype=int), np.zeros((20, 1), dtype=int))
    >>> {each.stream for each in found}
    {0}
    """

    def __init__(self, reference: np.ndarray, bounds: Sequence[float], between: Sequence[float]) -> None:
        self._seen = np.array(reference, dtype=float).reshape(-1, CELLS)
        if not (np.isfinite(self._seen) & (self._seen >= 0)).all():
            raise InputError("reference", "must hold numbers of people")
        if not all(0 < bound < 1 for bound in bounds):
            raise InputError("bounds", "must lie between 0 and 1", list(bounds))
        self._ranks, self._events = len(self._seen), len(bounds)
        self._yes = np.array([_event_players(bound) for bound in bounds]).reshape(-1, 2, _PLAYERS)
        budgets = np.array(between, dtype=float)
        if budgets.shape != (self._ranks + self._events,) or not (budgets >= 1).all():
            raise InputError("between", "must hold a number of people, at least 1, for each stream")
        self.limits = np.log(budgets * _PLAYERS)
        self.limits[: self._ranks] += math.log(
            2
        )  # the other half is of those who bet from the first person on
        self._budgets = np.log(4 * budgets[: self._ranks])
        self._reference = self._seen.copy()
        self._stakes = np.zeros((self._ranks + self._events, _PLAYERS))
        self._people = np.zeros(self._ranks + self._events)
        self._fading = np.zeros((self._ranks, _FADING.shape[1]))
        self._begun = np.zeros(self._ranks)  # people whom a stream had seen when it began again

    @property
    def people(self) -> np.ndarray:
        """People that each stream has seen."""
        return self._people.astype(int)

    def cells(self, stream: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the people of a rank stream's reference by cell, and with all it has seen, (CELLS,) each."""
        return self._reference[stream], self._seen[stream].copy()

    def restart(self, stream: int) -> None:
        """Have a rank stream begin again, as if the reference were all that it knew."""
        self._seen[stream], self._begun[stream] = self._reference[stream], self._people[stream]
        self._stakes[stream] = self._fading[stream] = 0.0

    def dump(self) -> bytes:
        """Return all that `restore` needs to go on from here."""
        parts = (self._seen, self._stakes, self._people, self._fading, self._begun)
        return b"".join(np.ascontiguousarray(part, dtype="<f8").tobytes() for part in parts)

    def restore(self, dumped: bytes) -> None:
        """Go on from what `dump` gave, which before there were bets that fade ended with `people`.

        Raises
        ------
        InputError
            If it is of other streams.
        """
        given = np.frombuffer(dumped, dtype="<f8") if len(dumped) % 8 == 0 else np.empty(0)
        shapes = [each.shape for each in (self._seen, self._stakes, self._people, self._fading, self._begun)]
        sizes = [math.prod(shape) for shape in shapes]
        if len(given) == sum(sizes[:3]):
            given = np.concatenate([given, np.zeros(sum(sizes[3:]))])
        if len(given) != sum(sizes):
            raise InputError("the state", "must be of the same streams", len(dumped))
        parts = np.split(given, np.cumsum(sizes)[:-1])
        found: list[Any] = [part.copy().reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        self._seen, self._stakes, self._people, self._fading, self._begun = found

    def update(self, cells: np.ndarray, happened: np.ndarray) -> list[Crossing]:
        """Take the next people; return the alarms in the order of people.

        Parameters
        ----------
        cells : (n, s) int
            -1 where a stream does not see the person.
        happened : (n, e) int
            1 for yes, 0 for no, -1 where a stream does not see the person.
        """
        given = np.concatenate([cells, happened], axis=1)
        found: list[Crossing] = []
        for start in range(0, len(given), _AT_ONCE):
            part = given[start : start + _AT_ONCE]
            active = np.flatnonzero((part >= 0).any(axis=0))
            if active.size:
                found += self._take(part[:, active], active, start)
        return sorted(found, key=lambda each: each.person)

    def _take(self, given: np.ndarray, active: np.ndarray, first: int) -> list[Crossing]:
        """Take people (n, streams) of some streams; a stream found apart from its reference begins again."""
        ranks = int(np.searchsorted(active, self._ranks))
        turns = self._people[active] + (given >= 0).cumsum(axis=0)
        fine = self._uniform(given[:, :ranks], active[:ranks], turns[:, :ranks])
        stops = self._fade(fine, given[:, :ranks] >= 0, turns[:, :ranks], active[:ranks])
        steps = self._steps(given, active, fine)
        for place, stop in stops.items():
            steps[stop + 1 :, place] = 0.0
        found = self._walk(steps, active, first)
        self._people[active] = turns[-1]
        for place, stop in stops.items():
            own = int(active[place])
            found.append(Crossing(first + stop, own))
            self._seen[own], self._fading[own] = self._reference[own], 0.0
            self._people[own] = self._begun[own] = turns[stop, place]
            rest = given[stop + 1 :, place : place + 1]
            if (rest >= 0).any():
                found += self._take(rest, active[place : place + 1], first + stop + 1)
        return found

    def _steps(self, given: np.ndarray, active: np.ndarray, fine: np.ndarray) -> np.ndarray:
        """Return what each player's stake is multiplied by, as logarithms (n, streams, players)."""
        steps = np.zeros((*given.shape, _PLAYERS))
        ranks = fine.shape[1]
        steps[:, :ranks] = _RANKS[fine]
        for place in range(ranks, len(active)):
            own = np.maximum(given[:, place], 0)
            steps[:, place] = self._yes[active[place] - self._ranks][own]
        steps[given < 0] = 0.0
        return steps

    def _uniform(self, cells: np.ndarray, active: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Return which part the uniform rank of each cell lies in (n, streams), and count the cells in."""
        here = cells >= 0
        cell = np.maximum(cells, 0)[:, :, None]
        own = ((np.arange(CELLS) == cell) & here[:, :, None]).astype(float)
        before = own.cumsum(axis=0) - own + self._seen[active]
        up_to = before.cumsum(axis=2)
        equal = np.take_along_axis(before, cell, axis=2)[:, :, 0]
        below = np.take_along_axis(up_to, cell, axis=2)[:, :, 0] - equal
        self._seen[active] += own.sum(axis=0)
        places = (below + _coins(turns, active) * (equal + 1)) / (up_to[:, :, -1] + 1)
        fine: np.ndarray = np.minimum((places * _FINE).astype(np.intp), _FINE - 1)
        return fine

    def _least(self, turns: np.ndarray, streams: np.ndarray) -> np.ndarray:
        """Return the logarithm of the mean stake from which bets that fade alarm at a person's turn."""
        doubled = np.floor(np.log2(np.maximum(turns, 1)))
        least: np.ndarray = np.maximum(self._budgets[streams] - math.log(2) * doubled, math.log(_MIN_STAKE))
        return least

    def _fade(
        self, fine: np.ndarray, here: np.ndarray, turns: np.ndarray, active: np.ndarray
    ) -> dict[int, int]:
        """Follow the bets that fade; return where streams are first found apart from their reference."""
        if not active.size:
            return {}
        since, size = turns - self._begun[active], self._reference[active].sum(axis=1)
        weights = np.where(here, size / np.maximum(size + since - 1, 1), 0.0)
        walk = self._fading[active] + np.log1p(weights[:, :, None] * _FADING[fine]).cumsum(axis=0)
        self._fading[active] = walk[-1]
        least = self._least(since, active)
        over = (walk.max(axis=2) >= least) & here  # their mean is at most the largest
        over[over] = _mean_stake(walk[over]) >= least[over]
        return {place: int(over[:, place].argmax()) for place in np.flatnonzero(over.any(axis=0)).tolist()}

    def _walk(self, steps: np.ndarray, active: np.ndarray, first: int) -> list[Crossing]:
        start = self._stakes[active]
        walk = start + steps.cumsum(axis=0)
        walk -= np.minimum(np.minimum.accumulate(walk, axis=0), 0)  # no stake below 1
        over = walk.max(axis=2) >= self.limits[active]
        self._stakes[active] = walk[-1]
        found: list[Crossing] = []
        for place in np.flatnonzero(over.any(axis=0)):
            at, stream = int(over[:, place].argmax()), int(active[place])
            found.append(Crossing(first + at, stream))
            self._stakes[stream], again = self._anew(steps[at + 1 :, place], float(self.limits[stream]))
            found += [Crossing(first + at + 1 + later, stream) for later in again]
        return found

    @staticmethod
    def _anew(steps: np.ndarray, limit: float) -> tuple[np.ndarray, list[int]]:
        """Follow one stream from an alarm on; return its players' stakes at the end, and later alarms."""
        stakes, found, done = np.zeros(_PLAYERS), list[int](), 0
        while done < len(steps):
            walk = stakes + steps[done : done + _AFTER_ALARM].cumsum(axis=0)
            walk -= np.minimum(np.minimum.accumulate(walk, axis=0), 0)
            over = walk.max(axis=1) >= limit
            if over.any():
                stop = int(over.argmax()) + 1
                found.append(done + stop - 1)
                stakes, done = np.zeros(_PLAYERS), done + stop
            else:
                stakes, done = walk[-1], done + len(walk)
        return stakes, found


def _mean_stake(logs: np.ndarray) -> np.ndarray:
    """Return the logarithm of the stakes of players whose bets fade, weighed, over the last axis."""
    most = logs.max(axis=-1, initial=-math.inf, keepdims=True)
    mean: np.ndarray = most[..., 0] + np.log(np.exp(logs - most) @ _WEIGHTS)
    return mean


def _coins(turns: np.ndarray, streams: np.ndarray) -> np.ndarray:
    """Return numbers in (0, 1) that depend on nothing but a person's turn and the stream (SplitMix64)."""
    with np.errstate(over="ignore"):
        x = turns.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + streams.astype(np.uint64) * np.uint64(
            0xD1342543DE82EF95
        )
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    coins: np.ndarray = ((x >> np.uint64(11)).astype(float) + 0.5) * math.ldexp(1.0, -53)
    return coins
