"""Estimators that wrap your own and treat its groups: thresholds, weights, and a mixture by reductions.

Each follows scikit-learn (`fit`, `predict`, `predict_proba`, `clone`), decides favorably from a probability
of one half on, and reads the same columns as the estimator it wraps; thresholds read the group's column, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from audits.errors import InputError
from audits.mitigation.group_weights import group_cuts, reweighing_weights


def weight_argument(estimator: Any) -> str | None:
    """Return under which name `fit` takes weights: of a pipeline those of its last step; None for none."""
    if isinstance(estimator, Pipeline):
        own = weight_argument(estimator[-1])
        return None if own is None else f"{estimator.steps[-1][0]}__{own}"
    return "sample_weight" if "sample_weight" in inspect.signature(estimator.fit).parameters else None


class _Wrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """An estimator of two classes around another one."""

    estimator: Any
    favorable: Any
    columns: Sequence[str] | None

    def _own(self, X: Any) -> Any:
        """Return what the wrapped estimator reads of X."""
        return X if self.columns is None else X[list(self.columns)]

    def _encoded(self, X: Any, y: Any) -> np.ndarray:
        """Learn the columns and the classes; return whose label is favorable, (n,) int."""
        validate_data(self, X, skip_check_array=True)
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise InputError("y", "must hold two values", self.classes_[:5].tolist())
        wanted = self.classes_[1] if self.favorable is None else self.favorable
        if wanted not in self.classes_:
            raise InputError("favorable", "must be a value of y", self.favorable)
        self._place = int(np.flatnonzero(self.classes_ == wanted)[0])
        return (y == wanted).astype(int)

    def _weight_argument(self) -> str:
        name = weight_argument(self.estimator)
        if name is None:
            raise InputError("estimator", "takes no sample_weight in fit", type(self.estimator).__name__)
        return name

    def _both(self, chance: np.ndarray) -> np.ndarray:
        """Return the probabilities of both classes, in their order."""
        sides = np.column_stack([1 - chance, chance])
        return sides if self._place == 1 else sides[:, ::-1]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row, (n,)."""
        favorable = self.predict_proba(X)[:, self._place] >= 0.5
        return np.where(favorable, self.classes_[self._place], self.classes_[1 - self._place])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, 2)."""
        raise NotImplementedError

    @staticmethod
    def _chance(fitted: Any, X: Any, place: int = 1) -> np.ndarray:
        return np.asarray(fitted.predict_proba(X))[:, place]


def _groups_of(X: Any, column: str | None, given: Any) -> np.ndarray:
    if given is not None:
        return np.asarray(given).astype(str)
    if column is None or not hasattr(X, "columns") or column not in X.columns:
        raise InputError(
            "sensitive_features", "must be given, as X lacks the column of the groups", column,
            "fit(X, y, sensitive_features=groups)",
        )  # fmt: skip
    return X[column].astype(str).to_numpy()


class GroupThresholds(_Wrapper):
    """The estimator's own scores, cut for each group so that the groups' rates come nearer to each other.

    The probability of a group's threshold becomes one half; the order of a group's people stays.

    Parameters
    ----------
    estimator : estimator with ``predict_proba``
    column : str
        Column of X that holds the group.
    measure : {"selection_rate", "true_positive_rate", "false_positive_rate"}
        Rate that is made alike.
    share : float
        How far towards everyone's rate, from 0 to 1.
    favorable : label value, optional
        The second class by default.
    columns : sequence of str, optional
        What the estimator reads; all of X by default.
    bins : sequence of float, optional
        Edges of a group's number.
    """

    def __init__(
        self, estimator: Any, column: str, *, measure: str = "selection_rate", share: float = 1.0,
        favorable: Any = None, columns: Sequence[str] | None = None, bins: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        self.estimator, self.column, self.measure, self.share = estimator, column, measure, share
        self.favorable, self.columns, self.bins = favorable, columns, bins

    def fit(self, X: Any, y: Any) -> GroupThresholds:
        """Fit the estimator, and a threshold of each group on the same people."""
        label = self._encoded(X, y)
        self.estimator_ = clone(self.estimator).fit(self._own(X), np.asarray(y))
        chance = self._chance(self.estimator_, self._own(X), self._place)
        found = group_cuts(chance, label == 1, self._groups(X), measure=self.measure, share=self.share)
        self.thresholds_ = found
        return self

    def _groups(self, X: Any) -> np.ndarray:
        if self.bins is None:
            return _groups_of(X, self.column, None)
        from audits.data.preprocessing.groups import cut

        found = cut(pd.Series(np.asarray(X[self.column])), self.bins)
        return found.astype(object).fillna("missing").to_numpy(str)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, 2); a group that was not seen has the threshold 0.5."""
        check_is_fitted(self)
        chance = self._chance(self.estimator_, self._own(X), self._place)
        cut = pd.Series(self._groups(X)).map(self.thresholds_).fillna(0.5).to_numpy(dtype=float)
        inside = np.clip(cut, 1e-12, 1 - 1e-12)
        above = 0.5 + 0.5 * (chance - inside) / (1 - inside)
        moved = np.where(chance >= cut, np.maximum(above, 0.5), np.minimum(0.5 * chance / inside, _BELOW))
        return self._both(np.clip(moved, 0.0, 1.0))


