"""How many people each row stands for, and how rows were sampled."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from audits.data.preprocessing.filters import known_column, rows_of
from audits.data.spec import DataSpec
from audits.data.values import holds_numbers
from audits.errors import InputError

if TYPE_CHECKING:
    from audits.stats.design import Design

_MANY_TIMES = 20  # people a row from which weights that all differ are doubted to be counts
_CROSSED = 0.5  # share of the cells of a cross table that have rows
_MANY_EQUAL, _ENOUGH_ROWS = 0.2, 100  # share of rows that repeat others entirely, of how many, to be told
_MAX_PEOPLE = 1e12  # weights: beyond it, sums of people lose whole persons


def weighted_rows(
    frame: pd.DataFrame, spec: DataSpec, excluded: dict[str, int], times: pd.Series | None
) -> pd.DataFrame:
    """Return the rows that stand for someone; weights must be finite and not negative."""
    weighing = spec.weighing
    if weighing is None:
        return frame
    name = weighing.column
    column = frame[known_column("data.weights", name, frame)]
    if not holds_numbers(column):
        raise InputError("data.weights", "must be a column of counts", name)
    counts = column.to_numpy(dtype=float, na_value=np.nan)
    bad = ~np.isfinite(counts) | (counts < 0)
    if bad.any():
        row, value = frame.index[int(np.argmax(bad))], float(counts[int(np.argmax(bad))])
        raise InputError(f"data.weights: column {name!r}, row {row}", "must be a count of 0 or more", value)
    if not counts.any():
        raise InputError("data.weights", f"must not be 0 everywhere, as column {name!r} is")
    if (counts if times is None else counts * times.loc[frame.index]).sum() > _MAX_PEOPLE:
        raise InputError("data.weights", f"must not sum to more than {_MAX_PEOPLE:.0e} people", name)
    if weighing.kind is None and not _are_counts(frame, spec, counts, times):
        raise InputError(
            "data.weights",
            f"must say whether column {name!r} counts people or weighs a sample, as its values are "
            + ("not whole numbers" if (counts % 1).any() else "nearly all different"),
            advice=f"write weights: {{column: {name}, kind: counts}}, or kind: sampling",
        )
    if not counts.all():
        excluded[f"weight {name!r} is 0"] = rows_of(counts == 0, frame, times)
        frame = frame[counts > 0]
    return frame


def _are_counts(frame: pd.DataFrame, spec: DataSpec, counts: np.ndarray, times: pd.Series | None) -> bool:
    """Whether weights that nobody says anything of can only be counts of people."""
    if (counts % 1).any():
        return False
    rows = len(counts) if times is None else times.loc[frame.index].sum()
    if 2 * len(np.unique(counts)) <= rows or counts.mean() <= _MANY_TIMES:
        return True
    values = frame.drop(columns=list(spec.design_columns), errors="ignore").nunique(dropna=False)
    return len(frame) >= _CROSSED * math.prod(values.tolist())


def counts_of(frame: pd.DataFrame, spec: DataSpec, times: pd.Series | None) -> np.ndarray | None:
    """Return how many people each row stands for (n,); None where weights are not counts."""
    weighing = spec.weighing
    counts: np.ndarray | None = None
    if weighing is not None and weighing.kind != "sampling":
        counts = frame[weighing.column].to_numpy(dtype=float)
    if times is not None:
        counts = times.loc[frame.index].to_numpy(dtype=float) * (1.0 if counts is None else counts)
    return counts


def people_told(frame: pd.DataFrame, spec: DataSpec) -> pd.Series | None:
    """Return how many people each row says it stands for, before it is held to that; None without counts."""
    weighing = spec.weighing
    if weighing is None or weighing.kind == "sampling" or weighing.column not in frame:
        return None
    counts = pd.to_numeric(frame[weighing.column], errors="coerce").astype(float)
    return counts.where(np.isfinite(counts) & (counts > 0), 0.0)


def design_of(
    frame: pd.DataFrame, spec: DataSpec, notes: list[str], times: pd.Series | None
) -> Design | None:
    """Return how rows came into the data where they are not one independent person each, or None."""
    weighing = spec.weighing
    sampled = weighing is not None and weighing.kind == "sampling"
    if times is None and (repeated := repeated_rows(frame, spec)):
        notes.append(
            f"{repeated:,} of {len(frame):,} rows repeat another row in every column. If they are the same "
            "people, name the column that repeats for one person, or remove them."
        )
    if not sampled and spec.person is None:
        return None
    weights = strata = cluster = None
    if weighing is not None:
        weights = frame[weighing.column].to_numpy(dtype=float)
        strata, cluster = (_codes(frame, each) for each in (weighing.strata, weighing.cluster))
    if spec.person is not None:
        person = _codes(frame, spec.person, "data.person")
        assert person is not None  # noqa: S101 - a name was given
        notes.append(
            f"{len(frame):,} rows are of {len(np.unique(person)):,} persons ({spec.person!r}): rows of one "
            "person are not independent evidence."
        )
        if (
            cluster is not None
            and pd.DataFrame({"p": person, "c": cluster}).groupby("p")["c"].nunique().max() > 1
        ):
            raise InputError("data.person", "must lie within one cluster each", spec.person)
        cluster = person if cluster is None else cluster
    from audits.stats.design import make_design  # late: few tables are a sample by a design

    made = make_design(len(frame), weights=weights, cluster=cluster, strata=strata)
    return dataclasses.replace(made, persons=weighing is None)


def _codes(frame: pd.DataFrame, name: str | None, where: str = "data.weights") -> np.ndarray | None:
    """Return a code for each row's value of a column that says who belongs together (n,)."""
    if name is None:
        return None
    column = frame[known_column(where, name, frame)]
    if column.isna().any():
        rows = int(column.isna().sum())
        raise InputError(
            where, f"must be known for everyone, but {rows:,} rows have no {name!r}", name, "drop those rows"
        )
    # in the order of their names: the order of rows decides no draw of clusters
    told = column.astype("string") if column.dtype == object else column
    return np.asarray(pd.factorize(told, sort=True)[0], dtype=np.int64)


def repeated_rows(frame: pd.DataFrame, spec: DataSpec) -> int:
    """Return how many rows repeat another in every column, if many and nobody said why; else 0."""
    most = _MANY_EQUAL * len(frame)
    said = spec.person is not None or spec.weighing is not None or spec.repeated is not None
    if said or len(frame) < _ENOUGH_ROWS:
        return 0
    first = frame.head(1000)
    # rows that are equal are so in each column: the one of the most values can tell that they are few
    finest = max(frame.columns, key=lambda name: first[name].nunique())
    if frame[finest].duplicated().sum() <= most:
        return 0
    repeated = int(frame.duplicated().sum())
    return repeated if repeated > most else 0
