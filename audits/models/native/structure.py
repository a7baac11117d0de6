"""Whether the trees in a booster's file are trees: checked here, since the libraries follow them unchecked.

A child that is its own parent, or a feature that there is not, has XGBoost, LightGBM and scikit-learn read
memory that is not theirs. Trees are read as plain data first; what a library of today writes passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_DEEPEST = 500
_MAX_CATEGORIES = 1 << 24
_MAX_VALUES = 5_000_000
# what UBJSON opens without saying how much follows, what ends it, and the bytes of its plain values
_OPEN = {b"[": -1, b"{": -2}
_END = {-1: b"]", -2: b"}"}
_WIDTHS = {
    **dict.fromkeys((b"Z", b"T", b"F"), 0),
    **dict.fromkeys((b"i", b"U", b"C"), 1),
    **{b"I": 2, b"l": 4, b"d": 4, b"L": 8, b"D": 8},
}
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BLOCK = re.compile(r"^Tree=", re.MULTILINE)
_MISSING = "is incomplete"
_NUMBERS = (
    *("leaf_value", "leaf_weight", "leaf_count", "split_gain", "internal_value", "internal_weight"),
    *("internal_count", "shrinkage", "leaf_const", "leaf_coeff"),
)  # of a tree in LightGBM's text


def check_xgboost_file(content: bytes) -> None:
    """Raise `ValueError` for JSON or UBJSON that XGBoost's own reader would overflow at, or read beyond.

    It calls itself for each level, of which no model has many; in UBJSON it believes what lists and texts say
    of their lengths; in JSON it follows lists of categories unchecked.
    """
    if content[:1] == b"{" and content[1:2].isalpha():
        _check_binary(content)
        return
    if content.lstrip()[:1] != b"{":
        return
    marks = np.frombuffer(_QUOTED.sub(b"", content), dtype=np.uint8)
    opened = np.isin(marks, list(b"[{")).astype(np.int8) - np.isin(marks, list(b"]}")).astype(np.int8)
    if opened.cumsum(dtype=np.int64).max(initial=0) > _DEEPEST:
        raise ValueError(f"it has more than {_DEEPEST} levels")
    try:
        model = json.loads(content).get("learner", {}).get("gradient_booster", {})
        for place, tree in enumerate(model.get("gbtree", model).get("model", {}).get("trees", ())):
            _check_lists(place, tree, len(tree.get("left_children", ())))
    except AttributeError:
        raise ValueError(f"it {_MISSING}") from None


def _check_binary(content: bytes) -> None:
    """Walk through UBJSON as XGBoost reads it, without calling oneself."""
    at, left, values = 0, [1], 0  # values still to come: at the top, then of each list; one of _OPEN, too
    while left:
        if left[-1] == 0:
            left.pop()
            continue
        if left[-1] in _OPEN.values() and content[at : at + 1] == _END[left[-1]]:
            left.pop()
            at += 1
            continue
        if left[-1] == _OPEN[b"{"]:
            at = _behind(content, at, 1)  # the name of what follows
        elif left[-1] > 0:
            left[-1] -= 1
        mark, at, values = content[at : at + 1], at + 1, values + 1
        if values > _MAX_VALUES:
            raise ValueError(f"it has more than {_MAX_VALUES:,} values outside of lists of numbers")
        if mark == b"[" and content[at : at + 1] == b"$":
            kind, at = content[at + 1 : at + 2], at + 3
            if content[at - 1 : at] != b"#" or not _WIDTHS.get(kind):
                raise ValueError("a list in it has no length")
            at = _behind(content, at, _WIDTHS[kind])
        elif mark == b"[" and content[at : at + 1] == b"#":
            left.append(_length(content, at + 1))
            at += 10
        elif mark in _OPEN:
            left.append(_OPEN[mark])
        elif mark == b"S":
            at = _behind(content, at, 1)
        elif mark in _WIDTHS:
            at += _WIDTHS[mark]
        else:
            raise ValueError("it is incomplete")
        if len(left) > _DEEPEST:
            raise ValueError(f"it has more than {_DEEPEST} levels")


def _length(content: bytes, at: int) -> int:
    length = int.from_bytes(content[at + 1 : at + 9], "big", signed=True)
    if content[at : at + 1] != b"L" or not 0 <= length <= len(content) - at - 9:
        raise ValueError("something in it is longer than the file")
    return length


def _behind(content: bytes, at: int, width: int) -> int:
    """Return the place behind a length and what is so long, in units of `width` bytes."""
    end = at + 9 + width * _length(content, at)
    if end > len(content):
        raise ValueError("something in it is longer than the file")
    return end


def _check_lists(place: int, tree: Mapping[str, Any], nodes: int) -> None:
    _check_range(place, tree.get("categories", ()), _MAX_CATEGORIES, "category")
    _check_range(place, tree.get("categories_nodes", ()), nodes, "node")
    begins, sizes = tree.get("categories_segments", ()), tree.get("categories_sizes", ())
    if not len(begins) == len(sizes) == len(tree.get("categories_nodes", ())):
        raise ValueError(f"tree {place} has not as many lists of categories as nodes that have one")
    ends = np.add(begins, sizes)
    for told in (begins, sizes, ends):
        _check_range(place, told, len(tree.get("categories", ())) + 1, "list of categories")


def check_xgboost(content: bytes) -> None:
    """Check trees as ``Booster.save_raw("json")`` gives them.

    Raises
    ------
    ValueError
        Naming the first tree that is not sound.
    """
    learner = json.loads(content)["learner"]
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster).get("model", {})
    if "trees" not in model:
        return  # a linear one
    told = learner["learner_model_param"]
    features, groups = (
        int(told["num_feature"]),
        max(int(told["num_class"]), int(told.get("num_target", 1)), 1),
    )
    if not all(0 <= group < groups for group in model["tree_info"]):
        raise ValueError("a tree belongs to a class that does not exist")
    for place, tree in enumerate(model["trees"]):
        left, right = (np.asarray(tree[f"{side}_children"], dtype=np.int64) for side in ("left", "right"))
        within = left != -1
        _check_tree(place, left[within], right[within], len(left))
        if not (within == (right != -1)).all():
            raise ValueError(f"tree {place} has a node with one child")
        _check_range(place, np.asarray(tree["split_indices"])[within], features, "feature")
        _check_lists(place, tree, len(left))


def check_lightgbm(text: str) -> None:
    """Check trees in LightGBM's own text.

    Raises
    ------
    ValueError
        Naming the first tree that is not sound.
    """
    starts = [found.start() for found in _BLOCK.finditer(text)]
    end = text.index("\nend of trees") + 1
    if any(start > end for start in starts):
        raise ValueError("it has trees after their end")
    parts = (
        [text[start:stop] for start, stop in zip(starts, [*starts[1:], end], strict=True)] if starts else []
    )
    head = lightgbm_entries(text[: starts[0]] if starts else text[:end])
    stated = _whole(head.get("tree_sizes", ""))
    if stated.tolist() != [len(part.encode()) for part in parts]:
        raise ValueError("its trees are not as long as it states")
    features = int(head["max_feature_idx"]) + 1
    names = head.get("feature_names", "").split()
    if len(set(names)) != len(names):
        raise ValueError("two of its features have one name")
    together, classes = int(head["num_tree_per_iteration"]), int(head["num_class"])
    if not (1 <= together <= max(1, len(parts)) and 1 <= classes <= max(1, together)):
        raise ValueError("it has not as many trees as classes")
    for place, part in enumerate(parts):
        _check_lightgbm_tree(place, lightgbm_entries(part), features)


def _check_lightgbm_tree(place: int, tree: Mapping[str, str], features: int) -> None:
    leaves, lists = int(tree["num_leaves"]), int(tree["num_cat"])
    within = {name: _whole(tree.get(name, "")) for name in ("left_child", "right_child", "split_feature")}
    within["decision_type"] = _whole(tree.get("decision_type", ""))
    thresholds = np.array(tree.get("threshold", "").split(), dtype=float)
    sizes = [len(each) for each in (*within.values(), thresholds)]
    if leaves < 1 or set(sizes) != {leaves - 1} or len(tree.get("leaf_value", "").split()) != leaves:
        raise ValueError(f"tree {place} {_MISSING}")
    left, right = within["left_child"], within["right_child"]
    children = np.concatenate([left, right])
    _check_range(place, ~children[children < 0], leaves, "leaf")
    _check_parents(place, children[children >= 0], leaves - 1)
    _check_range(place, within["split_feature"], features, "feature")
    if not np.isfinite(thresholds).all():
        raise ValueError(f"tree {place} splits at something that is not a number")
    for name in _NUMBERS:
        try:
            np.array(tree.get(name, "").split(), dtype=float)
        except ValueError:  # the library ends the process at one
            raise ValueError(f"tree {place} has a {name} that is not a number") from None
    by_list = thresholds[(within["decision_type"] & 1).astype(bool)]
    _check_range(place, by_list, lists, "list of categories")
    if lists:
        bounds, words = _whole(tree["cat_boundaries"]), _whole(tree["cat_threshold"])
        if (
            len(bounds) != lists + 1
            or bounds[0] != 0
            or (np.diff(bounds) < 0).any()
            or bounds[-1] != len(words)
        ):
            raise ValueError(f"tree {place} {_MISSING}")
    if tree.get("is_linear", "0") != "0":
        counts = _whole(tree.get("num_features", ""))
        own = _whole(tree.get("leaf_features", ""))
        if len(counts) != leaves or (counts < 0).any() or counts.sum() != len(own):
            raise ValueError(f"tree {place} {_MISSING}")
        _check_range(place, own, features, "feature")


def check_sklearn(model: object) -> None:
    """Check trees wherever they lie in a fitted estimator.

    Raises
    ------
    ValueError
        Naming the first tree that is not sound.
    """
    place, seen = 0, set[tuple[int, int | None]]()
    waiting: list[tuple[Any, int | None]] = [(model, None)]  # with the columns that it is surely given
    while waiting:
        found, columns = waiting.pop()
        if (id(found), columns) in seen:
            continue
        seen.add((id(found), columns))
        if type(found).__name__ in _OF_SKLEARN:
            _OF_SKLEARN[type(found).__name__](place, found, columns or 0)
            place += 1
        elif isinstance(found, Mapping):
            waiting += [(each, columns) for each in found.values()]
        elif isinstance(found, (list, tuple)) or (isinstance(found, np.ndarray) and found.dtype == object):
            waiting += [(each, columns) for each in (found.flat if isinstance(found, np.ndarray) else found)]
        elif hasattr(found, "__dict__") and not isinstance(found, type):
            own = getattr(found, "n_features_in_", None)
            own = int(own) if own is not None and columns is None else min(int(own or 0), columns or 0)
            # an estimator looks how many columns it is given, but not on behalf of its trees
            waiting += [(each, own if name in _UNCHECKED else None) for name, each in vars(found).items()]


def _check_sklearn_tree(place: int, tree: Any, columns: int) -> None:
    left, right = tree.children_left, tree.children_right
    within = left != -1
    _check_tree(place, left[within], right[within], tree.node_count)
    _check_range(place, tree.feature[within], columns, "feature")


def _check_histogram_tree(place: int, tree: Any, columns: int) -> None:
    nodes = tree.nodes
    within = nodes[nodes["is_leaf"] == 0]
    _check_tree(place, within["left"].astype(np.int64), within["right"].astype(np.int64), len(nodes))
    _check_range(place, within["feature_idx"], columns, "feature")
    by_list = within[within["is_categorical"] != 0]["bitset_idx"]
    lists = min(len(tree.raw_left_cat_bitsets), len(tree.binned_left_cat_bitsets))
    _check_range(place, by_list, lists, "list of categories")


_OF_SKLEARN = {"Tree": _check_sklearn_tree, "TreePredictor": _check_histogram_tree}
_UNCHECKED = {"estimators_", "_predictors", "tree_"}


def _check_tree(place: int, left: np.ndarray, right: np.ndarray, nodes: int) -> None:
    children = np.concatenate([left, right])
    _check_range(place, children, nodes, "node")
    _check_parents(place, children, nodes)


def _check_parents(place: int, children: np.ndarray, nodes: int) -> None:
    """No way from the root goes round where nothing leads to the root, and to nothing twice."""
    _check_range(place, children, nodes, "node")
    if len(np.unique(children)) < len(children) or (children == 0).any():
        raise ValueError(f"tree {place} contains a cycle")


def _check_range(place: int, values: Sequence[float] | np.ndarray, most: int, what: str) -> None:
    given = np.asarray(values)
    if given.size and not ((given >= 0) & (given < most)).all():
        raise ValueError(f"tree {place} names a {what} that does not exist")


def lightgbm_entries(text: str) -> dict[str, str]:
    """Return what a part of LightGBM's text says, by name."""
    return {name: value for name, mark, value in (line.partition("=") for line in text.splitlines()) if mark}


def _whole(text: str) -> Any:
    return np.array(text.split(), dtype=np.int64)
