"""Rows that are left out, and whether their leaving goes with a group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.data.preprocessing.groups import MAX_GROUPS, cut, edges_of
from audits.data.spec import DataSpec
from audits.data.values import as_text

_LEVEL = 0.05


def leaving_notes(
    before: pd.DataFrame, after: pd.DataFrame, spec: DataSpec, what: str, times: pd.Series | None
) -> list[str]:
    """Say for each protected attribute whose rows are left out more often than others', beyond chance.

    Parameters
    ----------
    before, after : DataFrame
        With and without the rows left out.
    what : str
        What leaves them out, as a sentence begins.
    times : Series, optional
        How many rows a line was gathered from.
    """
    gone = ~before.index.isin(after.index)
    if not gone.any() or not spec.protected or gone.all():
        return []
    from audits.stats.intervals import cautious_p  # late: few tables leave rows out
    from audits.stats.text import percent

    sizes = np.ones(len(before)) if times is None else times.loc[before.index].to_numpy(dtype=float)
    found = []
    for name in spec.protected:
        column = before[name]
        binned = name in spec.bins
        values = cut(column, edges_of(column, spec.bins[name], times)) if binned else as_text(column)
        codes, levels = pd.factorize(values)
        k = len(levels)
        if not 1 < k <= MAX_GROUPS:
            continue
        known = codes >= 0
        n = np.bincount(codes[known], sizes[known], k)
        left = np.bincount(codes[known], (sizes * gone)[known], k)
        p = [cautious_p(a, m, left.sum() - a, n.sum() - m) for a, m in zip(left, n, strict=True)]
        place = int(np.argmin([1.0 if each is None else each for each in p]))
        if (p[place] or 0.0) * k * len(spec.protected) > _LEVEL or p[place] is None:
            continue
        a, m = float(left[place]), float(n[place])
        shares = percent(a / m, m), percent((left.sum() - a) / (n.sum() - m), float(n.sum() - m))
        found.append(
            f"{what} leave out {shares[0]} of people with {name} = {levels[place]} and {shares[1]} of the "
            "others: the results are of those who remain."
        )
    return found
