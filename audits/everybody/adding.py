"""What folds over people share: moments that add up, and who is like those that were drawn."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.data.blocks import LevelBlock
from audits.data.values import places_of
from audits.models import Subject
from audits.stats.means import MeanMethod, MeanTest

__all__ = [
    "UNLIKE",
    "Moments",
    "added",
    "columns_read",
    "like_those_drawn",
    "mean_of",
    "moments_of",
    "taught",
]

UNLIKE = "a value that nobody drawn has"

Moments = Mapping[Hashable, np.ndarray]
"""By what they are of: people, mean, and sums of squared and cubed distances from it, (4,)."""


def moments_of(values: np.ndarray, codes: np.ndarray, keys: list[Hashable]) -> Moments:
    """Return the moments of values (n,) by the code of each (n,), a place among `keys`."""
    n = np.bincount(codes, minlength=len(keys)).astype(float)
    mean = np.bincount(codes, values, len(keys)) / np.maximum(n, 1.0)
    apart = values - mean[codes]
    squares, cubes = (np.bincount(codes, apart**power, len(keys)) for power in (2, 3))
    return {key: np.array(four) for key, *four in zip(keys, n, mean, squares, cubes, strict=True) if four[0]}


def added(first: Moments, second: Moments) -> Moments:
    """Return the moments of both.

    References
    ----------
    Pébay (2008), Sandia report SAND2008-6212, equations 2.1 to 2.3.
    """
    both = {**second, **first}
    for key in first.keys() & second.keys():
        (n, a, a2, a3), (m, b, b2, b3) = first[key], second[key]
        step, all_of = b - a, n + m
        squares = a2 + b2 + step**2 * n * m / all_of
        cubes = a3 + b3 + step**3 * n * m * (n - m) / all_of**2 + 3 * step * (n * b2 - m * a2) / all_of
        both[key] = np.array([all_of, a + step * m / all_of, squares, cubes])
    return both


def mean_of(moments: np.ndarray, method: MeanMethod) -> MeanTest:
    """Return what `mean_test` returns of the values themselves, up to rounding."""
    n, mean, squares, cubes = moments.tolist()
    if squares <= (1e-14 * abs(mean)) ** 2 * n or n <= 1:
        return MeanTest(n, mean, 0.0, 0.0, method)
    return MeanTest(n, mean, math.sqrt(squares / (n - 1)), cubes / n / (squares / n) ** 1.5, method)


def taught(subject: Subject) -> pd.Index:
    """Return the rows that the audited model learned from here."""
    return pd.Index([]) if subject.training is None else subject.training.frame.index


def columns_read(subject: Subject) -> tuple[str, ...]:
    """Return the columns of features, and those that the model reads besides."""
    return tuple(dict.fromkeys([*subject.space.columns, *subject.data.features, *subject.model.columns]))


def like_those_drawn(space: FeatureSpace, frame: pd.DataFrame) -> np.ndarray:
    """Return whose values have a place in a space that was fitted on those drawn, (n,) bool."""
    alike = np.ones(len(frame), dtype=bool)
    for part in space.parts:
        raw = frame[part.column]
        if isinstance(part, LevelBlock):
            alike &= places_of(raw, part.levels) >= 0
            continue
        if len(part.levels):
            alike &= (places_of(raw, part.levels) >= 0) | raw.isna().to_numpy()
        if len(part.names) == 1:  # nobody drawn misses it
            alike &= raw.notna().to_numpy()
    return alike
