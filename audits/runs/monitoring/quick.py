"""Trees and model files that a monitor carries along, asked without a frame of every copy: the same, sooner.

`audits.sensitivity.measuring.blackbox` makes a frame of every moved copy of a person. Most of what that takes
for one person is not the model's: where each column knows beforehand what its values become in the matrix
that trees read, or in what a file is fed with, copies are made there. Columns of which that cannot be said
leave all to `blackbox`: dates and ranks, and in ONNX files what is neither text nor a number with a fraction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from audits.data.blocks import NumberBlock
from audits.data.space import FeatureSpace
from audits.data.values import MISSING, text_of
from audits.errors import InputError
from audits.models.trees.plain import PlainTrees
from audits.runs.monitoring.files_fed import file_plan
from audits.runs.monitoring.plans import Plan, PlanColumn, by_plan
from audits.sensitivity.measuring.blackbox import is_moved
from audits.sensitivity.measuring.gradients import Measured, Status
from audits.sensitivity.monitor.bundle import MonitorBundle
from audits.sensitivity.monitor.models import Carried, CarriedFile, CarriedTrees

__all__ = ["at_hand", "is_at_once", "quicker"]

_MOST_NODES = 200_000  # of trees that are made ready where pages are served: some 20 MB
_MOST_LEAVES = 30_000  # words of leaves that are looked at within a millisecond
_WEIGHTS = 50  # of a network, multiplied in the time of one such word


def _tree_plan(
    model: PlainTrees, space: FeatureSpace, counts: Mapping[str, Sequence[float]], step: float
) -> Plan | None:
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
            found.append(PlanColumn(place, block, own, where))
            continue
        if is_moved(block):  # ranks
            return None
        if own.levels is None or own.codes is None:  # yes and no as numbers
            if any(isinstance(level, str) for level in block.levels):
                return None
            by_text = dict(zip(map(text_of, block.levels), own.encode(block.levels), strict=True))
            unknown = None
        else:
            by_text = {text: own.codes[row] for text, row in own.levels.items()}
            unknown = own.codes[len(own.levels)]
        found.append(
            PlanColumn(
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
    if len(found) != len(by_name):
        return None
    single = model.trees.kind == "forest"  # scikit-learn's forests read float32
    return Plan(model.trees.outputs_of_copies, model.width, space, tuple(found), step, single)


class _ByPlan(Carried):
    """What is carried along and measures people by a plan."""

    plan: Plan

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
            found = by_plan(self.plan, columns, z, statuses, self.chance, literal)
        except InputError:  # which row it was is told below
            found = None
        return found or super().measure(columns, z, statuses, literal=literal)


@dataclass(frozen=True, eq=False)
class _QuickTrees(_ByPlan, CarriedTrees):
    plan: Plan

    def leaves(self, statuses: Sequence[Status]) -> float:
        """Return about how many words of leaves are looked at for one person."""
        if self.model.trees.masks is None:
            return math.inf
        weights = sum(weight.size for status in statuses for weight in status.network.weights)
        return self.plan.copies * (self.model.trees.masks.every.size + weights / _WEIGHTS)


@dataclass(frozen=True, eq=False)
class _QuickFile(_ByPlan, CarriedFile):
    plan: Plan


def quicker(bundle: MonitorBundle, *, many: bool = True) -> MonitorBundle:
    """Return a bundle that says the same numbers, by what it carries along sooner; a model file is opened.

    Parameters
    ----------
    many : bool
        Whether batches of many people shall be quick too; that takes memory, and onnxruntime.
    """
    own = bundle.audited
    told = {each.name: getattr(own, each.name) for each in fields(own)}
    if isinstance(own, CarriedTrees):
        plan = _tree_plan(own.model, own.space, own.counts, own.step)
        if plan is not None:
            _ = own.model.trees.masks  # made ready now: the first who is asked about shall not wait for it
            _ = own.model.trees.compiled if many else None
            return replace(bundle, audited=_QuickTrees(**told, plan=plan))
    if isinstance(own, CarriedFile):
        plan = file_plan(own)
        if plan is not None:
            made = _QuickFile(**told, plan=plan)
            vars(made)["model"] = own.model  # it is opened
            return replace(bundle, audited=made)
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
