"""The gradient flow of many people through a network of ReLUs, a region of straight logits at a time.

Between two kinks of its ReLUs a network's logit is a straight line in a person's place: the gradient of the
loss then keeps its direction a, and only its length changes, by one number a step. Under a metric that is
the same in every direction that counts (a multiple of a projection Q, with P = I - Q) Euler's steps from
a shift p + q, with p = P p and q = Q q, stay on

    p + q + (D - 1) q + C₀ P a + C₁ Q a,

and a step of size ε at the loss's slope w changes D to (1 - ε μ) D, C₀ to C₀ + ε w, and C₁ to
(1 - ε μ) C₁ + ε w, where μ is 2 λ times the metric's eigenvalue. So three numbers, D - 1, C₀ and C₁, all 0
at first, take a person through a region, and what the units of the network are given are sums of four
vectors with these weights. A person whose units could change sign among some steps, by the least and
largest of the three, is looked at step by step, and in the first place beyond the region gradient and
vectors are worked out again. The steps are those of `flow`, to rounding.

People are moved in a pool: whoever has taken all steps makes place for the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from audits.loss_ratio.metrics.distances import FairMetric

if TYPE_CHECKING:
    import torch

__all__ = ["RegionFlow", "pull_of"]

_POOL = 8192
_STEPS = 16  # of a round
_ROWS = 256  # people whose units are looked at together: they then stay in the processor's cache
_ALIKE = 1e-6

_Report = Callable[[float], None]


def pull_of(metric: FairMetric, regularizer: float) -> tuple[float, np.ndarray] | None:
    """Return μ and the projection Q (d, d) of a penalty's matrix 2 λ M = μ Q; None where it is another."""
    matrix = 2 * regularizer * metric.matrix
    pull = 2 * regularizer * metric.largest
    if pull == 0:
        return 0.0, np.zeros_like(matrix)
    across = matrix / pull
    return (pull, across) if np.abs(across @ across - across).max() < _ALIKE else None


class RegionFlow:
    """The flow of people by a network's `layers`, with ReLUs between them and one output.

    Parameters
    ----------
    pull, across : float, array (d, d)
        As `pull_of` returns them.
    sizes : array (steps,)
        Of Euler's steps.
    kept : tuple of int
        Steps after which losses are wanted.
    """

    def __init__(
        self,
        layers: list[torch.nn.Linear],
        pull: float,
        across: np.ndarray,
        sizes: np.ndarray,
        kept: tuple[int, ...],
    ) -> None:
        def plain(tensor: torch.Tensor) -> np.ndarray:
            return tensor.detach().double().cpu().numpy().astype(np.float32)

        self.weights = [plain(layer.weight) for layer in layers]
        self.biases = [
            np.zeros(layer.out_features, np.float32) if layer.bias is None else plain(layer.bias)
            for layer in layers
        ]
        self.across = across.astype(np.float32)
        self.steps, self.kept = len(sizes), kept
        more = np.zeros(_STEPS)  # whoever has arrived stays there until the round is over
        self.sizes = np.concatenate([sizes, more]).astype(np.float32)
        self.rates = (1 - pull * np.concatenate([sizes, more])).astype(np.float32)
        ends = np.cumsum([0, *(len(bias) for bias in self.biases[:-1])])
        self.units = [slice(*pair) for pair in itertools.pairwise(ends)]
        self.hidden = int(ends[-1])

    def move(
        self, x: np.ndarray, y: np.ndarray, report: _Report | None = None
    ) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """Return how far people at `x` (n, d) with labels `y` (n,) are moved (n, d), and losses at `kept`."""
        return self._move(x, y, report)[:2]

    def left(self, x: np.ndarray, y: np.ndarray) -> float:
        """Return in which share of all steps people leave their region."""
        return (self._move(x, y, None)[2] / len(x) - 1) / self.steps

    def _move(
        self, x: np.ndarray, y: np.ndarray, report: _Report | None
    ) -> tuple[np.ndarray, dict[int, np.ndarray], int]:
        n = len(x)
        shifts, losses = np.zeros(x.shape), {step: np.empty(n) for step in self.kept}
        pool = _Pool(self, min(n, _POOL), x.shape[1])
        waiting = 0
        free = np.arange(len(pool.who))
        while len(pool.who):
            if len(free):
                some = np.arange(waiting, min(waiting + len(free), n))
                waiting += len(some)
                pool.begin(free[: len(some)], some, x[some], y[some])
                pool.drop(free[len(some) :])
                if report is not None:
                    report(max(waiting - len(pool.who), 0) / n)
                if not len(pool.who):
                    break
            free, left = pool.round(losses)
            shifts[pool.who[free]] = pool.shifts(free)
            pool.enter(left, pool.shifts(left))
        return shifts, losses, pool.entered


