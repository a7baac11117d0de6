"""Drawing people: how many of each kind, whole numbers that never exceed what was asked for."""

from __future__ import annotations

import numpy as np

__all__ = ["apportion", "as_people", "draw_counts"]

_WITHOUT_REPLACEMENT = 10**9  # people from which NumPy draws without; of more, replacement changes nothing
_MOST_PEOPLE = 500_000  # that are shuffled one by one; of more, so many bundles


def draw_counts(
    people: np.ndarray, n: int, rng: np.random.Generator, *, draws: int | None = None
) -> np.ndarray:
    """How many of each kind come up when `n` people are drawn without replacement.

    Parameters
    ----------
    people : array (k,)
        People of each kind; rounded to whole ones.
    n : int
        At most as many as there are.
    draws : int, optional
        Repetitions; the result is then (draws, k) instead of (k,).
    """
    whole = np.rint(people)
    if whole.sum() < _WITHOUT_REPLACEMENT:
        return rng.multivariate_hypergeometric(whole.astype(np.int64), n, size=draws, method="marginals")
    return rng.multinomial(n, whole / whole.sum(), size=draws)


def as_people(weights: np.ndarray, *, most: int = _MOST_PEOPLE) -> tuple[np.ndarray, np.ndarray]:
    """Row of every single person, and what that person weighs, where rows stand for `weights` (n,) people.

    Shuffling rows would keep a row's people together, as if they were one: what chance gives then looks too
    wide. Of more than `most` people, that many bundles of them are made, at least one of each row.

    Examples
    --------
    >>> rows, each = as_people(np.array([1.0, 3.0]))
    >>> rows.tolist(), each.tolist()
    ([0, 1, 1, 1], [1.0, 1.0, 1.0, 1.0])
    """
    whole = np.maximum(np.rint(weights), 1.0)
    if whole.sum() > most:
        whole = np.maximum(np.rint(whole * (most / whole.sum())), 1.0)
    rows = np.repeat(np.arange(len(weights)), whole.astype(np.int64))
    return rows, (weights / whole)[rows]


def apportion(people: np.ndarray, wanted: int, *, least: int = 0) -> np.ndarray:
    """Share `wanted` places among kinds in proportion to their `people` (k,), by largest remainders.

    Never more than `wanted` in all, nor than there are of a kind; `least` of each kind come first, if that
    many places are wanted.

    Examples
    --------
    >>> apportion(np.array([70, 20, 10]), 11).tolist()
    [8, 2, 1]
    >>> apportion(np.array([1000, 1]), 5, least=1).tolist()
    [4, 1]
    """
    people = np.floor(np.asarray(people, dtype=float)).astype(np.int64)
    wanted = min(int(wanted), int(people.sum()))
    found: np.ndarray = np.minimum(people, least)
    if found.sum() > wanted:
        found = np.zeros_like(people)
    left = people - found
    places = wanted - int(found.sum())
    if places <= 0:
        return found
    exact = left * (places / left.sum())
    more = np.minimum(np.floor(exact).astype(np.int64), left)
    order = np.argsort(more - exact, kind="stable")
    short = places - int(more.sum())
    for k in order[more[order] < left[order]][:short]:
        more[k] += 1
    found += more
    return found
