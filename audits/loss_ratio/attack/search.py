"""Moving people without a gradient, by scores of rows that could be written down.

An estimate of the flow, and labeled so. People move in the encoded space by Eq. 2.6. Along numbers and ranks
the slope is a central difference over a quarter of a standard deviation, at least one whole step, numbers
rounded as the column's are (and within the observed ranges where that is asked for). The flow passes through
shares of categories, which no row can hold: there the log-odds (of k classes the logarithms of their chances,
of a number the number) are taken to lie on straight lines from the person's own category to each other one of
the column, all of which are asked about again every few steps. Models of trees have nothing between
categories, and are asked about the nearest row only. The penalty is taken implicitly, so that long steps stay
stable and 20 of them cover the time of the whole flow. Then every category of every column is tried at the
best point, and of trees whose split points are known a number on either side of each, as nothing changes
between. The longer search goes the whole way again in twice as many steps. Each person keeps the best point
seen, by ℓ - λ d²; beside it the best by the model's own answers about nearest rows, as only these can be
evidence. Starts at random points nearby are no part of it: they reach beyond where the flow ends (of networks
the ratio came out 1.2 times the exact one).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from audits.data.encoder import FeatureSpace
from audits.data.encoder_blocks import LevelBlock, NumberBlock
from audits.data.frames import with_columns
from audits.loss_ratio.attack.flow import Flow
from audits.loss_ratio.attack.targets import Target
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.models.subspaces import category_units
from audits.progress import Progress, silent

SEARCH_STEPS = 20
MAX_SCORED = 2_000_000
"""Rows scored in one audit at most; a sample of the people is drawn above it."""

_NUMBERS = ("continuous", "integer", "datetime", "ordinal")
Splits = Mapping[str, np.ndarray]
"""The sorted numbers at which a model of trees splits each column of numbers."""

_MAX_CROSSED = 40
_WIDTH = 0.25
_EVERY = 4  # steps after which other categories are asked about again
_MAX_ODDS = 12.0  # of a category: a forest's chance of 0 has no logarithm
_NUDGE = 1e-3
_ROWS_AT_ONCE = 20_000
_FAR = 50.0  # standard deviations beyond which no number is written down


@dataclass(frozen=True, eq=False)
class WorstPoints:
    """Where the search took people, and what the model gives there.

    Attributes
    ----------
    flow : Flow
    raw : array (n,) or (n, k)
        What the model gives at the points found, between categories by straight lines.
    shorter : array (n,)
        Losses after the first way.
    reached : array (n,)
        Losses that the model itself has at the nearest row, of the best such point.
    steps : int
        Of the first way; the second took twice as many.
    """

    flow: Flow
    raw: np.ndarray
    shorter: np.ndarray
    reached: np.ndarray
    steps: int


def scorings(space: FeatureSpace, steps: int, splits: Splits | None) -> int:
    """How often each person is scored."""
    numbers = sum(1 for part in space.parts if _is_number(part))
    swaps = sum(len(part.levels) for part in space.parts if not _is_number(part))
    crossed = sum(len(crossing_values(part, splits or {})) for part in space.parts)
    used = min(steps, SEARCH_STEPS)
    asked = sum(-(-stride // _EVERY) for stride in (used, 2 * used))
    asking = 2 * numbers + 1 + (0 if not swaps else 1 if splits is not None else 2)
    return 1 + 3 * used * asking + (asked + 2) * swaps + 2 * crossed


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
    if len(values) > _MAX_CROSSED:
        values = values[np.linspace(0, len(values) - 1, _MAX_CROSSED).round().astype(int)]
    return values


def black_box_flow(
    scored: Target,
    frame: pd.DataFrame,
    space: FeatureSpace,
    metrics: FairMetrics,
    *,
    regularizer: float,
    steps: int,
    step_size: float,
    within_range: bool = False,
    splits: Splits | None = None,
    progress: Progress = silent,
) -> WorstPoints:
    """Move every person, and say where to.

    Parameters
    ----------
    scored : Target
        Asked about raw rows, aligned with `frame`.
    metrics : FairMetrics
        On points of `space` times `category_units`; their `place` is that of these people.
    frame : DataFrame (n, columns)
        The people. Columns outside `space` stay as they are.
    within_range : bool
        Put numbers back into the range observed in `space`.
    splits : mapping of str to array, optional
        Of trees; None for other models.
    """
    search = _Search(scored, frame, space if within_range else _unbounded_space(space), metrics, regularizer)
    used = min(steps, SEARCH_STEPS)
    curve: dict[int, np.ndarray] = {}
    shorter = search.before
    for way, stride in enumerate((used, 2 * used)):
        search.at = search.origin.copy()
        for k in range(stride):
            progress((way + 0.9 * k / stride) / 2, "Moving people by finite differences")
            if k % _EVERY == 0:
                search.ask_categories()
            search.step(steps * step_size / stride, between=splits is None)
            if way == 0:
                curve[round((k + 1) * steps / used)] = search.best.losses.copy()
        progress((way + 0.9) / 2, "Trying other categories")
        search.swap()
        search.cross(splits or {})
        if way == 0:
            shorter = search.best.losses.copy()
    curve[steps] = search.best.losses.copy()
    found = search.best
    flow = Flow(found.z * search.units, search.before, found.losses, search.distance(found.z), curve, 0)
    return WorstPoints(flow, scored.of_odds(found.odds), shorter, search.reached.losses, used)


@dataclass(eq=False)
class _Best:
    """The best point of each person so far: where, the model's log-odds, loss, and ℓ - λ d² there."""

    z: np.ndarray
    odds: np.ndarray
    losses: np.ndarray
    worth: np.ndarray

    def keep(self, z: np.ndarray, odds: np.ndarray, losses: np.ndarray, worth: np.ndarray) -> None:
        """Keep points `z` for the people for whom they are worth more."""
        better = worth > self.worth
        self.z[better], self.odds[better] = z[better], odds[better]
        self.losses[better], self.worth[better] = losses[better], worth[better]


