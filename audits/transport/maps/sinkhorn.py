"""Entropic transport between two groups of up to tens of thousands: balanced, relaxed or partial.

With ``c`` the cost, ``a``, ``b`` the weights and ``ε`` the regularization, every plan here has the form
``P_ij = a_i b_j exp((f_i + g_j + λ − c_ij) / ε)``. The potentials f and g are raised in turn (Sinkhorn):

* balanced: both marginals are met; λ = 0;
* relaxed: marginals may differ from a and b at the price ρ · KL (Chizat et al. 2018, "Scaling algorithms for
  unbalanced optimal transport problems", Mathematics of Computation 87);
* partial: marginals stay below a and b and a given share of the mass moves. The dual has f, g ≤ 0 and one
  free λ for the total, raised together with g (cf. Benamou et al. 2015, "Iterative Bregman projections",
  SIAM J. Scientific Computing 37, section 5).

How it stays fast and stable: potentials live in the log domain and are absorbed into a single-precision
kernel whose columns then sum to 1; each iteration reads the kernel once, a block of rows at a time. Large
problems start from the potentials of a sample of themselves, extended to everyone by the soft minimum;
the sample starts from a large ε that is lowered step by step.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np
from scipy.special import logsumexp

from audits.progress import Progress, part, silent
from audits.transport.blocks import threads
from audits.transport.maps.pairs import PairCosts, pair_costs
from audits.transport.maps.protocol import CheckedGroups, blocks_of_pairs, one_thread, thin

T = TypeVar("T")

_SINGLE = 1 << 22  # pairs from which single precision is used
_SAMPLE = 3000  # people of a group from which a sample is solved first
_DRIFT = 50.0  # log-scalings beyond this are absorbed: single precision ends at ±87
_LOWER = 4.0  # factor between two values of ε on the way down


@dataclass(frozen=True)
class Balance:
    """Which marginals are asked for.

    Attributes
    ----------
    kind : {"balanced", "relaxed", "partial"}
    amount : float
        Relaxed: ρ in units of cost; partial: share of the mass that moves, in (0, 1]; else unused.
    """

    kind: Literal["balanced", "relaxed", "partial"] = "balanced"
    amount: float = 1.0

    def potential(self, log_sums: np.ndarray, epsilon: float) -> np.ndarray:
        """Best potential / ε for the logs of the sums over the other side, λ included."""
        if self.kind == "relaxed":
            return log_sums * (-self.amount / (self.amount + epsilon))
        if self.kind == "partial":
            return np.minimum(0.0, -log_sums)
        return -log_sums

    def shift(self, a: np.ndarray, f: np.ndarray, b: np.ndarray, g: np.ndarray, epsilon: float) -> float:
        """By how much g should fall, and f rise, for the best dual; potentials / ε, relaxed form only.

        The plan stays as it is, but left to the iterations the shift is slow when ρ is large (Séjourné,
        Vialard, Peyré 2022, "Faster unbalanced optimal transport: translation invariant Sinkhorn").
        """
        price = self.amount / epsilon
        return float(logsumexp(-f / price, b=a) - logsumexp(-g / price, b=b)) * price / 2


BALANCED = Balance()
"""Both marginals as they are."""


def _rise_to(log_sums: np.ndarray, weights: np.ndarray, share: float) -> float:
    """By how much λ must rise for ``Σ_j b_j min(1, exp(log_sums_j + rise))`` to be `share`."""
    order = np.argsort(-log_sums, kind="stable")
    logs, b = log_sums[order], weights[order]
    # with the first k at their weight, the others make up the rest
    before = np.append(0.0, np.cumsum(b)[:-1])
    others = np.logaddexp.accumulate((np.log(b) + logs)[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = np.log(np.maximum(share - before, 0)) - others
        fits = np.flatnonzero(np.isfinite(rises) & (logs + rises <= 0))
    return float(rises[fits[0]]) if len(fits) else -float(logs[np.isfinite(logs)].min())


@dataclass(frozen=True, eq=False)
class Duals:
    """Potentials of an entropic plan, in units of cost.

    Attributes
    ----------
    source, target : arrays (n,), (m,)
        f and g.
    level : float
        λ: in partial transport, about the largest cost at which people are still paired.
    epsilon : float
    error : float
        Mass that one more iteration would move: for balanced plans, the violation of the target's marginal
        (the source's is met); at most 2.
    iterations : int
    converged : bool
        Whether `error` reached the tolerance.
    source_mass, target_mass : arrays (n,), (m,)
        The plan's marginals.
    """

    source: np.ndarray
    target: np.ndarray
    level: float
    epsilon: float
    error: float
    iterations: int
    converged: bool
    source_mass: np.ndarray
    target_mass: np.ndarray


@one_thread()
def solve(
    people: CheckedGroups,
    *,
    cost: str,
    feature_weights: np.ndarray,
    epsilon: float,
    balance: Balance = BALANCED,
    tolerance: float = 1e-3,
    most: int = 1000,
    progress: Progress = silent,
    rng: np.random.Generator,
) -> Duals:
    """Find the potentials of the entropic plan between two groups (weights positive, summing to 1).

    Parameters
    ----------
    epsilon : float
        Regularization in units of cost, above 0.
    tolerance : float
        Mass an iteration may still move when it stops.
    most : int
        Iterations at most, at the final ε.
    rng : Generator
        Draws the sample that a large problem starts from.
    """
    single = len(people.x) * len(people.y) > _SINGLE
    dtype = np.float32 if single else np.float64

    def costs(x: np.ndarray, y: np.ndarray) -> PairCosts:
        return pair_costs(x, y, cost=cost, weights=feature_weights, dtype=dtype)

    problem = _Problem(costs(people.x, people.y), people.a, people.b, balance)
    if single and max(people.shape) > _SAMPLE:
        few = thin(people, _SAMPLE, rng)[0]
        again = partial(solve, cost=cost, feature_weights=feature_weights, epsilon=epsilon, balance=balance)
        start = again(few, tolerance=tolerance, most=most, progress=part(progress, 0.0, 0.1), rng=rng)
        # the sample's source people price every target person
        level = start.level / epsilon
        sums = log_sums(costs(people.y, few.x), start.source / epsilon + np.log(few.a), epsilon) + level
        g, rest = balance.potential(sums, epsilon), part(progress, 0.1, 1.0)
        problem.raise_at(epsilon, g, level, tolerance, most, rest)
        return problem.duals()
    g, level, before = np.zeros(len(people.y)), 0.0, epsilon
    for step in _descent(problem.pairs, epsilon):
        last, scale = step == epsilon, before / step
        stop, at_most = (tolerance, most) if last else (10 * tolerance, 100)
        problem.raise_at(step, g * scale, level * scale, stop, at_most, progress if last else silent)
        g, level, before = problem.g, problem.level, step
    return problem.duals()


def log_sums(pairs: PairCosts, offsets: np.ndarray, epsilon: float) -> np.ndarray:
    """``log Σ_j exp(offsets_j − c_ij / ε)`` (n,) for every row of `pairs`."""
    out = np.empty(len(pairs.x_squares))
    for rows in blocks_of_pairs(len(out), len(offsets)):
        out[rows] = _log_sum(pairs.rows(rows), offsets, epsilon)
    return out


def _log_sum(block: np.ndarray, offsets: np.ndarray, epsilon: float) -> np.ndarray:
    block *= block.dtype.type(-1 / epsilon)
    block += offsets.astype(block.dtype)
    top = block.max(axis=1)
    block -= top[:, None]
    np.exp(block, out=block)
    return top + np.log(block.sum(axis=1))


def _descent(pairs: PairCosts, epsilon: float) -> list[float]:
    """Values of ε from about the mean cost down to `epsilon`."""
    first = blocks_of_pairs(len(pairs.x_squares), len(pairs.y_squares))[0]
    steps = max(0, math.ceil(math.log(max(float(pairs.rows(first).mean()) / epsilon, 1.0), _LOWER)))
    return [epsilon * _LOWER**k for k in range(steps, 0, -1)] + [epsilon]


class _Problem:
    """Sinkhorn's state at one ε: potentials / ε, and the kernel they were last absorbed into."""

    def __init__(self, pairs: PairCosts, a: np.ndarray, b: np.ndarray, balance: Balance) -> None:
        self.pairs, self.a, self.b, self.balance = pairs, a, b, balance
        self.dtype = pairs.x_squares.dtype
        self.kernel = np.empty((len(a), len(b)), self.dtype)
        self.blocks = blocks_of_pairs(len(a), len(b))
        self._pool: ThreadPoolExecutor | None = None
        self.source_mass, self.target_mass = np.empty(len(a)), np.empty(len(b))

    def duals(self) -> Duals:
        """Pack the state reached, in units of cost."""
        return Duals(
            source=self.f * self.epsilon,
            target=self.g * self.epsilon,
            level=self.level * self.epsilon,
            epsilon=self.epsilon,
            error=self.error,
            iterations=self.iterations,
            converged=self.converged,
            source_mass=self.source_mass,
            target_mass=self.target_mass,
        )

    def raise_at(
        self, epsilon: float, g: np.ndarray, level: float, tolerance: float, most: int, progress: Progress
    ) -> None:
        """Raise the potentials from g and λ (both / ε) until a step moves `tolerance` or less.

        It ends on a source step, so that the source's marginal is as asked.
        """
        self.epsilon, self.g, self.level = epsilon, g, level
        self.f, self._unseen = np.zeros(len(self.a)), 0.0
        with threads() if len(self.blocks) > 1 else nullcontext() as self._pool:
            self._iterate(tolerance, most, progress)

    def _iterate(self, tolerance: float, most: int, progress: Progress) -> None:
        self.converged, first = False, 0.0
        self._absorb()
        for self.iterations in range(1, most + 1):
            g, level = self._raise_source()
            self.converged = self.error <= tolerance
            if self.converged or self.iterations == most:
                return
            self.g, self.level = g, level
            if self._stale():
                self._absorb()
            first = first or self.error
            done = math.log(first / self.error) / math.log(first / tolerance)
            progress(
                max(done, self.iterations / most),
                f"matching the groups: {self.error:.2%} of people still misplaced",
            )

    def _each(self, work: Callable[[slice], T], blocks: list[slice]) -> Iterable[T]:
        """What `work` makes of each block of rows, in order; on several cores where there are several."""
        return map(work, blocks) if self._pool is None else self._pool.map(work, blocks)

    def _absorb(self) -> None:
        """Raise both potentials in the log domain and rebuild the kernel ``exp(f₀ + λ₀ + g₀ − c / ε)``."""
        offsets, scale = self.g + np.log(self.b), self.dtype.type(-1 / self.epsilon)
        sums = np.empty(len(self.a))

        def fill(rows: slice) -> None:
            block = self.pairs.rows(rows)
            np.multiply(block, scale, out=self.kernel[rows])
            sums[rows] = _log_sum(block, offsets, self.epsilon)

        deque(self._each(fill, self.blocks), 0)
        self._raise_f(slice(None), sums + self.level)
        top, total = np.full(len(self.b), -np.inf), np.zeros(len(self.b))
        for rows in self.blocks:
            lift = (self.f + np.log(self.a))[rows, None] + self.level
            block = self.kernel[rows] + lift.astype(self.dtype)
            higher = np.maximum(top, block.max(axis=0))
            total *= np.exp(top - higher)
            block -= higher.astype(self.dtype)
            total += np.exp(block, out=block).sum(axis=0)
            top = higher
        sums = top + np.log(total)
        self.g, self.level, rise = self._best_g(sums)
        self._f0, self._g0, self._level0, self._g_then = self.f.copy(), -sums - rise, self.level, self.g

        def absorb(rows: slice) -> None:
            block = self.kernel[rows]
            block += (self._f0[rows] + self._level0)[:, None].astype(self.dtype)
            block += self._g0.astype(self.dtype)
            np.exp(block, out=block)

        deque(self._each(absorb, self.blocks), 0)

    def _raise_f(self, rows: slice, log_sums: np.ndarray) -> None:
        """Raise f of `rows`, and λ with it, given the logs of their sums, λ included."""
        if self.balance.kind == "partial":
            rise = _rise_to(log_sums, self.a, self.balance.amount)
            self.level += rise
            log_sums = log_sums + rise
        f, seen = self.f[rows], np.isfinite(log_sums)
        # a row whose sum underflows belongs to no plan; its potential stays
        f[seen] = self.balance.potential(log_sums[seen], self.epsilon)
        self.source_mass[rows] = self.a[rows] * np.exp(log_sums + f)

    def _best_g(self, log_sums: np.ndarray) -> tuple[np.ndarray, float, float]:
        """What g and λ should be, given the logs of the columns' sums (m,), λ included; and λ's rise."""
        rise = _rise_to(log_sums, self.b, self.balance.amount) if self.balance.kind == "partial" else 0.0
        g, seen = self.g.copy(), np.isfinite(log_sums)
        g[seen] = self.balance.potential(log_sums[seen] + rise, self.epsilon)
        return g, self.level + rise, rise

    def _raise_source(self) -> tuple[np.ndarray, float]:
        """Raise f; return what g and λ would become, and note how much mass that would move."""
        weights = (self.b * np.exp(self.g - self._g0)).astype(self.dtype)
        sums = np.zeros(len(self.b))
        # λ needs all rows before any is raised; without it each block is read only once
        blocks = [slice(None)] if self.balance.kind == "partial" else self.blocks

        def raised(rows: slice) -> np.ndarray:
            block = self.kernel[rows]
            with np.errstate(divide="ignore"):
                logs = np.log((block @ weights).astype(float))
            self._raise_f(rows, logs - self._f0[rows] + self.level - self._level0)
            mass = self.a[rows] * np.exp(self.f[rows] - self._f0[rows])
            return mass.astype(self.dtype) @ block

        for part_sums in self._each(raised, blocks):
            sums += part_sums
        with np.errstate(divide="ignore"):
            logs = np.log(sums) - self._g0 + self.level - self._level0
        g, level, rise = self._best_g(logs)
        self.target_mass = self.b * np.exp(logs + self.g)
        self.error = float(np.abs(self.b * np.exp(logs + g + rise) - self.target_mass).sum())
        self._unseen = max(self.a[self.source_mass == 0].sum(), self.b[self.target_mass == 0].sum())
        if self.balance.kind == "relaxed":
            g -= self.balance.shift(self.a, self.f, self.b, g, self.epsilon)
        return g, level

    def _stale(self) -> bool:
        """Whether the kernel shows too little: scalings grew large, or people it cannot see are needed."""
        moved = (self.f - self._f0, self.g - self._g_then, np.array([self.level - self._level0]))
        if max(np.abs(by).max() for by in moved) > _DRIFT:
            return True
        return self.balance.kind == "partial" and 1 - self._unseen < self.balance.amount * (1 - 1e-9)
