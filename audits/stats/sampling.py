"""Drawing people: how many of each kind, whole numbers that never exceed what was asked for."""

from __future__ import annotations

import numpy as np

_MAX_DRAWN_FROM = 10**9  # people from which NumPy draws without replacement
_FEW = 1e-3  # of all people: drawing so many is drawing with replacement, to a thousandth of the variance
_MAX_PEOPLE = 500_000  # that are shuffled one by one; of more, so many bundles


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
    if whole.sum() < _MAX_DRAWN_FROM:
        return rng.multivariate_hypergeometric(whole.astype(np.int64), n, size=draws, method="marginals")
    kinds = np.zeros(1 << (len(whole) - 1).bit_length(), dtype=np.int64)
    kinds[: len(whole)] = whole
    halves = [kinds]  # of all kinds, of each half of them, and so on down to every one
    while len(halves[0]) > 1:
        halves.insert(0, halves[0].reshape(-1, 2).sum(axis=1))
    drawn = np.full((draws or 1, 1), n)
    for parts in halves[1:]:
        left = hypergeometric(parts[::2], parts[1::2], drawn, rng)
        drawn = np.stack([left, drawn - left], axis=2).reshape(len(drawn), -1)
    found: np.ndarray = drawn[:, : len(whole)]
    return found[0] if draws is None else found


def hypergeometric(
    good: np.ndarray, bad: np.ndarray, drawn: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """How many good ones come up when `drawn` of `good` and `bad` ones are drawn without replacement.

    NumPy's own below 10⁹ of either. Above, the few of whom hardly any can come up twice (those drawn, those
    left, the good or the bad ones) are drawn with replacement, and where none of them are few, a normal law
    of the same mean and variance is rounded: its third moment is then below .04 of its deviation.

    Parameters
    ----------
    good, bad, drawn : whole numbers
        Of one shape when broadcast, which is the result's.
    """
    good, bad, drawn = np.broadcast_arrays(*(np.asarray(each, dtype=np.int64) for each in (good, bad, drawn)))
    exact = (good < _MAX_DRAWN_FROM) & (bad < _MAX_DRAWN_FROM)
    if exact.all():
        return rng.hypergeometric(good, bad, drawn)
    found = rng.hypergeometric(*(np.where(exact, each, 0) for each in (good, bad, drawn)))
    good, bad, drawn = (each[~exact] for each in (good, bad, drawn))
    total = good + bad
    share, rate = drawn / total, good / total
    few = np.stack([drawn, good, bad, total - drawn])
    least = few.argmin(axis=0)
    those = few.min(axis=0)
    chance = np.choose(least, [rate, share, share, rate])
    by_few = rng.binomial(np.where(those < _FEW * total, those, 0), chance)
    by_few = np.choose(least, [by_few, by_few, drawn - by_few, good - by_few])
    spread = np.sqrt(drawn * rate * (bad / total) * ((total - drawn) / (total - 1)))
    near = np.rint(rng.normal(drawn * rate, spread)).astype(np.int64)
    near = np.clip(near, np.maximum(drawn - bad, 0), np.minimum(drawn, good))
    found[~exact] = np.where(those < _FEW * total, by_few, near)
    return found


def as_people(weights: np.ndarray, *, most: int = _MAX_PEOPLE) -> tuple[np.ndarray, np.ndarray]:
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
