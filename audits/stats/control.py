"""A control chart for a stream of yes/no events: a Bernoulli CUSUM whose false-alarm rate is computed.

After each person the chart moves up when the person is flagged and down when not, never below 0. It
alarms when it reaches its limit. Steps are chosen as whole numbers (up `jump`, down 1), so the chart is a
Markov chain with few states and the average number of people between false alarms is exact.

References
----------
Page (1954), Biometrika 41:100-115; Reynolds, Stoumbos (1999), Journal of Quality Technology 31:87-108.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded

from audits.errors import InputError

_MAX_LIMIT = 20_000
_WINDOW = 4096


@dataclass(frozen=True)
class Chart:
    """A designed chart.

    Attributes
    ----------
    rate : float
        Share of flags that counts as in control, in (0, 1).
    detects : float
        Share of flags that it is tuned to find.
    jump : int
        Steps up at a flag; down 1 otherwise.
    limit : int
        Steps at which it alarms.
    people_between : float
        Average number of people between false alarms while the share of flags is `rate`, exact.
    people_to_detect : float
        The same at `detects`: how late it notices.
    """

    rate: float
    detects: float
    jump: int
    limit: int
    people_between: float
    people_to_detect: float

    def follow(self, flags: np.ndarray, start: int = 0) -> ChartRun:
        """Follow `flags` (n,) bool from the value `start`; after an alarm the chart begins at 0 again."""
        steps = np.where(flags, self.jump, -1).astype(np.int64)
        values = np.empty(len(steps), dtype=np.int64)
        alarms: list[int] = []
        done, value = 0, int(start)
        while done < len(steps):
            walk = value + np.cumsum(steps[done : done + _WINDOW])
            walk -= np.minimum(np.minimum.accumulate(walk), 0)  # never below 0
            over = np.flatnonzero(walk >= self.limit)
            stop = len(walk) if over.size == 0 else int(over[0]) + 1
            values[done : done + stop] = walk[:stop]
            done += stop
            value = int(walk[stop - 1])
            if over.size:
                alarms.append(done - 1)
                value = 0
        return ChartRun(values, tuple(alarms), value)


@dataclass(frozen=True, eq=False)
class ChartRun:
    """Values after each person (n,), positions of alarms, and the value to go on from."""

    values: np.ndarray
    alarms: tuple[int, ...]
    value: int


def design_chart(rate: float, *, times: float = 2.0, people_between: float = 100_000.0) -> Chart:
    """Return the chart that alarms falsely once in at least `people_between` people on average.

    Parameters
    ----------
    rate : float in (0, 0.5)
        In-control share of flags.
    times : float > 1
        How many times that rate the chart is tuned to find.
    people_between : float
        Wished average number of people between false alarms; the limit is the least that keeps it.

    Raises
    ------
    InputError
        If the rates lie outside (0, 1), or no limit up to 20,000 steps keeps the wish.

    Examples
    --------
    >>> chart = design_chart(0.05, people_between=10_000)
    >>> chart.jump, chart.limit, round(chart.people_between)
    (12, 79, 10652)
    """
    shifted = rate * times
    if not 0 < rate < 0.5 or not rate < shifted < 1:
        raise InputError(
            "the control chart",
            "needs a share of flags in (0, 0.5) and a larger one below 1",
            (rate, shifted),
        )
    down = -math.log((1 - shifted) / (1 - rate))
    up = math.log(shifted / rate) - down
    jump = max(1, round(up / down))
    low, high = 1, 2
    while run_length(rate, jump, high) < people_between:
        low, high = high, 2 * high
        if high > _MAX_LIMIT:
            raise InputError("people_between", "is more than this chart can promise", people_between)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if run_length(rate, jump, middle) < people_between else (low, middle)
    return Chart(rate, shifted, jump, high, run_length(rate, jump, high), run_length(shifted, jump, high))


def reference_for(rate: float, chart: Chart, *, confidence: float = 0.95) -> tuple[float, int | None]:
    """Return how late `chart` finds twice the observed `rate`, and the reference that would halve that.

    A small reference makes the share that counts as in control larger than the observed one, and what lies
    between is found late or never. None where no reference of up to 10 million people would halve it.

    Parameters
    ----------
    rate : float in (0, 0.25)
        Share of flags observed among the reference people.
    """
    twice = min(2 * rate, 0.99)
    late = run_length(twice, chart.jump, chart.limit)
    people = 100
    while people <= 10_000_000:
        bound = flag_rate_bound(round(rate * people), people, confidence=confidence)
        if bound < min(0.95 * twice, 0.5):
            wider = design_chart(bound, times=twice / bound, people_between=chart.people_between)
            if run_length(twice, wider.jump, wider.limit) <= late / 2:
                return late, people
        people = round(people * 1.25)
    return late, None


def run_length(rate: float, jump: int, limit: int) -> float:
    """Average number of people until the chart, begun at 0, alarms when a share `rate` is flagged: exact.

    L_i = 1 + rate * L_(i + jump) + (1 - rate) * L_max(i - 1, 0), with L = 0 from `limit` on.

    Examples
    --------
    >>> run_length(0.1, 5, 5)  # every flag alarms
    10.0
    """
    upper = min(jump, limit - 1)
    bands = np.zeros((upper + 2, limit))
    # row i: L_i - (1 - rate) L_(i-1) - rate L_(i+jump) = 1
    bands[upper] = 1.0
    bands[upper, 0] = rate  # at 0 the chart stays at 0
    if limit > 1:
        bands[upper + 1, :-1] = -(1 - rate)
    if jump <= limit - 1:
        bands[upper - jump, jump:] = -rate
    solved = solve_banded((1, upper), bands, np.ones(limit))
    return float(solved[0])


def flag_rate_bound(above: int, n: int, *, confidence: float = 0.95) -> float:
    """Share of flags among new people that is not exceeded with `confidence`.

    The threshold is the reference value that `above` of `n` people exceed, so the share of new people
    above it is Beta(above + 1, n - above) distributed, whatever the values' distribution.

    References
    ----------
    Wilks (1941), Annals of Mathematical Statistics 12:91-96.

    Examples
    --------
    >>> round(flag_rate_bound(50, 1000), 4)
    0.0629
    """
    from scipy.stats import beta  # late: it takes half a second to import

    return float(beta.ppf(confidence, above + 1, n - above))
