"""The reductions baseline: logistic regressions mixed so that error rates are alike between groups.

Agarwal, Beygelzimer, Dudik, Langford, Wallach, "A reductions approach to fair classification" (ICML 2018),
by fairlearn's exponentiated gradient under equalized odds. Fairlearn draws one of the classifiers at
random for each decision; here the score is the mixture of their probabilities, so that everyone has one
score, and it has a gradient.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit

from audits.data.encoder import FeatureSpace
from audits.errors import InputError
from audits.models.networks.gradients import linear_layer
from audits.models.trained.training import OnSpace, training_digest
from audits.progress import Progress, silent
from audits.threads import one_thread

if TYPE_CHECKING:
    import torch

    from audits.data.audit_data import AuditData

ALLOWED = 0.03  # Appendix F.3.3 of the inference paper, on Adult
ROUNDS = 50
_MIN = 10
_CONSTRAINTS = {
    "equalized_odds": "EqualizedOdds",
    "selection_rate": "DemographicParity",
    "true_positive_rate": "TruePositiveRateParity",
    "false_positive_rate": "FalsePositiveRateParity",
}


@dataclass(frozen=True, eq=False)
class Mixture(OnSpace):
    """Logistic regressions on `space`, mixed by `shares` (t,): probability of the favorable outcome."""

    weights: np.ndarray  # (t, d)
    intercepts: np.ndarray  # (t,)
    shares: np.ndarray  # (t,)

    classes = None

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favorable outcome, (n,) in [0, 1]."""
        with one_thread():
            return expit(self.design(frame) @ self.weights.T + self.intercepts) @ self.shares

    def network(self) -> torch.nn.Module:
        """Return the mixture as a torch module: points (m, d) to log-odds (m, 1), float64."""
        import torch

        return torch.nn.Sequential(linear_layer(self.weights, self.intercepts), _mixing(self.shares))


def _mixing(shares: np.ndarray) -> torch.nn.Module:
    import torch

    class Mixing(torch.nn.Module):
        """Logits of the parts (m, t) to the log-odds of their mixture (m, 1)."""

        def __init__(self) -> None:
            super().__init__()
            self.log_shares: torch.Tensor
            self.register_buffer("log_shares", torch.log(torch.from_numpy(shares.copy())))

        def forward(self, logits: torch.Tensor) -> torch.Tensor:
            sides = [
                torch.logsumexp(
                    self.log_shares + torch.nn.functional.logsigmoid(side * logits), 1, keepdim=True
                )
                for side in (1, -1)
            ]
            return sides[0] - sides[1]

    return Mixing()


def train_reductions(
    data: AuditData,
    *,
    seed: int = 0,
    allowed: float = ALLOWED,
    measure: str = "equalized_odds",
    progress: Progress = silent,
) -> Mixture:
    """Train on all rows of `data`: equalized odds between the intersections of its protected attributes.

    At most 50 rounds. Groups with fewer than 10 people of an outcome are pooled. Where rows have weights,
    as many rows are drawn by weight, seeded.

    Parameters
    ----------
    allowed : float in (0, 1)
        How far the error rates of a group may be from everyone's: fairlearn's ``difference_bound``, which
        its constraint does not take from ``eps`` and sets to 0.01 by itself.
    measure : {"equalized_odds", "selection_rate", "true_positive_rate", "false_positive_rate"}
        The rates that are made alike.

    Raises
    ------
    InputError
        If there is no protected attribute, or one group only after pooling.
    """
    import fairlearn
    from sklearn.linear_model import LogisticRegression

    if not data.protected:
        raise InputError("data.protected", "must name at least one attribute to train a fair model")
    progress(0.0, "training by reductions")
    rows = np.arange(data.n)
    if data.weights is not None:
        rng = np.random.default_rng(seed)
        rows = rng.choice(data.n, data.n, p=data.weights / data.weights.sum())
    space = FeatureSpace.fit(data)
    y = np.asarray(data.y)[rows].astype(int)
    groups = _groups(data, rows, y)
    x, linear = space.encode(data.frame)[rows], LogisticRegression(max_iter=1000)
    with one_thread():
        parts, shares = reduced(linear, x, y, groups, measure, allowed, max_iter=ROUNDS)
    weights, intercepts = zip(*(_line(part, len(space.names)) for part in parts), strict=True)
    told = [] if measure == "equalized_odds" else [measure]
    digest = training_digest(data, ["reductions", allowed, ROUNDS, seed, fairlearn.__version__, *told])
    lines = np.vstack(weights), np.array(intercepts)
    return Mixture("reductions mixture", digest, space, *lines, shares)


def reduced(
    estimator: Any, x: Any, y: np.ndarray, groups: Any, measure: str, allowed: float, **how: Any
) -> tuple[list[Any], np.ndarray]:
    """Return the models that fairlearn's reductions mix, and the share of each, (k,), of sum 1.

    `measure` and `allowed` are as for `train_reductions`; `how`: what else fairlearn's search is given.
    """
    from fairlearn import reductions

    constraint = getattr(reductions, _CONSTRAINTS[measure])(difference_bound=allowed)
    search = reductions.ExponentiatedGradient(estimator, constraint, eps=allowed, **how)
    with warnings.catch_warnings():
        # fairlearn 0.15 grows Series in a way that pandas 3 announces to drop
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        search.fit(x, y, sensitive_features=groups)
    shares = search.weights_[search.weights_ > 0]
    return [search.predictors_[k] for k in shares.index], shares.to_numpy(dtype=float) / shares.sum()


def _groups(data: AuditData, rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The intersection of protected attributes that each row belongs to, small ones pooled."""
    values = data.groups.iloc[rows]
    joined = values.agg(" & ".join, axis=1).to_numpy(dtype=object).astype(str)
    _, codes = np.unique(joined, return_inverse=True)
    fewest = np.minimum(np.bincount(codes, y), np.bincount(codes, 1 - y))
    joined[fewest[codes] < _MIN] = "(small groups)"
    if len(np.unique(joined)) < 2:
        raise InputError(
            "data.protected",
            f"must make at least two groups with {_MIN} people of each outcome to train by reductions",
            advice="name other attributes, or bring more rows",
        )
    return joined


def _line(part: Any, d: int) -> tuple[np.ndarray, float]:
    """Weights and intercept of one classifier; one that always says the same has neither slope nor doubt."""
    if hasattr(part, "coef_"):
        return part.coef_[0], float(part.intercept_[0])
    constant = float(part.constant_.ravel()[0])  # fairlearn's stand-in
    return np.zeros(d), 30.0 if constant > 0.5 else -30.0
