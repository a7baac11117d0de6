"""Logistic regression under the equal-opportunity constraint of Zafar and others.

Zafar, Valera, Gomez Rodriguez, Gummadi, "Fairness constraints: mechanisms for fair classification" (AISTATS
2017), bound the covariance of membership in a group with the signed distance from the decision boundary. Over
people of a favourable label only, that is equal opportunity. The bound is 0 here: the covariances are linear
in the weights, so that the best weights without any are those of a regression on the directions that have
none, and nothing has to be searched for.
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

__all__ = ["train_equal_opportunity"]


def train_equal_opportunity(data: AuditData, group: np.ndarray, *, where: str) -> LogisticBaseline:
    """Train the regression of `train_baseline` on weights without covariance with any group.

    Parameters
    ----------
    group : int array (n,)
        Codes of the groups.
    where : str
        What is named in an error.

    Raises
    ------
    InputError
        If fewer than two groups have people of a favourable label, or nothing is left to learn from.
    """
    from sklearn.linear_model import LogisticRegression

    y = np.asarray(data.y, dtype=bool)
    weights = np.ones(data.n) if data.weights is None else data.weights
    codes = np.unique(group[y])
    if len(codes) < 2:
        raise InputError(
            where, f"needs a favorable label in two groups at least, but has one in {len(codes)}", len(codes)
        )
    pipeline, numbers, levels = fit_pipeline(data, "logistic", y, seed=0)
    free = LogisticBaseline("", tuple(data.features), "", pipeline, numbers, levels)
    x = free.design(data.frame)
    share = weights[y] / weights[y].sum()
    member = (group[y][:, None] == codes).astype(float)
    covariance = (share[:, None] * (member - share @ member)).T @ x[y]  # (k, d)
    scale = np.linalg.norm(covariance, axis=1, keepdims=True)
    kept = null_space(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0))
    if not kept.shape[1]:
        raise InputError(
            where, "leaves nothing to learn from: every feature goes with a group", advice="add features"
        )
    with one_thread():
        fitted = LogisticRegression(max_iter=1000, tol=1e-6).fit(x @ kept, y, sample_weight=data.weights)
    constrained = copy.deepcopy(pipeline)
    constrained[-1].coef_ = fitted.coef_ @ kept.T
    constrained[-1].intercept_ = fitted.intercept_
    digest = training_digest(data, ["equal opportunity", np.bincount(group).tolist(), sklearn.__version__])
    name = "logistic regression with equal opportunity"
    return LogisticBaseline(name, tuple(data.features), digest, constrained, numbers, levels)
