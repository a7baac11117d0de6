"""Sensitivity of a model without a gradient: finite differences of numbers, swaps of categories.

Numbers are moved up and down by a step, as admissible values (whole numbers by whole steps, nobody out of
the range seen), and the slope is taken per standard deviation. A category or a yes/no is swapped for each
other one; its part is the mean of |change of A's log-odds| |change of F| over the other values, weighted
by how common these are among the people audited. A has a gradient always, so only F is asked again: about
all moved copies of as many people at once as `_ROWS` rows hold, because a call costs more than many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.data.encoder import FeatureSpace
from audits.data.encoder_blocks import Block, NumberBlock
from audits.data.frames import with_columns
from audits.progress import Progress, silent
from audits.sensitivity.measurement.gradients import Measured, Status, status_gradient

_ROWS = 65_536
"""Rows of a frame that the model is asked about, where a single person's copies are fewer."""

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
    if counts is None:
        counts = level_counts(z, space)
    asked = _Asked(score, frozenset(columns), tuple(statuses), space, step, literal, counts)
    frame = frame[[column for column in frame.columns if column in asked.columns]]
    copies = 1 + sum(copies_of(block) for block in space.parts if block.column in asked.columns)
    at_once = max(1, _ROWS // copies)
    found = []
    for start in range(0, max(len(z), 1), at_once):
        progress(start / max(len(z), 1), f"moving features of {start:,} of {len(z):,} people")
        found.append(_chunk(frame.iloc[start : start + at_once], z[start : start + at_once], asked))
    return Measured(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


@dataclass(frozen=True, eq=False)
class _Asked:
    """What stays the same for all people."""

    score: Score
    columns: frozenset[str]
    statuses: tuple[Status, ...]
    space: FeatureSpace
    step: float
    literal: bool
    counts: Mapping[str, Sequence[float]]


def is_moved(block: Block) -> bool:
    """Whether a column is moved up and down, not swapped."""
    return isinstance(block, NumberBlock) and block.kind != "boolean"


def copies_of(block: Block) -> int:
    """How many moved copies of a person one column takes."""
    return 2 if is_moved(block) else len(block.levels)


def _chunk(
    frame: pd.DataFrame, z: np.ndarray, asked: _Asked
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ask the model once about these people and all their moved copies: the parts of a `Measured`."""
    n, space = len(z), asked.space
    read = [(place, block) for place, block in enumerate(space.parts) if block.column in asked.columns]
    moves = [_moves(z, block, asked) for _, block in read]
    stacked = _stack_moves(frame, {block.column: raw for (_, block), raw in zip(read, moves, strict=True)})
    scores = asked.score(stacked).reshape(1 + sum(copies_of(block) for _, block in read), n)
    base, at = scores[0], 1
    gradients = [status_gradient(z, status, asked.literal) for status in asked.statuses]
    standing = [StatusAt.of(status, z, asked.literal) for status in asked.statuses]
    influence = np.zeros(n)
    parts = np.zeros((len(asked.statuses), n, len(space.parts)))
    for (place, block), raw in zip(read, moves, strict=True):
        own, at = scores[at : at + copies_of(block)], at + copies_of(block)
        if isinstance(block, NumberBlock) and is_moved(block):
            slope = np.abs(_slope(own, raw, block))
            influence += slope
            first = space.blocks[block.column].start
            for k, gradient in enumerate(gradients):
                parts[k, :, place] = slope * np.abs(gradient[:, first])
        else:
            codes = block.encode(block.levels, unknown="zero")  # (levels, width)
            where = space.blocks[block.column]
            common = np.asarray(asked.counts[block.column], dtype=float)
            weight = np.where(owners_of(z[:, where], codes), 0.0, common[:, None])
            weight /= np.maximum(weight.sum(axis=0), 1e-300)
            changes = np.abs(own - base) * weight  # (levels, n)
            influence += changes.sum(axis=0)
            there = np.repeat(z[None], len(codes), axis=0)  # (levels, n, d)
            there[:, :, where] = codes[:, None]
            for k, each in enumerate(standing):
                parts[k, :, place] = (changes * each.changes(there)).sum(axis=0)
    by_attribute = parts.sum(axis=2).T
    largest = by_attribute.argmax(axis=1)
    return base, by_attribute, parts[largest, np.arange(n)], influence


def _moves(z: np.ndarray, block: Block, asked: _Asked) -> pd.Series:
    """Return the raw values of one column in all moved copies, (copies n,): down and up, or every level."""
    if isinstance(block, NumberBlock) and is_moved(block):
        own = z[:, asked.space.blocks[block.column]]
        reach = max(asked.step, block.step / block.sd) if block.step else asked.step
        moved = np.concatenate([own, own])
        moved[: len(z), 0] -= reach
        moved[len(z) :, 0] += reach
        return block.decode(moved)
    return pd.Series(block.levels.array.take(np.repeat(np.arange(len(block.levels)), len(z))))


def _stack_moves(frame: pd.DataFrame, moves: Mapping[str, pd.Series]) -> pd.DataFrame:
    """Return the rows of `frame`, and again once for every moved copy, its column replaced."""
    copies = 1 + sum(map(len, moves.values())) // max(len(frame), 1)
    made = frame.iloc[np.tile(np.arange(len(frame)), copies)]
    columns, at = {}, len(frame)
    for column, raw in moves.items():
        end = at + len(raw)
        if made[column].dtype == raw.dtype:
            columns[column] = made[column].array.copy()
            columns[column][at:end] = raw.array
        else:
            pieces = [made[column].iloc[:at], raw, made[column].iloc[end:]]
            columns[column] = pd.concat(pieces, ignore_index=True).array
        at = end
    return with_columns(made, columns)


@dataclass(frozen=True, eq=False)
class StatusAt:
    """Where one A sees people: the group likeliest (n,) and its log-odds or probability there (n,)."""

    status: Status
    literal: bool
    group: np.ndarray
    level: np.ndarray

    @classmethod
    def of(cls, status: Status, z: np.ndarray, literal: bool) -> StatusAt:
        """Look at points (n, d)."""
        outputs = status.network.outputs(z)
        group = outputs.argmax(axis=1)
        return cls(status, literal, group, _level(outputs, group, literal))

    def changes(self, there: np.ndarray) -> np.ndarray:
        """Return |change of the level| at moved points, (moves, n, d) -> (moves, n)."""
        moves, n, width = there.shape
        outputs = self.status.network.outputs(there.reshape(-1, width))
        level = _level(outputs, np.tile(self.group, moves), self.literal)
        return np.abs(level.reshape(moves, n) - self.level)


def _level(outputs: np.ndarray, group: np.ndarray, literal: bool) -> np.ndarray:
    """A's log-odds (or probability) of each person's `group`, (n,); of the second where there are two."""
    if outputs.shape[1] == 1:
        return expit(outputs[:, 0]) if literal else outputs[:, 0]
    rows = np.arange(len(outputs))
    if literal:
        return softmax(outputs, axis=1)[rows, group]
    others = outputs.copy()
    others[rows, group] = -np.inf
    return outputs[rows, group] - np.logaddexp.reduce(others, axis=1)


def level_counts(z: np.ndarray, space: FeatureSpace) -> dict[str, list[float]]:
    """Return how many of the points `z` (n, d) have each value of the columns that are swapped.

    A value that nobody has counts a little: half a person.
    """
    return {
        block.column: np.maximum(
            owners_of(z[:, space.blocks[block.column]], block.encode(block.levels, unknown="zero")).sum(
                axis=1
            ),
            0.5,
        ).tolist()
        for block in space.parts
        if not is_moved(block)
    }


def owners_of(own: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return who has which value of a column, (n, width) and (levels, width) -> (levels, n) bool."""
    owners = np.zeros((len(codes), len(own)), dtype=bool)  # a column without values has no level at all
    for level, code in enumerate(codes):
        owners[level] = np.all(own == code, axis=1)
    return owners


def _slope(scores: np.ndarray, raw: pd.Series, block: NumberBlock) -> np.ndarray:
    """Central difference of `scores` (2, n) per standard deviation of one column, (n,); 0 where missing."""
    low, high = block.encode(raw, unknown="zero")[:, 0].reshape(2, -1)
    rise, run = scores[1] - scores[0], high - low
    return np.divide(rise, run, out=np.zeros_like(rise), where=run > 1e-12)
