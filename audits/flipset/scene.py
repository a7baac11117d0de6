"""Two numeric features as a picture (Figure 1): people, counterparts, and where the decision changes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.flipset.encoding import Encoded
from audits.models import Subject

__all__ = ["arrows", "boundary"]

_MOST_ARROWS = 150
_GRID = 61


def arrows(
    subject: Subject,
    encoded: Encoded,
    people: pd.DataFrame,
    invented: pd.DataFrame,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Up to 150 people and their main counterparts: columns ``x, y, to x, to y, flip``, by row number.

    Parameters
    ----------
    people, invented : DataFrames
        As in `FlipsetResult`.

    Returns
    -------
    DataFrame
        Empty unless people are matched on exactly two features, both with a scale. ``flip`` is "positive",
        "negative" or "none": the way in which at least half of the person's counterparts differ.
    """
    if not _flat(encoded):
        return pd.DataFrame()
    raw = subject.data.frame[list(encoded.columns)]
    here = raw.loc[people.index]
    there = raw.loc[people["counterpart"]] if invented.empty else invented.loc[people["atom"]]
    table = pd.DataFrame(
        {
            "x": _numbers(here[encoded.columns[0]]),
            "y": _numbers(here[encoded.columns[1]]),
            "to x": _numbers(there[encoded.columns[0]]),
            "to y": _numbers(there[encoded.columns[1]]),
            "flip": np.select(
                [people["positive"] >= 0.5, people["negative"] >= 0.5], ["positive", "negative"], "none"
            ),
        },
        index=people.index,
    ).dropna()
    if len(table) > _MOST_ARROWS:
        table = table.iloc[np.sort(rng.choice(len(table), _MOST_ARROWS, replace=False))]
    return table


def boundary(subject: Subject, encoded: Encoded, shown: pd.DataFrame) -> pd.DataFrame:
    """Decisions on a grid around the people `shown`: columns ``x, y, favorable``.

    Empty unless the model decides on invented people, reads those two features alone, and has one threshold
    for everyone: only then does the picture tell the decision.
    """
    reads = set(subject.model.columns) == set(encoded.columns)
    if shown.empty or not (subject.model.invents and reads and isinstance(subject.threshold, (int, float))):
        return pd.DataFrame()
    ends = [
        (min(shown[a].min(), shown[b].min()), max(shown[a].max(), shown[b].max()))
        for a, b in (("x", "to x"), ("y", "to y"))
    ]
    x, y = (np.linspace(low, high, _GRID) for low, high in ends)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    kinds = subject.data.frame.dtypes
    frame = pd.DataFrame({name: grid[:, k] for k, name in enumerate(encoded.columns)})
    for name in encoded.columns:
        if pd.api.types.is_integer_dtype(kinds[name]):
            frame[name] = frame[name].round().astype(kinds[name])
    decided = subject.decide(subject.favorable_score(frame), subject.data.groups.iloc[:1])
    return pd.DataFrame({"x": grid[:, 0], "y": grid[:, 1], "favorable": decided})


def _flat(encoded: Encoded) -> bool:
    return len(encoded.columns) == 2 and all(encoded.scaled[name] for name in encoded.columns)


def _numbers(values: pd.Series) -> np.ndarray:
    if pd.api.types.is_datetime64_any_dtype(values):
        return np.full(len(values), np.nan)  # a calendar has no place on these axes
    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
