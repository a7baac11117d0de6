"""LightGBM's own text files: trees as data, loaded without running code."""

from __future__ import annotations

import io
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
    splits_by_feature,
)
from audits.models.native.structure import check_lightgbm

_CHANCES = ("binary", "multiclass", "multiclassova", "cross_entropy", "xentropy")
_NUMBERS = ("regression", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")
_UNNAMED = re.compile(r"Column_\d+")


def open_file(file: ModelFile, *, log_odds: bool = False) -> Opened:  # noqa: ARG001
    """Open what was read.

    Raises
    ------
    InputError
        If it is damaged, or its objective is neither a chance nor a number.
    """
    name, lightgbm = file.name, file.library("lightgbm", "lightgbm")
    try:
        # ends of lines as any system has them
        text = io.TextIOWrapper(io.BytesIO(file.content), "utf-8").read()
        if "\nend of trees" not in text:  # the library reads a file that is cut short without a word
            raise ValueError("it is cut short")
        check_lightgbm(text)
        booster = lightgbm.Booster(model_str=text)
        names = booster.feature_name()
        categories = _categories(text, names, booster.pandas_categorical)
    except (
        lightgbm.basic.LightGBMError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        OverflowError,
    ) as error:
        raise InputError(name, f"cannot be loaded by lightgbm: {first_line(error)}") from None
    said = re.search(r"^objective=(\S+)", text, re.MULTILINE)
    objective = said[1] if said else ""
    gives: Gives = "logits"  # a loss of your own: the file does not say what is between it and a chance
    if objective in _CHANCES:
        gives = "probabilities"
    elif objective.startswith(_NUMBERS):
        gives = "numbers"
    elif objective:
        raise InputError(name, "must predict a chance or a number", objective)

    def predict(given: pd.DataFrame) -> np.ndarray:
        return np.asarray(booster.predict(given, num_threads=1))

    features = tuple(Feature(each, categories.get(each)) for each in names)
    named = not all(_UNNAMED.fullmatch(each) for each in names)
    return Opened(name, file.sha256, features, named, predict, gives, None, booster, file)


def splits_of(booster: Any) -> dict[str, np.ndarray]:
    """Return the sorted numbers at which a booster's trees split each feature."""
    nodes = booster.trees_to_dataframe()
    nodes = nodes[nodes["decision_type"] == "<="]
    return splits_by_feature(nodes["split_feature"], nodes["threshold"])


def _categories(
    text: str, names: list[str], levels: list[list[object]] | None
) -> dict[str, tuple[object, ...]]:
    """Return the categories of a frame's categorical columns, which the file lists in the columns' order."""
    if not levels:
        return {}
    said = re.search(r"^feature_infos=(.*)$", text, re.MULTILINE)
    infos = said[1].split(" ") if said else []
    # numbers have a range, categories their codes; a column without a split says "none"
    able = [each for each in zip(names, infos, strict=True) if not each[1].startswith("[")]
    if len(able) != len(levels):
        able = [each for each in able if ":" in each[1]]
    if len(able) != len(levels) or any(
        max(map(int, re.findall(r"-?\d+", info)), default=0) >= len(each)
        for (_, info), each in zip(able, levels, strict=True)
    ):  # a column of whole numbers can be declared to be one of categories, too
        raise ValueError("it does not say which features its categories belong to")
    return {name: tuple(each) for (name, _), each in zip(able, levels, strict=True)}
