"""What learners read of explainers: straight terms, these with bends and products, and ranks for trees."""

from __future__ import annotations

import numpy as np
import pandas as pd

_MAX_TERMS = 150  # with products
_MAX_LEVELS = 40  # of a category; the rest are one
_MAX_SPREADS = 8.0  # a number farther from the mean is taken to lie there


def terms_of(
    values: pd.DataFrame, categories: tuple[bool, ...], size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the matrices of the three learners, (n, terms) each; a missing number is a term of its own."""
    straight: list[np.ndarray] = []
    owner: list[int] = []
    bends: list[np.ndarray] = []
    ranks: list[np.ndarray] = []
    for k, (name, category) in enumerate(zip(values.columns, categories, strict=True)):
        column = values[name].to_numpy()
        own, bent, rank = _levels(column, size) if category else _number(column, size)
        straight += own
        owner += [k] * len(own)
        bends += bent
        ranks.append(rank)
    pairs = [(i, j) for j in range(len(owner)) for i in range(j) if owner[i] != owner[j]]
    if len(pairs) + len(bends) + len(owner) > _MAX_TERMS:
        pairs = []
    products = [straight[i] * straight[j] for i, j in pairs]
    return np.column_stack(straight), np.column_stack([*straight, *bends, *products]), np.column_stack(ranks)


Terms = tuple[list[np.ndarray], list[np.ndarray], np.ndarray]


def _levels(code: np.ndarray, size: np.ndarray) -> Terms:
    order = np.argsort(-np.bincount(code, size), kind="stable")
    place = np.argsort(order)[code].clip(max=_MAX_LEVELS)
    return [(place == k).astype(float) for k in range(place.max() + 1)], [], place.astype(float)


def _number(x: np.ndarray, size: np.ndarray) -> Terms:
    known = ~np.isnan(x)
    if not known.any():
        return [np.zeros(len(x))], [], x
    mean = np.average(x[known], weights=size[known])
    spread = np.sqrt(np.average((x[known] - mean) ** 2, weights=size[known])) or 1.0
    z = np.where(known, (x - mean) / spread, 0.0).clip(-_MAX_SPREADS, _MAX_SPREADS)
    edges = np.unique(np.quantile(x[known], np.linspace(0, 1, 101)[1:-1]))
    rank = np.where(known, np.searchsorted(edges, x), np.nan)
    knots = np.unique(np.quantile(z[known], [0.2, 0.4, 0.6, 0.8]))
    bent = [np.maximum(z - knot, 0.0) for knot in knots] if len(knots) > 2 else []
    return ([z] if known.all() else [z, 1.0 - known]), bent, rank
