"""What stands in the cells that are read as missing: a model is given each cell as the file has it.

That a ``?`` or a -999 means "missing" is a statement about statistics and distances. A model was trained on
what the cell holds, and is given that again, whatever `data.missing` says about the people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from audits.data.frames import with_columns
from audits.data.io.columns import Markers, Spelling, is_number
from audits.data.values import TEXT, as_text

ROW = "row"
"""Name of an index of row numbers; rows that nobody in the data has are counted without a name."""


@dataclass(frozen=True, eq=False)
class MissingCells:
    """What stands in missing cells, and which cells were filled in: see `restore`.

    Attributes
    ----------
    usual : mapping of str to str
        By column, the text that most of its missing cells hold; columns of empty cells are not listed.
    others : mapping of str to mapping of str to Index
        By column and text, the row numbers of the cells that hold something else.
    filled : mapping of str to (Index, value)
        By column, the row numbers of the cells that `data.missing: impute` filled, and with what.
    meant : mapping of str to Series
        By column, the value in the file of each name that `data.labels` gives, by that name.
    spelled : mapping of str to Spelling
        By column, how known values are written, where they are held otherwise: with spaces around them, or
        as dates. Positions are row numbers.
    """

    usual: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, pd.Index]] = field(default_factory=dict)
    filled: Mapping[str, tuple[pd.Index, Any]] = field(default_factory=dict)
    meant: Mapping[str, pd.Series] = field(default_factory=dict)
    spelled: Mapping[str, Spelling] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.usual or self.others or self.filled or self.meant or self.spelled)

    @classmethod
    def of(cls, markers: Mapping[str, Markers], index: pd.Index) -> MissingCells:
        """Return what stands in the missing cells of a table whose rows have the numbers `index`."""
        return cls(
            {name: each.usual for name, each in markers.items() if each.usual},
            {
                name: {text: index[places] for text, places in each.others.items()}
                for name, each in markers.items()
                if each.others
            },
            spelled={
                name: replace(
                    each.spelling,
                    others=each.spelling.others.set_axis(index[each.spelling.others.index.to_numpy()]),
                )
                for name, each in markers.items()
                if each.spelling
            },
        )

    def without(self, columns: Collection[str]) -> MissingCells:
        """Return the same without `columns`: those that are not as the file has them."""
        kept = [
            {name: value for name, value in part.items() if name not in columns}
            for part in (self.usual, self.others, self.filled, self.meant, self.spelled)
        ]
        return MissingCells(*kept)  # type: ignore[arg-type]

    def described(self, columns: Collection[str]) -> dict[str, Any]:
        """Return as plain data what people whom nobody has in the data need of `columns`: see `restored`."""
        meant = {name: known for name, known in self.meant.items() if name in columns}
        return {
            "written": {name: text for name, text in self.usual.items() if name in columns},
            "meant": {name: [known.index.tolist(), known.tolist()] for name, known in meant.items()},
            "spelled": {name: dict(each.usual) for name, each in self.spelled.items() if name in columns},
        }

    @classmethod
    def restored(cls, described: Mapping[str, Any]) -> MissingCells:
        """Build again what `described` described, of which older data may lack a part."""
        meant = described.get("meant", {})
        return cls(
            dict(described.get("written", {})),
            meant={
                name: pd.Series(values, index=pd.array(names, dtype=TEXT))
                for name, (names, values) in meant.items()
            },
            spelled={name: Spelling(usual) for name, usual in described.get("spelled", {}).items()},
        )

    def restore(self, frame: pd.DataFrame, *, texts: Collection[str] = ()) -> pd.DataFrame:
        """Return raw rows as the file has them, numbers as numbers and texts as texts.

        A missing cell of a person in the data holds again what stood there; that of a person nobody has,
        what most of the column's missing cells hold. In a column of numbers that is a number (-999) where
        the text is one, and missing otherwise.

        Parameters
        ----------
        frame : DataFrame
            Any rows with columns of the data.
        texts : collection of str
            Columns that are wanted as texts, whatever they hold.
        """
        made: dict[str, pd.Series] = {}
        known = frame.index.name == ROW
        for name in frame.columns:
            column = found = frame[name]
            if known and name in self.filled:
                rows, value = self.filled[name]
                column = column.mask(frame.index.isin(rows) & (column == value).to_numpy(dtype=bool))
            if name in self.meant:
                column = self._file_values(column)
            gaps = column.isna().to_numpy()
            if name in self.spelled and (name in texts or not pd.api.types.is_datetime64_any_dtype(column)):
                column = self._file_texts(column, known=known)
            if gaps.any() and (name in self.usual or name in self.others):
                column = self._fill_markers(column, gaps, known=known, as_texts=name in texts)
            if column is not found:
                made[name] = column
        return with_columns(frame, made) if made else frame

    def _file_values(self, column: pd.Series) -> pd.Series:
        """Return the values that the file has where `column` holds what they mean."""
        codes, names = pd.factorize(column)
        meant = self.meant[str(column.name)]
        values = meant.reindex(names) if len(names) else meant.iloc[:0]
        if (codes < 0).any() and pd.api.types.is_integer_dtype(values.dtype):
            values = values.astype(float)
        found = values.array.take(codes, allow_fill=True) if (codes < 0).any() else values.array.take(codes)
        return pd.Series(found, index=column.index, name=column.name)

    def _file_texts(self, column: pd.Series, *, known: bool) -> pd.Series:
        """Return the texts that the file has where `column` holds what they are read as."""
        spelling, held = self.spelled[str(column.name)], as_text(column)
        found = held.map(lambda value: spelling.usual.get(value, value), na_action="ignore")
        if known and len(spelling.others):
            own = spelling.others.reindex(column.index)
            found = found.mask((own.map(spelling.held) == held).to_numpy(dtype=bool), own)
        return found.astype(TEXT)

    def _fill_markers(self, column: pd.Series, gaps: np.ndarray, *, known: bool, as_texts: bool) -> pd.Series:
        name = str(column.name)
        number = pd.api.types.is_numeric_dtype(column.dtype)
        if (number and not as_texts) or pd.api.types.is_datetime64_any_dtype(column.dtype):
            if not number:
                return column
            numbers = column.to_numpy(np.float64, na_value=np.nan, copy=True)
            for text, places in self._places(name, column.index, gaps, known):
                numbers[places] = float(text) if is_number(text) else np.nan
            return pd.Series(numbers, index=column.index, name=name)
        values = as_text(column).to_numpy(dtype=object, copy=True)
        for text, places in self._places(name, column.index, gaps, known):
            values[places] = text or None
        return pd.Series(pd.array(values, dtype=TEXT), index=column.index, name=name)

    def _places(
        self, name: str, index: pd.Index, gaps: np.ndarray, known: bool
    ) -> list[tuple[str, np.ndarray]]:
        """Return the texts and the cells (n,) of bool that hold them."""
        found = [(self.usual.get(name, ""), gaps)]
        if known:
            found += [(text, gaps & index.isin(rows)) for text, rows in self.others.get(name, {}).items()]
        return found
