"""A forest or boosting trained here as plain data: the columns it reads, and its trees as arrays.

Nothing of scikit-learn is needed to score by it, and nothing in it can run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.data.encoder_blocks import Block, LevelBlock, NumberBlock
from audits.data.values import MISSING
from audits.errors import InputError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MAX_LEVELS = 255
"""Codes of a category run from 0 to 254; the place after them in a set of levels is for an unknown one."""

_PAIRS = 1_000_000  # of a row and a tree, looked at together: below some 100 MB
_NOBODY = "\0no such level"


@dataclass(frozen=True, eq=False)
class TreeColumn:
    """How one raw column becomes columns of the matrix that trees read.

    Attributes
    ----------
    column : str
    places : tuple of int
        Its columns of the matrix.
    mean, scale : float
        Of a number.
    fills : bool
        Whether a missing number becomes 0; a second place, if any, then marks it.
    levels : dict of str to int, optional
        By text the row of `codes`; None for a number.
    codes : (levels + 1, width)
        What a level becomes; the last row is for one that is not known.
    """

    column: str
    places: tuple[int, ...]
    mean: float = 0.0
    scale: float = 1.0
    fills: bool = False
    levels: dict[str, int] | None = None
    codes: np.ndarray | None = None

    @cached_property
    def block(self) -> Block:
        """What encodes its raw values, as in a feature space."""
        names = (self.column,) * len(self.places)
        if self.levels is None or self.codes is None:
            fill = 0.0 if self.fills else np.nan
            every = pd.Series(dtype=float)
            return NumberBlock(
                self.column, names, "continuous", self.mean, self.scale, -np.inf, np.inf, 0.0, fill, every
            )
        # an empty cell is the level that says so, where there is one
        missing = self.codes[self.levels.get(MISSING, -1)]
        codes = np.vstack([self.codes[:-1], missing, self.codes[-1]])
        return LevelBlock(self.column, names, pd.Series([*self.levels, None], dtype=object), codes)

    def encode(self, raw: pd.Series) -> np.ndarray:
        """Return its part of the matrix, (n, width)."""
        return self.block.encode(raw, unknown="zero")


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees one after the other; a node's children come after it.

    Gives scikit-learn's own outputs to the last digit: leaves are reached by the same comparisons (a forest
    compares float32 values with float64 thresholds) and summed in the order of the trees.

    Attributes
    ----------
    roots : (t,) int
        First node of each tree.
    feature : (m,) int
        Column that a node compares, -1 for a leaf.
    threshold : (m,) float
        Rows up to it go to the left.
    left, right : (m,) int
    missing_left : (m,) uint8
        Where a missing number goes.
    level_set : (m,) int
        Row of `level_sets` for a node that asks for categories, else -1.
    level_sets : (s, 256) uint8
        By code whether a category goes to the left; the last place is for one that is not known.
    value : (m, k) float
        What a leaf gives to each output; of boosting (m, 1), and the trees take the outputs in turn.
    start : (k,) float
        What boosting begins with; empty for a forest.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    level_set: np.ndarray
    level_sets: np.ndarray
    value: np.ndarray
    start: np.ndarray

    @property
    def is_forest(self) -> bool:
        """Whether the trees' outputs are averaged, not added up to log-odds."""
        return not len(self.start)

    def check(self, columns: int) -> None:
        """Raise `InputError` if a node points to no later node, or to no column or set of levels."""
        m = len(self.feature)
        inner = np.flatnonzero(self.feature >= 0)
        children = np.concatenate([self.left[inner], self.right[inner]])
        each = (self.threshold, self.left, self.right, self.missing_left, self.level_set, self.value)
        good = (
            {len(array) for array in each} == {m}
            and self.value.ndim == 2
            and self.level_sets.shape[1:] == (MAX_LEVELS + 1,)
            and len(self.roots) > 0
            and (self.is_forest or (len(self.roots) % len(self.start) == 0 and self.value.shape[1] == 1))
            and _within(self.roots, 0, m)
            and _within(self.feature, -1, columns)
            and _within(children, 0, m)
            and bool((children > np.concatenate([inner, inner])).all())
            and _within(self.level_set, -1, len(self.level_sets))
        )
        if not good:
            raise InputError("bundle", "must hold trees whose nodes lead to later nodes and known columns")

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """Return probabilities (n, k) of the rows of a matrix (n, d); k is 1 where there are two classes."""
        width = len(self.start) or self.value.shape[1]
        total = np.zeros((len(x), width)) + (0.0 if self.is_forest else self.start)
        at_once = max(1, _PAIRS // len(self.roots))
        for first in range(0, len(x), at_once):
            part = slice(first, first + at_once)
            for place, leaves in enumerate(self._leaves(x[part])):
                if self.is_forest:
                    total[part] += self.value[leaves]
                else:
                    total[part, place % width] += self.value[leaves, 0]
        if self.is_forest:
            return total / len(self.roots)
        return expit(total) if width == 1 else softmax(total, axis=1)

    def _leaves(self, x: np.ndarray) -> np.ndarray:
        """Return the leaf of each row (n, d) in each tree, (t, n)."""
        at = np.repeat(self.roots.astype(np.intp), len(x))
        rows = np.tile(np.arange(len(x)), len(self.roots))
        live = np.flatnonzero(self.feature[at] >= 0)
        while live.size:
            here = at[live]
            left = self._goes_left(here, x[rows[live], self.feature[here]])
            at[live] = np.where(left, self.left[here], self.right[here])
            live = live[self.feature[at[live]] >= 0]
        return at.reshape(len(self.roots), len(x))

    def _goes_left(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        left = values <= self.threshold[nodes]
        if self.is_forest:
            return left
        gone = np.isnan(values)
        left |= gone & (self.missing_left[nodes] > 0)
        sets = self.level_set[nodes]
        asked = sets >= 0
        codes = np.where(gone[asked], MAX_LEVELS, values[asked]).astype(np.intp)
        left[asked] = self.level_sets[sets[asked], codes] > 0
        return left


def _within(values: np.ndarray, low: int, high: int) -> bool:
    return values.dtype.kind in "iu" and bool(((values >= low) & (values < high)).all())


@dataclass(frozen=True, eq=False)
class PlainTrees:
    """Columns and trees; scores are those of the pipeline that they were taken from."""

    inputs: tuple[TreeColumn, ...]
    trees: Trees

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that are read."""
        return tuple(each.column for each in self.inputs)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return probabilities (n, k); k is 1, the second class's, where there are two classes."""
        return self.trees.outputs(self._matrix(frame))

    def _matrix(self, frame: pd.DataFrame) -> np.ndarray:
        width = sum(len(each.places) for each in self.inputs)
        # scikit-learn's forests read float32
        x = np.empty((len(frame), width), dtype=np.float32 if self.trees.is_forest else np.float64)
        with np.errstate(over="ignore"):
            for each in self.inputs:
                x[:, list(each.places)] = each.encode(frame[each.column])
        return x

    def arrays(self) -> dict[str, np.ndarray]:
        """Return trees and codes of levels by name."""
        codes = {f"codes.{k}": each.codes for k, each in enumerate(self.inputs) if each.codes is not None}
        return {**{f"trees.{each.name}": getattr(self.trees, each.name) for each in fields(Trees)}, **codes}

    def describe(self) -> list[dict[str, Any]]:
        """Return the columns as plain data; their codes are among `arrays`."""
        return [
            {
                "column": each.column,
                "places": list(each.places),
                "mean": each.mean,
                "scale": each.scale,
                "fills": each.fills,
                "levels": None if each.levels is None else list(each.levels),
            }
            for each in self.inputs
        ]

    @classmethod
    def restore(cls, described: Sequence[Mapping[str, Any]], arrays: Mapping[str, np.ndarray]) -> PlainTrees:
        """Rebuild what `describe` and `arrays` gave.

        Raises
        ------
        InputError
            If they do not fit together.
        """
        inputs = tuple(
            TreeColumn(
                str(each["column"]),
                tuple(each["places"]),
                float(each["mean"]),
                float(each["scale"]),
                bool(each["fills"]),
                None if each["levels"] is None else {text: k for k, text in enumerate(each["levels"])},
                arrays.get(f"codes.{place}"),
            )
            for place, each in enumerate(described)
        )
        width = sum(len(each.places) for each in inputs)
        if sorted(place for each in inputs for place in each.places) != list(range(width)) or not all(
            _fits(each) for each in inputs
        ):
            raise InputError("bundle", "must have columns that fill the matrix of its trees")
        trees = Trees(*(arrays[f"trees.{each.name}"] for each in fields(Trees)))
        trees.check(width)
        return cls(inputs, trees)


def _fits(column: TreeColumn) -> bool:
    if column.levels is None:
        return len(column.places) in {1, 2} and (column.fills or len(column.places) == 1)
    codes = column.codes
    if codes is None or codes.shape != (len(column.levels) + 1, len(column.places)):
        return False
    return bool((np.isnan(codes) | ((codes >= 0) & (codes < MAX_LEVELS))).all())


def plain_trees(pipeline: Pipeline, numbers: Sequence[str], levels: Sequence[str]) -> PlainTrees:
    """Take a fitted forest or boosting of `fit_pipeline` apart.

    Parameters
    ----------
    numbers, levels : sequence of str
        Columns that it reads as numbers and as categories.
    """
    trees = _forest(pipeline[-1]) if hasattr(pipeline[-1], "estimators_") else _boosting(pipeline[-1])
    return PlainTrees(pipeline_columns(pipeline, numbers, levels), trees)


def pipeline_columns(
    pipeline: Pipeline, numbers: Sequence[str], levels: Sequence[str]
) -> tuple[TreeColumn, ...]:
    """Return how raw columns become what the last step of a pipeline of `fit_pipeline` reads.

    Boosting reads codes of levels, then numbers as they are; the others numbers in standard deviations,
    markers of missing ones, then a place for every level.
    """
    parts = {tuple(names): fitted for _, fitted, names in pipeline[0].transformers_}
    boosting = hasattr(pipeline[-1], "_predictors")
    found, at = [], 0 if boosting else len(numbers)
    if numbers and not boosting:
        scaler, imputer = parts[tuple(numbers)]
        marks = {k: at + turn for turn, k in enumerate(imputer.indicator_.features_.tolist())}
        at += len(marks)
        for k, name in enumerate(numbers):
            places: tuple[int, ...] = (k, marks[k]) if k in marks else (k,)
            found.append(TreeColumn(name, places, float(scaler.mean_[k]), float(scaler.scale_[k]), True))
    if levels:
        encoder = parts[tuple(levels)]
        made = encoder.transform(_every_level(encoder, levels))
        made = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=float)
        if boosting:  # brings them into an order of its own
            whole = np.hstack([np.full((len(made), len(numbers)), np.nan), made])
            made = pipeline[-1]._preprocess_X(whole, reset=False)[:, : len(levels)]
        rare = getattr(encoder, "infrequent_categories_", [None] * len(levels))
        start = 0
        for name, known, pooled in zip(levels, encoder.categories_, rare, strict=True):
            width = 1 if boosting else len(known) if pooled is None else len(known) - len(pooled) + 1
            codes = made[[*range(len(known)), len(made) - 1], start : start + width].astype(float, order="C")
            texts = {str(text): k for k, text in enumerate(known)}
            places = tuple(range(at + start, at + start + width))
            found.append(TreeColumn(name, places, levels=texts, codes=codes))
            start += width
    if boosting:
        found += [TreeColumn(name, (len(levels) + k,)) for k, name in enumerate(numbers)]
    return tuple(found)


def _every_level(encoder: Any, levels: Sequence[str]) -> pd.DataFrame:
    """Return a frame with every level of each column in a row of its own, and one unknown in the last."""
    most = max(len(known) for known in encoder.categories_)
    return pd.DataFrame(
        {
            name: np.array([*known, *[known[0]] * (most - len(known)), _NOBODY], dtype=object)
            for name, known in zip(levels, encoder.categories_, strict=True)
        }
    )


def _forest(model: Any) -> Trees:
    trees = [each.tree_ for each in model.estimators_]
    offsets = np.cumsum([0, *(tree.node_count for tree in trees)])
    leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    values = np.concatenate([tree.value[:, 0] for tree in trees])
    value = values[:, 1:] if values.shape[1] == 2 else values

    def children(name: str) -> np.ndarray:
        parts = [getattr(tree, name) + at for tree, at in zip(trees, offsets, strict=False)]
        return np.where(leaf, 0, np.concatenate(parts)).astype(np.int32)

    return Trees(
        offsets[:-1].astype(np.int32),
        np.where(leaf, -1, np.concatenate([tree.feature for tree in trees])).astype(np.int32),
        np.where(leaf, 0.0, np.concatenate([tree.threshold for tree in trees])),
        children("children_left"),
        children("children_right"),
        np.zeros(len(leaf), dtype=np.uint8),
        np.full(len(leaf), -1, dtype=np.int32),
        np.empty((0, MAX_LEVELS + 1), dtype=np.uint8),
        np.where(leaf[:, None], value, 0.0),
        np.empty(0),
    )


def _boosting(model: Any) -> Trees:
    """Trees in the order of rounds and, within one, of outputs."""
    trees = [each for turn in model._predictors for each in turn]
    offsets = np.cumsum([0, *(len(tree.nodes) for tree in trees)])
    nodes = np.concatenate([tree.nodes for tree in trees])
    own = np.repeat(offsets[:-1], np.diff(offsets))
    leaf, asks = nodes["is_leaf"] > 0, (nodes["is_leaf"] == 0) & (nodes["is_categorical"] > 0)
    known, place = model._bin_mapper.make_known_categories_bitsets()
    before = np.cumsum([0, *(len(tree.raw_left_cat_bitsets) for tree in trees)])
    first = np.repeat(before[:-1], np.diff(offsets))
    bits = np.concatenate([tree.raw_left_cat_bitsets for tree in trees]).reshape(-1, 8)
    chosen = nodes[asks]
    goes = _unpack_bits(bits[chosen["bitset_idx"] + first[asks]])
    is_known = _unpack_bits(known[place[chosen["feature_idx"]]]) if len(chosen) else goes
    sets = np.where(goes | is_known, goes, chosen["missing_go_to_left"][:, None] > 0)
    sets[:, MAX_LEVELS] = chosen["missing_go_to_left"] > 0
    level_set = np.full(len(nodes), -1, dtype=np.int32)
    level_set[asks] = np.arange(len(chosen))
    return Trees(
        offsets[:-1].astype(np.int32),
        np.where(leaf, -1, nodes["feature_idx"]).astype(np.int32),
        np.where(leaf | asks, 0.0, nodes["num_threshold"]),
        np.where(leaf, 0, nodes["left"] + own).astype(np.int32),
        np.where(leaf, 0, nodes["right"] + own).astype(np.int32),
        np.ascontiguousarray(nodes["missing_go_to_left"]),
        level_set,
        sets.astype(np.uint8),
        np.where(leaf, nodes["value"], 0.0)[:, None],
        np.asarray(model._baseline_prediction, dtype=float).reshape(-1),
    )


def _unpack_bits(bits: np.ndarray) -> np.ndarray:
    """Return sets of codes, eight words of 32 bits each, as (s, 256) bool."""
    turns = np.arange(32, dtype=np.uint32)
    return ((bits[:, :, None] >> turns) & 1).reshape(len(bits), MAX_LEVELS + 1).astype(bool)
