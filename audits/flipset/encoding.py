"""The audited people as points: which features are matched on, their weights, and how to name them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.checks import one_of
from audits.data.blocks import LevelBlock, NumberBlock
from audits.errors import InputError
from audits.flipset.options import FlipsetOptions
from audits.models import Subject

__all__ = ["Axis", "Encoded", "encode"]


@dataclass(frozen=True)
class Axis:
    """One line of the report: an encoded column, its unit, and where its value is missing.

    Attributes
    ----------
    unit : float
        Raw units per encoded unit.
    deviation : float
        Standard deviation of the raw feature among the audited people; 0 for a constant.
    missing : int or None
        Encoded column that is 1 where the feature is missing.
    """

    name: str
    column: str
    index: int
    unit: float
    deviation: float
    missing: int | None


@dataclass(frozen=True, eq=False)
class Encoded:
    """Features of all audited people in standardised units.

    Attributes
    ----------
    values : array (n, d)
    weights : array (d,)
        Weight of each encoded column in the cost.
    columns : tuple of str
        The raw features behind them.
    axes : list of Axis
        The lines of a transparency report.
    scaled : dict
        Raw feature to whether its values are numbers with a scale.
    keep : array of int (d,)
        Their places among the columns of the subject's feature space.
    """

    values: np.ndarray
    weights: np.ndarray
    columns: tuple[str, ...]
    axes: list[Axis]
    scaled: dict[str, bool]
    keep: np.ndarray


def encode(subject: Subject, options: FlipsetOptions) -> Encoded:
    """Encode every feature but the attributes that tell the groups apart.

    Those attributes differ for every pair by definition, so they say nothing about who is similar; the
    counterpart keeps its own values of them when it is scored.

    Raises
    ------
    InputError
        No feature is left to match on, or a weight names no feature.
    """
    space, data = subject.space, subject.data
    compared = set(options.source) | set(options.target)
    weights = options.feature_weights or {}
    for name in weights:
        one_of("flipset.feature_weights", name, space.columns, what="a feature")
    every = space.encode(data.frame)
    sizes = np.ones(data.n) if data.weights is None else data.weights
    keep: list[int] = []
    axes: list[Axis] = []
    columns: list[str] = []
    column_weights: list[float] = []
    scaled = {}
    for block in space.parts:
        if block.column in compared:
            continue
        first = len(keep)
        where = space.blocks[block.column]
        keep.extend(range(where.start, where.stop))
        columns.append(block.column)
        column_weights.extend([float(weights.get(block.column, 1.0))] * (where.stop - where.start))
        axes.extend(_axes(block, first, every[:, where], sizes))
        scaled[block.column] = data.kinds[block.column] in {"continuous", "integer", "datetime"}
    if not keep:
        raise InputError(
            "flipset",
            "has no feature left to match people on",
            advice="add features other than the groups' attributes",
        )
    if not any(column_weights):
        raise InputError(
            "flipset.feature_weights", "must leave at least one feature a weight above 0", weights
        )
    return Encoded(
        values=np.ascontiguousarray(every[:, keep]),
        weights=np.array(column_weights),
        columns=tuple(columns),
        axes=axes,
        scaled=scaled,
        keep=np.array(keep),
    )


def _axes(block: NumberBlock | LevelBlock, first: int, encoded: np.ndarray, sizes: np.ndarray) -> list[Axis]:
    """Report lines of one feature; `first` is its first column among the kept ones."""
    mean = np.average(encoded, axis=0, weights=sizes)
    deviation = np.sqrt(np.average((encoded - mean) ** 2, axis=0, weights=sizes))
    # the deviation of equal values is rounding, not spread
    deviation = np.where(deviation > 1e-12 * np.maximum(np.abs(mean), 1.0), deviation, 0.0)
    if isinstance(block, NumberBlock):
        units = [float(block.sd), 1.0]
        names = [_number_name(block), *block.names[1:]]
        missing = [first + 1 if len(block.names) == 2 else None, None]
    else:
        units = [2.0] * len(block.names)  # one-hot entries are 0.5
        names = list(block.names)
        missing = [None] * len(names)
    return [
        Axis(name, block.column, first + k, units[k], float(deviation[k]) * units[k], missing[k])
        for k, name in enumerate(names)
    ]


def _number_name(block: NumberBlock) -> str:
    """Name of the report line: for two words, the one that counts as 1."""
    if block.kind != "boolean" or not len(block.levels):
        return block.column
    top = block.levels.iloc[-1]
    return block.column if isinstance(top, (bool, int, float, np.generic)) else f"{block.column}={top}"