_BELOW = float(np.nextafter(0.5, 0.0))


class ReweighedEstimator(_Wrapper):
    """The estimator, fitted with weights under which label and group are independent.

    Parameters
    ----------
    estimator : estimator whose ``fit`` takes ``sample_weight``
    column : str, optional
        Column of X that holds the group; else ``sensitive_features`` is given to `fit`.
    share : float
        How far from equal weights (0) to these (1).
    favorable, columns
        As of `GroupThresholds`.
    """

    def __init__(
        self, estimator: Any, column: str | None = None, *, share: float = 1.0, favorable: Any = None,
        columns: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self.estimator, self.column, self.share = estimator, column, share
        self.favorable, self.columns = favorable, columns

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> ReweighedEstimator:
        """Fit the estimator with weights.

        Raises
        ------
        InputError
            If the estimator takes none.
        """
        label, name = self._encoded(X, y), self._weight_argument()
        weights = reweighing_weights(label, _groups_of(X, self.column, sensitive_features)) ** self.share
        self.estimator_ = clone(self.estimator).fit(self._own(X), np.asarray(y), **{name: weights})
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, 2)."""
        check_is_fitted(self)
        return self._both(self._chance(self.estimator_, self._own(X), self._place))


class ReducedMixture(_Wrapper):
    """Fits of the estimator, mixed by Fairlearn's exponentiated gradient so that the groups' rates are alike.

    Fairlearn draws one of the fits at random for each decision; here the score is the mixture of their
    probabilities, so that everyone has one.

    Parameters
    ----------
    estimator : estimator whose ``fit`` takes ``sample_weight``
    column, favorable, columns
        As of `ReweighedEstimator`.
    measure : str
        As of `GroupThresholds`.
    bound : float
        How far a group's rate may be from everyone's.
    rounds : int
        Fits at most.

    References
    ----------
    Agarwal, Beygelzimer, Dudik, Langford, Wallach (2018), A reductions approach to fair classification.
    """

    def __init__(
        self, estimator: Any, column: str | None = None, *, measure: str = "selection_rate",
        bound: float = 0.02, rounds: int = 20, favorable: Any = None, columns: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self.estimator, self.column, self.measure = estimator, column, measure
        self.bound, self.rounds, self.favorable, self.columns = bound, rounds, favorable, columns

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> ReducedMixture:
        """Fit by reductions.

        Raises
        ------
        InputError
            If the estimator takes no ``sample_weight``.
        """
        from audits.models.trained.reductions import reduced

        label, groups = self._encoded(X, y), _groups_of(X, self.column, sensitive_features)
        how = {"sample_weight_name": self._weight_argument(), "max_iter": self.rounds}
        self.estimators_, self.shares_ = reduced(
            clone(self.estimator), self._own(X), label, groups, self.measure, self.bound, **how
        )
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, 2)."""
        check_is_fitted(self)
        own = self._own(X)
        parts = [_chance_of_one(each, own) for each in self.estimators_]
        return self._both(np.clip(self.shares_ @ np.array(parts), 0.0, 1.0))


def _chance_of_one(fitted: Any, X: Any) -> np.ndarray:
    """Return the probability of label 1; fairlearn's stand-in for one label knows only that one."""
    chance, classes = np.asarray(fitted.predict_proba(X)), list(fitted.classes_)
    return chance[:, classes.index(1)] if 1 in classes else np.zeros(len(chance))
