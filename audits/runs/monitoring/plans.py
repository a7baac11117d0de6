"""People measured without a frame of every copy: the same as `measure_blackbox` says, sooner.

A plan knows beforehand what each column's values become in a matrix of numbers: what trees read, or places in
tables of what a file is fed with. Copies of people are made there, and all asked about at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from audits.data.blocks import Block, NumberBlock
from audits.data.space import FeatureSpace
from audits.data.values import text_of
from audits.models.trees.plain import TreeColumn
from audits.sensitivity.measuring.blackbox import StatusAt, copies_of, owners_of
from audits.sensitivity.measuring.gradients import Measured, Status, status_gradient

__all__ = ["Plan", "PlanColumn", "by_plan"]

_FEW = 1000  # people whose copies are held together
_TOGETHER = 10_000  # numbers in copies of all columns that are asked about at once


class _Unusual(Exception):
    """A value that only a frame tells how to read."""


@dataclass(frozen=True, eq=False)
class PlanColumn:
    """What one column's values are in the matrix.

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
class Plan:
    """A plan for each column that the model reads, in the order of the space.

    Attributes
    ----------
    ask : callable
        From the matrix of people and their copies (1 + copies, n, width), and which copies differ in which
        columns of it, to what the model says of each, (1 + copies, n, k).
    width : int
        Columns of the matrix.
    space : FeatureSpace
    columns : tuple of PlanColumn
    step : float
    single : bool
        Whether numbers are rounded to float32.
    most : int, optional
        Rows that the model is asked about at once.
    """

    ask: Callable[[np.ndarray, list[tuple[slice, list[int]]]], np.ndarray]
    width: int
    space: FeatureSpace
    columns: tuple[PlanColumn, ...]
    step: float
    single: bool = False
    most: int | None = None

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
        x = np.empty((self.copies, n, self.width), dtype=np.float32 if self.single else np.float64)
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
        scores = favorable(self.ask(x, self.moved))
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
        swapped: list[tuple[PlanColumn, np.ndarray, np.ndarray]] = []
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


def by_plan(
    plan: Plan,
    columns: Mapping[str, Sequence[Any]],
    z: np.ndarray,
    statuses: Sequence[Status],
    favorable: Callable[[np.ndarray], np.ndarray],
    literal: bool,
) -> Measured | None:
    """Measure rows given as columns of values, at points `z` (n, d); None where only a frame can tell."""
    at_once = max(1, min(_FEW, (plan.most or _FEW * plan.copies) // plan.copies))
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


def _parts_of(measured: Measured) -> list[np.ndarray]:
    return [getattr(measured, each.name) for each in fields(measured)]
