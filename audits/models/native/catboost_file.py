"""CatBoost's own binary files: trees as data, loaded without running code."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from audits.errors import InputError
from audits.models.native.opened import (
    Feature,
    Gives,
    ModelFile,
    Opened,
    first_line,
)

_HEAD = 8  # bytes: what it is, and how long
_CHANCES = {"Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll"}
_NUMBERS = ("RMSE", "MAE", "Quantile", "Poisson", "Huber", "MAPE", "Tweedie", "LogLinQuantile", "Expectile")


def _check_length(content: bytes) -> None:
    """Raise `ValueError` for a file that is shorter than it states: the library dies making room."""
    head = content[:_HEAD]
    if len(head) < _HEAD or int.from_bytes(head[4:], "little") > len(content) - _HEAD:
        raise ValueError("it is incomplete")


def open_file(file: ModelFile, *, log_odds: bool = False) -> Opened:  # noqa: ARG001
    """Open what was read.

    Raises
    ------
    InputError
        If it is damaged, reads free text or embeddings, or predicts neither a chance nor a number.
    """
    name, catboost = file.name, file.library("catboost", "catboost")
    model = catboost.CatBoost()
    try:
        _check_length(file.content)
        model.load_model(blob=file.content, format="cbm")
        names = list(model.feature_names_)
        words = {names[k] for k in model.get_cat_feature_indices()}
        of_text = len(model.get_text_feature_indices()) or len(model.get_embedding_feature_indices())
        loss = str(model.get_all_params().get("loss_function", "")).split(":")[0]
        classes = tuple(np.asarray(model.classes_).tolist())
    except (catboost.CatBoostError, ValueError, TypeError, KeyError, IndexError, UnicodeError) as error:
        raise InputError(name, f"cannot be loaded by catboost: {first_line(error)}") from None
    if of_text:
        raise InputError(name, "must read numbers and categories only, not free text or embeddings")
    gives: Gives = "probabilities" if loss in _CHANCES else "numbers"
    if loss not in _CHANCES and not loss.startswith(_NUMBERS):
        raise InputError(name, "must predict a chance or a number", loss)
    kind = "Probability" if gives == "probabilities" else "RawFormulaVal"

    def predict(frame: pd.DataFrame) -> np.ndarray:
        try:
            pool = catboost.Pool(frame, cat_features=sorted(words), thread_count=1)
            return np.asarray(model.predict(pool, prediction_type=kind, thread_count=1))
        except catboost.CatBoostError as error:
            raise InputError(name, f"fails on the data: {first_line(error)}") from None

    features = tuple(Feature(each, () if each in words else None) for each in names)
    named = not all(re.fullmatch(r"\d+", each) for each in names)
    stated = (classes or None) if gives == "probabilities" else None
    return Opened(name, file.sha256, features, named, predict, gives, stated, model, file)


def splits_of(model: Any) -> dict[str, np.ndarray]:
    """Return the sorted numbers at which a model's trees split each feature."""
    names = list(model.feature_names_)
    return {names[k]: np.unique(borders) for k, borders in model.get_borders().items() if len(borders)}
