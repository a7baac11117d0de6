"""The people behind the bars of a flipset's marginals, and two features at once (Figures 3 and 9)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.data.values import MISSING
from audits.flipset.describing import numbers_of
from audits.flipset.result import Marginal

__all__ = ["bar_names", "bars_of", "crossed", "in_bar"]

_MOST = 12  # bars of a numeric feature shown against another's


def bars_of(item: Marginal, values: pd.Series) -> np.ndarray:
    """Return the bar (n,) in which each value of the feature lies, as `Marginal.bars` counts them.

    Values beyond the first and last edge lie in the end bars, as they do in the marginal. A value that the
    marginal does not have lies in bar -1.
    """
    if item.edges is None:
        words = values.astype("string").fillna(MISSING)
        return pd.Index(item.categories or ()).get_indexer(pd.Index(words.astype(object)))
    numbers = numbers_of(values)
    count = len(item.edges) - 1
    found = np.clip(np.searchsorted(item.edges, numbers, side="right") - 1, 0, count - 1)
    return np.where(np.isfinite(numbers), found, -1 if item.missing is None else count)


def bar_names(item: Marginal) -> list[str]:
    """Return the names of all bars that `in_bar` knows: the marginal's, and its ranges joined."""
    return list(dict.fromkeys([*(label for label, _, _ in item.bars), *_joined_names(item)]))


def in_bar(item: Marginal, values: pd.Series, name: str) -> np.ndarray:
    """Return which of the values (n,) lie in the bar of that name, one of `bar_names`."""
    bars, own = bars_of(item, values), [label for label, _, _ in item.bars]
    return bars == own.index(name) if name in own else _join(item, bars) == _joined_names(item).index(name)


def crossed(
    one: Marginal,
    values: pd.Series,
    other: Marginal,
    others: pd.Series,
    flips: np.ndarray,
    sizes: np.ndarray,
) -> pd.DataFrame:
    """Return who is in a flipset by two features at once: one row a cell that holds anybody.

    Parameters
    ----------
    one, other : Marginal
        Two features that are not the same, with the bars in which their values lie.
    values, others : Series (n,)
        Their values, of the source people.
    flips, sizes : arrays (n,)
        People of the row in the flipset, and people the row stands for.

    Returns
    -------
    DataFrame
        Columns ``x``, ``y`` (numbers of the bars, of which neighbours are joined where there are more than
        12), ``value``, ``other value``, ``people``, ``in the flipset``, ``share``.
    """
    x, y = _join(one, bars_of(one, values)), _join(other, bars_of(other, others))
    words, other_words = _joined_names(one), _joined_names(other)
    kept = (x >= 0) & (y >= 0)
    cells = pd.DataFrame({"x": x[kept], "y": y[kept], "people": sizes[kept], "flipped": flips[kept]})
    table = cells.groupby(["x", "y"], as_index=False).sum()
    return pd.DataFrame(
        {
            "x": table["x"],
            "y": table["y"],
            "value": [words[k] for k in table["x"]],
            "other value": [other_words[k] for k in table["y"]],
            "people": table["people"],
            "in the flipset": table["flipped"],
            "share": table["flipped"] / table["people"],
        }
    )


def _each(item: Marginal) -> int:
    """How many neighbouring bars are joined, so that there are at most 12 of a numeric feature."""
    return 1 if item.edges is None else -(-(len(item.edges) - 1) // _MOST)


def _joined_names(item: Marginal) -> list[str]:
    each = _each(item)
    if item.edges is None or each == 1:
        return [label for label, _, _ in item.bars]
    count = len(item.edges) - 1
    words = [
        f"{item.edges[start]:g} to {item.edges[min(start + each, count)]:g}"
        for start in range(0, count, each)
    ]
    return [*words, *(() if item.missing is None else (MISSING,))]


def _join(item: Marginal, bars: np.ndarray) -> np.ndarray:
    each = _each(item)
    if item.edges is None or each == 1:
        return bars
    count = len(item.edges) - 1
    return np.where(bars < 0, -1, np.where(bars == count, -(-count // each), bars // each))
