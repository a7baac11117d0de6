"""Parts of the people, drawn by what the people are: the same for rows in any order and for counts.

Rows that agree in all that is audited are one cell. How many people of a cell go where is drawn cell by cell,
in an order that their content decides; only which of several such rows it is depends on the rows.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np
import pandas as pd

from audits.data.values import as_text
from audits.stats.sampling import apportion, as_people, draw_counts

AuditData = Any  # that module imports this one

_TURNS = 2_000  # in which rows of clusters are drawn


def content_keys(data: AuditData) -> np.ndarray:
    """Return a key of each row (n,); rows of the same features, protected attributes and label share it."""
    label = data.label if data.numeric is None else data.numeric.column
    if label in data.frame and data.y is not None and data.frame[label].nunique() <= 2:
        label = None  # favorable or not says it
    columns = [name for name in data.frame if name in {*data.features, *data.protected, label}]
    parts = [data.frame[columns], data.groups[list(data.protected)]]
    if data.y is not None:
        parts.append(pd.DataFrame({"favorable": data.y}))
    return row_keys(pd.concat([part.reset_index(drop=True) for part in parts], axis=1))


def content_order(data: AuditData, *more: np.ndarray) -> np.ndarray:
    """Return the places of the rows (n,) in an order that their content decides, and no order of the table.

    Parameters
    ----------
    more : array (n,)
        What else tells rows apart, such as scores that are not made of the features.
    """
    keys, design = content_keys(data.without_custom_groups), data.design
    weights = data.weights if design is None else design.weights
    own = content_keys(data) if data.custom_groups else None
    ties = [each for each in (own, weights, *more) if each is not None]
    if design is not None and design.clustered:  # alike rows by what else their persons hold
        of_person = np.zeros(design.n_clusters, dtype=np.uint64)
        np.add.at(of_person, design.cluster, keys)
        ties.append(of_person[design.cluster])
    return np.lexsort((*ties, keys))


def table_keys(data: AuditData) -> np.ndarray:
    """Return a key of each row (n,) by all that its table holds, groups made later aside."""
    return row_keys(data.frame.drop(columns=list(data.custom_groups)))


def row_keys(frame: pd.DataFrame) -> np.ndarray:
    """Return a key of each row (n,) by all that it holds, whatever its place, the type or place of columns.

    Numbers are one type, whole or not; what is no number is the text that it is shown as.
    """
    if frame.columns.empty:  # which pandas 2 hashes to nothing
        return np.zeros(len(frame), np.uint64)
    columns = [column for _, column in sorted(frame.items(), key=lambda item: str(item[0]))]
    told = {place: _plain(column).to_numpy() for place, column in enumerate(columns)}
    return pd.util.hash_pandas_object(pd.DataFrame(told), index=False).to_numpy()


def _plain(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return pd.Series(column.to_numpy(np.float64, na_value=np.nan) + 0.0)  # no zero is negative
    return as_text(column)


def draw_people(
    sizes: np.ndarray,
    keys: np.ndarray,
    strata: np.ndarray,
    wanted: np.ndarray,
    rng: np.random.Generator,
    *,
    finer: np.ndarray | None = None,
) -> np.ndarray:
    """Return how many people of each row (n,) are drawn without replacement.

    Parameters
    ----------
    sizes : whole numbers (n,)
        People of each row.
    keys : array (n,)
        What rows with the same content share.
    strata : int array (n,)
        Codes from 0.
    wanted : int array (k,)
        People to draw of each stratum.
    finer : array (n,), optional
        What rows share that are alike in all: it tells apart rows of one cell, of which each is as likely.
    """
    by_cell, by_row = rng.spawn(2)
    found = np.zeros(len(sizes))
    lot = by_row.random(len(sizes))
    order = np.argsort(strata, kind="stable")
    for rows, most in zip(np.split(order, np.bincount(strata, minlength=len(wanted)).cumsum()[:-1]), wanted,
                          strict=True):  # fmt: skip
        if not most:
            continue
        _, cell = np.unique(keys[rows], return_inverse=True)
        drawn = draw_counts(np.bincount(cell, sizes[rows]), int(most), by_cell)
        turn = np.lexsort((lot[rows], cell))
        own, size = cell[turn], sizes[rows][turn]
        before = size.cumsum() - size
        before -= before[np.searchsorted(own, own)]  # people of the same cell who come first
        found[rows[turn]] = np.clip(drawn[own] - before, 0, size)
    if finer is None:
        return found
    cells = pd.DataFrame({"stratum": strata, "key": keys, "finer": finer}).groupby(["stratum", "key"])
    mixed = (cells["finer"].transform("nunique") > 1).to_numpy()
    if mixed.any():
        cell = np.unique(cells.ngroup().to_numpy()[mixed], return_inverse=True)[1]
        drawn = np.bincount(cell, found[mixed]).astype(np.int64)
        found[mixed] = draw_people(sizes[mixed], finer[mixed], cell, drawn, by_row.spawn(1)[0])
    return found


def sample_people(
    data: AuditData,
    rows: np.ndarray,
    most: int,
    rng: np.random.Generator,
    *,
    sizes: np.ndarray | None = None,
    strata: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places `rows` (k,) and how many people each stands for; of more than `most` rows, a sample.

    People are drawn and not rows: a row of many would come or go as one, and intervals count its people.

    Parameters
    ----------
    most : int
        Rows at most, and people where some are drawn.
    sizes : array (k,), optional
        People of each of the rows, if not all that it stands for.
    strata : int array (k,), optional
        Codes from 0; each keeps its share of the people.

    Examples
    --------
    >>> from audits.data import build_data, data_spec
    >>> frame = pd.DataFrame({"sex": ["f", "m", "x"], "n": [1, 50, 49]})
    >>> told = {"protected": ["sex"], "features": [], "weights": {"column": "n", "kind": "counts"}}
    >>> data = build_data(frame, data_spec(told))
    >>> sample_people(data, np.arange(3), 2, np.random.default_rng(0))[1].sum()
    np.float64(2.0)
    """
    if sizes is None:
        sizes = np.ones(len(rows)) if data.weights is None else data.weights[rows]
    if len(rows) <= most:
        return rows, sizes
    if (sizes % 1).any():
        drawn = rng.multinomial(min(most, int(sizes.sum())), sizes / sizes.sum())
    else:
        code = np.zeros(len(rows), dtype=np.int64) if strata is None else strata
        wanted = apportion(np.bincount(code, sizes), most, least=1)
        drawn = draw_people(sizes, content_keys(data)[rows], code, wanted, rng)
    kept = drawn > 0
    return rows[kept], drawn[kept].astype(float)


