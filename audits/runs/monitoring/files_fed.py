"""Plans of model files: what each column's values become in what the file is fed with.

The matrix has a column for each raw one: numbers as they are, of other columns the place in a table of what
their values become.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.blocks import Block, NumberBlock
from audits.data.values import text_of
from audits.models.trees.plain import TreeColumn
from audits.runs.monitoring.plans import Plan, PlanColumn
from audits.sensitivity.measuring.blackbox import is_moved
from audits.sensitivity.monitor.models import CarriedFile

if TYPE_CHECKING:
    from audits.models.native.opened import Feature, NativeModel
    from audits.models.onnx.model import OnnxModel

__all__ = ["file_plan"]

_TEXT = "tensor(string)"
_FRACTIONS: dict[str, Any] = {"tensor(float)": np.float32, "tensor(double)": np.float64}
_MOST = 32_768  # rows that a booster is asked about at once


def file_plan(own: CarriedFile) -> Plan | None:
    """Return the plan of a file; None where what it is fed with is known from a frame alone."""
    return _onnx_plan(own) if hasattr(own.model, "graph") else _native_plan(own)


@dataclass(frozen=True, eq=False)
class _Inputs:
    """An ONNX file whose inputs are made from a matrix.

    Attributes
    ----------
    places : dict of str to int
        Of each column in the matrix.
    texts : dict of str to (levels,) object
        Of the columns with texts.
    """

    file: OnnxModel
    places: Mapping[str, int]
    texts: Mapping[str, np.ndarray]

    def outputs(self, x: np.ndarray, _: object) -> np.ndarray:
        """Return the probability of each class of people and copies, (c, n, d) -> (c, n, k)."""
        rows = x.reshape(-1, x.shape[-1])
        tensors = {}
        for each in self.file.graph.inputs:
            columns = []
            for name in each.columns:
                values, texts = rows[:, self.places[name]], self.texts.get(name)
                columns.append(
                    values.astype(_FRACTIONS[each.type]) if texts is None else texts[values.astype(np.intp)]
                )
            tensors[each.name] = columns[0] if len(each.shape) == 1 else np.column_stack(columns)
        return self.file.score_ready(tensors, len(rows)).reshape(*x.shape[:2], -1)


def _onnx_plan(own: CarriedFile) -> Plan | None:
    from audits.models.onnx.graph import ROWS_AT_ONCE  # the runtime is loaded only where one is asked
    from audits.models.onnx.inputs import batch_size

    graph = own.model.graph
    kinds = {name: each.type for each in graph.inputs for name in each.columns}
    if graph.written or batch_size(graph.inputs, graph.name) is not None:
        return None
    found: list[PlanColumn] = []
    texts: dict[str, np.ndarray] = {}
    for place, block in enumerate(own.space.parts):
        kind, name = kinds.get(block.column), block.column
        if kind is None:
            continue
        if _is_number(block):
            if kind not in _FRACTIONS:
                return None
            found.append(_number(own, place, len(found)))
            continue
        levels = block.levels.tolist()
        if is_moved(block) or kind != _TEXT or not all(isinstance(each, str) for each in levels):
            return None
        texts[name] = np.array(levels, dtype=object)
        codes = np.arange(len(levels), dtype=float)
        found.append(_swapped(own, place, len(found), codes, dict(zip(levels, codes, strict=True))))
    places = {each.own.column: each.own.places[0] for each in found}
    if places.keys() != kinds.keys():
        return None
    ask = _Inputs(own.model, places, texts).outputs
    return Plan(ask, len(found), own.space, tuple(found), own.step, most=ROWS_AT_ONCE)


@dataclass(frozen=True, eq=False)
class _Features:
    """A booster's file, or one of skops, whose frame is made from a matrix.

    Attributes
    ----------
    places : tuple of int
        Of each feature's column in the matrix, in the file's order.
    tables : tuple of array or None
        What the values of each feature's column become; None for numbers.
    """

    file: NativeModel
    places: tuple[int, ...]
    tables: tuple[Any, ...]

    def outputs(self, x: np.ndarray, _: object) -> np.ndarray:
        """Return the probability of each class of people and copies, (c, n, d) -> (c, n, k)."""
        rows = x.reshape(-1, x.shape[-1])
        fed = zip(self.file.opened.features, self.places, self.tables, strict=True)
        made = {
            feature.name: rows[:, place] if table is None else table.take(rows[:, place].astype(np.intp))
            for feature, place, table in fed
        }
        whole = np.column_stack(list(made.values())) if self.file.opened.takes_matrix else pd.DataFrame(made)
        return self.file.score_given(whole).reshape(*x.shape[:2], -1)


def _native_plan(own: CarriedFile) -> Plan | None:
    from audits.models.native.opened import Feature  # loaded only where a file is opened

    model: NativeModel = own.model
    features = dict(zip(model.columns, model.opened.features, strict=True))
    if len(features) < len(model.columns):  # one column feeds two features
        return None
    found: list[PlanColumn] = []
    tables: dict[str, Any] = {}
    for place, block in enumerate(own.space.parts):
        name = block.column
        feature = features.get(name)
        if feature is None:
            continue
        if _is_number(block):
            if feature.levels is not None or name in model.written.usual:
                return None
            found.append(_number(own, place, len(found)))
            continue
        levels = block.levels.dropna().tolist()
        # yes and no, handed on as they are, become numbers beside a missing value
        whole = type(feature) is Feature or all(isinstance(level, str) for level in levels)
        if is_moved(block) or not (whole or len(levels) == len(block.levels)):
            return None
        missing = float(len(levels)) if whole else None
        tables[name] = _table(own, name, [*levels, None] if whole else levels, feature)
        known = {text_of(level): float(turn) for turn, level in enumerate(levels)}
        by_level = np.array([known.get(text_of(level), missing) for level in block.levels])
        found.append(_swapped(own, place, len(found), by_level, known, missing))
    if len(found) != len(features):
        return None
    places = {each.own.column: each.own.places[0] for each in found}
    ask = _Features(
        model, tuple(places[name] for name in model.columns), tuple(map(tables.get, model.columns))
    ).outputs
    return Plan(ask, len(found), own.space, tuple(found), own.step, most=_MOST)


def _table(own: CarriedFile, column: str, levels: list[Any], feature: Feature) -> Any:
    """Return what values become."""
    entry = next(each for each in own.encoding if each["column"] == column)
    raw = own.raw(levels, entry).rename(column)
    texts = [] if feature.levels is None else [column]
    fed = feature.fed(own.model.written.restore(raw.to_frame(), texts=texts)[column])
    if isinstance(fed, pd.Categorical) and own.model.opened.takes_matrix:
        return np.where(fed.codes < 0, np.nan, fed.codes)
    return fed if isinstance(fed, pd.Categorical) else np.asarray(fed)


def _is_number(block: Block) -> bool:
    return (
        isinstance(block, NumberBlock) and block.kind in {"continuous", "integer"} and not len(block.levels)
    )


def _number(own: CarriedFile, place: int, at: int) -> PlanColumn:
    block = own.space.parts[place]
    return PlanColumn(place, block, TreeColumn(block.column, (at,)), own.space.blocks[block.column])


def _swapped(
    own: CarriedFile,
    place: int,
    at: int,
    by_level: np.ndarray,
    by_text: Mapping[str, float],
    missing: float | None = None,
) -> PlanColumn:
    block = own.space.parts[place]
    return PlanColumn(
        place,
        block,
        TreeColumn(block.column, (at,)),
        own.space.blocks[block.column],
        {text: np.array([code]) for text, code in by_text.items()},
        None if missing is None else np.array([missing]),
        by_level=by_level[:, None],
        points=block.encode(block.levels, unknown="zero"),
        common=np.asarray(own.counts[block.column], dtype=float),
    )
