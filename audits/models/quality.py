"""How well a model's scores and decisions fit the label of the audited people."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.special import expit, ndtri, stdtrit

from audits.stats.design import Design, design_mean, design_share, mean_influence
from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level, wilson
from audits.stats.means import hall_quantile, mean_test, missed_share
from audits.stats.ranks import outscored, outscoring

_STEP = 1e-9


def accuracy(decisions: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Estimate:
    """Share of people (count `weights`, (n,)) whose decision (bool) is their label (bool)."""
    return wilson(float(weights[decisions == y].sum()), float(weights.sum()))


def area_under_curve(
    scores: np.ndarray, y: np.ndarray, weights: np.ndarray, *, level: float = 0.05
) -> Estimate:
    """Probability that a person with the favorable label outscores one without, ties counting half.

    Parameters
    ----------
    scores : (n,) float
        Higher is better for the person.
    y : (n,) bool
        Whether the label is favorable. With one outcome only there is no area: values are None.
    weights : (n,) float
        People that each row represents.
    level : float
        Error rate of the interval.

    References
    ----------
    Newcombe (2006), Statistics in Medicine 25:559-573, method 5: a score interval, which keeps a
    width where the area is 0 or 1.

    Examples
    --------
    >>> scores, y = np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True])
    >>> area_under_curve(scores, y, np.ones(4)).value
    0.875
    """
    method = f"Newcombe score {percent_level(level)}"
    m, n = float(weights[y].sum()), float(weights[~y].sum())
    area = outscoring(scores, y, weights)
    if area is None:
        return Estimate(None, None, None, m + n, method)
    low, high = _score_ends(area, m, n, float(-ndtri(level / 2)))
    return Estimate(area, low, high, m + n, method)


def _score_ends(area: float, m: float, n: float, z: float) -> tuple[float, float]:
    """Where the squared distance to `area` is z² times the variance that the end itself would have.

    With (2 - t)(1 + t) multiplied out that is a quartic in t. Areas above one half are mirrored: the root
    that belongs to 0 is then a coefficient that vanishes, and not a root beside the one looked for.
    """
    if area > 0.5:
        low, high = _score_ends(1.0 - area, m, n, z)
        return 1.0 - high, 1.0 - low
    half = (m + n) / 2
    product = np.array([-1.0, 1.0, 2.0])  # (2 - t)(1 + t)
    distance = np.polymul(m * n * np.array([1.0, -2.0 * area, area * area]), product)
    spread = np.polysub((2 * half - 1) * product, [3 * half - 3])
    roots = np.roots(np.polysub(distance, np.polymul([-z * z, z * z, 0.0], spread)))
    real = np.real(roots[np.abs(np.imag(roots)) < _STEP])
    low = float(real[(real >= 0) & (real < area)].max(initial=0.0))
    return low, float(real[real > area].min(initial=1.0))


def log_loss(scores: np.ndarray, y: np.ndarray, weights: np.ndarray, *, level: float = 0.05) -> Estimate:
    """Mean cross-entropy of probabilities of the favorable label, in nats; 0 is perfect.

    A probability that contradicts the label with certainty counts as one rounding step (2.2e-16)
    away from it, so the loss of one person is at most 36.

    Of rare mistakes a few people may show none, and then their spread does not tell what mistakes cost. So
    the interval reaches at least to the mean plus what everybody's other label would cost, times the largest
    share of people of whom one in 40 samples of that size (at 95%) has none.
    """
    found = mean_test(_losses(scores, y), weights)
    told = found.interval(level)
    if told.low is None or told.high is None:
        return told
    unseen = found.mean + missed_share(found.n, level) * mean_test(_losses(scores, ~y), weights).mean
    return dataclasses.replace(told, low=max(told.low, 0.0), high=max(told.high, unseen))


def _losses(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.log(np.clip(np.where(y, scores, 1.0 - scores), np.finfo(float).eps, 1.0))


def by_design(
    design: Design, scores: np.ndarray, decisions: np.ndarray, y: np.ndarray, *, level: float = 0.05
) -> tuple[Estimate, Estimate, Estimate]:
    """Return accuracy, area under the curve and log loss where rows are not one independent person each.

    Each linearised over clusters within strata, the area by how often each row is on the right side of the
    others (DeLong's placements), on the scale of log odds; the log loss as `log_loss` alone.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44:837-845; Obuchowski (1997), Biometrics 53:567-578.
    """
    everybody = np.ones(len(y), dtype=bool)
    share = design_share(design, everybody, decisions == y, level=level)
    return (
        share.estimate,
        _area_by_design(design, scores, y, level),
        _loss_by_design(design, scores, y, level),
    )


def _area_by_design(design: Design, scores: np.ndarray, y: np.ndarray, level: float) -> Estimate:
    area = outscoring(scores, y, design.weights)
    if area is None:
        return Estimate(None, None, None, 0.0, "no area: everyone has the same label")
    total = float(design.weights.sum())
    parts = np.empty(len(y))
    for own, sign in ((y, 1.0), (~y, -1.0)):
        twice = outscored(sign * scores[own], sign * scores[~own], design.weights[~own])
        placed = twice / (2 * design.weights[~own].sum())
        parts[own] = area + (placed - area) * total / float(design.weights[own].sum())
    error, freedom, method = _spread(design, parts, level)
    if not error > 0 or not 0 < area < 1:
        return Estimate(area, None, None, float(freedom + 1), "no interval: there is no spread")
    # on the scale of log odds: so it ends within 0 and 1, and where people are few its ends are not alike
    odds = math.log(area / (1 - area))
    reach = float(stdtrit(freedom, 1 - level / 2)) * error / (area * (1 - area))
    low, high = expit(odds - reach), expit(odds + reach)
    return Estimate(area, float(low), float(high), float(freedom + 1), method)


def _loss_by_design(design: Design, scores: np.ndarray, y: np.ndarray, level: float) -> Estimate:
    everybody = np.ones(len(y), dtype=bool)
    mean, influence, freedom = mean_influence(design, everybody, _losses(scores, y))
    error = math.sqrt(float(influence @ influence))
    clusters = float(freedom + 1)
    if freedom < 1 or not error > 0:
        return Estimate(mean, None, None, clusters, "no interval: there is no spread")
    skewness = float((influence**3).sum()) / error**3
    reach = float(stdtrit(freedom, 1 - level / 2))
    low, high = (mean - error * hall_quantile(end, skewness) for end in (reach, -reach))
    # of uneven weights a log scale holds more often, of rare mistakes skewness does: it reaches over both
    times = math.exp(reach * error / mean)
    low, high = min(low, mean / times), max(high, mean * times)
    unseen = mean + missed_share(clusters, level) * design_mean(design, everybody, _losses(scores, ~y))[0]
    method = f"Student t over {freedom + 1:,} clusters, log and skewness-corrected, {percent_level(level)}"
    return Estimate(mean, max(low, 0.0), max(high, unseen), clusters, method)


def _spread(design: Design, values: np.ndarray, level: float) -> tuple[float, int, str]:
    """Standard error of a mean of everyone's values, its degrees of freedom (0: it has none), the method."""
    _, error, freedom = design_mean(design, np.ones(len(values), dtype=bool), values)
    method = f"Student t over {freedom + 1:,} clusters, {percent_level(level)}"
    return (error if freedom > 0 else 0.0), freedom, method
