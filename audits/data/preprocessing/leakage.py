"""Features that give the label away: a model that reads them only repeats what it should predict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.text import join_names

_MIN = 10  # of either label; below, a feature tells the label by chance
_MAX_LEVELS = 50
_ERRORS = 0.01
_LOOKED_AT = 8  # parts of which one is looked at first; a rule that errs in it too often errs so in all
_MANY = 100_000  # rows, of fewer all are looked at at once


def telling_features(
    frame: pd.DataFrame, features: Sequence[str], y: np.ndarray, counts: np.ndarray | None = None
) -> list[str]:
    """Return the features each of which tells the label, or a decision, by itself.

    A feature does if the commonest label of the others at each person's value (at most 50 values), or one cut
    through its numbers or times, errs for at most 1% of as many people as the rarer label has. People without
    a value count as a value; a value that nobody shares tells nothing.

    Parameters
    ----------
    frame : DataFrame (n, columns)
        The rows.
    features : sequence of str
        Columns to look at.
    y : array (n,) of bool
        The label; with fewer than 10 people of either value nothing is returned.
    counts : array (n,), optional
        People of each row; one where not given.
    """
    counts = np.ones(len(y)) if counts is None else np.asarray(counts, dtype=float)
    rarer = min(counts[y].sum(), counts[~y].sum())
    if rarer < _MIN:
        return []
    most, part = _ERRORS * rarer, slice(None, None, _LOOKED_AT)
    return [
        name
        for name in features
        if (len(y) < _MANY or _errors(frame[name].iloc[part], y[part], counts[part], part=True) <= most)
        and _errors(frame[name], y, counts) <= most
    ]


def leak_notes(
    frame: pd.DataFrame, features: Sequence[str], y: np.ndarray | None, counts: np.ndarray | None
) -> list[str]:
    """Word what `telling_features` finds, as a list of at most one sentence."""
    telling = [] if y is None else telling_features(frame, features, y, counts)
    if not telling:
        return []
    return [f"{telling_words(telling, 'the label')}: leave out anything known only after the decision."]


def telling_words(telling: Sequence[str], what: str) -> str:
    """Say that features of `telling_features` each predict `what`.

    Examples
    --------
    >>> telling_words(["date"], "the label")
    "'date' predicts the label almost without error"
    >>> telling_words(["date", "officer"], "the decision")
    "'date' and 'officer' each predict the decision almost without error"
    """
    predict = "predicts" if len(telling) == 1 else "each predict"
    return f"{join_names(telling, quoted=True)} {predict} {what} almost without error"


def _errors(column: pd.Series, y: np.ndarray, counts: np.ndarray, *, part: bool = False) -> float:
    """People whom the best use of one column gets wrong; of a `part` of the rows, no more than of all."""
    least = float(counts.sum())
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        least = _cut_errors(column.rank(method="dense").to_numpy(dtype=float), y, counts)
    elif pd.api.types.is_numeric_dtype(column.dtype):
        least = _cut_errors(column.to_numpy(dtype=float, na_value=np.nan), y, counts)
    codes, levels = pd.factorize(column, use_na_sentinel=False)
    if len(levels) > _MAX_LEVELS:  # whether there is a value tells, too
        codes, levels = pd.factorize(column.isna())
    if len(levels) <= _MAX_LEVELS:
        n = np.bincount(codes, counts, minlength=len(levels))
        favorable = np.bincount(codes, counts * y, minlength=len(levels))
        fewer = np.minimum(favorable, n - favorable)
        # without the person itself the others agree on its label only if they outnumber the rest by two
        wrong = fewer if part else np.where(n - 2 * fewer >= 2, fewer, n)
        least = min(least, float(wrong.sum()))
    return least


def _cut_errors(numbers: np.ndarray, y: np.ndarray, counts: np.ndarray) -> float:
    """People on the wrong side of the best cut; those without a number go to the commoner label."""
    known = ~np.isnan(numbers)
    absent = min(counts[y & ~known].sum(), counts[~y & ~known].sum())
    order = np.argsort(numbers[known], kind="stable")
    ordered, good, n = numbers[known][order], y[known][order], counts[known][order]
    if not len(good):
        return float(absent)
    below = np.concatenate([[0.0], np.cumsum(n * good)])  # favorable among the smallest
    other = np.concatenate([[0.0], np.cumsum(n * ~good)])
    wrong = below + other[-1] - other  # favorable above the cut
    ends = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    wrong = wrong[ends]
    return float(absent + min(wrong.min(), (n.sum() - wrong).min()))
