"""Shares of many small groups, each drawn towards what groups like it say: partial pooling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, expit, polygamma, psi

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level

_ALIKE = np.geomspace(1.0, 3000.0, 20)  # how many people's worth the groups' common pattern may count for
_PRIOR_SPREAD = 2.5  # of main effects, in log odds
_STEPS = 50
_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class _Fit:
    """Main effects (p,) and the root of their covariance (p, p) for one `alike`, and its log weight."""

    effects: np.ndarray
    root: np.ndarray
    log_weight: float


def pooled_shares(
    count: np.ndarray,
    n: np.ndarray,
    design: np.ndarray,
    rng: np.random.Generator,
    *,
    level: float = 0.05,
    words: str = "",
) -> list[Estimate]:
    """Shares by a beta-binomial model whose means follow main effects on the log odds.

    A group's share is between its own and that of the main effects, the closer to the latter the fewer its
    people and the more alike groups are. How alike they are, and the main effects, are not taken for known:
    both are averaged over.

    Parameters
    ----------
    count, n : arrays (k,)
        People with the property, and people; a group of nobody has no share.
    design : array (k, p)
        Main effects of each group, without the intercept; p may be 0.
    level : float
        Each interval holds its share so often on average over groups, not for every group: one that differs
        from all that is like it is drawn too far.
    words : str
        What the main effects are of, for the method.

    References
    ----------
    Gelman, Hill (2007), Data Analysis Using Regression and Multilevel/Hierarchical Models; Gelman (2006),
    Bayesian Analysis 1:515-533 (the prior of the spread between groups).

    Examples
    --------
    >>> count, n = np.array([0, 10, 12, 9]), np.array([2, 30, 30, 30])
    >>> first = pooled_shares(count, n, np.zeros((4, 0)), np.random.default_rng(0))[0]
    >>> 0.1 < first.value < 0.35
    True
    """
    count, n = np.asarray(count, dtype=float), np.asarray(n, dtype=float)
    x = np.column_stack([np.ones(len(n)), design])
    known = n > 0
    fits = [_fit(count[known], n[known], x[known], alike) for alike in _ALIKE]
    weight = np.array([fit.log_weight for fit in fits])
    weight = np.exp(weight - weight.max())
    chosen = rng.choice(len(fits), _DRAWS, p=weight / weight.sum())
    noise = rng.standard_normal((_DRAWS, x.shape[1]))
    effects = np.stack([fits[k].effects + fits[k].root @ part for k, part in zip(chosen, noise, strict=True)])
    alike = _ALIKE[chosen][:, None]
    mean = np.clip(expit(effects @ x.T), 1e-9, 1 - 1e-9)  # (draws, k)
    drawn = rng.beta(count + mean * alike, n - count + (1 - mean) * alike)
    low, high = np.quantile(drawn, [level / 2, 1 - level / 2], axis=0)
    of = f" of {words}" if words else ""
    method = f"beta-binomial with main effects{of}, {percent_level(level)} on average over groups"
    if not design.shape[1]:
        method = f"beta-binomial, {percent_level(level)} on average over groups"
    return [
        Estimate(float(value), float(least), float(most), float(people), method)
        if people > 0
        else Estimate(None, None, None, 0.0, method)
        for value, least, most, people in zip(drawn.mean(0), low, high, n, strict=True)
    ]


def _fit(count: np.ndarray, n: np.ndarray, x: np.ndarray, alike: float) -> _Fit:
    """Most likely main effects by Fisher scoring, and Laplace's weight of this `alike`."""
    precision = np.full(x.shape[1], _PRIOR_SPREAD**-2)
    start = np.zeros(x.shape[1])
    start[0] = np.log((count.sum() + 0.5) / (n.sum() - count.sum() + 0.5))
    center, effects = start * (np.arange(len(start)) == 0), start

    def objective(at: np.ndarray) -> float:
        a = np.clip(expit(x @ at), 1e-9, 1 - 1e-9) * alike
        b = alike - a
        likely = (betaln(count + a, n - count + b) - betaln(a, b)).sum()
        return float(likely - 0.5 * precision @ (at - center) ** 2)

    now = objective(effects)
    information = np.diag(precision)
    for _ in range(_STEPS):
        mean = np.clip(expit(x @ effects), 1e-9, 1 - 1e-9)
        slope, curve = _derivatives(count, n, mean, alike)
        turn = mean * (1 - mean)
        information = (x * (curve * turn**2)[:, None]).T @ x + np.diag(precision)
        step = np.linalg.solve(information, x.T @ (slope * turn) - precision * (effects - center))
        size = 1.0
        while objective(effects + size * step) < now and size > 1e-4:
            size /= 2
        effects = effects + size * step
        before, now = now, objective(effects)
        if abs(now - before) < 1e-9:
            break
    _, logdet = np.linalg.slogdet(information)
    # flat in the spread between groups, which goes with 1 / sqrt(alike)
    weight = now - 0.5 * logdet - 0.5 * np.log(alike)
    return _Fit(effects, np.linalg.cholesky(np.linalg.inv(information)), float(weight))


def _derivatives(
    count: np.ndarray, n: np.ndarray, mean: np.ndarray, alike: float
) -> tuple[np.ndarray, np.ndarray]:
    """First derivative of each group's log likelihood by its mean, and minus the second, (k,) each."""
    a, b = mean * alike, (1 - mean) * alike
    slope = alike * (psi(count + a) - psi(n - count + b) - psi(a) + psi(b))
    curve = -(alike**2) * (
        polygamma(1, count + a) + polygamma(1, n - count + b) - polygamma(1, a) - polygamma(1, b)
    )
    return slope, curve
