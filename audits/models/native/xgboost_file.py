"""XGBoost's own files, JSON and UBJSON: trees or a linear model as data, loaded without running code."""

from __future__ import annotations

import json
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
    splits_by_feature,
)
from audits.models.native.structure import check_xgboost, check_xgboost_file

# objective: what the booster's own answers are
_GIVES: dict[str, Gives] = {
    "binary:logistic": "probabilities",
    "reg:logistic": "probabilities",
    "binary:logitraw": "logits",
    "multi:softprob": "probabilities",
    "multi:softmax": "logits",  # asked for its margins: labels alone would lose the chances
    "binary:hinge": "labels",
}


def open_file(file: ModelFile, *, log_odds: bool = False) -> Opened:  # noqa: ARG001
    """Open what was read.

    Raises
    ------
    InputError
        If it is damaged, or its objective is neither a chance nor a number.
    """
    name, xgboost = file.name, file.library("xgboost", "xgboost-cpu")
    try:
        # the content decides, not the ending: a file may have been renamed
        content = bytearray(file.content)
        check_xgboost_file(bytes(content))
        booster = xgboost.Booster({"nthread": 1})
        booster.load_model(content)
        booster.set_param({"nthread": 1})
        config = json.loads(booster.save_config())["learner"]
        objective = config["objective"]["name"]
        check_xgboost(bytes(booster.save_raw("json")))
        features = _features(booster)
        best = booster.attributes().get("best_iteration")
        rounds = (0, 0 if best is None else int(best) + 1)  # as predict_proba does after early stopping
        if not 0 <= rounds[1] <= booster.num_boosted_rounds():
            raise ValueError("its best round does not exist")
    except (xgboost.core.XGBoostError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(name, f"cannot be loaded by xgboost: {first_line(error)}") from None
    gives = _GIVES.get(objective)
    if gives is None:
        if not objective.startswith(("reg:", "count:", "survival:")):
            raise InputError(name, "must predict a chance or a number", objective)
        gives = "numbers"

    def predict(given: pd.DataFrame) -> np.ndarray:
        # by place: xgboost takes names such as “age<30” from its own files, and from no table
        named_anew = given.set_axis([f"f{k}" for k in range(given.shape[1])], axis=1)
        try:
            matrix = xgboost.DMatrix(named_anew, enable_categorical=True, nthread=1)
            found = booster.predict(
                matrix,
                output_margin=objective in {"multi:softmax", "binary:logitraw"},
                iteration_range=rounds,
                validate_features=False,
            )
        except (xgboost.core.XGBoostError, ValueError) as error:
            raise InputError(name, f"fails on the data: {first_line(error)}") from None
        return np.asarray(found).astype(np.int64) if gives == "labels" else found

    named = booster.feature_names is not None
    return Opened(name, file.sha256, features, named, predict, gives, None, booster, file)


def splits_of(booster: Any) -> dict[str, np.ndarray] | None:
    """Return the sorted numbers at which a booster's trees split each feature; None for a linear one."""
    gradient = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    if gradient["name"] == "gblinear":
        return None
    # the library's own table of trees fails where one asks for a yes or no
    trees = gradient.get("gbtree", gradient)["model"]["trees"]
    told = [
        np.concatenate([np.asarray(tree[name], dtype=kind) for tree in trees] or [np.empty(0, dtype=kind)])
        for name, kind in (
            ("left_children", np.int64), ("split_type", np.int64), ("split_indices", np.int64),
            ("split_conditions", np.float32),
        )
    ]  # fmt: skip
    left, by_list, features, numbers = told
    asks = (left != -1) & (by_list == 0)
    names = np.array(booster.feature_names or [f"f{k}" for k in range(booster.num_features())], dtype=object)
    return splits_by_feature(pd.Series(names[features[asks]]), pd.Series(numbers[asks], dtype=np.float64))


def _features(booster: Any) -> tuple[Feature, ...]:
    names = booster.feature_names or [f"f{k}" for k in range(booster.num_features())]
    kinds = booster.feature_types or ["float"] * len(names)
    levels: dict[str, Any] = {}
    if "c" in kinds:
        known = booster.get_categories(export_to_arrow=True)
        levels = {} if known is None else dict(known.to_arrow())
    found = []
    for name, kind in zip(names, kinds, strict=True):
        if kind != "c":
            found.append(Feature(name))
        elif levels.get(name) is None:
            raise ValueError(
                f"its categories of {name!r} are not in the file; save it with xgboost 3.1 or later"
            )
        else:
            found.append(Feature(name, tuple(levels[name].to_pylist())))
    return tuple(found)