def balanced_rows(
    cluster: np.ndarray, told: np.ndarray, groups: pd.DataFrame, order: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the place of one row of each cluster, so that no group hangs on which rows are drawn.

    Of two rows of a cluster, drawn at random, the one is kept that makes up for what earlier draws left too
    high or too low. Sums are off in either direction, so either row is as likely.

    Parameters
    ----------
    cluster : int array (n,)
        Codes from 0.
    told : float array (n, c)
        Numbers whose sums over the rows drawn stay near those over all rows, each cluster counting once.
    groups : DataFrame (n, g)
        In every group of every column, of all columns together, and in all.
    order : int array (n,)
        Places of the rows in an order that hangs on their content alone.
    """
    mixed = order[rng.permutation(len(order))]
    turn = pd.factorize(cluster[mixed])[0]
    by_cluster, sizes = mixed[np.argsort(turn, kind="stable")], np.bincount(turn)
    ends = sizes.cumsum()
    chosen, other = by_cluster[ends - sizes], by_cluster[ends - sizes + (sizes > 1)]
    codes = [np.zeros(len(order), dtype=np.int64)]
    codes += [pd.factorize(groups[name], sort=True)[0] for name in sorted(groups, key=str)]
    codes.append(np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1))
    alike = np.column_stack(codes) + np.cumsum([0, *(each.max() + 1 for each in codes[:-1])])
    told = np.column_stack([np.ones(len(told)), told])
    shares = told / np.bincount(cluster)[cluster][:, None]
    missing = np.zeros((alike.max() + 1, told.shape[1]))
    # one cluster after another where they are few, else some at once: as near, and no slower for many
    for some in np.array_split(np.arange(len(sizes)), min(_TURNS, len(sizes))):
        first, second = (
            (missing[alike[rows[some]]].sum(axis=1) * told[rows[some]]).sum(axis=1)
            for rows in (chosen, other)
        )
        kept = np.where((first - second).round(6) >= 0, chosen[some], other[some])
        chosen[some] = kept
        own = by_cluster[ends[some[0]] - sizes[some[0]] : ends[some[-1]]]
        np.add.at(missing, alike[own], shares[own][:, None, :])
        np.subtract.at(missing, alike[kept], told[kept][:, None, :])
    return chosen


def held_out_strata(
    sizes: np.ndarray, y: np.ndarray | None, groups: pd.DataFrame, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stratum of each row (n,) and how many people of each to hold out (k,).

    By label, then by one protected attribute after another, by name, as long as a stratum has people enough
    for either part; smaller ones are one.
    """
    strata = np.zeros(len(sizes), dtype=np.int64)
    if y is not None and min(sizes[y].sum(), sizes[~y].sum()) >= 2:
        strata = y.astype(np.int64)
    wanted = np.array([round(share * n) for n in np.bincount(strata, sizes)])
    least = 1 / min(share, 1 - share)
    for name in sorted(groups, key=str):
        value = pd.factorize(groups[name], sort=True)[0] + 1
        finer = strata * (value.max() + 1) + value
        few = np.bincount(finer, sizes)[finer] < least
        finer = np.unique(np.where(few, finer - value, finer), return_inverse=True)[1]
        first = np.unique(finer, return_index=True)[1]
        people, parent = np.bincount(finer, sizes), strata[first]
        finer_wanted = np.zeros(len(first), dtype=np.int64)
        for each in range(len(wanted)):
            finer_wanted[parent == each] = apportion(people[parent == each], int(wanted[each]))
        strata, wanted = finer, finer_wanted
    return strata, wanted


def joined(training: AuditData, held: AuditData) -> AuditData:
    """Return both parts as one table; of a row that has people in both, all of them."""
    rows = np.arange(training.n + held.n)
    weights = None
    if held.weights is not None:
        index = training.frame.index.append(held.frame.index)
        _, rows, code = np.unique(index, return_index=True, return_inverse=True)
        weights = np.bincount(code, np.concatenate([training.row_weights, held.weights]))
    return dataclasses.replace(
        held,
        frame=pd.concat([training.frame, held.frame]).iloc[rows],
        groups=pd.concat([training.groups, held.groups]).iloc[rows],
        y=np.concatenate([np.asarray(training.y), np.asarray(held.y)])[rows],
        weights=weights,
        design=None,
        gathered=None,
        unlabeled=None,
        digest=hashlib.sha256(f"{training.digest} and {held.digest}".encode()).hexdigest(),
    )


def with_counts(data: AuditData, counts: np.ndarray) -> AuditData:
    """Return the rows of which some people are left, each for as many as `counts` (n,) says."""
    rows = np.flatnonzero(counts > 0)
    part = data.take(rows)
    if data.weights is None:
        return part
    left = counts[rows].astype(float)
    digest = hashlib.sha256(part.digest.encode() + left.astype("<f8").tobytes()).hexdigest()
    return dataclasses.replace(part, weights=left, digest=digest)


def cell_counts(data: AuditData) -> AuditData:
    """Return one row for all people with the same content, in an order that the content decides."""
    keys = content_keys(data)
    if data.design is not None:
        return data.take(np.argsort(keys, kind="stable"))
    _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
    return dataclasses.replace(data.take(first), weights=np.bincount(cell, data.weights, len(first)))


def single_people(data: AuditData, *, most: int) -> AuditData:
    """Return one row for each person, in an order that the content decides; of more than `most`, bundles."""
    cells = cell_counts(data)
    if cells.weights is None:
        return cells
    rows, each = as_people(cells.weights, most=most)
    return dataclasses.replace(cells.take(rows), weights=None if (each == 1).all() else each)


def resample(data: AuditData, rng: np.random.Generator) -> AuditData:
    """Return as many people drawn with replacement (a bootstrap sample), counted by their content."""
    cells = cell_counts(data)
    if cells.weights is None:
        return cells.take(np.sort(rng.integers(0, data.n, data.n)))
    return with_counts(cells, rng.multinomial(round(data.size), cells.weights / cells.weights.sum()))
