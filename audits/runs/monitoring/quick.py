"""Trees and ONNX files that a monitor carries along, asked without a frame of every copy: the same, sooner.

`audits.sensitivity.measuring.blackbox` makes a frame of every moved copy of a person. Most of what that takes
for one person is not the model's: here each column knows beforehand what its values become in the matrix that
trees read, or in an ONNX file's inputs, and copies are made there. Columns of which that cannot be said leave
all to `blackbox`: dates and ranks, and in files also what is neither text nor a number with a fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.data.blocks import Block, NumberBlock
from audits.data.space import FeatureSpace
from audits.data.values import MISSING, text_of
from audits.errors import InputError
from audits.models.trees.plain import PlainTrees, TreeColumn
from audits.sensitivity.measuring.blackbox import StatusAt, copies_of, is_moved, owners_of, status_gradient
from audits.sensitivity.measuring.gradients import Measured, Status
from audits.sensitivity.monitor.bundle import MonitorBundle
from audits.sensitivity.monitor.models import Carried, CarriedOnnx, CarriedTrees

if TYPE_CHECKING:
    from audits.models.onnx.model import OnnxModel

__all__ = ["at_hand", "is_at_once", "quicker"]

_FEW = 1000  # people whose copies are held together
_TOGETHER = 10_000  # numbers in copies of all columns that are asked about at once
_MOST_NODES = 200_000  # of trees that are made ready where pages are served: some 20 MB
_MOST_LEAVES = 30_000  # words of leaves that are looked at within a millisecond
_WEIGHTS = 50  # of a network, multiplied in the time of one such word
_TEXT = "tensor(string)"
_FRACTIONS: dict[str, Any] = {"tensor(float)": np.float32, "tensor(double)": np.float64}


class _Unusual(Exception):
    """A value that only a frame tells how to read."""


@dataclass(frozen=True, eq=False)
class _Column:
    """What one column's values are to the trees.

    Attributes
    ----------
    place : int
        Among the parts of the space.
    block : Block
    own : TreeColumn
    where : slice
        Of the column's points.
    by_text : dict of str to (width,), optional
        What a known value becomes, by text; None for numbers.
    missing, unknown : (width,), optional
    by_level : (levels, width), optional
        What each value that the audit saw becomes, in order.
    points : (levels, points), optional
        Their points, of a column that is swapped.
    common : (levels,), optional
        How many of the audited people have them.
    """

    place: int
    block: Block
    own: TreeColumn
    where: slice
    by_text: dict[str, np.ndarray] | None = None
    missing: np.ndarray | None = None
    unknown: np.ndarray | None = None
    by_level: np.ndarray | None = None
    points: np.ndarray | None = None
    common: np.ndarray | None = None

    def read(self, values: Sequence[Any]) -> np.ndarray:
        """Return what people's values become, (n, width)."""
        if self.by_text is None:
            x = np.array([math.nan if value is None else value for value in values], dtype=float)
            return self.of_numbers(x)
        found = []
        for value in values:
            if isinstance(value, float) and math.isnan(value):
                raise _Unusual
            code = self.missing if value is None else self.by_text.get(text_of(value), self.unknown)
            if code is None:
                raise _Unusual
            found.append(code)
        return np.array(found)

    def of_numbers(self, x: np.ndarray) -> np.ndarray:
        """Return what numbers become, as `TreeColumn.encode` does."""
        own = self.own
        values = (x - own.mean) / own.scale
        if not own.fills:
            return values[:, None]
        gone = np.isnan(values)
        values[gone] = 0.0
        if len(own.places) == 1:
            return values[:, None]
        return np.column_stack([values, gone])

    def moved(self, block: NumberBlock, points: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what people moved down and up become, (2 n, width), and their points there, (2 n,)."""
        reach = max(step, block.step / block.sd) if block.step else step
        x = np.concatenate([points[:, 0] - reach, points[:, 0] + reach])
        x *= block.sd
        x += block.mean
        if block.step:
            x /= block.step
            x = np.rint(x, out=x) * block.step
        x = np.minimum(np.maximum(x, block.low), block.high)
        missing = None
        if len(block.names) == 2:
            missing = np.concatenate([points[:, 1], points[:, 1]]) >= 0.5
            x[missing] = np.nan
        there = (x - block.mean) / block.sd
        if missing is not None:
            there[missing] = block.fill
        return self.of_numbers(x), there


@dataclass(frozen=True, eq=False)
class _Plan:
    """A plan for each column that the model reads, in the order of the space."""

    model: PlainTrees | _Inputs
    space: FeatureSpace
    columns: tuple[_Column, ...]
    step: float

    @cached_property
    def copies(self) -> int:
        """How many rows the model is asked about for one person."""
        return self.moved[-1][0].stop if self.moved else 1

    @cached_property
    def moved(self) -> list[tuple[slice, list[int]]]:
        """Which rows are copies in which a column differs, and its places."""
        found, at = list[tuple[slice, list[int]]](), 1
        for each in self.columns:
            places, count = list(each.own.places), copies_of(each.block)
            found.append((slice(at, at + count), places))
            at += count
        return found

    def measure(
        self,
        values: Mapping[str, Sequence[Any]],
        z: np.ndarray,
        statuses: Sequence[Status],
        favorable: Callable[[np.ndarray], np.ndarray],
        *,
        literal: bool,
    ) -> Measured | None:
        """Measure rows as `measure_blackbox` does; None where a value is one that only a frame can read.

        Parameters
        ----------
        favorable : callable
            From the model's outputs to the probability of the favourable outcome.
        """
        n = len(z)
        # scikit-learn's forests read float32
        single = isinstance(self.model, PlainTrees) and self.model.trees.kind == "forest"
        x = np.empty((self.copies, n, self.model.width), dtype=np.float32 if single else np.float64)
        own: list[np.ndarray] = []
        with np.errstate(over="ignore"):
            try:
                for each, (_, places) in zip(self.columns, self.moved, strict=True):
                    x[:, :, places] = each.read(values[each.own.column])
            except _Unusual:
                return None
            for each, (which, places) in zip(self.columns, self.moved, strict=True):
                if each.by_level is not None:
                    own.append(each.by_level)
                    x[which, :, places] = each.by_level[:, None]
                elif isinstance(each.block, NumberBlock):
                    made, there = each.moved(each.block, z[:, each.where], self.step)
                    own.append(there)
                    x[which, :, places] = made.reshape(which.stop - which.start, n, -1)
        own_model = self.model
        if isinstance(own_model, PlainTrees):
            scores = favorable(own_model.trees.outputs_of_copies(x, self.moved))
        else:
            scores = favorable(own_model.outputs(x))
        return self._put_together(scores.reshape(-1, n), own, z, statuses, literal)

    def _put_together(
        self,
        scores: np.ndarray,
        own: Sequence[np.ndarray],
        z: np.ndarray,
        statuses: Sequence[Status],
        literal: bool,
    ) -> Measured:
        """Return what the scores of people and of their copies (1 + copies, n) come to."""
        n = len(z)
        gradients = [status_gradient(z, status, literal) for status in statuses]
        standing = [StatusAt.of(status, z, literal) for status in statuses]
        influence = np.zeros(n)
        parts = np.zeros((len(statuses), n, len(self.space.parts)))
        swapped: list[tuple[_Column, np.ndarray, np.ndarray]] = []
        for each, there, (which, _) in zip(self.columns, own, self.moved, strict=True):
            told = scores[which]
            if each.points is None or each.common is None:
                low, high = there.reshape(2, -1)
                rise, run = told[1] - told[0], high - low
                slope = np.abs(np.divide(rise, run, out=np.zeros_like(rise), where=run > 1e-12))
                influence += slope
                for k, gradient in enumerate(gradients):
                    parts[k, :, each.place] = slope * np.abs(gradient[:, each.where.start])
                continue
            weight = np.where(owners_of(z[:, each.where], each.points), 0.0, each.common[:, None])
            weight /= np.maximum(weight.sum(axis=0), 1e-300)
            changes = np.abs(told - scores[0]) * weight
            influence += changes.sum(axis=0)
            swapped.append((each, each.points, changes))
        many = sum(len(points) for _, points, _ in swapped) * z.size
        for group in [swapped] if many <= _TOGETHER else [[each] for each in swapped]:
            moved = np.repeat(z[None], sum(len(points) for _, points, _ in group), axis=0)
            ends = list(accumulate(len(points) for _, points, _ in group))
            for (each, points, _), end in zip(group, ends, strict=True):
                moved[end - len(points) : end, :, each.where] = points[:, None]
            for k, one in enumerate(standing if group else ()):
                levels = one.changes(moved)
                for (each, points, changes), end in zip(group, ends, strict=True):
                    parts[k, :, each.place] = (changes * levels[end - len(points) : end]).sum(axis=0)
        by_attribute = parts.sum(axis=2).T
        largest = by_attribute.argmax(axis=1)
        return Measured(scores[0], by_attribute, parts[largest, np.arange(n)], influence)


def _plan(
    model: PlainTrees, space: FeatureSpace, counts: Mapping[str, Sequence[float]], step: float
) -> _Plan | None:
    """Return the plan of a model; None where what a column's values become is known from a frame alone."""
    by_name = {each.column: each for each in model.inputs}
    found = []
    for place, block in enumerate(space.parts):
        own = by_name.get(block.column)
        if own is None:
            continue
        where = space.blocks[block.column]
        if isinstance(block, NumberBlock) and not len(block.levels):
            if block.kind not in {"continuous", "integer"} or own.levels is not None:
                return None
            found.append(_Column(place, block, own, where))
            continue
        if is_moved(block) or own.levels is None or own.codes is None:  # ranks; texts that are numbers
            return None
        by_text = {text: own.codes[row] for text, row in own.levels.items()}
        unknown = own.codes[len(own.levels)]
        found.append(
            _Column(
                place,
                block,
                own,
                where,
                by_text,
                by_text.get(MISSING, unknown),
                unknown,
                own.encode(block.levels),
                block.encode(block.levels, unknown="zero"),
                np.asarray(counts[block.column], dtype=float),
            )
        )
    return _Plan(model, space, tuple(found), step) if len(found) == len(by_name) else None


@dataclass(frozen=True, eq=False)
class _Inputs:
    """An ONNX file whose inputs are made from a matrix: numbers as they are, texts by their places.

    Attributes
    ----------
    places : dict of str to int
        Of each column in the matrix.
    texts : dict of str to (levels,) object
        Of the columns with texts.
    most : int
        Rows that it is asked about at once.
    """

    file: OnnxModel
    places: dict[str, int]
    texts: dict[str, np.ndarray]
    most: int

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return len(self.places)

    def outputs(self, x: np.ndarray) -> np.ndarray:
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


def _file_plan(own: CarriedOnnx) -> _Plan | None:
    """Return the plan of an ONNX file; None where what it is fed with is known from a frame alone."""
    from audits.models.onnx.graph import ROWS_AT_ONCE  # the runtime is loaded only where one is asked
    from audits.models.onnx.inputs import batch_size

    graph = own.model.graph
    kinds = {name: each.type for each in graph.inputs for name in each.columns}
    if graph.written or batch_size(graph.inputs, graph.name) is not None:
        return None
    found: list[_Column] = []
    texts: dict[str, np.ndarray] = {}
    for place, block in enumerate(own.space.parts):
        kind, name = kinds.get(block.column), block.column
        if kind is None:
            continue
        where, at = own.space.blocks[name], (len(found),)
        if isinstance(block, NumberBlock) and not len(block.levels):
            if block.kind not in {"continuous", "integer"} or kind not in _FRACTIONS:
                return None
            found.append(_Column(place, block, TreeColumn(name, at), where))
            continue
        levels = block.levels.tolist()
        if is_moved(block) or kind != _TEXT or not all(isinstance(each, str) for each in levels):
            return None
        texts[name] = np.array(levels, dtype=object)
        codes = np.arange(len(levels), dtype=float)[:, None]
        by_text = dict(zip(levels, codes, strict=True))
        points = block.encode(block.levels, unknown="zero")
        common = np.asarray(own.counts[name], dtype=float)
        more: dict[str, Any] = {"by_level": codes, "points": points, "common": common}
        found.append(_Column(place, block, TreeColumn(name, at), where, by_text, **more))
    if {each.own.column for each in found} != set(kinds):
        return None
    places = {each.own.column: each.own.places[0] for each in found}
    return _Plan(_Inputs(own.model, places, texts, ROWS_AT_ONCE), own.space, tuple(found), own.step)


def _by_plan(
    plan: _Plan,
    columns: Mapping[str, Sequence[Any]],
    z: np.ndarray,
    statuses: Sequence[Status],
    favorable: Callable[[np.ndarray], np.ndarray],
    literal: bool,
) -> Measured | None:
    """Measure rows given as columns of values, at points `z` (n, d); None where only a frame can tell."""
    at_once = (
        _FEW if isinstance(plan.model, PlainTrees) else max(1, min(_FEW, plan.model.most // plan.copies))
    )
    found: list[Measured] = []
    for start in range(0, len(z), at_once):
        rows = slice(start, start + at_once)
        part = {name: values[rows] for name, values in columns.items()}
        own = plan.measure(part, z[rows], statuses, favorable, literal=literal)
        if own is None:
            return None
        found.append(own)
    if len(found) <= 1:
        return found[0] if found else None
    parts = zip(*map(_parts_of, found), strict=True)
    return Measured(*(np.concatenate(each) for each in parts))


@dataclass(frozen=True, eq=False)
class _QuickTrees(CarriedTrees):
    """Trees carried along that measure people by a plan."""

    plan: _Plan

    def measure(
        self,
        columns: Mapping[str, Sequence[Any]],
        z: np.ndarray,
        statuses: Sequence[Status],
        *,
        literal: bool,
    ) -> Measured:
        """Measure rows given as columns of values, at points `z` (n, d)."""
        found = _by_plan(self.plan, columns, z, statuses, self._favorable, literal)
        return found or super().measure(columns, z, statuses, literal=literal)

    def leaves(self, statuses: Sequence[Status]) -> float:
        """Return about how many words of leaves are looked at for one person."""
        if self.model.trees.masks is None:
            return math.inf
        weights = sum(weight.size for status in statuses for weight in status.network.weights)
        return self.plan.copies * (self.model.trees.masks.every.size + weights / _WEIGHTS)


@dataclass(frozen=True, eq=False)
class _QuickOnnx(CarriedOnnx):
    """An ONNX file carried along that measures people by a plan."""

    plan: _Plan

    def measure(
        self,
        columns: Mapping[str, Sequence[Any]],
        z: np.ndarray,
        statuses: Sequence[Status],
        *,
        literal: bool,
    ) -> Measured:
        """Measure rows given as columns of values, at points `z` (n, d)."""
        try:
            found = _by_plan(self.plan, columns, z, statuses, self._chance, literal)
        except InputError:  # which row it was is told below
            found = None
        return found or super().measure(columns, z, statuses, literal=literal)

    def _chance(self, scores: np.ndarray) -> np.ndarray:
        return np.clip(scores[..., self.favorable].sum(axis=-1), 0.0, 1.0)


def _parts_of(measured: Measured) -> list[np.ndarray]:
    return [getattr(measured, each.name) for each in fields(measured)]


def quicker(bundle: MonitorBundle, *, many: bool = True) -> MonitorBundle:
    """Return a bundle that says the same numbers, by what it carries along sooner; an ONNX file is opened.

    Parameters
    ----------
    many : bool
        Whether batches of many people shall be quick too; that takes memory, and onnxruntime.
    """
    own = bundle.audited
    told = {each.name: getattr(own, each.name) for each in fields(own)}
    if isinstance(own, CarriedTrees):
        plan = _plan(own.model, own.space, own.counts, own.step)
        if plan is not None:
            _ = own.model.trees.masks  # made ready now: the first who is asked about shall not wait for it
            _ = own.model.trees.compiled if many else None
            return replace(bundle, audited=_QuickTrees(**told, plan=plan))
    if isinstance(own, CarriedOnnx):
        plan = _file_plan(own)
        if plan is not None:
            return replace(bundle, audited=_QuickOnnx(**told, plan=plan))
    return bundle


def at_hand(bundle: MonitorBundle) -> MonitorBundle:
    """Return a bundle that says the same; of trees that are not too large, one for `is_at_once`."""
    own = bundle.audited
    small = isinstance(own, CarriedTrees) and len(own.model.trees.feature) <= _MOST_NODES
    return quicker(bundle, many=False) if small else bundle


def is_at_once(bundle: MonitorBundle, people: int) -> bool:
    """Tell whether people take about a millisecond: each by a network, few together by trees."""
    own = bundle.audited
    if isinstance(own, _QuickTrees):
        return people * own.leaves(bundle.statuses) <= _MOST_LEAVES
    return not isinstance(own, Carried)
