"""Moving people without a gradient: finite differences along numbers, then the best change of one category.

An estimate of the flow, and labelled so. Only admissible rows are scored (numbers rounded and within
their observed range, whole categories). Numbers follow the flow of Eq. 2.6 with central differences over
a quarter of a standard deviation (at least one unit of a whole number); its penalty is taken implicitly,
so that long steps stay stable and 20 of them cover the time of the whole flow. Each person keeps the best
point seen, by ℓ - λ d².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from audits.data.blocks import LevelBlock, NumberBlock
from audits.data.frames import with_columns
from audits.data.space import FeatureSpace
from audits.loss_ratio.flow import Flow
from audits.loss_ratio.metrics import FairMetric
from audits.models.subspaces import category_units
from audits.progress import Progress, silent

__all__ = ["BLACK_BOX_STEPS", "MOST_SCORED", "black_box_flow", "scorings"]

BLACK_BOX_STEPS = 20
MOST_SCORED = 2_000_000
"""Rows scored in one audit at most; a sample of the people is drawn above it."""

_NUMBERS = ("continuous", "integer", "datetime")
_WIDTH = 0.25


def scorings(space: FeatureSpace, steps: int) -> int:
    """How often each person is scored."""
    numbers = sum(1 for part in space.parts if _is_number(part))
    swaps = sum(len(part.levels) for part in space.parts if not _is_number(part))
    return 1 + (min(steps, BLACK_BOX_STEPS) * (2 * numbers + 1) if numbers else 0) + swaps


def black_box_flow(
    losses_of: Callable[[pd.DataFrame], np.ndarray],
    frame: pd.DataFrame,
    space: FeatureSpace,
    metric: FairMetric,
    *,
    regularizer: float = 50.0,
    steps: int = 500,
    step_size: float = 0.01,
    progress: Progress = silent,
) -> tuple[Flow, pd.DataFrame]:
    """Move every person and return where to, as points and as raw rows.

    Parameters
    ----------
    losses_of : callable
        Raw rows, aligned with `frame`, to the losses of the people's own labels (n,).
    metric : FairMetric
        On points of `space` times `category_units`.
    frame : DataFrame (n, columns)
        The people. Columns outside `space` stay as they are.
    """
    search = _Search(losses_of, frame, space, metric, regularizer)
    used = min(steps, BLACK_BOX_STEPS)
    numbers = [space.blocks[part.column].start for part in space.parts if _is_number(part)]
    curve: dict[int, np.ndarray] = {}
    if numbers:
        length = steps * step_size / used
        for k in range(used):
            progress(0.9 * k / used, "Moving people by finite differences")
            search.step(numbers, length)
            curve[round((k + 1) * steps / used)] = search.losses.copy()
    progress(0.9, "Trying other categories")
    search.swap()
    curve[steps] = search.losses.copy()
    distance = search.distance(search.best)
    return Flow(search.best * search.units, search.before, search.losses, distance, curve, 0), search.rows(
        search.best
    )


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
        self.missing = {
            part.column: frame[part.column].isna().to_numpy() for part in space.parts if _is_number(part)
        }

    def distance(self, z: np.ndarray) -> np.ndarray:
        """Squared fair distances (n,) of points `z` of the space from where the people are."""
        return self.metric.squared_distance(z * self.units, self.origin * self.units)

    def rows(self, z: np.ndarray) -> pd.DataFrame:
        """Admissible raw rows at points `z`; people who have not moved keep their own values exactly."""
        made = self.space.decode(z).set_axis(self.frame.index)
        still = (z == self.origin).all(axis=1)
        changed = {name: made[name].where(~still, self.frame[name]) for name in made.columns}
        return with_columns(self.frame, changed)

    def step(self, numbers: list[int], length: float) -> None:
        """One implicit Euler step of `length` along the numbers."""
        gradient = np.zeros_like(self.at)
        for column in numbers:
            part = next(p for p in self.space.parts if self.space.blocks[p.column].start == column)
            width = max(_WIDTH, 1.0 / part.sd if part.step else 0.0)  # type: ignore[union-attr]
            ends = []
            for side in (1, -1):
                z = self.at.copy()
                z[:, column] += side * width
                ends.append(self.losses_of(self.rows(z)))
            slope = (ends[0] - ends[1]) / (2 * width)
            gradient[:, column] = np.where(self.missing[part.column], 0.0, slope)
        free = np.ix_(numbers, numbers)
        pull = np.eye(len(numbers)) + 2 * self.regularizer * length * self.metric.matrix[free]
        towards = (self.at - self.origin + length * gradient)[:, numbers]
        self.at[:, numbers] = self.origin[:, numbers] + np.linalg.solve(pull, towards.T).T
        self.keep(self.rows(self.at))

    def swap(self) -> None:
        """Try every other category of every feature, one at a time, from the best points."""
        start = self.rows(self.best)
        for part in self.space.parts:
            if _is_number(part):
                continue
            for level in part.levels[part.levels.notna()]:
                column = pd.Series(level, index=start.index).astype(start[part.column].dtype)
                self.keep(with_columns(start, {part.column: column}))

    def keep(self, rows: pd.DataFrame) -> None:
        """Keep `rows` for the people for whom they are worth more than the best so far."""
        losses = self.losses_of(rows)
        z = self.space.encode(rows)
        worth = losses - self.regularizer * self.distance(z)
        better = worth > self.worth
        self.best[better], self.losses[better], self.worth[better] = z[better], losses[better], worth[better]


def _is_number(part: LevelBlock | NumberBlock) -> bool:
    return isinstance(part, NumberBlock) and part.kind in _NUMBERS
