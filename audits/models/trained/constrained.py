"""Logistic regression under the equal-opportunity constraint of Zafar and others.

Zafar, Valera, Gomez Rodriguez, Gummadi, "Fairness constraints: mechanisms for fair classification" (AISTATS
2017), bound the covariance of membership in a group with the signed distance from the decision boundary. Over
people of a favorable label only, that is equal opportunity. The bound is 0 here: the covariances are linear
in the weights, so that the best weights without any are those of a regression on the directions that have
none, and nothing has to be searched for.

With many groups, some of them small, the covariances have full rank by chance alone, and a constraint on all
of them leaves little to learn from. So it holds the directions in which groups differ by more than chance:
the canonical correlations of groups and features above sqrt((k - 1) / n) + sqrt(d / n), which is where those
of unrelated columns end, and the first of them in any case.
"""

from __future__ import annotations

import copy

import numpy as np
import sklearn
from scipy.linalg import null_space

from audits.data import AuditData
from audits.errors import InputError
from audits.models.trained.baselines import LogisticBaseline, fit_pipeline
from audits.models.trained.training import training_digest
from audits.threads import one_thread

_ROUNDED = 1e-9  # of the largest spread: columns that others add up to


def train_equal_opportunity(
    data: AuditData, group: np.ndarray, *, where: str
) -> tuple[LogisticBaseline, str]:
    """Train the regression of `train_baseline` on weights without covariance with the groups.

    Parameters
    ----------
    group : int array (n,)
        Codes of the groups.
    where : str
        What is named in an error.

    Returns
    -------
    model : LogisticBaseline
    cost : str
        What the constraint costs on the rows learned from, in sentences.

    Raises
    ------
    InputError
        If fewer than two groups have people of a favorable label, or a model is left that gives everyone the
        same decision.
    """
    from sklearn.linear_model import LogisticRegression

    y = np.asarray(data.y, dtype=bool)
    weights = data.row_weights
    codes = np.unique(group[y])
    if len(codes) < 2:
        raise InputError(
            where, f"needs a favorable label in two groups at least, but has one in {len(codes)}", len(codes)
        )
    pipeline, numbers, levels = fit_pipeline(data, "logistic", y, seed=0)
    free = LogisticBaseline("", tuple(data.features), "", pipeline, numbers, levels)
    x = free.design(data.frame)
    held = _directions(x[y], (group[y][:, None] == codes).astype(float), weights[y])
    kept = null_space(held)
    constrained = copy.deepcopy(pipeline)
    if kept.shape[1]:
        with one_thread():
            fitted = LogisticRegression(max_iter=1000, tol=1e-6).fit(x @ kept, y, sample_weight=data.weights)
        constrained[-1].coef_ = fitted.coef_ @ kept.T
        constrained[-1].intercept_ = fitted.intercept_
    before, after = (x @ one[-1].coef_[0] + one[-1].intercept_[0] >= 0 for one in (pipeline, constrained))
    if not kept.shape[1] or (np.ptp(after.astype(int)) == 0 < np.ptp(before.astype(int))):
        raise InputError(
            where,
            "leaves a model that gives everyone the same decision, because everything it may read is "
            "related to a group",
            advice="add features, or compare larger groups",
        )
    digest = training_digest(data, ["equal opportunity", np.bincount(group).tolist(), sklearn.__version__])
    name = "logistic regression with equal opportunity"
    model = LogisticBaseline(name, tuple(data.features), digest, constrained, numbers, levels)
    right, favored = (
        [100 * float(np.average(each, weights=weights)) for each in pair]
        for pair in ((before == y, after == y), (before, after))
    )
    return model, (
        f"Equal opportunity changes accuracy by {right[1] - right[0]:+.1f} points on the rows learned from: "
        f"{right[1]:.1f}% instead of {right[0]:.1f}%. The model favors {favored[1]:.0f}% of people instead "
        f"of {favored[0]:.0f}%. {len(held)} of {len(codes) - 1} possible differences between groups are more "
        "than chance and are constrained."
    )


def _directions(x: np.ndarray, member: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the directions (r, d) in which groups `member` (n, k) differ in `x` (n, d) beyond chance."""
    share = weights / weights.sum()
    root = np.sqrt(share)[:, None]
    _, spread, axes = np.linalg.svd(root * (x - share @ x), full_matrices=False)
    real = spread > _ROUNDED * spread.max(initial=1e-300)
    axes = axes[real] * spread[real, None]  # (d', d), whose coordinates have unit variance
    white = (x - share @ x) @ (axes / spread[real, None] ** 2).T
    sizes = np.maximum(share @ member, 1e-300)
    moments = (member / np.sqrt(sizes)).T @ (share[:, None] * white)
    _, correlation, turned = np.linalg.svd(moments, full_matrices=False)
    chance = (np.sqrt(member.shape[1] - 1) + np.sqrt(len(axes))) / np.sqrt(weights.sum())
    rank = max(int((correlation > chance).sum()), 1)
    return turned[:rank] @ axes
