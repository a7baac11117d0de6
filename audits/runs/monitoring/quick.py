"""Trees that a monitor carries along, asked without a frame of every copy: the same numbers, sooner.

`audits.sensitivity.measuring.blackbox` makes a frame of every moved copy of a person. Most of what that takes
for one person is not the model's: here each column knows beforehand what its values become in the matrix that
trees read, and copies are made there. Columns of which that cannot be said (dates, ranks) leave all to
`blackbox`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from audits.data.blocks import Block, NumberBlock
from audits.data.space import FeatureSpace
from audits.data.values import MISSING, text_of
from audits.models.trees.plain import PlainTrees, TreeColumn
from audits.sensitivity.measuring.blackbox import StatusAt, copies_of, is_moved, owners_of, status_gradient
from audits.sensitivity.measuring.gradients import Measured, Status
from audits.sensitivity.monitor.bundle import MonitorBundle
from audits.sensitivity.monitor.models import CarriedTrees

__all__ = ["quicker"]

_FEW = 1000  # people whose copies are held together


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
            found.append(self.missing if value is None else self.by_text.get(text_of(value), self.unknown))
        return np.array(found)

    def of_numbers(self, x: np.ndarray) -> np.ndarray:
        """Return what numbers become, as `TreeColumn.encode` does."""
        own = self.own
        values = (x - own.mean) / own.scale
        if not own.fills:
            return values[:, None]
        gone = np.isnan(values)
        values[gone] = 0.0
        return np.column_stack([values, gone])[:, : len(own.places)]

    def moved(self, block: NumberBlock, points: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what people moved down and up become, (2 n, width), and their points there, (2 n,)."""
        n = len(points)
        reach = max(step, block.step / block.sd) if block.step else step
        z = np.concatenate([points, points])
        z[:n, 0] -= reach
        z[n:, 0] += reach
        x = z[:, 0] * block.sd + block.mean
        if block.step:
            x = np.round(x / block.step) * block.step
        x = np.clip(x, block.low, block.high)
        missing = z[:, 1] >= 0.5 if len(block.names) == 2 else np.zeros(2 * n, dtype=bool)
        x[missing] = np.nan
        there = (x - block.mean) / block.sd
        there[missing] = block.fill
        return self.of_numbers(x), there


@dataclass(frozen=True, eq=False)
class _Plan:
    """A plan for each column that the trees read, in the order of the space."""

    model: PlainTrees
    space: FeatureSpace
    columns: tuple[_Column, ...]
    step: float

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
            From the trees' outputs to the probability of the favourable outcome.
        """
        n, copies = len(z), [copies_of(each.block) for each in self.columns]
        single = self.model.trees.kind == "forest"  # scikit-learn's forests read float32
        x = np.empty((1 + sum(copies), n, self.model.width), dtype=np.float32 if single else np.float64)
        own: list[np.ndarray] = []
        moved: list[tuple[slice, list[int]]] = []
        at = 1
        with np.errstate(over="ignore"):
            try:
                for each in self.columns:
                    x[:, :, list(each.own.places)] = each.read(values[each.own.column])
            except _Unusual:
                return None
            for each, count in zip(self.columns, copies, strict=True):
                which, places = slice(at, at + count), list(each.own.places)
                if each.by_level is None and isinstance(each.block, NumberBlock):
                    made, there = each.moved(each.block, z[:, each.where], self.step)
                    own.append(there)
                    x[which, :, places] = made.reshape(count, n, -1)
                elif each.by_level is not None:
                    own.append(each.by_level)
                    x[which, :, places] = each.by_level[:, None]
                moved.append((which, places))
                at += count
        scores = favorable(self.model.trees.outputs_of_copies(x, moved))
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
        n, at = len(z), 1
        gradients = [status_gradient(z, status, literal) for status in statuses]
        standing = [StatusAt.of(status, z, literal) for status in statuses]
        influence = np.zeros(n)
        parts = np.zeros((len(statuses), n, len(self.space.parts)))
        for each, there in zip(self.columns, own, strict=True):
            count = copies_of(each.block)
            told, at = scores[at : at + count], at + count
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
            swapped = np.repeat(z[None], len(each.points), axis=0)
            swapped[:, :, each.where] = each.points[:, None]
            for k, one in enumerate(standing):
                parts[k, :, each.place] = (changes * one.changes(swapped)).sum(axis=0)
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
        found: list[Measured] = []
        for start in range(0, len(z), _FEW):
            rows = slice(start, start + _FEW)
            part = {name: values[rows] for name, values in columns.items()}
            own = self.plan.measure(part, z[rows], statuses, self._favorable, literal=literal)
            if own is None:
                break
            found.append(own)
        else:
            if found:
                parts = zip(*map(_parts_of, found), strict=True)
                return Measured(*(np.concatenate(each) for each in parts))
        return super().measure(columns, z, statuses, literal=literal)


def _parts_of(measured: Measured) -> list[np.ndarray]:
    return [getattr(measured, each.name) for each in fields(measured)]


def quicker(bundle: MonitorBundle) -> MonitorBundle:
    """Return a bundle that says the same numbers, by trees sooner."""
    own = bundle.audited
    plan = _plan(own.model, own.space, own.counts, own.step) if isinstance(own, CarriedTrees) else None
    if plan is None:
        return bundle
    _ = plan.model.trees.masks  # made ready now: the first who is asked about shall not wait for it
    told = {each.name: getattr(own, each.name) for each in fields(own)}
    return replace(bundle, audited=_QuickTrees(**told, plan=plan))
