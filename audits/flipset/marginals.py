"""Who is in the flipset: each feature's distribution there beside that of all source people."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from audits.data.values import MISSING
from audits.flipset.parts import Marginal
from audits.stats import as_people, draw_counts, holm, p_value

__all__ = ["marginals"]

_MOST_BINS = 30
_RANDOM_SETS = 499


def marginals(
    frame: pd.DataFrame,
    numeric: dict[str, bool],
    flips: np.ndarray,
    sizes: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Marginal, ...]:
    """Compare flipset and population feature by feature, most different first.

    Parameters
    ----------
    frame : DataFrame (n, features)
        Raw features of the source people.
    numeric : dict
        Feature to whether its values have a scale.
    flips : array (n,)
        People of the row in the flipset, from 0 to `sizes`.
    sizes : array (n,)
        People the row stands for.

    Notes
    -----
    The p-value holds the distance against that of as many people drawn at random from the population
    (499 draws), Holm-adjusted over the features.
    """
    found, p = [], []
    for feature in frame.columns:
        labels, edges, codes = _bins(frame[feature], sizes, scaled=numeric[feature])
        population = np.bincount(codes, sizes, len(labels))
        inside = np.bincount(codes, flips, len(labels))
        cumulative = edges is not None
        distance = float(_distance(inside[None], population, cumulative)[0]) if flips.sum() > 0 else 0.0
        p.append(_chance(distance, population, float(flips.sum()), cumulative, rng))
        found.append(
            Marginal(
                feature=str(feature),
                edges=edges,
                categories=None if cumulative else labels,
                population=tuple(population.tolist()),
                flipset=tuple(inside.tolist()),
                distance=distance,
                adjusted_p=None,
            )
        )
    if flips.sum() > 0:
        adjusted = holm(np.array(p))
        found = [
            Marginal(**{**vars(item), "adjusted_p": float(q)})
            for item, q in zip(found, adjusted, strict=True)
        ]
    return tuple(sorted(found, key=lambda item: (-item.distance, item.feature)))


def _bins(
    values: pd.Series, sizes: np.ndarray, *, scaled: bool
) -> tuple[tuple[str, ...], tuple[float, ...] | None, np.ndarray]:
    """Labels, edges and the bin of each row; numbers of which some are missing get ranges, no edges."""
    if not scaled:
        codes, levels = pd.factorize(values.astype("string").fillna(MISSING), sort=True)
        return tuple(str(level) for level in levels), None, codes
    numbers = _numbers(values)
    known = np.isfinite(numbers)
    if not known.any():
        return (MISSING,), None, np.zeros(len(numbers), dtype=np.int64)
    edges = _edges(numbers[known], sizes[known])
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    labels = tuple(f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges))
    if known.all():
        return labels, tuple(edges.tolist()), codes
    return (*labels, MISSING), None, np.where(known, codes, len(labels))


def _numbers(values: pd.Series) -> np.ndarray:
    """Values as floats, missing ones as NaN; a date is its year with a fraction."""
    if pd.api.types.is_datetime64_any_dtype(values):
        days = (values - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        return 1970 + days.to_numpy(dtype=float, na_value=np.nan) / 365.2425
    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def _edges(numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    distinct = np.unique(numbers)
    whole = np.array_equal(distinct, np.round(distinct))
    if whole and distinct[-1] - distinct[0] < _MOST_BINS:
        return np.arange(distinct[0] - 0.5, distinct[-1] + 1.0)
    # long tails would squeeze everyone into one bar
    low, high = np.quantile(numbers[as_people(sizes)[0]], [0.005, 0.995])
    if low == high:
        low, high = distinct[0], distinct[-1]
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    if whole:
        width = max(1.0, np.ceil((high - low + 1) / _MOST_BINS))
        return np.arange(np.floor(low) - 0.5, high + width, width)
    return np.linspace(low, high, _MOST_BINS + 1)


def _distance(inside: np.ndarray, population: np.ndarray, cumulative: bool) -> np.ndarray:
    """Distance of each row of `inside` (sets, bins) to `population` (bins,)."""
    gap = inside / inside.sum(1, keepdims=True) - population / population.sum()
    if cumulative:
        return np.abs(np.cumsum(gap, axis=1)).max(1)
    return 0.5 * np.abs(gap).sum(1)


def _chance(
    observed: float, population: np.ndarray, size: float, cumulative: bool, rng: np.random.Generator
) -> float:
    people = np.rint(population)
    drawn = min(max(round(size), 1), int(people.sum()))
    if drawn == 0 or size == 0:
        return 1.0
    random_sets = draw_counts(people, drawn, rng, draws=_RANDOM_SETS)
    return p_value(observed, _distance(random_sets.astype(float), population, cumulative))
