"""Tables given in memory: read as pandas, and handed back to a model in the form and types they came in.

Whatever narwhals reads (pandas, polars, Arrow and others) and NumPy matrices become one pandas table. A model
wants the cells that its author gave it: `Given.hand_over` undoes what reading changed, cell by cell, so that
a person of the data reaches the model exactly as in the table, and a moved one in the same types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data.values import text_of
from audits.errors import InputError, quoted

_TABLE = "a table: a pandas, polars or Arrow frame, or a NumPy matrix"


@dataclass(frozen=True, eq=False)
class GivenTable:
    """A table as it was given.

    Attributes
    ----------
    frame : DataFrame (n, columns)
        The same cells in pandas; column names are texts, the index is the table's own, or counts from 1
        where it has none.
    names : tuple
        The columns' own names, which need not be texts.
    form : {"pandas", "numpy", "narwhals"}
        What it was.
    native : object
        The table itself.
    """

    frame: pd.DataFrame
    names: tuple[Any, ...]
    form: str
    native: Any


@dataclass(frozen=True, eq=False)
class Reader:
    """What turns rows as audits have them into rows of some columns as they were given.

    Attributes
    ----------
    built : DataFrame
        The people of the table as audits have them, `AuditData.frame`.
    """

    given: GivenTable
    columns: tuple[str, ...]
    built: pd.DataFrame

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return rows (m, columns) of the audit's types in the form and types of the given table.

        A cell that still is what reading made of that person's own cell becomes that own cell.
        """
        rows = pd.DataFrame({name: self._column(name, frame[name]) for name in self.columns})
        if self.given.form == "numpy":
            return rows.to_numpy(dtype=self._matrix_type(rows))
        if self.given.form == "pandas":
            own = dict(zip(self.given.frame.columns, self.given.names, strict=True))
            return rows.set_axis([own[name] for name in self.columns], axis=1)
        return self._to_native(rows)

    def _column(self, name: str, values: pd.Series) -> pd.Series:
        given, built = self.given.frame[name], self.built[name]
        here, there = given.index.get_indexer(values.index), built.index.get_indexer(values.index)
        own, reference = given.iloc[here].set_axis(values.index), built.iloc[there].set_axis(values.index)
        pair: list[Any] = [values, reference]
        kinds = [each.dtype for each in (given, built, values)]
        if all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds):
            pair = [each.to_numpy() for each in pair]  # models are asked a thousand times
        same, blank, unknown = map(np.asarray, (pair[0] == pair[1], *map(pd.isna, pair)))
        alike = (here >= 0) & (((there >= 0) & same) | (blank & (unknown | (there < 0))))
        if alike.all():
            return own
        return _with_cells(own, ~alike, self._restore_cells(name, values[~alike]))

    def _restore_cells(self, name: str, values: pd.Series) -> np.ndarray:
        """Return cells that nobody in the table has, as near to the column's own values as can be told."""
        known = self._own_cells[name]
        if known is None:
            return np.asarray(values, dtype="float64")
        cells = values.astype(object).where(values.notna(), None)
        return np.array([known.get(text_of(cell), cell) for cell in cells], dtype=object)

    @cached_property
    def _own_cells(self) -> dict[str, dict[str, Any] | None]:
        """Of each column, its own values by the text of what reading made of them; None for numbers."""
        found: dict[str, dict[str, Any] | None] = {}
        for name in self.columns:
            given, built = self.given.frame[name].reindex(self.built.index), self.built[name]
            if pd.api.types.is_numeric_dtype(given.dtype) and pd.api.types.is_numeric_dtype(built.dtype):
                found[name] = None
                continue
            first = ~built.duplicated() & built.notna() & given.notna()
            pairs = zip(built[first].astype(object), given[first].astype(object), strict=True)
            found[name] = {text_of(made): own for made, own in pairs}
        return found

    def _matrix_type(self, rows: pd.DataFrame) -> Any:
        own = np.asarray(self.given.native).dtype
        whole = own.kind in "iub" and not all(kind.kind in "iub" for kind in rows.dtypes)
        return np.float64 if whole else own  # a moved number need not be whole

    def _to_native(self, rows: pd.DataFrame) -> Any:
        import narwhals.stable.v2 as nw  # late: files come without it

        own = nw.from_native(self.given.native, eager_only=True)
        made = nw.from_arrow(
            pa.Table.from_pandas(rows, preserve_index=False), backend=own.implementation
        )  # polars reads Arrow as it is; so does pyarrow
        columns = []
        for name in self.columns:
            kind, column = own.schema[name], nw.col(name)
            if made.schema[name] != kind and not (made.schema[name].is_float() and kind.is_integer()):
                column = column.cast(kind)
            if kind.is_float() and own[name].null_count() == 0:  # pandas has one sign for NaN and null
                column = column.fill_null(float("nan"))
            columns.append(column)
        return made.with_columns(columns).to_native()


