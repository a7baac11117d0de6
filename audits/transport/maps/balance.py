"""Which marginals an entropic plan meets, and what that makes of its potentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp

__all__ = ["BALANCED", "Balance", "rise_to"]


@dataclass(frozen=True)
class Balance:
    """Which marginals are asked for.

    Attributes
    ----------
    kind : {"balanced", "relaxed", "partial"}
    amount : float
        Relaxed: ρ in units of cost; partial: share of the mass that moves, in (0, 1]; else unused.
    """

    kind: Literal["balanced", "relaxed", "partial"] = "balanced"
    amount: float = 1.0

    def potential(self, log_sums: np.ndarray, epsilon: float) -> np.ndarray:
        """Best potential / ε for the logs of the sums over the other side, λ included."""
        if self.kind == "relaxed":
            return log_sums * (-self.amount / (self.amount + epsilon))
        if self.kind == "partial":
            return np.minimum(0.0, -log_sums)
        return -log_sums

    def shift(self, a: np.ndarray, f: np.ndarray, b: np.ndarray, g: np.ndarray, epsilon: float) -> float:
        """By how much g should fall, and f rise, for the best dual; potentials / ε, relaxed form only.

        The plan stays as it is, but left to the iterations the shift is slow when ρ is large (Séjourné,
        Vialard, Peyré 2022, "Faster unbalanced optimal transport: translation invariant Sinkhorn").
        """
        price = self.amount / epsilon
        return float(logsumexp(-f / price, b=a) - logsumexp(-g / price, b=b)) * price / 2


BALANCED = Balance()
"""Both marginals as they are."""


def rise_to(log_sums: np.ndarray, weights: np.ndarray, share: float) -> float:
    """By how much λ must rise for ``Σ_j b_j min(1, exp(log_sums_j + rise))`` to be `share`."""
    order = np.argsort(-log_sums, kind="stable")
    logs, b = log_sums[order], weights[order]
    # with the first k at their weight, the others make up the rest
    before = np.append(0.0, np.cumsum(b)[:-1])
    others = np.logaddexp.accumulate((np.log(b) + logs)[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = np.log(np.maximum(share - before, 0)) - others
        fits = np.flatnonzero(np.isfinite(rises) & (logs + rises <= 0))
    return float(rises[fits[0]]) if len(fits) else -float(logs[np.isfinite(logs)].min())
