"""Baselines trained here: scikit-learn pipelines on the raw columns.

They learn favorable against not, so that their score is the probability of the favorable outcome; or the
values of a label.
Fitting and scoring use one thread: sums taken in another order on more threads would change the
last digits, and a run must give the same numbers on every executor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from audits.errors import InputError
from audits.models.labels import class_codes
from audits.models.networks.gradients import linear_layer
from audits.models.protocol import need_columns
from audits.models.trained.pipelines import OnPipeline, prepare
from audits.models.trained.training import training_digest
from audits.threads import one_thread

if TYPE_CHECKING:
    import torch

    from audits.data import AuditData

NAMES = {"logistic": "logistic regression", "forest": "random forest", "boosting": "gradient boosting"}
LEVELS = ("categorical", "ordinal", "boolean")
_MAX_LEVELS = 254  # what the histogram trees can tell apart; rarer ones are pooled
_TREE_ROWS = 10_000
_BOOSTING: dict[str, Any] = {"learning_rate": 0.05, "max_iter": 150, "max_leaf_nodes": 8}
_FOREST: dict[str, Any] = {"n_estimators": 100, "min_samples_leaf": 5}


@dataclass(frozen=True, eq=False)
class BaselinePipeline(OnPipeline):
    """A pipeline trained on `columns`; `score` is the chance of the favorable outcome, or of each class.

    A level of a category that was not seen in training counts as none of the known ones; a number
    that is missing, where none was in training, counts as the average; a column of numbers that are
    all missing in training is not used.
    """

    classes: tuple[object, ...] | None = None

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favorable outcome, (n,), or of each class, (n, k), in [0, 1]."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty(0 if self.classes is None else (0, len(self.classes)))
        chances = self.chances(frame)
        return chances[:, 1] if self.classes is None else chances


class LogisticBaseline(BaselinePipeline):
    """The logistic regression on the pipeline's columns: a `Differentiable` model, one linear layer."""

    def network(self) -> torch.nn.Module:
        """Return the regression as a torch layer, float64: (n, m) to log-odds (n, 1), or logits (n, k)."""
        return linear_layer(self.pipeline[-1].coef_, self.pipeline[-1].intercept_)


def train_baseline(
    data: AuditData,
    kind: Literal["logistic", "forest", "boosting"],
    *,
    seed: int = 0,
    classes: tuple[object, ...] | None = None,
) -> BaselinePipeline:
    """Train a baseline on all rows of `data`.

    Parameters
    ----------
    data : AuditData
        Training rows with a label; its features, counts (as sample weights) and missing values are used.
    kind : {"logistic", "forest", "boosting"}
        Ridge-penalized logistic regression (C = 1), 100 trees with leaves of at least 5 people,
        each grown on at most 10,000 drawn from all, or
        150 rounds of histogram gradient boosting with 8 leaves (fewer above 10,000 rows, where a
        tenth of them says when to stop).
    seed : int
        Seed of everything random.
    classes : tuple, optional
        Label values to tell apart, instead of favorable from not.

    Raises
    ------
    InputError
        If a feature holds infinite numbers, or text where its kind says numbers.
    """
    target = np.asarray(data.y) if classes is None else class_codes(data, classes)
    pipeline, numbers, levels = fit_pipeline(data, kind, target, seed=seed)
    recipe = kind if classes is None else f"{kind} classes"
    digest = training_digest(data, [recipe, repr(pipeline[-1]), seed, sklearn.__version__])
    made = LogisticBaseline if kind == "logistic" else BaselinePipeline
    return made(NAMES[kind], tuple(data.features), digest, pipeline, numbers, levels, classes)


def fit_pipeline(
    data: AuditData, kind: str, target: np.ndarray, *, seed: int, number: bool = False
) -> tuple[Pipeline, tuple[str, ...], tuple[str, ...]]:
    """Fit the pipeline of a baseline to `target` (n,): classes, or a `number` by least squares.

    Returns the pipeline, and the columns that it reads as numbers and as categories.
    """
    features = sorted(data.features)  # a seed draws columns for trees by their places
    levels = tuple(name for name in features if data.kinds[name] in LEVELS)
    numbers = tuple(name for name in features if name not in levels and data.frame[name].notna().any())
    if not levels and not numbers:
        raise InputError(
            "data.features", "must hold some values to train on, but all are missing", data.features
        )
    frame = prepare(data.frame, numbers, levels)
    # routing hands the counts to the scaler too: a row of count 2 then weighs exactly as two rows
    with sklearn.config_context(enable_metadata_routing=True), one_thread():
        model = _regressor(kind, data.n, seed) if number else _classifier(kind, data.n, seed)
        pipeline = _pipeline(kind, model, list(numbers), list(levels))
        weights = {} if data.weights is None else {"sample_weight": data.weights}
        pipeline.fit(frame, target, **weights)
    return pipeline, numbers, levels


def _classifier(kind: str, rows: int, seed: int) -> Any:
    if kind == "boosting":
        return HistGradientBoostingClassifier(random_state=seed, **_BOOSTING)
    if kind == "logistic":
        return LogisticRegression(max_iter=1000, tol=1e-6)
    return RandomForestClassifier(max_samples=_tree_rows(rows), random_state=seed, **_FOREST)


def _regressor(kind: str, rows: int, seed: int) -> Any:
    if kind == "boosting":
        return HistGradientBoostingRegressor(random_state=seed, **_BOOSTING)
    if kind == "logistic":
        return Ridge(alpha=1.0)
    return RandomForestRegressor(max_samples=_tree_rows(rows), random_state=seed, **_FOREST)


def _tree_rows(rows: int) -> int | None:
    return _TREE_ROWS if rows > _TREE_ROWS else None


def _pipeline(kind: str, model: Any, numbers: list[str], levels: list[str]) -> Pipeline:
    model = model.set_fit_request(sample_weight=True)
    if kind == "boosting":
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=_MAX_LEVELS
        )
        columns = make_column_transformer(("passthrough", numbers), (codes, levels))
        is_level = [False] * len(numbers) + [True] * len(levels)
        return make_pipeline(columns, model.set_params(categorical_features=is_level))
    # scaled first, so that 0 stands for the average where a number is missing
    scale = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True),
        SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True),
    )
    if kind == "logistic":
        one_hot = OneHotEncoder(handle_unknown="ignore")
        # least squares are solved exactly on a full matrix only
        full = {"sparse_threshold": 0.0} if isinstance(model, Ridge) else {}
        columns = make_column_transformer((scale, numbers), (one_hot, levels), **full)
    else:
        # trees read a sparse matrix many times slower than a full one
        one_hot = OneHotEncoder(handle_unknown="ignore", max_categories=_MAX_LEVELS)
        columns = make_column_transformer((scale, numbers), (one_hot, levels), sparse_threshold=0.0)
    return make_pipeline(columns, model)