def given_table(table: Any, name: str = "X", columns: Sequence[str] | None = None) -> GivenTable:
    """Read a table given in memory.

    Parameters
    ----------
    table : DataFrame, polars or Arrow frame, or array (n, d)
        At least one row and column.
    name : str
        The argument, for messages.
    columns : sequence of str, optional
        Names for the columns of a matrix; ``x0``, ``x1``, … where none are known.

    Raises
    ------
    InputError
        If it is none of these: says what to do.
    """
    if isinstance(table, pd.DataFrame):
        names = tuple(table.columns)
        if table.empty:
            raise InputError(name, f"must have rows and columns, but has {len(table):,} and {len(names):,}")
        frame = table.set_axis(pd.Index([str(each) for each in names], dtype="str"), axis=1)
        return GivenTable(frame, names, "pandas", table)
    if isinstance(table, (np.ndarray, list, tuple)) or type(table).__name__ == "Tensor":
        return _matrix(table, name, columns)
    if isinstance(table, (str, bytes)) or hasattr(table, "__fspath__"):
        text = str(table)
        advice = f"read it first: {name} = pandas.read_csv({text!r})"
        if "://" in text and not text.startswith(("http://", "https://")):
            advice = f"addresses are not opened: download the file, and {advice[0].lower()}{advice[1:]}"
        raise InputError(name, f"must be {_TABLE}, not the name of a file", text, advice)
    import narwhals.stable.v2 as nw

    try:
        narrow = nw.from_native(table, eager_only=True)
    except TypeError:
        raise _no_table(table, name) from None
    frame = narrow.to_pandas().reset_index(drop=True)
    for column, kind in narrow.schema.items():
        if kind.is_integer() and frame[column].dtype == float:  # beside a null, large ones would be rounded
            frame[column] = pd.array(narrow[column].to_list(), dtype=str(kind))
    return GivenTable(frame.set_index(frame.index + 1), tuple(narrow.columns), "narwhals", table)


def _array(values: Any) -> np.ndarray:
    """Return values as an array; of a tensor its numbers, on whatever device and with whatever gradient."""
    if type(values).__name__ == "Tensor":
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    return np.asarray(values)


def _matrix(table: Any, name: str, columns: Sequence[str] | None) -> GivenTable:
    try:
        matrix = _array(table)
    except (ValueError, TypeError, RuntimeError):
        raise _no_table(table, name) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufOUS":
        raise InputError(
            name, f"must be {_TABLE}", f"an array of shape {matrix.shape}",
            "give one row per person and one column per feature" if matrix.ndim != 2 else "give numbers or "
            "texts",
        )  # fmt: skip
    width = matrix.shape[1]
    names = tuple(columns) if columns is not None else tuple(f"x{place}" for place in range(width))
    if len(names) != width:
        raise InputError(
            "columns", f"must name the {width} columns of {name}", f"{len(names)} names", "name each one"
        )
    frame = pd.DataFrame(matrix, columns=pd.Index([str(each) for each in names], dtype="str"))
    return GivenTable(frame.set_index(frame.index + 1), names, "numpy", matrix)


_CONVERSIONS = {
    "collect": "collect it first: {name}.collect()",
    "to_frame": "make it a frame first: {name}.to_frame()",
    "toarray": "make it dense first: {name}.toarray()",
    "keys": "make it a frame first: pandas.DataFrame({name})",
    "predict": "the model comes first: evenhand.audit(model, X, y, favorable=…, protected=…)",
}


def _no_table(table: Any, name: str) -> InputError:
    told = (advice for method, advice in _CONVERSIONS.items() if hasattr(table, method))
    advice = next(told, "convert it to a frame first").format(name=name)
    return InputError(name, f"must be {_TABLE}", f"a {type(table).__name__}", advice)


def column_of(values: Any, table: GivenTable, name: str) -> pd.Series:
    """Return values that lie outside a table as a column of it, in the same order of people.

    Raises
    ------
    InputError
        If they are no column, of another length, or have an index of their own that orders people
        differently.
    """
    n, index = len(table.frame), table.frame.index
    if isinstance(values, pd.DataFrame) and values.shape[1] == 1:
        values = values.iloc[:, 0]
    if isinstance(values, pd.Series):
        if table.form == "pandas" and len(values) == n and not values.index.equals(index):
            raise InputError(
                name,
                "must have the index of X, so that rows can be matched to people",
                f"other row names from {quoted(values.index[0])} on",
                f"give {name}.to_numpy() if both are in the same order, or {name}.loc[X.index]",
            )
        column = values
    else:
        column = _plain_column(values, name)
    if len(column) != n:
        raise InputError(name, f"must have one entry for each of the {n:,} rows of X", len(column))
    return column.set_axis(index)


def _plain_column(values: Any, name: str) -> pd.Series:
    if not isinstance(values, (np.ndarray, list, tuple)) and type(values).__name__ != "Tensor":
        import narwhals.stable.v2 as nw

        try:
            return nw.from_native(values, series_only=True).to_pandas()
        except TypeError:
            pass
    array = None
    if hasattr(values, "__len__") and not isinstance(values, (str, bytes, Mapping, set, frozenset)):
        array = _array(values)
    if array is not None and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array is None or array.ndim != 1:
        found = type(values).__name__ if array is None else f"an array of shape {array.shape}"
        raise InputError(name, "must be the name of a column of X, or an array with one entry per row", found)
    return pd.Series(array.tolist() if array.dtype.kind in "OSU" else array)


def _with_cells(own: pd.Series, moved: np.ndarray, cells: np.ndarray) -> pd.Series:
    """Return a column of its own type with `cells` where `moved`; numbers that it cannot hold as floats."""
    kind = own.dtype
    if cells.dtype == object:
        whole = own.to_numpy(dtype=object, copy=True)
        whole[moved] = cells
        made = pd.Categorical(whole, dtype=kind) if isinstance(kind, pd.CategoricalDtype) else whole
        return pd.Series(made, index=own.index, dtype=kind)
    own, numbers = own.copy(), pd.Series(cells)
    try:
        with np.errstate(invalid="ignore"):
            fitting = numbers.astype(kind)
        held = pd.api.types.is_float_dtype(kind) or fitting.astype("float64").equals(numbers)
    except (TypeError, ValueError):
        held = False
    own = own if held else own.astype("float64")
    own[moved] = fitting.array if held else cells
    return own
