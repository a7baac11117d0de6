"""Does the map land on the target group? The checks of section 5.1, for couplings."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.flipsets.matching import Matched

__all__ = ["validate"]


def validate(matched: list[Matched], names: list[str], columns: list[int]) -> dict[str, Any]:
    """Compare target people with the counterparts that source people got.

    Parameters
    ----------
    names, columns : lists (k,)
        Names and encoded columns of the features to report on.

    Returns
    -------
    dict
        ``ks``: per feature the largest gap of the two cumulative distributions, in [0, 1];
        ``mse_difference``: per feature, mean squared error of a linear model of the target group, which
        predicts the feature from the others, on counterparts minus on target people, in standardised
        units; ``distance`` and ``exact_distance``: mean cost, which agree for an exact coupling.

        With several strata the checks hold each stratum's counterparts against its own target people and
        average over source people.
    """
    total = sum(float(part.source_size.sum()) for part in matched)
    ks, mse = np.zeros(len(names)), np.zeros(len(names))
    distance = 0.0
    for part in matched:
        share = float(part.source_size.sum()) / total
        wanted = part.target_size / part.target_size.sum()
        got = np.asarray(part.coupling.plan.sum(0)).ravel()
        ks += share * _ks(part.y[:, columns], wanted, got)
        mse += share * _regression_gap(part.y[:, columns], wanted, got)
        distance += share * part.coupling.cost
    return {
        "ks": dict(zip(names, ks.tolist(), strict=True)),
        "mse_difference": dict(zip(names, mse.tolist(), strict=True)),
        "distance": distance,
        "exact_distance": distance,
    }


def _ks(y: np.ndarray, wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Largest gap (d,) between the cumulative distributions of weights `wanted` and `got` on rows `y`."""
    gaps = np.empty(y.shape[1])
    for k in range(y.shape[1]):
        order = np.argsort(y[:, k], kind="stable")
        last = np.append(np.diff(y[order, k]) > 0, True)  # a step counts once all its ties are in
        gaps[k] = np.abs(np.cumsum(got[order] - wanted[order])[last]).max()
    return gaps


def _regression_gap(y: np.ndarray, wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Squared error of each feature's weighted linear model (d,): with weights `got` minus `wanted`."""
    n, d = y.shape
    design = np.column_stack([y, np.ones(n)])
    gram = (design * wanted[:, None]).T @ design
    gaps = np.empty(d)
    for k in range(d):
        others = np.delete(np.arange(d + 1), k)
        coefficients = np.linalg.lstsq(gram[np.ix_(others, others)], gram[others, k], rcond=None)[0]
        error = (y[:, k] - design[:, others] @ coefficients) ** 2
        gaps[k] = float(error @ (got - wanted))
    return gaps
