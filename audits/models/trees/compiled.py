"""Leaves of many rows in a forest by onnxruntime, where it is installed: of each tree which leaf, no more.

Each tree gives an output of its own, its leaf's place in the tree, so that the runtime adds nothing up: whole
numbers below 2^24 are exact in its float32. Sums over the trees stay where they are made otherwise, so scores
are the same to the last digit. So are comparisons: rows of a forest are float32 (as scikit-learn's are), and
such a value lies above a threshold just where it lies above the nearest float32 below.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["CompiledTrees"]

_EXACT = 1 << 24
_ROWS = 8192  # asked about at once


@dataclass(frozen=True, eq=False)
class CompiledTrees:
    """An opened session, and the root of each tree (t,)."""

    session: Any
    roots: np.ndarray

    @classmethod
    def of(
        cls,
        roots: np.ndarray,
        feature: np.ndarray,
        threshold: np.ndarray,
        left: np.ndarray,
        right: np.ndarray,
    ) -> CompiledTrees | None:
        """Make trees ready, given as in `arrays.Trees`; None for some, or without onnxruntime and onnx."""
        size = np.diff(np.append(roots, len(feature)))
        installed = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))
        if not installed or roots[0] != 0 or size.min() < 1 or size.max() >= _EXACT:
            return None
        from audits.models.onnx.graph import open_session

        tree = np.repeat(np.arange(len(size)), size)
        own = (each - roots[tree] for each in (left, right))
        return cls(open_session(_written(tree, feature, threshold, *own), "the forest"), roots)

    def leaves(self, x: np.ndarray) -> np.ndarray:
        """Return the leaf of each row (n, d) in each tree, (n, t)."""
        found = [
            self.session.run(None, {"x": np.ascontiguousarray(x[at : at + _ROWS], dtype=np.float32)})[0]
            for at in range(0, len(x), _ROWS)
        ]
        nodes: np.ndarray = np.concatenate(found).astype(np.intp) + self.roots
        return nodes


def _written(
    tree: np.ndarray, feature: np.ndarray, threshold: np.ndarray, left: np.ndarray, right: np.ndarray
) -> bytes:
    """Return trees as an ONNX file; places of nodes are within a tree."""
    from onnx import TensorProto, helper

    size = np.bincount(tree)
    place = np.arange(len(tree)) - (np.cumsum(size) - size)[tree]
    leaf = feature < 0
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["leaves"],
        domain="ai.onnx.ml",
        n_targets=len(size),
        nodes_treeids=tree.tolist(),
        nodes_nodeids=place.tolist(),
        nodes_featureids=np.where(leaf, 0, feature).tolist(),
        nodes_values=below.tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(leaf, 0, left).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, right).tolist(),
        target_treeids=tree[leaf].tolist(),
        target_nodeids=place[leaf].tolist(),
        target_ids=tree[leaf].tolist(),
        target_weights=place[leaf].astype(float).tolist(),
    )
    width = int(feature.max(initial=0)) + 1
    graph = helper.make_graph(
        [node],
        "forest",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, width])],
        [helper.make_tensor_value_info("leaves", TensorProto.FLOAT, [None, len(size)])],
    )
    sets = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)]
    made: bytes = helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()
    return made
