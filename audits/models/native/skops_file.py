"""Fitted scikit-learn estimators kept by skops: rebuilt from a fixed list of types, never unpickled."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data import Limits
from audits.data.values import as_text, truth_values
from audits.errors import InputError
from audits.models.native.opened import (
    Feature,
    Gives,
    ModelFile,
    Opened,
    first_line,
)
from audits.models.native.structure import check_sklearn
from audits.threads import one_thread

_TENSORS = tuple(
    f"sklearn.externals.array_api_compat.{library}" for library in ("cupy", "dask", "dask.array", "torch")
)

ALLOWED = (
    "audits.mitigation.estimators.GroupThresholds",
    "audits.mitigation.estimators.ReducedMixture",
    "audits.mitigation.estimators.ReweighedEstimator",
    "numpy.dtype",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn._loss.loss.HalfSquaredError",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
)
"""Types beyond those that skops trusts: our own estimators around others, which only call `predict_proba`,
and plain containers of numbers inside scikit-learn's estimators.

The list is fixed: no file, spec or setting adds to it.
"""


@contextmanager
def without_tensors() -> Iterator[None]:
    """Import skops in the block without torch and Dask, a second and a half.

    It looks for estimators in every package of scikit-learn, its layers over tensor libraries among them,
    which hold none.
    """
    held = [name for name in _TENSORS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(held))  # type: ignore[arg-type]  # None: it cannot be imported
    try:
        yield
    finally:
        for name in held:
            sys.modules.pop(name, None)


def open_file(file: ModelFile, *, log_odds: bool = False) -> Opened:
    """Open what was read.

    Parameters
    ----------
    log_odds : bool
        Whether an estimator without ``predict_proba`` is asked for its decision function.

    Raises
    ------
    InputError
        If it is damaged, unpacks to too much, holds a type that is not allowed, or is no estimator.
    """
    with without_tensors():
        name, skops = file.name, file.library("skops.io", "skops")
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
            size = sum(each.file_size for each in archive.infolist())
        if size > Limits().decompressed_bytes:
            most = Limits().decompressed_bytes / 1e6
            raise InputError(name, f"unpacks to {size / 1e6:,.0f} MB; at most {most:,.0f} MB are read")
        strange = [each for each in skops.get_untrusted_types(data=file.content) if each not in ALLOWED]
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - what a damaged archive makes zipfile and skops stumble over
        raise InputError(name, f"cannot be read by skops: {type(error).__name__}") from None
    if strange:
        raise InputError(
            name,
            f"holds types that are not on the list of those allowed: {choices(strange, most=4)}",
            advice="convert it with skl2onnx.to_onnx(model, first_rows, options={'zipmap': False}), or run "
            "it where you trust it, with evenhand serve FILE, and audit that address",
        )
    try:
        model = skops.loads(file.content, trusted=list(ALLOWED))
    except MemoryError:
        raise
    # a file of another version of scikit-learn fails in any way
    except Exception as error:  # noqa: BLE001
        raise InputError(
            name,
            f"cannot be rebuilt here ({type(error).__name__}): it may be from another version of "
            "scikit-learn",
            advice="save it with the version installed here, or export it to ONNX",
        ) from None
    try:
        check_sklearn(model)
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise InputError(name, f"cannot be loaded: {error}") from None
    return _open_estimator(model, file, log_odds=log_odds)


def _open_estimator(model: Any, file: ModelFile, *, log_odds: bool) -> Opened:
    name = file.name
    ask, gives = _scoring_method(model, name, log_odds=log_odds)
    names = getattr(model, "feature_names_in_", None)
    count = getattr(model, "n_features_in_", None)
    if names is None and count is None:
        raise InputError(name, "must be a fitted estimator", type(model).__name__)
    truths = not _knows_truth_words(model)
    features = tuple(
        _Any(str(each), truths=truths) for each in (range(count or 0) if names is None else names)
    )
    named = names is not None

    def predict(frame: pd.DataFrame) -> np.ndarray:
        given = frame if named else frame.to_numpy()
        with one_thread():
            try:
                return np.asarray(ask(given))
            except (ValueError, TypeError, AttributeError, LookupError) as error:
                raise InputError(name, f"fails on the data: {first_line(error)}") from None

    classes = getattr(model, "classes_", None)
    stated = None if classes is None or gives == "numbers" else tuple(np.asarray(classes).tolist())
    return Opened(name, file.sha256, features, named, predict, gives, stated, model, file)


def _scoring_method(model: Any, name: str, *, log_odds: bool) -> tuple[Any, Gives]:
    if hasattr(model, "predict_proba"):
        return model.predict_proba, "probabilities"
    if hasattr(model, "classes_"):
        if log_odds and hasattr(model, "decision_function"):
            return model.decision_function, "logits"
        return model.predict, "labels"
    if hasattr(model, "predict"):
        return model.predict, "numbers"
    raise InputError(name, "must be an estimator that predicts", type(model).__name__)


def _knows_truth_words(model: Any) -> bool:
    """Whether an encoder anywhere in a fitted estimator knows the text true or false as a category."""
    waiting, seen = [model], set[int]()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        for each in getattr(found, "categories_", ()):
            if {"true", "false"} & {value.lower() for value in each if isinstance(value, str)}:
                return True
        inside = vars(found) if hasattr(found, "get_params") and not isinstance(found, type) else found
        if isinstance(inside, dict):
            waiting += inside.values()
        elif isinstance(inside, (list, tuple)):
            waiting += inside
    return False


@dataclass(frozen=True)
class _Any(Feature):
    """A column handed on as it is: scikit-learn's own steps know what they take."""

    truths: bool = True

    def fed(self, raw: pd.Series) -> np.ndarray | pd.Series:
        """Return numbers as numbers, and texts as objects with NaN where missing.

        Texts that are all true or false are truth values, as pandas reads them, unless the model knows texts.
        """
        raw = truth_values(raw) if self.truths else raw
        if raw.dtype == "boolean":  # pandas' own kind, whose missing values scikit-learn refuses
            return raw.astype(np.float64)
        if pd.api.types.is_numeric_dtype(raw.dtype) or pd.api.types.is_datetime64_any_dtype(raw.dtype):
            return raw
        return as_text(raw).astype(object).where(raw.notna(), np.nan)
