"""Who of one run's people is who of another's: by row number or person, where all known of both agrees."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from audits.data import AuditData
    from audits.models import Subject

_TABLES = ("people", "counterparts", "paths")


def matched_rows(first: AuditData, second: AuditData, person: str | None = None) -> np.ndarray:
    """Return the position in `first` of each row of `second` (n,), -1 for people who are not there.

    Rows are of the same people where they have the same row number, or the same value of `person`, and agree
    in the features that both have, in label, groups and weight; numbers that disagree about anyone name
    nobody. Then people are known by what they are, where that tells all of both tables apart.
    """
    keys = _keys(first, second)
    names = [(first.frame.index, second.frame.index)]
    if person is not None and person in first.frame and person in second.frame:
        names.insert(0, (pd.Index(first.frame[person]), pd.Index(second.frame[person])))
    for ours, theirs in names:
        if ours.is_unique and theirs.is_unique:
            found = ours.get_indexer(theirs)
            known = found >= 0
            if known.any() and (keys[0][found[known]] == keys[1][known]).all():
                return found
    ours, theirs = (pd.Index(each) for each in keys)
    if ours.is_unique and theirs.is_unique and len(ours) == len(theirs) and theirs.isin(ours).all():
        return ours.get_indexer(theirs)
    return np.full(second.n, -1)


def _keys(first: AuditData, second: AuditData) -> tuple[np.ndarray, np.ndarray]:
    """Return what is known of every row of both as a number each."""
    features = [name for name in first.features if name in second.features]
    found = []
    for data in (first, second):
        table = pd.concat([data.frame[features], data.groups.add_prefix("group: ")], axis=1)
        table["favorable label"] = -1 if data.y is None else data.y.astype(int)
        table["people"] = 1.0 if data.weights is None else data.weights
        numbers = table.select_dtypes("number").columns
        table[numbers] = table[numbers].astype(float)  # whole numbers in one table, with gaps in the other
        found.append(pd.util.hash_pandas_object(table, index=False).to_numpy())
    return found[0], found[1]


def in_rows(subject: Subject, rows: np.ndarray, index: pd.Index) -> Subject:
    """Return the same decisions on some rows in another order, under the row numbers `index`."""
    data = subject.data.take(rows)
    data = dataclasses.replace(
        data, frame=data.frame.set_axis(index, axis=0), groups=data.groups.set_axis(index, axis=0)
    )
    taken = dataclasses.replace(subject, data=data)
    vars(taken).update(scores=subject.scores[rows])
    if subject.data.numeric is None:
        vars(taken).update(decisions=subject.decisions[rows])
    return taken


def relabel(result: Any, labels: Mapping[Any, int] | None) -> Any:
    """Return a result whose people have other row numbers, in the order of these; None: of nobody else."""
    tables = {}
    for name in _TABLES:
        table = getattr(result, name, None)
        if not isinstance(table, pd.DataFrame) or not len(table):
            continue
        own = {each: -1 - k for k, each in enumerate(table.index)} if labels is None else labels
        if table.index.isin(list(own)).all():
            index = pd.Index([own[each] for each in table.index], name=table.index.name)
            tables[name] = table.set_axis(index, axis=0).sort_index(kind="stable")
    return dataclasses.replace(result, **tables)