class _Pool:
    """People under way: vectors, what these bring to units and log-odds, and the weights of their sums.

    Attributes
    ----------
    who, taken : array (p,)
        The person in each place, and the steps taken.
    start : array (p, d)
    vectors : array (4, p, d)
        p + q, q, P a and Q a.
    given : array (4, p, units)
        What those bring to each unit, times -1 where it is off: in the region sums are not negative.
    logit : array (4, p)
        What they bring to the log-odds of a wrong decision.
    by : array (3, p)
        D - 1, C₀ and C₁.
    entered : int
        Regions that were entered.
    """

    def __init__(self, flow: RegionFlow, places: int, d: int) -> None:
        self.flow = flow
        self.who, self.taken = np.zeros(places, dtype=np.int64), np.zeros(places, dtype=np.int64)
        self.sign = np.zeros(places, dtype=np.float32)
        self.start = np.zeros((places, d), dtype=np.float32)
        self.vectors = np.zeros((4, places, d), dtype=np.float32)
        self.given = np.zeros((4, places, flow.hidden), dtype=np.float32)
        self.logit = np.zeros((4, places), dtype=np.float32)
        self.by = np.zeros((3, places), dtype=np.float32)
        self.entered = 0

    def begin(self, places: np.ndarray, who: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        """Put people at the start."""
        self.who[places], self.taken[places], self.start[places] = who, 0, x
        self.sign[places] = 1.0 - 2.0 * y
        self.enter(places, np.zeros(x.shape, dtype=np.float32))

    def drop(self, places: np.ndarray) -> None:
        """Close places that nobody will take."""
        if len(places):
            left = np.ones(len(self.who), dtype=bool)
            left[places] = False
            for name in ("who", "taken", "sign", "start"):
                setattr(self, name, getattr(self, name)[left])
            for name in ("vectors", "given", "logit", "by"):
                setattr(self, name, getattr(self, name)[:, left])

    def shifts(self, places: np.ndarray) -> np.ndarray:
        """Return how far people are moved by now, (len(places), d)."""
        first, *others = self.vectors[:, places]
        for by, vector in zip(self.by[:, places], others, strict=True):
            first += by[:, None] * vector
        return first

    def enter(self, places: np.ndarray, shifts: np.ndarray) -> None:
        """Work out the region in which people moved by `shifts` are."""
        for first in range(0, len(places), _ROWS):
            rows = slice(first, first + _ROWS)
            self._enter(places[rows], shifts[rows])
        self.by[:, places] = 0
        self.entered += len(places)

    def _enter(self, places: np.ndarray, shifts: np.ndarray) -> None:
        flow, m = self.flow, len(places)
        *weights, last = flow.weights
        on: list[np.ndarray] = []
        values = self.start[places] + shifts
        for weight, bias, units in zip(weights, flow.biases[:-1], flow.units, strict=True):
            values = values @ weight.T
            values += bias
            on.append((values > 0).astype(np.float32))
            self.given[0, places, units] = np.abs(values)
            values *= on[-1]
        sign = self.sign[places]
        self.logit[0, places] = (values @ last[0] + flow.biases[-1]) * sign
        gradient = sign[:, None] * last
        for weight, active in zip(weights[::-1], on[::-1], strict=True):
            gradient = (gradient * active) @ weight
        along = np.stack([shifts, gradient, gradient])
        along[0::2] = (along[0::2].reshape(2 * m, -1) @ flow.across).reshape(2, m, -1)
        along[1] -= along[2]
        self.vectors[0, places] = shifts
        self.vectors[1:, places] = along
        for weight, active, units in zip(weights, on, flow.units, strict=True):
            along = (along.reshape(3 * m, -1) @ weight.T).reshape(3, m, -1)
            self.given[1:, places, units] = along * (2 * active - 1)
            along *= active
        self.logit[1:, places] = (along @ last[0]) * sign

    def round(self, losses: dict[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Take some steps; return the places of those who arrived, and of those who left their region."""
        flow = self.flow
        path = np.empty((_STEPS + 1, 3, len(self.who)), dtype=np.float32)
        odds = np.empty((_STEPS, len(self.who)), dtype=np.float32)
        path[0] = self.by
        with np.errstate(over="ignore"):
            for step in range(_STEPS):
                here, next_, value = path[step], path[step + 1], odds[step]
                np.multiply(self.logit[1:], here, out=next_)
                np.add(self.logit[0], next_[0], out=value)
                value += next_[1]
                value += next_[2]
                slope = np.exp(-value)
                slope += 1
                np.divide(flow.sizes[self.taken + step], slope, out=slope)
                rate = flow.rates[self.taken + step]
                np.multiply(here[0], rate, out=next_[0])
                next_[0] += rate
                next_[0] -= 1
                np.add(here[1], slope, out=next_[1])
                np.multiply(here[2], rate, out=next_[2])
                next_[2] += slope
        until = self._until(path)
        for step in flow.kept:
            at = step - self.taken
            now = np.flatnonzero((at >= 0) & (at < until))
            losses[step][self.who[now]] = np.logaddexp(0.0, odds[at[now], now].astype(float))
        left = until < _STEPS
        self.taken += until
        arrived = self.taken >= flow.steps
        until -= np.maximum(self.taken - flow.steps, 0)
        self.by = path[until, :, np.arange(len(until))].T.copy()
        return np.flatnonzero(arrived), np.flatnonzero(left & ~arrived)

    def _until(self, path: np.ndarray) -> np.ndarray:
        """Return after how many steps, 1 at least, each person is beyond the region, or all of them (p,)."""
        until = np.full(len(self.who), _STEPS)
        if not self.flow.hidden:
            return until
        least, most = path[1:].min(axis=0), path[1:].max(axis=0)  # (3, p)
        found = []
        for first in range(0, len(until), _ROWS):
            rows = slice(first, first + _ROWS)
            lowest = self.given[0, rows].copy()
            one, other = np.empty_like(lowest), np.empty_like(lowest)
            for given, low, high in zip(self.given[1:, rows], least[:, rows], most[:, rows], strict=True):
                np.multiply(given, low[:, None], out=one)
                np.multiply(given, high[:, None], out=other)
                np.minimum(one, other, out=one)
                lowest += one
            found.append(np.flatnonzero(lowest < 0) + first * self.flow.hidden)
        places, units = np.divmod(np.concatenate(found), self.flow.hidden)
        first, *others = self.given[:, places, units]
        value = first + sum(path[1:, k][:, places] * each for k, each in enumerate(others))
        beyond = value < 0
        crossed = beyond.any(axis=0)
        np.minimum.at(until, places[crossed], beyond.argmax(axis=0)[crossed] + 1)
        return until
