"""Sensitivity of a model without a gradient: finite differences of numbers, swaps of categories.

Numbers are moved up and down by a step, as admissible values (whole numbers by whole steps, nobody out of
the range seen), and the slope is taken per standard deviation. A category or a yes/no is swapped for each
other one; its part is the mean of |change of A's log-odds| |change of F| over the other values, weighted
by how common these are among the people audited. A has a gradient always, so only F is asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from audits.data.blocks import Block, NumberBlock
from audits.data.frames import with_columns
from audits.data.space import FeatureSpace
from audits.progress import Progress, silent
from audits.sensitivity.measuring import Measured, Status

__all__ = ["level_counts", "measure_blackbox"]

Score = Callable[[pd.DataFrame], np.ndarray]


def measure_blackbox(
    frame: pd.DataFrame,
    z: np.ndarray,
    score: Score,
    columns: Sequence[str],
    statuses: Sequence[Status],
    space: FeatureSpace,
    *,
    step: float,
    literal: bool = False,
    counts: Mapping[str, Sequence[float]] | None = None,
    progress: Progress = silent,
) -> Measured:
    """Return sensitivities of the rows of `frame` at points `z` (n, d) with F known by its scores only.

    Parameters
    ----------
    score : callable
        Scores (n,) of raw rows.
    columns : sequence of str
        Raw columns that the model reads; the others have no influence.
    step : float
        In standard deviations; at least one whole step of a whole number.
    counts : mapping of str to sequence of float, optional
        People by value of each column that is swapped, from `level_counts`; of these rows by default.
    """
    base = score(frame)
    if counts is None:
        counts = level_counts(z, space)
    gradients = [_gradient(z, status, literal) for status in statuses]
    influence = np.zeros(len(z))
    parts = np.zeros((len(statuses), len(z), len(space.parts)))
    for place, block in enumerate(space.parts):
        progress(place / len(space.parts), f"moving {block.column}")
        if block.column not in columns:
            continue
        if isinstance(block, NumberBlock) and block.kind != "boolean":
            slope = np.abs(_slope(frame, z, score, block, space, step))
            influence += slope
            at = space.blocks[block.column].start
            for k, gradient in enumerate(gradients):
                parts[k, :, place] = slope * np.abs(gradient[:, at])
        else:
            common = np.asarray(counts[block.column], dtype=float)
            moved, effects = _swaps(frame, z, base, score, block, space, statuses, literal, common)
            influence += moved
            parts[:, :, place] = effects
    by_attribute = parts.sum(axis=2).T
    largest = by_attribute.argmax(axis=1)
    return Measured(base, by_attribute, parts[largest, np.arange(len(z))], influence)


def level_counts(z: np.ndarray, space: FeatureSpace) -> dict[str, list[float]]:
    """Return how many of the points `z` (n, d) have each value of the columns that are swapped.

    A value that nobody has counts a little: half a person.
    """
    return {
        block.column: np.maximum(_owners(z, block, space).sum(axis=1), 0.5).tolist()
        for block in space.parts
        if not isinstance(block, NumberBlock) or block.kind == "boolean"
    }


def _owners(z: np.ndarray, block: Block, space: FeatureSpace) -> np.ndarray:
    """Return who has which value of a column, (levels, n) bool."""
    own = z[:, space.blocks[block.column]]
    codes = block.encode(block.levels, unknown="zero")  # (levels, width)
    return np.array([np.all(own == code, axis=1) for code in codes])


def _gradient(z: np.ndarray, status: Status, literal: bool) -> np.ndarray:
    outputs, hidden = status.network.forward(z)
    return status.network.backward(status.head(outputs, literal=literal), hidden)


def _slope(
    frame: pd.DataFrame, z: np.ndarray, score: Score, block: NumberBlock, space: FeatureSpace, step: float
) -> np.ndarray:
    """Central difference of F per standard deviation of one column of numbers, (n,); 0 where missing."""
    own = z[:, space.blocks[block.column]]
    reach = max(step, block.step / block.sd) if block.step else step
    ends = []
    for sign in (-1.0, 1.0):
        moved = own.copy()
        moved[:, 0] += sign * reach
        raw = block.decode(moved).set_axis(frame.index)
        ends.append(
            (score(with_columns(frame, {block.column: raw})), block.encode(raw, unknown="zero")[:, 0])
        )
    rise, run = ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]
    return np.divide(rise, run, out=np.zeros_like(rise), where=run > 1e-12)


def _swaps(
    frame: pd.DataFrame,
    z: np.ndarray,
    base: np.ndarray,
    score: Score,
    block: Block,
    space: FeatureSpace,
    statuses: Sequence[Status],
    literal: bool,
    common: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean change of F (n,), and of A's times F's by model (a, n), over the other values of one column."""
    at = space.blocks[block.column]
    levels = block.levels
    codes = block.encode(levels, unknown="zero")  # (levels, width)
    weight = np.where(_owners(z, block, space), 0.0, common[:, None])
    weight /= np.maximum(weight.sum(axis=0), 1e-300)
    moved = np.zeros(len(z))
    effects = np.zeros((len(statuses), len(z)))
    before = [_level_of(z, status, literal) for status in statuses]
    for k in range(len(levels)):
        raw = pd.Series(levels.array.take(np.full(len(frame), k)), index=frame.index, name=block.column)
        change = np.abs(score(with_columns(frame, {block.column: raw})) - base) * weight[k]
        moved += change
        there = z.copy()
        there[:, at] = codes[k]
        for place, status in enumerate(statuses):
            effects[place] += change * np.abs(_level_of(there, status, literal, like=z) - before[place])
    return moved, effects


def _level_of(z: np.ndarray, status: Status, literal: bool, like: np.ndarray | None = None) -> np.ndarray:
    """A's log-odds (or probability) of the group that is likeliest at `like` (or at `z`), (n,)."""
    p = status.probabilities(z)
    if p.shape[1] == 2:
        group = np.ones(len(z), dtype=int)
        odds = status.network.outputs(z)[:, 0]
    else:
        out = status.network.outputs(z)
        group = (out if like is None else status.network.outputs(like)).argmax(axis=1)
        rows = np.arange(len(z))
        others = out.copy()
        others[rows, group] = -np.inf
        odds = out[rows, group] - np.logaddexp.reduce(others, axis=1)
    return p[np.arange(len(z)), group] if literal else odds
