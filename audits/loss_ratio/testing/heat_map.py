"""T_n over the weights of a logistic model of two numbers, and how a misjudged metric changes it (Figure 1).

The paper's reference script adds the intercept once for each coordinate by a slip of broadcasting: its
stored grid is reproduced by logits θ·x + 2b. The right logits, used here, are θ·x + b.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

from audits.data import AuditData
from audits.loss_ratio.attack.flow import step_sizes
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.loss_ratio.options import LossRatioOptions
from audits.models import Subject
from audits.models.networks.gradients import logits_over
from audits.models.subspaces import category_units
from audits.stats.means import MeanMethod, mean_test

__all__ = ["ANGLES", "best_intercept", "heat_map_of", "linear_ratios", "turned"]

ANGLES = (0, 5, 10, 20)
_SIDE = 21
_MOST_PEOPLE = 400
_COLUMNS = ["metric angle (degrees)", "theta1", "theta2", "mean ratio", "lower bound"]


def best_intercept(
    x: np.ndarray, y: np.ndarray, theta: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Intercept that fits the labels best with weights `theta` (d,) held (Appendix E.2).

    Both outcomes must occur in `y`.
    """
    counts = np.ones(len(x)) if weights is None else weights
    scores = x @ theta

    def excess(intercept: float) -> float:
        return float(counts @ (expit(scores + intercept) - y))

    reach = float(np.abs(scores).max()) + 40.0
    return float(brentq(excess, -reach, reach, xtol=1e-13))


def turned(direction: np.ndarray, degrees: float) -> np.ndarray:
    """Unit vector of `direction` (2,), turned by `degrees` counterclockwise."""
    angle = np.arctan2(direction[1], direction[0]) + np.deg2rad(degrees)
    return np.array([np.cos(angle), np.sin(angle)])


def linear_ratios(
    x: np.ndarray,
    y: np.ndarray,
    thetas: np.ndarray,
    intercepts: np.ndarray,
    direction: np.ndarray,
    *,
    regularizer: float,
    sizes: np.ndarray,
) -> np.ndarray:
    """Loss ratios (g, n) of g logistic models of two numbers at once, by the flow of Eq. 2.8.

    Parameters
    ----------
    x : array (n, 2)
        In float32 where a figure is all that is wanted, with all other arrays.
    y : array (n,) of bool or 0/1
    thetas, intercepts : array (g, 2), (g,)
    direction : array (2,)
        Unit vector along which people move freely.
    sizes : array (steps,)
        Step sizes.

    Notes
    -----
    A person's shift is a multiple of the model's weights along the free direction, and another one across
    it; both multiples grow with the same slope of the loss, so that two numbers a person are all to keep.
    """
    sign = np.where(np.asarray(y, dtype=bool), -1.0, 1.0).astype(x.dtype)
    start = sign * (thetas @ x.T + intercepts[:, None])  # (g, n) logits, the sign of a wrong decision
    free = np.square(thetas @ direction)[:, None]
    dear = np.square(thetas).sum(axis=1)[:, None] - free
    along, across, logits = np.zeros_like(start), np.zeros_like(start), start.copy()
    for size in sizes.tolist():
        slope = size * expit(logits)
        along += slope
        across *= 1 - 2 * regularizer * size
        across += slope
        np.multiply(free, along, out=logits)
        logits += dear * across
        logits += start
    return np.logaddexp(0, logits) / np.logaddexp(0, start)


def heat_map_of(
    subject: Subject, data: AuditData, metric: FairMetrics, options: LossRatioOptions, kind: str = "favorable"
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return T_n over a grid of weights and metric angles, in rows, and the model's own weights by feature.

    Both are empty unless Figure 1 can be drawn.

    It can for a linear model of favourable or not on exactly two encoded features, a sensitive subspace of
    one direction and the logistic loss. At most 400 people, evenly spaced, keep it quick.
    """
    units = category_units(subject.space)
    drawable = (
        subject.differentiable is not None
        and kind == "favorable"
        and len(subject.space.names) == 2
        and metric.dimensions == 1
        and options.loss != "squared"
    )
    layers = list(logits_over(subject.differentiable, subject.space, data.frame, units)) if drawable else []  # type: ignore[arg-type, call-overload]
    if len(layers) != 1:
        return pd.DataFrame(columns=_COLUMNS, dtype=float), {}
    used = np.unique(np.linspace(0, data.n - 1, min(data.n, _MOST_PEOPLE)).astype(int))
    x, y = subject.space.encode(data.frame.iloc[used]) * units, np.asarray(data.y)[used]
    if y.all() or not y.any():
        return pd.DataFrame(columns=_COLUMNS, dtype=float), {}
    counts = None if data.weights is None else data.weights[used]
    weights = layers[0].weight.numpy()[0]
    own = float(np.abs(weights).max())
    side = np.linspace(-1, 1, _SIDE) * max(4.0, 1.25 * own)
    thetas = np.array(list(itertools.product(side, side)))
    intercepts = np.array([best_intercept(x, y, theta, counts) for theta in thetas])
    sizes = step_sizes(options.steps_for(number=False), options.step_size, options.schedule)
    how: MeanMethod = "skewness" if options.inference == "robust" else "normal"
    rows = []
    drawn = [
        each.astype(np.float32) for each in (x, thetas, intercepts)
    ]  # twice as fast, enough for a picture
    for angle in ANGLES:
        ratios = linear_ratios(
            drawn[0],
            y,
            drawn[1],
            drawn[2],
            turned(metric.typical[:, 0], angle).astype(np.float32),
            regularizer=options.regularizer,
            sizes=sizes,
        )
        tests = [mean_test(each, counts, method=how) for each in ratios]
        rows += [
            (float(angle), *theta, test.mean, test.lower_bound(options.level))
            for theta, test in zip(thetas.tolist(), tests, strict=True)
        ]
    named = dict(zip(subject.space.names, weights.tolist(), strict=True))
    return pd.DataFrame(rows, columns=_COLUMNS), named
