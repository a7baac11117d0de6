"""Moving people without a gradient, by scores of rows that could be written down.

An estimate of the flow, and labelled so. People move in the encoded space by Eq. 2.6; the model is asked
about the nearest row that could be written down: numbers rounded as the column's are (and within the observed
ranges where that is asked for), whole categories. Slopes along numbers and ranks are central differences over
a quarter of a standard deviation, at least one whole step; those along categories are what changing the
person's own category does. The penalty is taken implicitly, so that long steps stay stable and 20 of them
cover the time of the whole flow. Then every category of every column is tried at the best point, and of trees
whose split points are known a number on either side of each, as nothing changes between. The longer search
goes the whole way again in twice as many steps, with the slopes at the points found. Each person
keeps the best point seen, by ℓ - λ d². Starts at random points nearby are no part of it: they reach beyond
where the flow ends (of networks the ratio came out 1.2 times the exact one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from audits.data.blocks import LevelBlock, NumberBlock
from audits.data.frames import with_columns
from audits.data.space import FeatureSpace
from audits.loss_ratio.flow import Flow
from audits.loss_ratio.metrics import FairMetric
from audits.models.subspaces import category_units
from audits.progress import Progress, silent

__all__ = ["MOST_SCORED", "SEARCH_STEPS", "Found", "Splits", "black_box_flow", "scorings"]

SEARCH_STEPS = 20
MOST_SCORED = 2_000_000
"""Rows scored in one audit at most; a sample of the people is drawn above it."""

_NUMBERS = ("continuous", "integer", "datetime", "ordinal")
Splits = Mapping[str, np.ndarray]
"""The sorted numbers at which a model of trees splits each column of numbers."""

_MOST_CROSSED = 40
_WIDTH = 0.25
_FAR = 50.0  # standard deviations beyond which no number is written down


@dataclass(frozen=True, eq=False)
class Found:
    """Where the search took people: the flow, their rows there, and their losses after the first way."""

    flow: Flow
    after: pd.DataFrame
    shorter: np.ndarray


def scorings(space: FeatureSpace, steps: int, splits: Splits) -> int:
    """How often each person is scored."""
    numbers = sum(1 for part in space.parts if _is_number(part))
    swaps = sum(len(part.levels) for part in space.parts if not _is_number(part))
    crossed = sum(len(crossing_values(part, splits)) for part in space.parts)
    return 1 + 3 * min(steps, SEARCH_STEPS) * (2 * numbers + 1) + 4 * swaps + 2 * crossed


def crossing_values(part: LevelBlock | NumberBlock, splits: Splits) -> np.ndarray:
    """Return one number of a column for each stretch between the split points of trees.

    Halfway between two of them, as the column's numbers are rounded; of more than 40, 40 at even places.
    """
    known = splits.get(part.column)
    if known is None or not isinstance(part, NumberBlock) or part.kind not in {"continuous", "integer"}:
        return np.empty(0)
    reach = max(part.step, 1e-3 * part.sd)
    values = np.r_[known[0] - reach, (known[1:] + known[:-1]) / 2, known[-1] + reach]
    if part.step:
        grid = values / part.step
        values = np.r_[np.floor(grid), np.ceil(grid)] * part.step
    values = np.unique(values)
    if len(values) > _MOST_CROSSED:
        values = values[np.linspace(0, len(values) - 1, _MOST_CROSSED).round().astype(int)]
    return values


def black_box_flow(
    losses_of: Callable[[pd.DataFrame], np.ndarray],
    frame: pd.DataFrame,
    space: FeatureSpace,
    metric: FairMetric,
    *,
    regularizer: float,
    steps: int,
    step_size: float,
    within_range: bool = False,
    splits: Splits | None = None,
    progress: Progress = silent,
) -> Found:
    """Move every person, and say where to, as points and as raw rows.

    Parameters
    ----------
    losses_of : callable
        Raw rows, aligned with `frame`, to the losses of the people's own labels (n,).
    metric : FairMetric
        On points of `space` times `category_units`.
    frame : DataFrame (n, columns)
        The people. Columns outside `space` stay as they are.
    within_range : bool
        Put numbers back into the range observed in `space`.
    splits : mapping of str to array, optional
        Of trees.
    """
    search = _Search(losses_of, frame, space if within_range else _unbounded(space), metric, regularizer)
    used = min(steps, SEARCH_STEPS)
    curve: dict[int, np.ndarray] = {}
    shorter = search.before
    for way, stride in enumerate((used, 2 * used)):
        search.restart()
        for k in range(stride):
            progress((way + 0.9 * k / stride) / 2, "Moving people by finite differences")
            search.step(steps * step_size / stride)
            if way == 0:
                curve[round((k + 1) * steps / used)] = search.losses.copy()
        progress((way + 0.9) / 2, "Trying other categories")
        search.swap()
        search.cross(splits or {})
        if way == 0:
            shorter = search.losses.copy()
    curve[steps] = search.losses.copy()
    distance = search.distance(search.best)
    flow = Flow(search.best * search.units, search.before, search.losses, distance, curve, 0)
    return Found(flow, search.rows(search.best), shorter)


class _Search:
    """The best point of each person so far, and how to look for better ones."""

    def __init__(
        self,
        losses_of: Callable[[pd.DataFrame], np.ndarray],
        frame: pd.DataFrame,
        space: FeatureSpace,
        metric: FairMetric,
        regularizer: float,
    ) -> None:
        self.losses_of, self.frame, self.space = losses_of, frame, space
        self.metric, self.regularizer = metric, regularizer
        self.units = category_units(space)
        self.origin = space.encode(frame)
        self.at = self.origin.copy()
        self.best = self.origin.copy()
        self.before = losses_of(frame)
        self.losses = self.before.copy()
        self.worth = self.losses.copy()  # ℓ - λ d² of the best points
        self.numbers = [part for part in space.parts if _is_number(part)]
        self.others = [part for part in space.parts if not _is_number(part)]
        self.missing = {part.column: frame[part.column].isna().to_numpy() for part in self.numbers}
        self.movable = np.array(
            [space.blocks[part.column].start for part in self.numbers]
            + [k for part in self.others for k in self._columns(part)],
            dtype=int,
        )
        self.slopes = np.zeros_like(self.at)

    def _columns(self, part: LevelBlock | NumberBlock) -> range:
        """Encoded columns of a category's values, without one that marks the missing of a yes or no."""
        block = self.space.blocks[part.column]
        return range(block.start, block.stop if isinstance(part, LevelBlock) else block.start + 1)

    def distance(self, z: np.ndarray) -> np.ndarray:
        """Squared fair distances (n,) of points `z` of the space from where the people are."""
        return self.metric.squared_distance(z * self.units, self.origin * self.units)

    def rows(self, z: np.ndarray) -> pd.DataFrame:
        """Raw rows at points `z`; people who have not moved keep their own values exactly."""
        made = self.space.decode(z).set_axis(self.frame.index)
        still = (z == self.origin).all(axis=1)
        changed = {name: made[name].where(~still, self.frame[name]) for name in made.columns}
        return with_columns(self.frame, changed)

    def restart(self) -> None:
        """Go back to where people are, with the slopes along categories at the best points."""
        self.at = self.origin.copy()
        self.slopes = np.zeros_like(self.at)
        start = self.rows(self.best)
        for part in self.others:
            levels = part.levels[part.levels.notna()]
            losses = np.stack([self.losses_of(row) for row in self._swapped(start, part, levels)], axis=1)
            if isinstance(part, NumberBlock):  # yes or no: one column, from 0 to 1
                if losses.shape[1] == 2:
                    self.slopes[:, self._columns(part)[0]] = losses[:, 1] - losses[:, 0]
                continue
            places = list(self._columns(part))[: losses.shape[1]]
            self.slopes[:, places] = losses - losses.mean(axis=1, keepdims=True)

    def step(self, length: float) -> None:
        """One implicit Euler step of `length` along everything that can move."""
        gradient = self.slopes.copy()
        for part in self.numbers:
            column = self.space.blocks[part.column].start
            width = max(_WIDTH, 1.0 / part.sd if part.step else 0.0)  # type: ignore[union-attr]
            ends = []
            for side in (1, -1):
                z = self.at.copy()
                z[:, column] += side * width
                ends.append(self.losses_of(self.rows(z)))
            slope = (ends[0] - ends[1]) / (2 * width)
            gradient[:, column] = np.where(self.missing[part.column], 0.0, slope)
        units, free = self.units[self.movable], np.ix_(self.movable, self.movable)
        pull = np.eye(len(units)) + 2 * self.regularizer * length * self.metric.matrix[free]
        towards = (self.at - self.origin)[:, self.movable] * units + length * gradient[:, self.movable]
        shift = np.linalg.solve(pull, towards.T).T / units
        self.at[:, self.movable] = self.origin[:, self.movable] + shift
        for part in self.numbers:
            column = self.space.blocks[part.column].start
            if isinstance(part, NumberBlock):
                low, high = ((end - part.mean) / part.sd for end in (part.low, part.high))
                here = ~self.missing[part.column]
                self.at[here, column] = np.clip(self.at[here, column], low, high)
        self.keep(self.losses_of(self.rows(self.at)), self.at)

    def swap(self) -> None:
        """Try every other category of every feature, one at a time, from the best points."""
        for part in self.others:
            start = self.rows(self.best)  # with the best of the columns tried before
            levels = part.levels[part.levels.notna()]
            places = list(self._columns(part))
            for rows in self._swapped(start, part, levels):
                z = self.best.copy()
                z[:, places] = part.encode(rows[part.column], unknown="zero")[:, : len(places)]
                self.keep(self.losses_of(rows), z)

    def cross(self, splits: Splits) -> None:
        """Try a number of each stretch between the split points of trees, a column at a time."""
        for part in self.numbers:
            for value in crossing_values(part, splits):
                assert isinstance(part, NumberBlock)  # noqa: S101  (numbers are)
                if part.low <= value <= part.high:
                    z = self.best.copy()
                    here = ~self.missing[part.column]
                    z[here, self.space.blocks[part.column].start] = (value - part.mean) / part.sd
                    self.keep(self.losses_of(self.rows(z)), z)

    def _swapped(
        self, start: pd.DataFrame, part: LevelBlock | NumberBlock, levels: pd.Series
    ) -> Iterator[pd.DataFrame]:
        for level in levels:
            column = pd.Series(level, index=start.index).astype(start[part.column].dtype)
            yield with_columns(start, {part.column: column})

    def keep(self, losses: np.ndarray, z: np.ndarray) -> None:
        """Keep points `z` of these losses for the people for whom they are worth more than the best yet."""
        worth = losses - self.regularizer * self.distance(z)
        better = worth > self.worth
        self.best[better], self.losses[better], self.worth[better] = z[better], losses[better], worth[better]


def _is_number(part: LevelBlock | NumberBlock) -> bool:
    return isinstance(part, NumberBlock) and part.kind in _NUMBERS


def _unbounded(space: FeatureSpace) -> FeatureSpace:
    """The space with numbers that may leave their observed range; dates stay within it."""
    return replace(space, parts=tuple(_widened(part) for part in space.parts))


def _widened(part: LevelBlock | NumberBlock) -> LevelBlock | NumberBlock:
    if not isinstance(part, NumberBlock) or part.kind not in {"continuous", "integer"}:
        return part
    low, high = part.mean - _FAR * part.sd, part.mean + _FAR * part.sd
    dtype = getattr(part.levels.dtype, "numpy_dtype", part.levels.dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        low, high = max(low, float(np.iinfo(dtype).min)), min(high, float(np.iinfo(dtype).max))
    return replace(part, low=min(low, part.low), high=max(high, part.high))
