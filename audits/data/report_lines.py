"""The lines of a transparency report: what tells how two people differ, and in what unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.data.encoder_blocks import LevelBlock, NumberBlock


@dataclass(frozen=True)
class ReportLine:
    """A line of a transparency report: one column of the points that people are matched on.

    Attributes
    ----------
    name, column : str
        What the line is called, and the raw feature behind it.
    index : int
        Column of the points.
    unit : float
        What a step of 1 of the points is in the feature's own unit; of a level, as a share of people.
    deviation : float
        Standard deviation among the audited people in the feature's own unit; 0 for a constant.
    missing : int or None
        Column of the points that is above 0 where the feature is missing.
    """

    name: str
    column: str
    index: int
    unit: float
    deviation: float
    missing: int | None


def report_lines(
    block: NumberBlock | LevelBlock, first: int, points: np.ndarray, sizes: np.ndarray
) -> list[ReportLine]:
    """Return the lines of one feature.

    Parameters
    ----------
    first : int
        Its first column among those that people are matched on.
    points : array (n, d)
        Its own columns of the points.
    sizes : array (n,)
        What each row counts.
    """
    mean = np.average(points, axis=0, weights=sizes)
    deviation = np.sqrt(np.average((points - mean) ** 2, axis=0, weights=sizes))
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
        ReportLine(name, block.column, first + k, units[k], float(deviation[k]) * units[k], missing[k])
        for k, name in enumerate(names)
    ]


def _number_name(block: NumberBlock) -> str:
    """Name of the report line: for two words, the one that counts as 1."""
    if block.kind != "boolean" or not len(block.levels):
        return block.column
    top = block.levels.iloc[-1]
    return block.column if isinstance(top, (bool, int, float, np.generic)) else f"{block.column}={top}"
