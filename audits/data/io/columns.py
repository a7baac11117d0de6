"""Columns of text become numbers, dates or text, with their missing cells; vectorised.

Each column is reduced to its distinct values once; everything is decided on those. A column is one
of numbers (dates) if all its values are, missing markers aside. What a number or a date could be read
as in two ways stays text, and a note says so: a wrong number is worse than none.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.data.io.plain_numbers import plain_numbers, spoken_of
from audits.data.values import MISSING_TEXTS, TEXT, text_of

# Among numbers or dates they cannot be anything else
_NUMBER_MARKERS = MISSING_TEXTS | frozenset(
    ["-", "--", ".", "..", "na", "n.a.", "N.A.", "None", "missing", "unknown", "Unknown"]
)
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA_NUMBER = r"^[+-]?([0-9]+,[0-9]*|,?[0-9]+)([eE][+-]?[0-9]+)?$"
_INTEGER = r"^[+-]?[0-9]+$"
_PADDED = r"^[+-]?0[0-9]"  # "007" is a code
_GROUPED = r"^[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+$"  # 1.234 or 1,234: thousands, or three decimals?
_SHOWN_BY = {  # what settles which is the decimal mark: the other before it; 1.234.567 alone may be a code
    ",": r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+$",
    ".": r"^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+\.[0-9]+$",
}
_ZONE = r"(Z|[+-][0-9]{2}:?[0-9]{2})"
_ISO = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?" + _ZONE + "?)?$"
_OFFSET = r":[0-9]{2}(\.[0-9]+)?" + _ZONE + "$"
_DAY_MONTH = (
    r"^(?P<first>[0-9]{1,2})[/.-](?P<second>[0-9]{1,2})[/.-][0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?$"
)
_LIKE_NUMBER = r"^[+-]?[0-9]+([.,][0-9]+)*$"
_DOUBTFUL = (
    "has numbers whose comma or point could be a decimal mark or a thousands separator, so it is read as text"
)
_NO_DATES = "looks like dates that are ambiguous or unreadable, so it is text; write 2024-12-31"
_SIGN = r"([$€£¥₹]|%|[A-Z]{3})"  # $31.20, 45%, EUR 12
_PRICED = r"^\(?[+-]?" + _SIGN + r"?\s?[+-]?[0-9]+([.,][0-9]+)*\s?" + _SIGN + r"?\)?$"  # $31.20, 45%, (1,200)
_CODE = r"^[0-9A-Z]*$"  # ABC12 is no price
_MAX_EXACT = 2**53
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class Spelling:
    """How a column's known values are written in the file, where that is not how they are held.

    Attributes
    ----------
    usual : mapping of str to str
        By value as text, what most cells with it hold, where that is another text.
    others : Series of str
        By position, the texts of the cells that hold neither.
    held : mapping of str to str
        By each of those texts, the value as text that it is read as.
    """

    usual: Mapping[str, str] = field(default_factory=dict)
    others: pd.Series = field(default_factory=lambda: pd.Series([], dtype=TEXT))
    held: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.usual) or bool(len(self.others))

    @classmethod
    def of(cls, codes: np.ndarray, texts: Sequence[str], held: Sequence[str | None]) -> Spelling:
        """Return the spelling of cells given as codes (n,) of `texts`; `held` has None for missing ones."""
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        usual: dict[str, int] = {}
        for code in np.argsort(-counts, kind="stable"):
            value = held[code]
            if value is not None and counts[code]:
                usual.setdefault(value, int(code))
        odd = np.array(
            [each is not None and usual.get(each) != code for code, each in enumerate(held)] + [False]
        )
        cells = np.flatnonzero(odd[codes])
        written = pd.array(list(texts), dtype=TEXT).take(codes[cells])
        told = {texts[code]: str(held[code]) for code in np.unique(codes[cells])}
        changed = {value: texts[code] for value, code in usual.items() if texts[code] != value}
        return cls(changed, pd.Series(written, index=cells), told)


@dataclass(frozen=True, eq=False)
class Markers:
    """The texts in the missing cells of one column, and of the known ones that are held otherwise.

    Attributes
    ----------
    usual : str
        The commonest; "" where the cells are empty.
    others : mapping of str to int array
        Positions of the cells that hold another one: nothing is kept for the commonest.
    spelling : Spelling
    """

    usual: str = ""
    others: Mapping[str, np.ndarray] = field(default_factory=dict)
    spelling: Spelling = field(default_factory=Spelling)

    def __bool__(self) -> bool:
        return bool(self.usual or self.others or self.spelling)

    def plain(self) -> list[Any]:
        """Return the same as plain data."""
        found = [self.usual, {text: places.tolist() for text, places in self.others.items()}]
        spelt = self.spelling
        if not spelt:
            return found
        return [*found, dict(spelt.usual), spelt.others.index.tolist(), spelt.others.tolist()]

    @classmethod
    def of(cls, codes: np.ndarray, texts: Mapping[int, str]) -> Markers:
        """Return the markers of a column given as codes (n,), `texts` naming those that are missing."""
        counts = {code: int((codes == code).sum()) for code in texts}
        found = sorted((code for code, count in counts.items() if count), key=lambda code: -counts[code])
        if not found:
            return cls()
        usual = texts[found[0]]
        others: dict[str, np.ndarray] = {}
        for code in found[1:]:
            if texts[code] != usual:
                places = np.flatnonzero(codes == code)
                others[texts[code]] = np.concatenate([others.get(texts[code], places[:0]), places])
        return cls(usual, others)


@dataclass(frozen=True, eq=False)
class ConvertedColumn:
    """A column converted: its values, the missing markers found with their counts and cells, and notes."""

    values: pd.Series
    missing: Mapping[str, int]
    notes: tuple[str, ...] = ()
    markers: Markers = field(default_factory=Markers)


@dataclass(frozen=True, eq=False)
class _Distinct:
    """A text column as distinct values and their positions; null is code -1, `told` are missing if given.

    `cells` are the same before spaces were taken off: texts, the codes of cells, and the value of each text.
    """

    name: str
    values: pa.Array
    codes: np.ndarray
    counts: np.ndarray
    told: Sequence[str] | None
    cells: tuple[pa.Array, np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(
        cls, name: str, column: pa.ChunkedArray, markers: Sequence[str] | None, *, trim: bool
    ) -> _Distinct:
        whole = column.combine_chunks()
        encoded = whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        values = encoded.dictionary.cast(pa.large_string())
        cells = None
        if trim:
            bare = pc.utf8_trim_whitespace(values)
            trimmed = bare.dictionary_encode()
            places = trimmed.indices.to_numpy(zero_copy_only=False)
            if not bare.equals(values):
                cells = (values, codes, places)
            codes = np.append(places, -1)[codes]
            values = trimmed.dictionary
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        return cls(name, values, codes, counts, markers, cells)

    @cached_property
    def missing(self) -> np.ndarray:
        """Which values mean missing among numbers or dates."""
        return self.among(_NUMBER_MARKERS if self.told is None else frozenset(self.told) | {""})

    @cached_property
    def known(self) -> np.ndarray:
        return ~self.missing

    def matching(self, pattern: str) -> np.ndarray:
        return pc.match_substring_regex(self.values, pattern).to_numpy(zero_copy_only=False).astype(bool)

    def holding(self, mark: str) -> np.ndarray:
        return pc.match_substring(self.values, mark).to_numpy(zero_copy_only=False).astype(bool)

    def among(self, texts: frozenset[str]) -> np.ndarray:
        return pc.is_in(self.values, value_set=pa.array(sorted(texts), pa.large_string())).to_numpy(
            zero_copy_only=False
        )

    def first(self, values: np.ndarray) -> str:
        """Return the first of some values, as an example."""
        return str(self.values[int(np.flatnonzero(values)[0])])

    def as_column(self, known: np.ndarray, notes: Sequence[str]) -> ConvertedColumn:
        """Convert to numbers or dates, given those of the values that are known; NaN or NaT elsewhere."""
        codes = np.where(self.missing[self.codes], -1, self.codes) if len(self.missing) else self.codes
        if (codes < 0).any() and known.dtype.kind != "M":
            known = known.astype(float)
        empty = np.datetime64("NaT") if known.dtype.kind == "M" else np.nan if known.dtype.kind == "f" else 0
        spread = np.full(len(self.known) + 1, empty, dtype=known.dtype)
        spread[:-1][self.known] = known
        found = self.converted(pd.Series(spread[codes]), self.missing, notes)
        if known.dtype.kind != "M":
            return found
        held = [None if each is pd.NaT else text_of(each) for each in pd.Series(spread[:-1])]
        spelling, _ = self.spelled(held)
        return dataclasses.replace(found, markers=dataclasses.replace(found.markers, spelling=spelling))

    def converted(self, values: pd.Series, missing: np.ndarray, notes: Sequence[str]) -> ConvertedColumn:
        return ConvertedColumn(values, self.found(missing), tuple(notes), self.marked(missing))

    def spelled(self, held: Sequence[str | None]) -> tuple[Spelling, bool]:
        """Return how values are written that are held as these texts, and whether a separator wrote more.

        A space before every value belongs to the separator, as in ``a, b``.
        """
        values, codes, places = self.cells or (self.values, self.codes, np.arange(len(self.values)))
        texts = values.to_pylist()
        kept = [held[place] for place in places.tolist()]
        known = [text for text, each in zip(texts, kept, strict=True) if each is not None]
        spaced = bool(known) and all(text[:1] == " " for text in known)
        return Spelling.of(codes, [text.lstrip(" ") for text in texts] if spaced else texts, kept), spaced

    def found(self, missing: np.ndarray) -> dict[str, int]:
        counts = {str(self.values[int(i)]): int(self.counts[i]) for i in np.flatnonzero(missing)}
        absent = int((self.codes < 0).sum())
        if absent:
            counts["null"] = counts.get("null", 0) + absent
        return {marker: count for marker, count in counts.items() if count}

    def marked(self, missing: np.ndarray) -> Markers:
        """Return which cells hold which missing marker; those of a typed format without a value hold none."""
        texts = {int(i): str(self.values[int(i)]) for i in np.flatnonzero(missing & (self.counts > 0))}
        return Markers.of(self.codes, texts | {-1: ""})


def is_number(text: str) -> bool:
    """Return whether a text is a plain number with a decimal point or none."""
    return re.fullmatch(_NUMBER, text.strip()) is not None


def convert_texts(
    columns: Mapping[str, pa.ChunkedArray],
    *,
    markers: Sequence[str] | None = None,
    comma: bool = False,
    decimal: str | None = None,
) -> dict[str, ConvertedColumn]:
    """Convert the text columns of a file format that has only text.

    Parameters
    ----------
    columns : mapping of str to ChunkedArray of strings
        By column name.
    markers : sequence of str, optional
        Exactly these mean missing; detected otherwise.
    comma : bool
        Whether a comma may be the decimal mark (a file with ";" between its fields).
    decimal : {",", "."}, optional
        The decimal mark, where it is told: see `as_written_number`.
    """
    made: dict[str, ConvertedColumn] = {}
    distinct: dict[str, _Distinct] = {}
    for name, column in columns.items():
        # whole numbers say nothing about a decimal mark, so that other columns need not know of them
        numbers = (
            None if spoken_of(markers) else plain_numbers(column, whole_only=comma or decimal is not None)
        )
        if numbers is None:
            distinct[name] = _Distinct.of(name, column, markers, trim=True)
        else:
            empty = int(np.isnan(numbers).sum()) if numbers.dtype.kind == "f" else 0
            made[name] = ConvertedColumn(pd.Series(numbers), {"": empty} if empty else {})
    mark = _decimal_mark(distinct.values()) if comma and decimal is None else "."
    for name, each in distinct.items():
        made[name] = _convert(each if decimal is None else _plain_numbers(each, decimal), mark)
    return {name: made[name] for name in columns}


def as_written_number(text: str, decimal: str) -> str | None:
    """Return a number written with thousands and signs as a plain one; None if it is none.

    Parameters
    ----------
    text : str
        Such as ``"1.234,50 €"``.
    decimal : {",", "."}
        The decimal mark; the other, spaces and apostrophes may stand between groups of three digits.

    Examples
    --------
    >>> as_written_number("1.234,50 €", ","), as_written_number("$1,200", "."), as_written_number("1.5", ",")
    ('1234.50', '1200', None)
    >>> as_written_number("-1.234.567,8", ","), as_written_number("12 Main St", ".")
    ('-1234567.8', None)
    """
    other = "," if decimal == "." else "."
    found = re.fullmatch(
        rf"{_SIGN}?\s?(?P<sign>[+-]?){_SIGN}?\s?"
        rf"(?P<whole>[1-9][0-9]{{0,2}}(?:[{other}'’\s][0-9]{{3}})+|[0-9]+)"
        rf"(?:\{decimal}(?P<part>[0-9]*))?\s?{_SIGN}?",
        text.strip(),
    )
    if found is None:
        return None
    whole = re.sub(r"[^0-9]", "", found["whole"])
    return f"{found['sign']}{whole}" + (f".{found['part']}" if found["part"] else "")


def _plain_numbers(column: _Distinct, decimal: str) -> _Distinct:
    """Return a column with its numbers written plainly, if all its values are numbers in some writing."""
    known = column.known
    if column.matching(_NUMBER)[known].all() and not column.matching(_GROUPED)[known].any():
        return column
    plain = [
        as_written_number(text, decimal) if told else text
        for text, told in zip(column.values.to_pylist(), known, strict=True)
    ]
    if any(text is None for text in plain) or column.matching(_PADDED)[known].any():
        return column
    return dataclasses.replace(column, values=pa.array(plain, pa.large_string()))


def convert_text(
    name: str, column: pa.ChunkedArray, *, markers: Sequence[str] | None = None
) -> ConvertedColumn:
    """Convert a text column of a typed format: ISO dates and missing markers, but no numbers."""
    distinct = _Distinct.of(name, column, markers, trim=False)
    dated = None
    if distinct.known.any() and distinct.matching(_ISO)[distinct.known].all():
        dated = _as_dates(distinct)
    return dated or _as_text(distinct)


def _decimal_mark(columns: Iterable[_Distinct]) -> str:
    """Return the decimal mark that the unambiguous numbers of a file show: ".", "," or "?" for both."""
    marks = set()
    for column in columns:
        known, grouped = column.known, column.matching(_GROUPED)
        for mark, pattern in ((".", _NUMBER), (",", _COMMA_NUMBER)):
            fits = column.matching(pattern)
            if known.any() and fits[known].all() and (column.holding(mark) & known & ~grouped).any():
                marks.add(mark)
    return marks.pop() if len(marks) == 1 else "?"


def _convert(column: _Distinct, decimal: str) -> ConvertedColumn:
    known = column.known
    if not known.any():
        return _without_numbers(column)
    number = column.matching(_NUMBER) | (column.matching(_COMMA_NUMBER) if decimal != "." else False)
    if number[known].all():
        return _as_numbers(column, decimal)
    if (column.matching(_ISO) | column.matching(_DAY_MONTH))[known].all():
        return _as_dates(column) or _as_text(column, _NO_DATES)
    if column.matching(_LIKE_NUMBER)[known].all():
        return _with_thousands(column) or _as_text(column, _DOUBTFUL)
    odd = known & ~number
    if (column.matching(_PRICED) & ~column.matching(_CODE) | number)[known].all():
        note = (
            f"has numbers written with signs (such as {column.first(odd)!r}), so it is read as text; take "
            "the signs out to have numbers"
        )
        return _as_text(column, note)
    if column.counts[known & number].sum() / column.counts[known].sum() < _MOSTLY:
        return _as_text(column)
    note = (
        f"holds {column.counts[odd].sum():,} cells that are not numbers (such as {column.first(odd)!r}), so "
        "it is read as text; list them in read.missing if they mean that a value is missing"
    )
    return _as_text(column, note)


def _with_thousands(column: _Distinct) -> ConvertedColumn | None:
    """Convert a column of which a value shows both marks, such as 12.871,85; None if others contradict it."""
    shown = {mark: column.matching(pattern) & column.known for mark, pattern in _SHOWN_BY.items()}
    marks = [mark for mark, values in shown.items() if values.any()]
    if len(marks) != 1:
        return None
    plain = _plain_numbers(column, marks[0])
    if plain is column:
        return None
    found = _convert(plain, ".")
    named, example = "comma" if marks[0] == "," else "point", column.first(shown[marks[0]])
    note = f"Column {column.name!r} has thousands separators and a decimal {named} (such as {example})."
    return dataclasses.replace(found, notes=(*found.notes, note))


def _without_numbers(column: _Distinct) -> ConvertedColumn:
    """Convert a column in which nothing could stand among numbers: texts such as "-", or nothing."""
    missing = column.among(MISSING_TEXTS) if column.told is None else column.missing
    if not missing.all():
        return _as_text(column)
    values = pd.Series(np.full(len(column.codes), np.nan))
    return column.converted(values, missing, [f"Column {column.name!r} has no values at all."])


def _as_numbers(column: _Distinct, decimal: str) -> ConvertedColumn:
    """Convert a column whose values all look like numbers, unless that could change them."""
    marked = {mark: column.holding(mark) & column.known for mark in ",."}
    doubtful = {
        mark: cells.any() and column.matching(_GROUPED)[cells].all() for mark, cells in marked.items()
    }
    comma = bool(marked[","].any())
    if (comma and marked["."].any()) or any(doubtful[mark] and decimal != mark for mark in ",."):
        return _as_text(column, _DOUBTFUL)
    if column.matching(_PADDED)[column.known].any():
        return _as_text(column)
    texts = column.values.filter(pa.array(column.known))
    texts = pc.utf8_ltrim(pc.replace_substring(texts, ",", "."), characters="+")
    numbers = _parse(texts, gaps=bool(column.missing.any()) or bool((column.codes < 0).any()))
    if numbers is None:
        return _as_text(column, "has numbers too large to be held exactly, so it is read as text")
    return column.as_column(numbers, [f"Column {column.name!r} has decimal commas."] if comma else [])


def _parse(texts: pa.Array, *, gaps: bool) -> np.ndarray | None:
    """Return int64 or float64, or None if digits of a whole number would be lost."""
    whole = pc.match_substring_regex(texts, _INTEGER).to_numpy(zero_copy_only=False).astype(bool)
    if (whole & (pc.utf8_length(texts).to_numpy() > 18)).any():
        return None
    if whole.all():
        integers = texts.cast(pa.int64()).to_numpy()
        return None if gaps and np.abs(integers).max() > _MAX_EXACT else integers
    floats = texts.cast(pa.float64()).to_numpy()
    if not np.isfinite(floats).all() or (whole & (np.abs(floats) > _MAX_EXACT)).any():
        return None
    return floats


def _as_dates(column: _Distinct) -> ConvertedColumn | None:
    """Convert a column whose values all look like dates; None if they are none or ambiguous."""
    texts = pd.Series(column.values.filter(pa.array(column.known)).to_pylist(), dtype=TEXT)
    offsets = column.matching(_OFFSET)[column.known]
    try:
        if column.matching(_ISO)[column.known].all():
            dates = pd.to_datetime(texts, format="ISO8601", utc=bool(offsets.any()))
        else:
            order = _day_month_order(texts)
            if order is None:
                return None
            clock = texts.str.extract(r" (\d{1,2}:\d{2}(?::\d{2})?)$")[0].fillna("0:00")
            clock = clock.where(clock.str.count(":") == 2, clock + ":00")
            days = texts.str.split(" ").str[0].str.replace(r"[.-]", "/", regex=True)
            dates = pd.to_datetime(days + " " + clock, format=f"{order} %H:%M:%S")
    except ValueError:
        return None
    if offsets.any():
        if not offsets.all():
            return None
        dates = dates.dt.tz_localize(None)
    notes = [f"Times in column {column.name!r} are shown in UTC."] if offsets.any() else []
    return column.as_column(dates.to_numpy().astype("datetime64[us]"), notes)


def _day_month_order(texts: pd.Series) -> str | None:
    parts = texts.str.extract(_DAY_MONTH)
    if parts["first"].isna().any():
        return None
    first, second = parts["first"].astype(int).max(), parts["second"].astype(int).max()
    if first > 12 >= second or texts.str.contains(".", regex=False).all():
        return "%d/%m/%Y"
    return "%m/%d/%Y" if second > 12 >= first else None


def _as_text(column: _Distinct, note: str = "") -> ConvertedColumn:
    missing = column.among(MISSING_TEXTS if column.told is None else frozenset(column.told))
    notes = [f"Column {column.name!r} {note}."] if note else []
    if column.told is None and _has_codes(column, missing):
        kept = missing & column.among(frozenset({"NA"}))
        missing = missing & ~kept
        if kept.any():
            notes.append(f"'NA' is kept as a value of column {column.name!r}, which holds two-letter codes.")
    texts = pc.if_else(pa.array(~missing), column.values, pa.scalar(None, pa.large_string()))
    codes = pa.array(column.codes, mask=column.codes < 0)
    spelling = Spelling()
    if column.cells is not None:
        spelling, spaced = column.spelled(texts.to_pylist())
        if spaced:
            said = "begins with a space, which is left out, for models too"
            notes.append(f"Every value of column {column.name!r} {said}.")
    found = column.converted(pd.Series(texts.take(codes).to_pandas(), dtype=TEXT), missing, notes)
    return dataclasses.replace(found, markers=dataclasses.replace(found.markers, spelling=spelling))


def _has_codes(column: _Distinct, missing: np.ndarray) -> bool:
    others = ~missing
    return int(others.sum()) >= 5 and bool(column.matching(r"^[A-Z]{2}$")[others].all())
