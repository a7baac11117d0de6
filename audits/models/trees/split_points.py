"""The numbers at which a model of trees changes its mind, column by column of the table.

XGBoost, LightGBM and CatBoost state them by the columns that they read. Trees of scikit-learn (trained here,
in memory or kept by skops) and of ONNX graphs read what earlier steps made of the columns: their thresholds
are taken back through these, where what trees read is a straight line in one column and depends on no other.
What is no such line (a logarithm, a principal component) stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.encoder_blocks import NumberBlock
from audits.data.frames import with_columns
from audits.errors import InputError

if TYPE_CHECKING:
    from audits.data.encoder import FeatureSpace

Splits = dict[str, np.ndarray]
Read = tuple[Callable[[pd.DataFrame], np.ndarray], np.ndarray, np.ndarray]
"""From raw rows to the matrix that trees read; the column of it that each split asks, and its number."""

_BRANCHES = {b"BRANCH_LEQ", b"BRANCH_LT", b"BRANCH_GTE", b"BRANCH_GT"}


def split_points(model: Any, frame: pd.DataFrame, space: FeatureSpace) -> Splits | None:
    """Return the sorted numbers at which a model of trees splits each column; None for what is no trees.

    Parameters
    ----------
    model : Model
    frame : DataFrame (n, columns)
        People whom it scores.
    space : FeatureSpace
        Whose columns of numbers are looked at.
    """
    try:
        boosted = _booster_splits(_estimator_of(model))
        if boosted is not None:  # by the names it was fitted on, in the order of the model's columns
            return {c: boosted[1][name] for name, c in zip(boosted[0], model.columns, strict=True)
                    if name in boosted[1]}  # fmt: skip
        reads = list(_reads(model))
        if not reads:
            return None
        found: dict[str, list[np.ndarray]] = {}
        for read in reads:
            for column, numbers in _by_column(*read, model.columns, frame, space):
                found.setdefault(column, []).append(numbers)
    except _NoTrees:
        return None
    # steps of a stranger's pipeline fail in any way; scores alone remain
    except (InputError, ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError):
        return None
    return {column: np.unique(np.concatenate(parts)) for column, parts in found.items()}


class _NoTrees(Exception):
    """Some part of the model is no tree."""


def _reads(model: Any) -> Iterator[Read]:
    source: Any = getattr(model, "source", None)
    if hasattr(source, "front"):
        yield from _onnx_reads(source)
    elif hasattr(model, "pipeline"):
        from audits.models.trained.pipelines import prepare

        yield from _sklearn_reads(model.pipeline, lambda rows: prepare(rows, model.numbers, model.levels))
    elif _estimator_of(model) is not None:
        given = source.given if hasattr(source, "opened") else source.reader
        yield from _sklearn_reads(_estimator_of(model), given)


def _estimator_of(model: Any) -> Any:
    """Return the library's own object that a model is asked by; None where there is none."""
    source: Any = getattr(model, "source", None)
    if hasattr(source, "opened"):
        return source.opened.model
    return getattr(getattr(source, "call", None), "__self__", None)


def _booster_splits(estimator: Any) -> tuple[list[str], Mapping[str, np.ndarray]] | None:
    """Return the features of a fitted booster, and its splits by feature; None for another estimator."""
    splits: Mapping[str, np.ndarray] | None
    if hasattr(estimator, "get_booster") or type(estimator).__module__ == "xgboost.core":
        from audits.models.native import xgboost_file

        booster = estimator.get_booster() if hasattr(estimator, "get_booster") else estimator
        names = booster.feature_names or [f"f{k}" for k in range(booster.num_features())]
        splits = xgboost_file.splits_of(booster)
    elif hasattr(estimator, "booster_") or type(estimator).__module__ == "lightgbm.basic":
        from audits.models.native import lightgbm_file

        booster = getattr(estimator, "booster_", estimator)
        names, splits = booster.feature_name(), lightgbm_file.splits_of(booster)
    elif hasattr(estimator, "get_borders"):
        from audits.models.native import catboost_file

        names, splits = list(estimator.feature_names_), catboost_file.splits_of(estimator)
    else:
        return None
    if splits is None:
        raise _NoTrees
    return list(names), splits


