"""DataFrames: those given in memory become tables like those read from files, and columns are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from audits.data.io.tables import Table, build_table
from audits.data.io.typed_tables import convert_typed
from audits.data.values import as_text
from audits.errors import InputError

_MIXED = {"mixed", "mixed-integer", "interval", "complex"}  # kinds of row names that are no names


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return `frame` with columns replaced or added, of any name; `frame` itself stays as it is.

    Examples
    --------
    >>> with_columns(pd.DataFrame({"self": [1, 2]}), {"self": [3, 4]})["self"].tolist()
    [3, 4]
    """
    made = frame.copy(deep=False)  # unlike assign, whose keyword arguments cannot be called self
    for name, values in columns.items():
        made[name] = values
    return made


def from_pandas(
    table: pd.DataFrame, missing: Sequence[str] | None
) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """Return a DataFrame as a table like a read one, and its ordered categories' orders.

    Parameters
    ----------
    table : DataFrame
        Its own index is kept as row numbers.
    missing : sequence of str, optional
        Texts (and numbers written as text) that mean missing, besides what pandas holds as missing.

    Raises
    ------
    InputError
        For an index or columns with duplicates, and a table without rows or columns.
    """
    names = [str(name) for name in table.columns]
    if len(set(names)) < len(names):
        raise InputError("the table", "must have distinct column names", max(names, key=names.count))
    index = table.index
    mixed = isinstance(index, pd.MultiIndex) or index.inferred_type in _MIXED
    if mixed or not index.is_unique or index.hasnans:
        rule = "must have an index of one level, without duplicates or missing entries"
        raise InputError("the table", rule, advice="call reset_index(drop=True)")
    if not names or not len(table):
        raise InputError("the table", "must have rows and columns", table.shape)
    orders, columns = {}, []
    for position, name in enumerate(names):
        column = table.iloc[:, position]
        if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
            orders[name] = tuple(as_text(column.cat.categories.to_series()))
        columns.append(_as_arrow(column))
    converted, notes = convert_typed(pa.table(dict(zip(names, columns, strict=True))), markers=missing or ())
    return build_table(converted, index.rename("row"), notes=notes), orders


def _as_arrow(column: pd.Series) -> pa.Array:
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.astype(column.dtype.subtype)
    try:
        made = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):  # objects of mixed types
        return pa.array(as_text(column), pa.large_string(), from_pandas=True)
    values = made.type.value_type if pa.types.is_dictionary(made.type) else made.type
    if isinstance(values, pa.BaseExtensionType):  # periods, intervals
        return pa.array(as_text(column), pa.large_string(), from_pandas=True)
    return made
