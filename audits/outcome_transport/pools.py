"""Some of the people for all of them: drawn by subgroup, weighted up again."""

from __future__ import annotations

import numpy as np

__all__ = ["effective", "lifted", "pool", "whole"]

_AT_LEAST = 40  # people of each subgroup in the pool, where there are so many


def pool(code: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of about `size` people, those of small subgroups `code` (n,) overrepresented."""
    if len(code) <= size:
        return np.arange(len(code))
    found = []
    for one in np.unique(code):
        rows = np.flatnonzero(code == one)
        wanted = min(len(rows), max(round(size * len(rows) / len(code)), _AT_LEAST))
        found.append(rng.choice(rows, wanted, replace=False))
    return np.sort(np.concatenate(found))


def whole(weights: np.ndarray) -> np.ndarray:
    """Whole people of each row, at least one."""
    return np.maximum(np.rint(weights), 1.0)


def effective(weights: np.ndarray, people: np.ndarray) -> float:
    """People of equal weight that would carry as much (Kish), `people` sharing each weight; 1 for nobody."""
    return float(weights.sum() ** 2 / (weights**2 / people).sum()) if weights.any() else 1.0


def lifted(weights: np.ndarray, rows: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Weights of the pool's rows such that each subgroup keeps its total."""
    total = np.bincount(code, weights)
    pooled = np.bincount(code[rows], weights[rows], len(total))
    return weights[rows] * (total / np.where(pooled > 0, pooled, 1.0))[code[rows]]