def _sklearn_reads(estimator: Any, given: Callable[[pd.DataFrame], Any]) -> Iterator[Read]:
    """Yield the trees of a fitted estimator, those inside of votes, bags and calibrations too."""
    if hasattr(estimator, "steps"):
        before, last = estimator[:-1], estimator[-1]
        way = given if len(estimator.steps) == 1 else lambda rows: before.transform(given(rows))
        yield from _sklearn_reads(last, way)
        return
    inner = [each.estimator for each in getattr(estimator, "calibrated_classifiers_", ())]
    if not inner:  # of a forest `estimator_` is the pattern of its trees
        names = ("best_estimator_", *(() if hasattr(estimator, "estimators_") else ("estimator_",)))
        inner = [getattr(estimator, name) for name in names if hasattr(estimator, name)][:1]
    if inner:
        for each in inner:
            yield from _sklearn_reads(each, given)
        return
    boosted = _booster_splits(estimator)
    if boosted is not None:
        places = {name: k for k, name in enumerate(boosted[0])}
        known = [(places[name], numbers) for name, numbers in boosted[1].items()]
        features = np.concatenate([np.full(len(numbers), k) for k, numbers in known] or [np.empty(0, int)])
        yield _matrix_of(given), features, np.concatenate([each for _, each in known] or [np.empty(0)])
        return
    if hasattr(estimator, "_predictors"):
        yield _histogram_read(estimator, given)
        return
    parts = [estimator] if hasattr(estimator, "tree_") else getattr(estimator, "estimators_", None)
    if parts is None or getattr(estimator, "final_estimator_", None) is not None:
        raise _NoTrees
    chosen = getattr(estimator, "estimators_features_", None)
    # of gradient boosting a matrix; else a list, whose members may be sequences themselves
    members: list[Any] = list(parts.ravel() if isinstance(parts, np.ndarray) else parts)
    if chosen is None and all(hasattr(each, "tree_") for each in members):  # hundreds: asked about at once
        trees = [(each.tree_, each.tree_.children_left >= 0) for each in members]
        split_on = [tree.feature[splits] for tree, splits in trees]
        split_at = [tree.threshold[splits] for tree, splits in trees]
        yield _matrix_of(given), np.concatenate(split_on), np.concatenate(split_at)
        return
    for k, each in enumerate(members):
        yield from _sklearn_reads(each, given if chosen is None else partial(_some_of, given, chosen[k]))


def _some_of(given: Callable[[pd.DataFrame], Any], columns: Any, rows: pd.DataFrame) -> np.ndarray:
    return _array(given(rows))[:, columns]


def _histogram_read(estimator: Any, given: Callable[[pd.DataFrame], Any]) -> Read:
    nodes = np.concatenate([tree.nodes for turn in estimator._predictors for tree in turn])
    nodes = nodes[(nodes["is_leaf"] == 0) & (nodes["is_categorical"] == 0)]

    def made(rows: pd.DataFrame) -> np.ndarray:  # categories first, as the boosting itself has them
        return _array(estimator._preprocess_X(given(rows), reset=False))

    return made, nodes["feature_idx"].astype(int), nodes["num_threshold"]


def _matrix_of(given: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda rows: _array(given(rows))


def _array(rows: Any) -> np.ndarray:
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(rows, dtype=np.float64)


def _onnx_reads(graph: Any) -> Iterator[Read]:
    from onnx import helper, numpy_helper

    from audits.models.onnx.file import parse_onnx

    proto = parse_onnx(graph.content, graph.name)
    for node in proto.graph.node:
        if node.op_type in {"LinearClassifier", "LinearRegressor", "Gemm", "MatMul"} or (
            node.op_type.startswith("SVM")
        ):
            raise _NoTrees
        if not node.op_type.startswith("TreeEnsemble"):
            continue
        about = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        features = np.asarray(about["nodes_featureids"], dtype=int)
        if "nodes_splits" in about:  # of the newer operator, whose nodes are never leaves
            numbers = numpy_helper.to_array(about["nodes_splits"]).astype(np.float64)
            asks = numpy_helper.to_array(about["nodes_modes"]) < 4  # ≤, <, ≥, >
        else:
            wide = about.get("nodes_values_as_tensor")
            numbers = numpy_helper.to_array(wide) if wide is not None else np.array(about["nodes_values"])
            asks = np.array([mode in _BRANCHES for mode in about["nodes_modes"]])
        front = graph.front(proto, [node.input[0]])
        if front is None:
            raise _NoTrees

        def made(rows: pd.DataFrame, front: Any = front) -> np.ndarray:
            return np.concatenate(front(rows), axis=1)

        yield made, features[asks], np.asarray(numbers, dtype=np.float64)[asks]


def _by_column(
    made: Callable[[pd.DataFrame], np.ndarray],
    features: np.ndarray,
    numbers: np.ndarray,
    columns: tuple[str, ...],
    frame: pd.DataFrame,
    space: FeatureSpace,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each column's own numbers at the splits of trees that read a matrix made of the columns."""
    base = frame.iloc[[0, 0, 0]].reset_index(drop=True)
    lines: dict[int, tuple[str, float, float]] = {}  # matrix column: raw column, intercept, slope
    several: set[int] = set()
    for part in space.parts:
        if part.column not in columns or not isinstance(part, NumberBlock) or part.kind == "boolean":
            continue
        if part.kind not in {"continuous", "integer"}:
            continue
        away = max(1.0, round(part.sd)) if part.step else part.sd
        middle = round(part.mean) if part.step else part.mean
        at = np.array([middle, middle + away, middle - 2 * away])
        moved = pd.Series(at).astype(base[part.column].dtype)
        matrix = made(with_columns(base, {part.column: moved}))
        slopes = (matrix[1] - matrix[0]) / away
        for place in np.flatnonzero(slopes).tolist():
            straight = np.isclose(matrix[2, place], matrix[0, place] - 2 * away * slopes[place], rtol=1e-4)
            if place in lines or not straight:
                several.add(place)
            lines[place] = part.column, float(matrix[0, place] - slopes[place] * middle), float(slopes[place])
    for place in np.unique(features).tolist():
        if place in lines and place not in several:
            column, intercept, slope = lines[place]
            yield column, (numbers[features == place] - intercept) / slope
