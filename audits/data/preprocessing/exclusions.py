"""Rows that are left out, and whether their leaving goes with a group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from audits.data.audit_data import LeftOut
from audits.data.preprocessing.filters import kept_rows
from audits.data.preprocessing.groups import MAX_GROUPS, cut, edges_of
from audits.data.spec import DataSpec, Keep
from audits.data.values import as_text

_LEVEL = 0.05
_SCORES = 4  # bins of a column of scores


def left_out(
    before: pd.DataFrame,
    gone: np.ndarray,
    spec: DataSpec,
    what: str,
    sizes: pd.Series | None,
    missing: tuple[str, ...] = (),
    decisions: Sequence[str] = (),
) -> tuple[LeftOut, ...]:
    """Return whom something leaves out, if anyone, and of which groups more than of others.

    Parameters
    ----------
    before : DataFrame
        With the rows left out.
    gone : bool array (n,)
        Which those are.
    what : str
        What leaves them out, as a sentence begins.
    sizes : Series, optional
        How many people a row stands for.
    missing : tuple of str
        The columns whose missing values are the reason.
    decisions : sequence of str
        Columns whose values are groups as well.
    """
    people = np.ones(len(before)) if sizes is None else sizes.loc[before.index].to_numpy(dtype=float)
    one = spec.person or (spec.weighing.cluster if spec.weighing else None) or ""
    if one in before and sizes is None:  # persons and clusters are one each
        people = 1.0 / before[one].groupby(before[one].to_numpy(), dropna=False).transform("size").to_numpy()
    lost = float(people[gone].sum())
    if not 0 < lost < people.sum():
        return ()
    uneven = _uneven(before, gone, spec, what, people, decisions)
    return (LeftOut(max(lost / float(people.sum()), *uneven.values(), 0.0), missing, tuple(uneven)),)


def filtered_out(
    before: pd.DataFrame,
    kept: np.ndarray,
    rules: Sequence[Keep],
    spec: DataSpec,
    sizes: pd.Series | None,
    decisions: Sequence[str] = (),
) -> tuple[LeftOut, ...]:
    """Return whom filters leave out: those of whom a column is missing, and everyone where that is more.

    Whom a missing value leaves out is seen among those whom no known value of another column does. An outcome
    that is missing more often after one of the `decisions` than after another is as one missing by group.
    """
    gone = {
        name: ~kept & before[name].isna().to_numpy() for name in dict.fromkeys(rule.column for rule in rules)
    }
    found: tuple[LeftOut, ...] = ()
    if all((kept | each).sum() < len(kept) for each in gone.values()):
        found = left_out(before, ~kept, spec, "Filters", sizes)
    for name, each in gone.items():
        asked = np.ones(len(before), dtype=bool)
        for rule in rules if each.any() else ():
            if rule.column != name:
                asked &= kept_rows(before, [rule])[0] | before[rule.column].isna().to_numpy()
        what = f"Filters on {name}, where it is missing,"
        outcome = name in {*decisions, spec.label_column}
        others = [other for other in decisions if outcome and other != name]
        found += left_out(before[asked], each[asked], spec, what, sizes, (name,), others)
    return found


def _uneven(
    before: pd.DataFrame,
    gone: np.ndarray,
    spec: DataSpec,
    what: str,
    sizes: np.ndarray,
    decisions: Sequence[str],
) -> dict[str, float]:
    """Return sentences on groups of which more are left out than of others, and of what share that is."""
    from audits.stats.intervals import cautious_p  # late: few tables leave rows out
    from audits.stats.selective import NEGLIGIBLE
    from audits.stats.text import percent

    found = {}
    names = dict.fromkeys((*spec.protected, *(each for each in decisions if each in before)))
    for name in names:
        column = before[name]
        weights = pd.Series(sizes, before.index)
        scores = name in decisions and is_numeric_dtype(column.dtype) and column.nunique() > MAX_GROUPS
        bins = _SCORES if scores else spec.bins.get(name)
        values = as_text(column) if bins is None else cut(column, edges_of(column, bins, weights))
        codes, levels = pd.factorize(values)
        k = len(levels)
        if not 1 < k <= MAX_GROUPS:
            continue
        known = codes >= 0
        n = np.bincount(codes[known], sizes[known], k)
        left = np.bincount(codes[known], (sizes * gone)[known], k)
        each = (cautious_p(a, m, left.sum() - a, n.sum() - m) for a, m in zip(left, n, strict=True))
        p = np.array([1.0 if one is None else one for one in each])
        lost = np.divide(left, n, out=np.zeros(k), where=n > 0)  # a group may hold rows that stand for nobody
        place = int(np.lexsort([-lost, p])[0])  # of a tie, the group that loses more
        if p[place] * k * len(names) > _LEVEL:
            continue
        a, m = float(left[place]), float(n[place])
        share, others = a / m, (left.sum() - a) / (n.sum() - m)
        if max(share, others) < NEGLIGIBLE:
            continue
        shares = percent(share, m), percent(others, float(n.sum() - m))
        found[
            f"{what} leave out {shares[0]} of people with {name} = {levels[place]} and {shares[1]} of the "
            "others: the results are of those who remain."
        ] = max(share, others)
    return found