class _Search:
    """The best points so far, and how to look for better ones."""

    def __init__(
        self,
        scored: Target,
        frame: pd.DataFrame,
        space: FeatureSpace,
        metrics: FairMetrics,
        regularizer: float,
    ) -> None:
        self.scored, self.frame, self.space = scored, frame, space
        self.regularizer = regularizer
        folds = [(np.flatnonzero(metrics.place == k), part) for k, part in enumerate(metrics.parts)]
        self.folds = [(people, metric) for people, metric in folds if people.size]
        self.units = category_units(space)
        self.origin = space.encode(frame)
        self.at = self.origin.copy()
        odds = self.odds(frame)
        self.before = self.losses(odds)
        self.best, self.reached = (
            _Best(self.origin.copy(), odds.copy(), self.before.copy(), self.before.copy()) for _ in range(2)
        )
        self.numbers = [part for part in space.parts if _is_number(part)]
        self.others = [part for part in space.parts if not _is_number(part)]
        self.missing = {part.column: frame[part.column].isna().to_numpy() for part in self.numbers}
        self.places = np.array([space.blocks[part.column].start for part in self.numbers], dtype=int)
        self.shares = np.array([k for part in self.others for k in self._columns(part)], dtype=int)
        self.movable = np.r_[self.places, self.shares]
        self.rises = np.zeros((*self.at.shape, odds.shape[1]))  # of the odds, by a whole category

    def _columns(self, part: LevelBlock | NumberBlock) -> range:
        """Encoded columns of a category's values, without one that marks the missing of a yes or no."""
        block = self.space.blocks[part.column]
        return range(block.start, block.stop if isinstance(part, LevelBlock) else block.start + 1)

    def odds(self, frame: pd.DataFrame) -> np.ndarray:
        """What the model gives about rows, (n, k) on a scale without ends."""
        return self.scored.odds(self.scored.raw(frame))

    def losses(self, odds: np.ndarray) -> np.ndarray:
        """Losses (n,) of that."""
        return self.scored.losses(self.scored.of_odds(odds))

    def distance(self, z: np.ndarray) -> np.ndarray:
        """Squared fair distances (n,) of points `z` of the space from where the people are."""
        found = np.empty(len(z))
        for people, metric in self.folds:
            found[people] = metric.squared_distance(z[people] * self.units, self.origin[people] * self.units)
        return found

    def rows(self, z: np.ndarray) -> pd.DataFrame:
        """Raw rows at points `z`, of everyone or of everyone again and again.

        People who have not moved keep their own values exactly.
        """
        times = len(z) // len(self.origin)
        frame = self.frame.iloc[np.tile(np.arange(len(self.frame)), times)] if times > 1 else self.frame
        made = self.space.decode(z).set_axis(frame.index)
        still = (z == np.tile(self.origin, (times, 1))).all(axis=1)
        changed = {
            name: made[name].set_axis(range(len(z))).where(~still, frame[name].set_axis(range(len(z))))
            for name in made.columns
        }
        return with_columns(frame, {name: values.set_axis(frame.index) for name, values in changed.items()})

    def own(self, z: np.ndarray) -> pd.DataFrame:
        """Raw rows with the numbers of points `z` and the people's own categories, as `rows` makes them."""
        at = np.tile(self.origin, (len(z) // len(self.origin), 1))
        at[:, self.places] = z[:, self.places]
        return self.rows(at)

    def odds_of_all(self, points: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Odds (n, k) at the numbers of each of many points (n, d): models are asked in few calls."""
        together = max(1, _ROWS_AT_ONCE // max(len(self.origin), 1))
        found: list[np.ndarray] = []
        for start in range(0, len(points), together):
            some = points[start : start + together]
            found += np.split(self.odds(self.own(np.concatenate(some))), len(some))
        return found

    def ask_categories(self) -> None:
        """Note how the odds rise from the person's own category to each other one, numbers as they are."""
        start = self.own(self.at)
        for part in self.others:
            levels = part.levels[part.levels.notna()]
            swapped = list(self._swap_levels(start, part, levels))
            small = len(swapped) * len(start) <= _ROWS_AT_ONCE
            asked = [pd.concat(swapped)] if small and swapped else swapped
            told = np.concatenate([self.odds(rows) for rows in asked])
            odds = np.stack(np.split(told, len(swapped)), axis=1)
            odds = np.clip(odds, -_MAX_ODDS, _MAX_ODDS) if self.scored.kind != "number" else odds
            if isinstance(part, NumberBlock):  # yes or no: one column, from 0 to 1
                if odds.shape[1] == 2:
                    self.rises[:, self._columns(part)[0]] = odds[:, 1] - odds[:, 0]
                continue
            places = list(self._columns(part))[: odds.shape[1]]
            self.rises[:, places] = odds - odds.mean(axis=1, keepdims=True)

    def between(self, z: np.ndarray) -> np.ndarray:
        """How far the odds have risen (n, k) from the person's own categories to the shares of `z`."""
        moved = ((z - self.origin) * self.units)[:, self.shares]
        return np.einsum("ij,ijk->ik", moved, self.rises[:, self.shares])

    def step(self, length: float, *, between: bool) -> None:
        """One implicit Euler step of `length` along everything that can move."""
        gradient = np.zeros_like(self.at)
        risen = self.between(self.at)
        widths = [
            max(_WIDTH, 1.0 / part.sd if part.step else 0.0)  # type: ignore[union-attr]
            for part in self.numbers
        ]
        points = [self.at] if len(self.shares) else []
        for column, width in zip(self.places, widths, strict=True):
            for side in (1, -1):
                points.append(self.at.copy())
                points[-1][:, column] += side * width
        odds = self.odds_of_all(points)
        here = odds.pop(0) + risen if len(self.shares) else risen
        losses = [self.losses(each + risen) for each in odds]
        for k, (part, width) in enumerate(zip(self.numbers, widths, strict=True)):
            slope = (losses[2 * k] - losses[2 * k + 1]) / (2 * width)
            gradient[:, self.places[k]] = np.where(self.missing[part.column], 0.0, slope)
        for column in self.shares:
            nudge = _NUDGE * self.rises[:, column]
            gradient[:, column] = (self.losses(here + nudge) - self.losses(here - nudge)) / (2 * _NUDGE)
        units, free = self.units[self.movable], np.ix_(self.movable, self.movable)
        towards = (self.at - self.origin)[:, self.movable] * units + length * gradient[:, self.movable]
        for people, metric in self.folds:
            pull = np.eye(len(units)) + 2 * self.regularizer * length * metric.matrix[free]
            shift = np.linalg.solve(pull, towards[people].T).T / units
            self.at[np.ix_(people, self.movable)] = self.origin[np.ix_(people, self.movable)] + shift
        for part in self.numbers:
            column = self.space.blocks[part.column].start
            if isinstance(part, NumberBlock):
                low, high = ((end - part.mean) / part.sd for end in (part.low, part.high))
                known = ~self.missing[part.column]
                self.at[known, column] = np.clip(self.at[known, column], low, high)
        self.keep(self.rows(self.at), self.at)
        if between and len(self.shares):
            there = self.odds(self.own(self.at)) + self.between(self.at)
            loss = self.losses(there)
            self.best.keep(self.at, there, loss, loss - self.regularizer * self.distance(self.at))

    def swap(self) -> None:
        """Try every other category of every feature, one at a time, from the best points."""
        for part in self.others:
            start = self.rows(self.reached.z)  # with the best of the columns tried before
            levels = part.levels[part.levels.notna()]
            places = list(self._columns(part))
            for rows in self._swap_levels(start, part, levels):
                z = self.reached.z.copy()
                z[:, places] = part.encode(rows[part.column], unknown="zero")[:, : len(places)]
                self.keep(rows, z)

    def cross(self, splits: Splits) -> None:
        """Try a number of each stretch between the split points of trees, a column at a time."""
        for part in self.numbers:
            for value in crossing_values(part, splits):
                assert isinstance(part, NumberBlock)  # noqa: S101  (numbers are)
                if part.low <= value <= part.high:
                    z = self.reached.z.copy()
                    here = ~self.missing[part.column]
                    z[here, self.space.blocks[part.column].start] = (value - part.mean) / part.sd
                    self.keep(self.rows(z), z)

    def _swap_levels(
        self, start: pd.DataFrame, part: LevelBlock | NumberBlock, levels: pd.Series
    ) -> Iterator[pd.DataFrame]:
        for level in levels:
            column = pd.Series(level, index=start.index).astype(start[part.column].dtype)
            yield with_columns(start, {part.column: column})

    def keep(self, rows: pd.DataFrame, z: np.ndarray) -> None:
        """Keep points `z`, whose nearest rows these are, for the people for whom they are worth more."""
        odds = self.odds(rows)
        losses = self.losses(odds)
        worth = losses - self.regularizer * self.distance(z)
        self.best.keep(z, odds, losses, worth)
        self.reached.keep(z, odds, losses, worth)


def _is_number(part: LevelBlock | NumberBlock) -> bool:
    return isinstance(part, NumberBlock) and part.kind in _NUMBERS


def _unbounded_space(space: FeatureSpace) -> FeatureSpace:
    """The space with numbers that may leave their observed range; dates stay within it."""
    return replace(space, parts=tuple(_widen(part) for part in space.parts))


def _widen(part: LevelBlock | NumberBlock) -> LevelBlock | NumberBlock:
    if not isinstance(part, NumberBlock) or part.kind not in {"continuous", "integer"}:
        return part
    low, high = part.mean - _FAR * part.sd, part.mean + _FAR * part.sd
    dtype = getattr(part.levels.dtype, "numpy_dtype", part.levels.dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        low, high = max(low, float(np.iinfo(dtype).min)), min(high, float(np.iinfo(dtype).max))
    return replace(part, low=min(low, part.low), high=max(high, part.high))
