"""What every transport map shares: fitted on two groups, it carries anyone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from audits import threads
from audits.checks import finite, generator
from audits.errors import InputError
from audits.progress import Progress, silent
from audits.transport.atoms import checked_weights
from audits.transport.costs import checked_feature_weights

_BLOCK = 4096  # rows transformed at a time: intermediate layers stay within the processor's cache
_PAIRS = 1 << 20


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS at one thread: blocks this small gain nothing from more and stall on busy cores.

    Libraries are looked for when it begins: what draws loads this module where it may not look for them.
    """
    with threads.one_thread("blas"):
        yield


class TrainingPoint(NamedTuple):
    """One point of a training curve; None where a method has no such quantity.

    Attributes
    ----------
    iteration : int
        Iterations done.
    critic_loss, generator_loss : float
        The two losses of a GAN; for the neural map the dual objective (negated) and the regression loss.
    transport_cost : float
        Mean cost of moving a source person, on the validation people.
    ks : float
        Mean over features of the Kolmogorov–Smirnov distance to the target, on the validation people.
    """

    iteration: int
    critic_loss: float | None
    generator_loss: float | None
    transport_cost: float | None
    ks: float | None


Watch = Callable[[TrainingPoint], None]
"""Called with each point of a training curve as it is made."""


def ignore_curve(point: TrainingPoint) -> None:
    """Ignore the training curve."""


class CheckedGroups(NamedTuple):
    """Two checked groups: rows (n, d) and (m, d), C-contiguous float64, and weights that sum to 1."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of people (n, m)."""
        return len(self.x), len(self.y)


class Sample(NamedTuple):
    """What every fit starts from, checked.

    Attributes
    ----------
    people : CheckedGroups
    feature_weights : array (d,)
        Weights of features in the cost.
    watch, progress : callables
        Called while fitting; an exception from either ends it.
    rng : Generator
    """

    people: CheckedGroups
    feature_weights: np.ndarray
    watch: Watch
    progress: Progress
    rng: np.random.Generator


class FittedMap(ABC):
    """A map between two groups, in encoded coordinates, as `fit` makes it.

    Attributes
    ----------
    kind : str
        Name of the method, as specs name it.
    asked : type
        The class of its options.
    options : dataclass
        The options it was fitted with.
    history : tuple of TrainingPoint
        The training curve; empty for maps in closed form.
    converged : bool or None
        Whether the method's own criterion was met; None for a method without one (a fixed schedule).
    diverged_at : int or None
        Iteration at which training broke down; `transform` then refuses.
    """

    kind: ClassVar[str]
    asked: ClassVar[type[Any]]

    @classmethod
    def fit(
        cls,
        source: np.ndarray,
        target: np.ndarray,
        *,
        a: np.ndarray | None = None,
        b: np.ndarray | None = None,
        feature_weights: np.ndarray | None = None,
        options: Any = None,
        watch: Watch = ignore_curve,
        progress: Progress = silent,
        rng: np.random.Generator | int | None = None,
    ) -> Self:
        """Fit a map that carries `source` people to the `target` group.

        Parameters
        ----------
        source, target : arrays (n, d), (m, d)
            Encoded people.
        a, b : arrays (n,), (m,), optional
            Weights of people; equal by default.
        feature_weights : array (d,), optional
            Weights of features in the cost, at least 0; 1 by default.
        options : dataclass, optional
            Of the class `asked`, by default with its defaults.
        watch, progress : callables
            Called as the fit goes on, `watch` by methods that train; an exception from either ends it.
        rng : Generator or int
            Everything drawn is drawn from it. Same seed, same map, whatever the thread count.

        Raises
        ------
        InputError
            For tables or weights that `groups` refuses, or groups that the method cannot learn from.
        """
        people = groups(source, target, a, b)
        weights = check_feature_weights(feature_weights, people.x.shape[1])
        sample = Sample(people, weights, watch, progress, generator(rng))
        return cls._fitted(sample, cls.asked() if options is None else options)

    @classmethod
    @abstractmethod
    def _fitted(cls, sample: Sample, options: Any) -> Self:
        """Fit; training that breaks down gives a map with `diverged_at`, which refuses to `transform`."""

    @property
    @abstractmethod
    def finding(self) -> str:
        """One sentence on how the fit ended."""

    @abstractmethod
    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d), in the sample or not.

        Raises
        ------
        RunFailed
            If training diverged.
        """


def groups(
    source: np.ndarray, target: np.ndarray, a: np.ndarray | None, b: np.ndarray | None
) -> CheckedGroups:
    """Check two groups of people and normalise their weights.

    Raises
    ------
    InputError
        If a group is empty or not a table of finite numbers, if the groups differ in their number of
        features, or if weights are negative, do not fit their group, or sum to 0.
    """
    x = check_people("source", source)
    y = check_people("target", target, features=x.shape[1])
    a, b = checked_weights("a", a, len(x)), checked_weights("b", b, len(y))
    return CheckedGroups(x, y, a / a.sum(), b / b.sum())


def check_people(
    where: str, people: np.ndarray, *, features: int | None = None, empty: bool = False
) -> np.ndarray:
    """Return `people` as C-contiguous float64 (n, d); see `groups` for the errors."""
    people = np.asarray(people)
    if people.ndim != 2 or people.shape[1] == 0:
        raise InputError(where, "must be a table (people, features) with at least one feature", people.shape)
    if not empty and len(people) == 0:
        raise InputError(
            where, "must have at least one person", advice="choose a group that occurs in the data"
        )
    if features is not None and people.shape[1] != features:
        raise InputError(where, f"must have {features:,} features", people.shape[1])
    if people.dtype.kind not in "fiub":
        raise InputError(where, "must hold numbers", str(people.dtype), "encode the features first")
    return np.ascontiguousarray(finite(where, people))


def check_feature_weights(weights: np.ndarray | None, features: int) -> np.ndarray:
    """Return one weight a feature (d,), 1 by default; refuse negative ones and all zeros."""
    if weights is None:
        return np.ones(features)
    weights = checked_feature_weights(weights, features)
    if not weights.any():
        raise InputError("feature_weights", "must not all be 0")
    return weights


def by_blocks(x: np.ndarray, step: Callable[[np.ndarray], np.ndarray], width: int) -> np.ndarray:
    """Apply `step` to some rows of `x` at a time; the result is (n, `width`) float64."""
    out = np.empty((len(x), width))
    for start in range(0, len(x), _BLOCK):
        out[start : start + _BLOCK] = step(x[start : start + _BLOCK])
    return out


def blocks_of_pairs(n: int, m: int) -> list[slice]:
    """Slices of `n` rows with about a million pairs each: a block that stays in cache while worked on."""
    rows = max(1, _PAIRS // m)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def thin(
    people: CheckedGroups, most: int, rng: np.random.Generator
) -> tuple[CheckedGroups, np.ndarray, np.ndarray]:
    """Leave out people of weight 0 and draw at most `most` of each group; also their positions (n,), (m,)."""
    sides = []
    for rows, weights in ((people.x, people.a), (people.y, people.b)):
        kept = np.flatnonzero(weights)
        if len(kept) > most:
            kept = np.sort(rng.choice(kept, most, replace=False))
        sides.append((rows[kept], weights[kept] / weights[kept].sum(), kept))
    (x, a, source), (y, b, target) = sides
    return CheckedGroups(x, y, a, b), source, target
