"""How each actionable feature changes on the way (Figure A1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from audits.data.blocks import LevelBlock, NumberBlock
from audits.recourse.actions import Actions
from audits.recourse.result import Change
from audits.stats.means import mean_test

__all__ = ["changes_by_alpha"]


def changes_by_alpha(
    actions: Actions,
    frame: pd.DataFrame,
    weights: np.ndarray,
    start: np.ndarray,
    goal: np.ndarray,
    decisions: np.ndarray,
    steps: tuple[float, ...],
    level: float,
) -> tuple[Change, ...]:
    """Mean change of each feature at each step; intervals are over people, counterparts held.

    Parameters
    ----------
    start, goal : arrays (n, d)
        Encoded people and counterparts.
    decisions : bool array (n, s)
        Favourable decision at each step.
    """
    today = frame[list(actions.columns)]
    found = []
    for k, alpha in enumerate(steps):
        moved = actions.interpolate(today, start, goal, alpha)
        flipped = decisions[:, k]
        for part in actions.space.parts:
            for name, change in _changes(part, today[part.column], moved[part.column]):
                known = np.isfinite(change)
                if not known.any():
                    continue
                those = known & flipped
                found.append(
                    Change(
                        feature=name,
                        column=part.column,
                        alpha=alpha,
                        mean_change=mean_test(change[known], weights[known]).interval(level),
                        among_reclassified=float(np.average(change[those], weights=weights[those]))
                        if those.any()
                        else None,
                        scale=1.0 if isinstance(part, LevelBlock) else float(part.sd),
                    )
                )
    return tuple(found)


def _changes(
    part: NumberBlock | LevelBlock, today: pd.Series, moved: pd.Series
) -> Iterator[tuple[str, np.ndarray]]:
    """Lines of one column: its name, and each person's change (n,), NaN where a value is missing."""
    if isinstance(part, LevelBlock):
        before, after = (part.encode(values, unknown="zero") for values in (today, moved))
        for k, name in enumerate(part.names):
            yield name, 2.0 * (after[:, k] - before[:, k])
        return
    known = today.notna().to_numpy() & moved.notna().to_numpy()
    before, after = (part.encode(values, unknown="zero")[:, 0] for values in (today, moved))
    yield part.names[0], np.where(known, (after - before) * part.sd, np.nan)
