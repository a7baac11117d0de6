"""A LightGBM file of a chance as plain trees, where these say just what the library says.

Follows ``NumericalDecision`` and ``CategoricalDecision`` of LightGBM's ``tree.h``: numbers stay float64, a
missing one goes where its node says or counts as 0, a category that is none of a node's goes to the right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.values import MISSING, text_of
from audits.models.native.sound import lightgbm_entries
from audits.models.trees.arrays import MOST_LEVELS, Trees
from audits.models.trees.plain import PlainTrees, TreeColumn

if TYPE_CHECKING:
    from audits.models.native.opened import Feature, NativeModel

__all__ = ["lightgbm_trees"]

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NO_MISSING, _AS_ZERO = 0, 1  # kinds of missing numbers


def lightgbm_trees(model: NativeModel) -> PlainTrees | None:
    """Return the trees of an opened file; None where its scores are no sum of plain trees alone."""
    text = model.content.decode("utf-8").split("\nend of trees")[0]
    head, *blocks = re.split(r"^Tree=.*$", text, flags=re.MULTILINE)
    said = lightgbm_entries(head)
    if not blocks or said.get("objective") != "binary sigmoid:1" or "average_output" in head.split():
        return None
    inputs = []
    for place, (column, feature) in enumerate(zip(model.columns, model.opened.features, strict=True)):
        made = _column(model, column, feature, place)
        if made is None:
            return None
        inputs.append(made)
    parts = [_tree(lightgbm_entries(block)) for block in blocks]
    if any(part is None for part in parts) or len(set(model.columns)) < len(model.columns):
        return None
    return PlainTrees(tuple(inputs), _joined([part for part in parts if part is not None]))


def _column(model: NativeModel, column: str, feature: Feature, place: int) -> TreeColumn | None:
    written = model.written
    if feature.levels is None:
        return None if column in written.usual else TreeColumn(column, (place,))
    known = written.meant.get(column)
    own = [text_of(level) for level in feature.levels]
    texts = own if known is None else known.index.tolist()
    if len(own) > MOST_LEVELS or MISSING in texts:
        return None
    values = pd.Series([*texts, None], name=column, dtype=object)
    codes = np.asarray(feature.fed(written.restore(values.to_frame(), texts=[column])[column]).codes)
    rows = np.append(np.where(codes < 0, np.nan, codes), np.nan)  # the last is for what is not known
    return TreeColumn(
        column,
        (place,),
        levels={text: row for row, text in enumerate([*texts, MISSING])},
        codes=rows[:, None],
    )


def _tree(said: Mapping[str, str]) -> dict[str, Any] | None:
    """Return one tree, its leaves behind its splits."""
    leaves = int(said["num_leaves"])
    if said.get("is_linear", "0") != "0":
        return None
    value = np.concatenate([np.zeros(leaves - 1), _numbers(said, "leaf_value", float)])
    threshold, kind = _numbers(said, "threshold", float), _numbers(said, "decision_type", int)
    by_list, missing = (kind & _CATEGORICAL) > 0, kind >> 2
    if (missing[~by_list] == _AS_ZERO).any():
        return None
    sets = []
    if by_list.any():
        bounds, words = _numbers(said, "cat_boundaries", int), _numbers(said, "cat_threshold", np.uint32)
        for turn in threshold[by_list].astype(int):
            bits = words[bounds[turn] : bounds[turn + 1]]
            chosen = np.unpackbits(bits.astype("<u4").view(np.uint8), bitorder="little")
            goes = np.zeros(MOST_LEVELS + 1, dtype=np.uint8)
            goes[: min(len(chosen), MOST_LEVELS)] = chosen[:MOST_LEVELS]
            sets.append(goes)

    def whole(values: np.ndarray, of_leaf: float) -> np.ndarray:
        return np.concatenate([values, np.full(leaves, of_leaf)])

    def children(name: str) -> np.ndarray:
        to = _numbers(said, name, int)
        return whole(np.where(to < 0, leaves - 1 + ~to, to), 0)

    left = np.where(missing == _NO_MISSING, threshold >= 0, (kind & _DEFAULT_LEFT) > 0)
    return {
        "feature": whole(_numbers(said, "split_feature", int), -1),
        "threshold": whole(np.where(by_list, 0.0, threshold), 0),
        "left": children("left_child"),
        "right": children("right_child"),
        "missing_left": whole(left & ~by_list, 0),
        "level_set": whole(np.where(by_list, np.cumsum(by_list) - 1, -1), -1),
        "level_sets": np.array(sets, dtype=np.uint8).reshape(-1, MOST_LEVELS + 1),
        "value": value,
    }


def _joined(parts: list[dict[str, Any]]) -> Trees:
    roots = np.cumsum([0, *(len(part["feature"]) for part in parts)])[:-1]
    lists = np.cumsum([0, *(len(part["level_sets"]) for part in parts)])[:-1]
    for part, root, first in zip(parts, roots, lists, strict=True):
        within = part["feature"] >= 0
        for name in ("left", "right"):
            part[name] = np.where(within, part[name] + root, 0)
        part["level_set"] = np.where(part["level_set"] >= 0, part["level_set"] + first, -1)

    def together(name: str, kind: type) -> np.ndarray:
        return np.concatenate([part[name] for part in parts]).astype(kind)

    return Trees(
        roots.astype(np.int32),
        together("feature", np.int32),
        together("threshold", float),
        together("left", np.int32),
        together("right", np.int32),
        together("missing_left", np.uint8),
        together("level_set", np.int32),
        together("level_sets", np.uint8),
        together("value", float)[:, None],
        np.zeros(1),
    )


def _numbers(said: Mapping[str, str], name: str, kind: Any) -> np.ndarray:
    return np.array(said.get(name, "").split(), dtype=kind)
