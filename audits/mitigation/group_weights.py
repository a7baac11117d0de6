"""Weights and thresholds that bring groups together: arrays in, arrays out, without any library of models."""

from __future__ import annotations

import numpy as np


def reweighing_weights(y: np.ndarray, groups: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
    """Return weights (n,) under which label and group are independent.

    References
    ----------
    Kamiran, Calders (2012), Knowledge and Information Systems 33:1-33.

    Examples
    --------
    >>> y, groups = np.array([1, 1, 1, 0, 1, 0, 0, 0]), np.array(list("aaaabbbb"))
    >>> reweighing_weights(y, groups).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0, 2.0, 0.667, 0.667, 0.667]
    """
    sizes = np.ones(len(y)) if sizes is None else sizes
    code, label = (np.unique(each, return_inverse=True)[1] for each in (groups, y))
    cells = np.zeros((code.max() + 1, label.max() + 1))
    np.add.at(cells, (code, label), sizes)
    expected = cells.sum(1, keepdims=True) * cells.sum(0, keepdims=True) / cells.sum()
    return (expected / np.maximum(cells, 1e-300))[code, label]


def group_cuts(
    chance: np.ndarray,
    label: np.ndarray,
    groups: np.ndarray,
    *,
    measure: str,
    share: float,
    threshold: float = 0.5,
    sizes: np.ndarray | None = None,
) -> dict[str, float]:
    """Return a threshold of each group that moves its rate so far towards everyone's.

    Parameters
    ----------
    chance : array (n,)
        Scores, higher for the better.
    label : bool array (n,)
        Favorable labels: the rate is among those with one, without one, or of all.
    """
    among = {"selection_rate": np.ones(len(chance), bool), "true_positive_rate": label}.get(measure, ~label)
    sizes = np.ones(len(chance)) if sizes is None else sizes
    if not among.any():
        return {str(name): threshold for name in np.unique(groups)}
    whole = float(np.average(chance[among] >= threshold, weights=sizes[among]))
    found = {}
    for name in np.unique(groups):
        inside = among & (groups == name)
        if share == 0 or not inside.any():
            found[str(name)] = threshold
            continue
        own = float(np.average(chance[inside] >= threshold, weights=sizes[inside]))
        found[str(name)] = _cut_for(chance[inside], sizes[inside], own + share * (whole - own))
    return found


def _cut_for(chance: np.ndarray, sizes: np.ndarray, rate: float) -> float:
    """Return the middle between two scores at which the accepted share is nearest to `rate`."""
    values, place = np.unique(chance, return_inverse=True)
    accepted = np.append(np.bincount(place, sizes)[::-1].cumsum()[::-1] / sizes.sum(), 0.0)
    first = int(np.abs(accepted - rate).argmin())
    ends = np.concatenate([[values[0] - 1e-6], values, [values[-1] + 1e-6]])
    return float((ends[first] + ends[first + 1]) / 2)
