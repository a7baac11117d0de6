"""Both sides of the match set beside each other, and the group metrics of a model and of its twin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.data import AuditData
from audits.stats import Estimate
from audits.stats.intervals import largest_gap
from audits.stats.means import mean_test

__all__ = ["QUANTILES", "Side", "TwinMetric", "metrics_of", "sides_of"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Side:
    """Sensitivity of the members of the match set, or of the others (Figures 4a and 6).

    `quantiles` are those at `QUANTILES`; none where a side is empty.
    """

    name: str
    mean: Estimate
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class TwinMetric:
    """Largest difference of a rate between groups of an attribute, by the decisions of one model (Figure 5).

    Attributes
    ----------
    model : {"audited", "augmented", "trained anew"}
    metric : {"selection rate", "true positive rate", "false positive rate"}
    difference : Estimate
        Largest minus smallest rate among the groups; 0 says that all have the same.
    """

    attribute: str
    metric: str
    model: str
    difference: Estimate


def sides_of(
    sensitivity: np.ndarray, mismatched: np.ndarray, weights: np.ndarray, level: float
) -> tuple[Side, ...]:
    """Describe sensitivity (n,) of the people decided alike, and of those decided otherwise (n,) bool."""
    found = []
    for name, here in (("decided alike", ~mismatched), ("decided otherwise", mismatched)):
        if not here.any():
            found.append(Side(name, Estimate(None, None, None, 0.0, "nobody"), ()))
            continue
        mean = mean_test(sensitivity[here], weights[here]).interval(level)
        shares = np.quantile(sensitivity[here], QUANTILES, weights=weights[here], method="inverted_cdf")
        found.append(Side(name, mean, tuple(shares.tolist())))
    return tuple(found)


def metrics_of(
    data: AuditData,
    attributes: tuple[str, ...],
    decisions: dict[str, np.ndarray],
    weights: np.ndarray,
    level: float,
) -> tuple[TwinMetric, ...]:
    """Group metrics of the decisions (n,) of several models on the same people, by model.

    Rates that need a label are left out where the data have none.
    """
    everybody = np.ones(data.n, dtype=bool)
    among = {"selection rate": everybody}
    if data.y is not None:
        y = np.asarray(data.y, dtype=bool)
        among |= {"true positive rate": y, "false positive rate": ~y}
    found = []
    for attribute in attributes:
        code = np.unique(data.groups[attribute].to_numpy(dtype=str), return_inverse=True)[1]
        for metric, people in among.items():
            size = np.bincount(code[people], weights[people], code.max() + 1)
            for model, decided in decisions.items():
                favorable = np.bincount(code[people], (weights * decided)[people], code.max() + 1)
                gap = largest_gap(favorable, size, level=level)
                found.append(TwinMetric(attribute, metric, model, gap))
    return tuple(found)
