"""The fewest columns that a person has to change."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from audits.progress import Progress, silent

__all__ = ["fewest_changes"]

_MOST_ROWS = 200_000  # rows scored for one number of columns, beyond which sets are grown greedily


def fewest_changes(
    frame: pd.DataFrame,
    moved: pd.DataFrame,
    score: Callable[[pd.DataFrame], np.ndarray],
    decide: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    progress: Progress = silent,
) -> tuple[list[tuple[str, ...] | None], np.ndarray]:
    """Find, for each person, a smallest set of columns whose values of `moved` make the decision favourable.

    Sets of one column are tried, then of two, and so on, all of them as long as that is affordable; then sets
    are grown by the column that raises the score most. Of several sets of the same size the one with the
    highest score is taken.

    Parameters
    ----------
    frame : DataFrame (n, all columns)
        People as they are.
    moved : DataFrame (n, k)
        Values that they could have.
    score : callable
        Scores of rows.
    decide : callable
        ``decide(scores, positions)``: decisions of the people at those positions.

    Returns
    -------
    sets : list of n tuples
        None where no set that was tried helps.
    proved : bool array (n,)
        Whether all smaller sets were tried.
    """
    columns = list(moved.columns)
    n = len(frame)
    found: list[tuple[str, ...] | None] = [None] * n
    proved = np.ones(n, dtype=bool)
    open_ = np.arange(n)
    grown: dict[int, tuple[str, ...]] = {}
    exhaustive = True
    for size in range(1, len(columns) + 1):
        if not len(open_):
            break
        progress(size / (len(columns) + 1), "Looking for the fewest changes")
        exhaustive = exhaustive and len(open_) * comb(len(columns), size) <= _MOST_ROWS
        if exhaustive:
            tried = [np.array(names, dtype=object) for names in combinations(columns, size)]
            best, sets = _best(frame, moved, score, open_, dict.fromkeys(open_.tolist(), tried))
        else:
            larger = {person: _larger(grown.get(person, ()), columns) for person in open_.tolist()}
            best, sets = _best(frame, moved, score, open_, larger)
            proved[open_] = False
        done = decide(best, open_)
        for person, names, flipped in zip(open_.tolist(), sets, done, strict=True):
            if flipped:
                found[person] = names
            grown[person] = names
        open_ = open_[~done]
    return found, proved


def _larger(names: tuple[str, ...], columns: list[str]) -> list[np.ndarray]:
    return [np.array([*names, name], dtype=object) for name in columns if name not in names]


def _best(
    frame: pd.DataFrame,
    moved: pd.DataFrame,
    score: Callable[[pd.DataFrame], np.ndarray],
    people: np.ndarray,
    candidates: dict[int, list[np.ndarray]],
) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Best score of each person over candidate sets, and the set."""
    sets = [candidates[person] for person in people.tolist()]
    count = np.array([len(each) for each in sets])
    rows = np.repeat(people, count)
    flat = [names for each in sets for names in each]
    trial = frame.iloc[rows].reset_index(drop=True)
    for name in moved.columns:
        change = np.array([name in names for names in flat])
        values = moved[name].iloc[rows]
        trial[name] = trial[name].where(~change, values.set_axis(trial.index))
    scores = score(trial)
    start = np.cumsum(count) - count
    top = [int(start[k] + scores[start[k] : start[k] + count[k]].argmax()) for k in range(len(people))]
    return scores[top], [tuple(flat[k]) for k in top]
