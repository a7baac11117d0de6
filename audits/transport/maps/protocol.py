"""What every transport map shares: fit on two groups, transform anyone, travel as plain arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from audits.checks import build, finite
from audits.errors import InputError

__all__ = [
    "BLOCK",
    "FittedMap",
    "Groups",
    "TrainingPoint",
    "Watch",
    "blocks_of_pairs",
    "by_blocks",
    "check_feature_weights",
    "check_people",
    "groups",
    "one_thread",
    "pack",
    "unpack",
    "unwatched",
]

BLOCK = 4096
"""Rows transformed at a time: intermediate layers stay within the processor's cache."""

one_thread = threadpool_limits.wrap(limits=1, user_api="blas")
"""Decorator: hold BLAS at one thread. Blocks this small gain nothing from more and stall on busy cores."""

_PAIRS = 1 << 20

Options = TypeVar("Options")


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


def unwatched(point: TrainingPoint) -> None:
    """Ignore the training curve."""


class FittedMap(Protocol):
    """A fitted map between two groups, in encoded coordinates.

    Attributes
    ----------
    kind : str
        Name of the method, as specs name it.
    options : dataclass
        The options it was fitted with.
    history : tuple of TrainingPoint
        The training curve; empty for maps in closed form.
    converged : bool or None
        Whether the method's own criterion was met; None for a method without one (a fixed schedule).
    diverged_at : int or None
        Iteration at which training broke down; `transform` then refuses.
    finding : str
        One sentence on how the fit ended.
    """

    kind: ClassVar[str]

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended."""
        ...

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d)."""
        ...

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that `from_arrays` needs, as plain arrays."""
        ...


class Groups(NamedTuple):
    """Two checked groups: rows (n, d) and (m, d), C-contiguous float64, and weights that sum to 1."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray


def groups(source: np.ndarray, target: np.ndarray, a: np.ndarray | None, b: np.ndarray | None) -> Groups:
    """Check two groups of people and normalise their weights.

    Raises
    ------
    InputError
        If a group is empty or not a table of finite numbers, if the groups differ in their number of
        features, or if weights are negative, do not fit their group, or sum to 0.
    """
    x = check_people("source", source)
    y = check_people("target", target, features=x.shape[1])
    return Groups(x, y, _weights("a", a, len(x)), _weights("b", b, len(y)))


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
    weights = finite("feature_weights", weights)
    if weights.shape != (features,):
        raise InputError(
            "feature_weights", f"must be one weight a feature, {features:,} in all", weights.shape
        )
    if weights.min() < 0 or weights.max() <= 0:
        raise InputError("feature_weights", "must be at least 0 and not all 0", weights.tolist())
    return weights


def _weights(where: str, weights: np.ndarray | None, n: int) -> np.ndarray:
    if weights is None:
        return np.full(n, 1.0 / n)
    weights = finite(where, weights)
    if weights.shape != (n,):
        raise InputError(where, f"must be one weight a person, {n:,} in all", weights.shape)
    if weights.min() < 0 or weights.sum() <= 0:
        raise InputError(where, "must be weights of at least 0 with a positive sum", float(weights.min()))
    return weights / weights.sum()


def by_blocks(
    x: np.ndarray, step: Callable[[np.ndarray], np.ndarray], width: int, *, rows: int = BLOCK
) -> np.ndarray:
    """Apply `step` to `rows` rows of `x` at a time; the result is (n, `width`) float64."""
    out = np.empty((len(x), width))
    for start in range(0, len(x), rows):
        out[start : start + rows] = step(x[start : start + rows])
    return out


def blocks_of_pairs(n: int, m: int) -> list[slice]:
    """Slices of `n` rows with about a million pairs each: a block that stays in cache while worked on."""
    rows = max(1, _PAIRS // m)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def pack(
    kind: str, options: Any, history: tuple[TrainingPoint, ...] = (), **facts: Any
) -> dict[str, np.ndarray]:
    """Pack what is not an array: `kind`, `options` and `facts` as JSON text, `history` as a (k, 5) table."""
    text = json.dumps({"kind": kind, "options": asdict(options), "facts": facts})
    return {"about": np.array(text), "history": np.array(history, dtype=float).reshape(-1, 5)}


def unpack(
    kind: str, options: type[Options], arrays: Mapping[str, np.ndarray], names: tuple[str, ...]
) -> tuple[Options, tuple[TrainingPoint, ...], dict[str, Any], dict[str, Any]]:
    """Undo `pack`, and pick the arrays called `names`.

    Raises
    ------
    InputError
        If the arrays are not those of a saved map of this `kind`.
    """
    try:
        about = json.loads(str(arrays["about"]))
        if about["kind"] != kind:
            raise InputError("saved map", f"must be of kind {kind!r}", about["kind"])
        table = np.asarray(arrays["history"], dtype=float).reshape(-1, 5)
        plain, facts = about["options"], about["facts"]
        saved = {name: np.asarray(arrays[name]) for name in names}
    except InputError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("saved map", "must come from to_arrays()", str(error)) from None
    points = tuple(
        TrainingPoint(int(row[0]), *(None if np.isnan(value) else float(value) for value in row[1:]))
        for row in table
    )
    return build(options, plain, "saved map"), points, facts, saved
