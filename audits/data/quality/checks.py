"""What is likely wrong with a table before it is audited, each with what would mend it.

Nothing here changes anything: a `Mend` says which keys of a spec's ``data`` section would, so that what was
mended stands in the spec.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.data.audit_data import AuditData
from audits.data.io.columns import as_written_number, is_number
from audits.data.io.tables import Table
from audits.data.kinds import infer_kind
from audits.data.outliers import heavy_cells
from audits.data.preprocessing.column_names import column_role
from audits.data.preprocessing.weights import repeated_rows
from audits.data.quality.findings import Finding, Mend, be, cell_count, leave_out, quote_names
from audits.data.quality.proxies import (
    find_proxies,
    label_is_prediction,
    missing_decisions,
    same_attribute,
    telling,
    tells_decision,
)
from audits.data.quality.row_units import row_units
from audits.data.spec import DataSpec
from audits.data.values import holds_numbers, text_of
from audits.text import join_names

_MAX_ROWS = 20_000  # looked at for how values are written
_MAX_SPELLINGS = 200
_MAX_RECODED = 50
_MAX_WORDS = 10
_HUGE = 1e15  # beyond it a number is a mark or a mistake
_ROOM = 3  # different rows that there could be, in rows, from which equal ones are no matter of course
_AMOUNTS = re.compile(
    r"(^|[^a-z])(counts?|numbers?|num|n|years?|yrs|months?|days?|hours?|amounts?|percentage|percent|decile|score"
    r"|rank|size|since|dependants|dependents|children|degrees?)([^a-z]|$)",
    re.IGNORECASE,
)
_PADDED = "[+-]?0[0-9]"  # 007 is a code
_MIN_CODES, _MAX_CODES = 3, 12  # values of whole numbers that may be codes
_WHOLE = 0.9
_AGES = re.compile(r"(^|[^a-z])(age|alter|âge|edad|età|years?_old)([^a-z]|$)", re.IGNORECASE)
_MARKS = (-1, -9, -99, -999, -9999)
_SAME_DIGIT = re.compile(r"-?([1-9])\1+")  # 99, 666
_OFTEN, _TIMES, _AROUND = 20, 5, 10  # cells, and times as many as of so many values around it, are a mark
_FAR, _VERY_FAR = 5, 50  # a mark lies so many times the spread of all others beyond them: of many, of few
_MIN_OTHERS, _MANY_OTHERS, _MOST_FAR = 3, 10, 3  # different values


def examine(
    table: Table,
    spec: DataSpec,
    data: AuditData | None = None,
    *,
    predictions: str | None = None,
    unlikely: str = "",
) -> list[Finding]:
    """Return what is likely wrong with a table, what hinders most first.

    Parameters
    ----------
    table : Table
        As read.
    spec : DataSpec
        What is said of it so far.
    data : AuditData, optional
        The data prepared by `spec`, where they could be: without them nothing is said of label and groups.
    predictions : str, optional
        The column of stored predicted labels.
    unlikely : str
        How a model of these data did, where it did better than people can be told: ``right about all 600
        people``. The columns that alone tell the label are then named from a lower bound on.
    """
    frame = table.frame
    features = list((spec.features or frame.columns) if data is None else data.features)
    header = second_header(table, spec)
    found = [
        *header,
        *_sheets(table, spec),
        *row_units(frame, spec),
        *missing_decisions(frame, spec, predictions),
        *([] if header else _words_among_numbers(table, spec)),  # that header is such words itself
        *_written_numbers(frame, spec),
        *_beyond_numbers(frame, spec),
        *_impossible(frame, spec),
        *_spellings(frame, spec),
        *_weights(frame, spec),
        *_duplicate_rows(frame, spec),
        *_numbering(frame, spec, features),
    ]
    if data is not None:
        features = [name for name in data.features if name != predictions]  # what was decided is no feature
        data = dataclasses.replace(data, features=tuple(features))
        found += [
            *same_attribute(data),
            *label_is_prediction(data, spec, predictions),
            *tells_decision(data, predictions),
            *telling(data, unlikely),
            *find_proxies(data),
            *_codes(data, spec),
            *_free_text(data),
        ]
    return found


def second_header(table: Table, spec: DataSpec) -> list[Finding]:
    """Find a first row of names: columns that are numbers but for it."""
    frame = table.frame
    if len(frame) < 3 or len(table.report.files) != 1 or not table.report.files[0].header:
        return []
    columns = [name for name in frame.columns if pd.api.types.is_string_dtype(frame[name].dtype)]
    spoiled = [name for name in columns if _but_first(frame[name].iloc[:_MAX_ROWS])]
    if len(spoiled) < 2:
        return []
    first = [text_of(value) for value in frame.iloc[0]]
    lines = [line for line, _ in table.report.files[0].skipped]
    skip = max([*lines, spec.read.skip_rows if isinstance(spec.read.skip_rows, int) else 0]) + 1
    shown = join_names(first, most=4)
    said = f"The first row looks like a second header ({shown}): it makes {quote_names(spoiled)} text."
    read = _read(spec, skip_rows=skip)
    return [Finding("second header", said, (Mend("Take the second row as the names", {"read": read}),))]


def _but_first(column: pd.Series) -> bool:
    first, *others = column.dropna().unique().tolist() or [""]
    return bool(others) and not is_number(str(first)) and all(is_number(str(each)) for each in others)


def _sheets(table: Table, spec: DataSpec) -> list[Finding]:
    titles = [title for file in table.report.files for title in file.sheets]
    if len(titles) < 2 or spec.read.sheet is not None or len(table.report.files) > 1:
        return []
    read, *others = titles
    rest = join_names(others, quoted=True)
    said = f"The workbook has {len(titles)} sheets. {read!r} is read, {rest} {be(others)} not."
    mends = [Mend(f"Read {title}", {"read": _read(spec, sheet=title)}) for title in others[:4]]
    return [Finding("sheets", said, (*mends, Mend(f"{read} is right", {"read": _read(spec, sheet=read)})))]


def _words_among_numbers(table: Table, spec: DataSpec) -> list[Finding]:
    """Find columns of numbers that a few other texts, such as ``inf``, make text."""
    if {file.format for file in table.report.files} - {"csv", "tsv"}:
        return []
    words: dict[str, None] = {}
    columns, cells = [], 0
    for name in _texts(table.frame, spec):
        counts = table.frame[name].value_counts()
        odd = [str(text) for text in counts.index[:_MAX_ROWS] if not is_number(str(text))]
        if not 1 <= len(odd) <= _MAX_WORDS or counts.index.str.match(_PADDED).any():
            continue
        n = int(counts[odd].sum())
        if n <= (1 - _WHOLE) * counts.sum():
            words |= dict.fromkeys(odd)
            columns.append(name)
            cells += n
    if not columns:
        return []
    known = spec.read.missing
    if known is None:  # a list says all there are
        known = tuple({text for told in table.report.missing.values() for text in told} - {"null"})
    holds = "holds numbers, but is" if len(columns) == 1 else "hold numbers, but are"
    told = join_names(list(words), quoted=True)
    said = f"{quote_names(columns)} {holds} read as text for {cell_count(cells)}: {told}."
    read = _read(spec, missing=list(dict.fromkeys([*sorted(known), *words])))
    return [Finding("words among numbers", said, (Mend("Take them as missing", {"read": read}),))]


def _written_numbers(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find texts that are numbers with decimal commas, marks of thousands, or signs of money."""
    if spec.read.decimal is not None:
        return []
    fits: dict[str, list[str]] = {",": [], ".": []}
    for name in _texts(frame, spec):
        values = frame[name].dropna().unique()[:_MAX_ROWS]
        if not len(values) or all(map(is_number, values)) or not re.search("[0-9]", values[0]):
            continue
        for mark, columns in fits.items():
            if all(as_written_number(text, mark) is not None for text in values):
                columns.append(name)
    names = list(dict.fromkeys(fits[","] + fits["."]))
    if not names:
        return []
    example = text_of(frame[names[0]].dropna().iloc[0])
    hold = "holds" if len(names) == 1 else "hold"
    said = f"{quote_names(names)} {hold} numbers written like {example!r}, read as text."
    words = {",": "1.234,5 is written with a decimal comma", ".": "1,234.5 is written with a decimal point"}
    ways = sorted((mark for mark in fits if fits[mark]), key=lambda mark: -len(fits[mark]))
    mends = tuple(Mend(f"Numbers: {words[mark]}", {"read": _read(spec, decimal=mark)}) for mark in ways)
    return [Finding("written numbers", said, mends)]


def _beyond_numbers(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find infinite and absurdly large numbers."""
    recode, cells = {}, 0
    for name in _numbers(frame, spec):
        column = frame[name].dropna()
        bad = column[~np.isfinite(column) | (column.abs() > _HUGE)]
        if len(bad) and bad.nunique() <= _MAX_RECODED:
            recode[name] = _taken_as_missing(bad)
            cells += len(bad)
    if not recode:
        return []
    texts = [text for each in recode.values() for text in each["map"]]
    said = (
        f"{cell_count(cells)} of {quote_names(list(recode))} {be(range(cells))} infinite or far too large to "
        f"be a measurement ({join_names(texts, most=4)})."
    )
    return [Finding("infinite", said, (Mend("Take them as missing", recode=recode),))]


def _impossible(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find ages that nobody has, and marks such as -999 among other numbers."""
    recode, shown = {}, []
    for name in _numbers(frame, spec):
        column = frame[name].dropna()
        column = column[np.isfinite(column) & (column.abs() <= _HUGE)]  # others are told above
        if column.nunique() < _MIN_OTHERS + 1:
            continue
        bad = column[(column < 0) | (column > 125)] if _AGES.search(name) else column[:0]
        if not len(bad):
            bad = _marks(column)
        if len(bad) and len(bad) < len(column) / 2 and bad.nunique() <= _MAX_RECODED:
            recode[name] = _taken_as_missing(bad)
            values = join_names([text_of(value) for value in bad.unique()], most=3)
            rest = column.drop(bad.index)
            between = f"all others lie from {text_of(rest.min())} to {text_of(rest.max())}"
            shown.append(f"{name} holds {values} in {cell_count(len(bad))}, {between}")
    if not recode:
        return []
    said = f"{join_names(shown, quoted=False)}. Do they mean that a value is missing?"
    button = "Take them as missing" if len(recode) > 1 else f"Take {values} as missing"
    mends = [Mend(button, recode=recode)]
    if len(recode) > 1:
        mends += [Mend(f"Only those of {name}", recode={name: recode[name]}) for name in list(recode)[:4]]
    return [Finding("impossible", said, tuple(mends))]


def _marks(column: pd.Series) -> pd.Series:
    """Return the cells that stand for what is not known: few values far from all others, or far too many."""
    values, counts = np.unique(column.to_numpy(dtype=float), return_counts=True)
    bad = heavy_cells(column.to_numpy(dtype=float))
    marks = {float(each) for each in column.iloc[bad].unique()}
    for k in range(1, _MOST_FAR + 1):
        if len(values) - k < _MIN_OTHERS:
            break
        for end, rest in ((values[-k:], values[:-k]), (values[:k], values[k:])):
            far = max(float(end.min() - rest.max()), float(rest.min() - end.max()))
            alike = len(rest) >= _MANY_OTHERS or all(_SAME_DIGIT.fullmatch(text_of(each)) for each in end)
            if far > (_FAR if alike else _VERY_FAR) * max(float(rest.max() - rest.min()), 1.0):
                marks.update(map(float, end))
    below = values[np.isin(values, _MARKS)]
    if len(below) and (values[~np.isin(values, _MARKS)] >= 0).all():
        marks.update(map(float, below))
    often = np.flatnonzero((counts >= _OFTEN) & (abs(values) > 100))
    marks.update(float(values[k]) for k in often if _stands_out(values, counts, int(k)))
    return column[column.isin(marks)]


def _stands_out(values: np.ndarray, counts: np.ndarray, k: int) -> bool:
    """Whether a value such as 666 is far commoner than those around it."""
    around = np.delete(counts[max(0, k - _AROUND) : k + _AROUND + 1], min(k, _AROUND))
    same = _SAME_DIGIT.fullmatch(text_of(values[k])) is not None
    return same and bool(len(around)) and bool(counts[k] >= _TIMES * around.max())


def _spellings(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find values that differ in capitals, spaces or a full stop only."""
    recode, shown = {}, []
    for name in _texts(frame, spec):
        counts = frame[name].value_counts()
        if not 2 <= len(counts) <= _MAX_SPELLINGS:
            continue
        first: dict[str, str] = {}
        new: dict[str, str] = {}
        for text in counts.index:  # the commonest first
            plain = " ".join(str(text).casefold().split()).rstrip(".")
            if first.setdefault(plain, text) != text:
                new[text] = first[plain]
        if new:
            recode[name] = {"map": new}
            old, kept = next(iter(new.items()))
            shown.append(f"{name} ({old!r} beside {kept!r})")
    if not recode:
        return []
    said = f"The same value is written in several ways: {join_names(shown, quoted=False)}."
    return [Finding("spellings", said, (Mend("Write each in one way", recode=recode),))]


def _weights(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    weighing = spec.weighing
    if weighing is None or weighing.kind is not None or weighing.column not in frame:
        return []
    column = frame[weighing.column]
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return []
    counts = column.to_numpy(dtype=float, na_value=np.nan)
    if np.isclose(counts, np.round(counts)).mean() >= _WHOLE:
        return []
    said = (
        f"The weights {weighing.column!r} are not whole numbers. They look like sampling weights, not "
        "counts of people."
    )
    mends = tuple(
        Mend(button, {"weights": {"column": weighing.column, "kind": kind}})
        for kind, button in (("sampling", "They are sampling weights"), ("counts", "They count people"))
    )
    return [Finding("fractional weights", said, mends)]


def _duplicate_rows(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    repeated = repeated_rows(frame, spec)
    if not repeated or math.prod(max(1, count) for count in frame.nunique()) < _ROOM * len(frame):
        return []  # few columns: people who are alike
    said = (
        f"{repeated:,} of {len(frame):,} rows repeat another row in every column. Are they the same people?"
    )
    mends = (
        Mend("Keep one row of each", {"repeated": "drop"}),
        Mend("They are different people", {"repeated": "keep"}),
    )
    return [Finding("equal rows", said, mends)]


def _numbering(frame: pd.DataFrame, spec: DataSpec, features: Sequence[str]) -> list[Finding]:
    """Find features that number the rows, and identifiers that were ticked as features."""
    numbering, naming = [], []
    for name in features:
        column = frame.get(name)
        if column is None or name in spec.protected or name in spec.design_columns or len(column) < 10:
            continue
        if pd.api.types.is_integer_dtype(column.dtype) and column.is_unique:
            steps = np.unique(np.diff(column.to_numpy()))
            if len(steps) == 1 and abs(int(steps[0])) == 1:
                numbering.append(name)
                continue
        if name in (spec.features or ()) and infer_kind(column) == "identifier":
            naming.append(name)
    found = []
    if numbering:
        does = "numbers the rows and says" if len(numbering) == 1 else "number the rows and say"
        said = f"{quote_names(numbering)} {does} nothing about a person."
        found.append(Finding("row numbers", said, (Mend(leave_out(numbering), leave_out=tuple(numbering)),)))
    if naming:
        said = f"{quote_names(naming)} {be(naming)} different for nearly everyone, like a name or an address."
        found.append(Finding("identifiers", said, (Mend(leave_out(naming), leave_out=tuple(naming)),)))
    return found


def _codes(data: AuditData, spec: DataSpec) -> list[Finding]:
    """Find features of a few whole numbers, which may be codes of categories."""
    names = [
        name
        for name in data.features
        if data.kinds[name] == "integer"
        and name not in spec.kinds
        and name not in spec.bins
        and not _AMOUNTS.search(name)
        and _MIN_CODES <= data.frame[name].nunique() <= _MAX_CODES
    ]
    if not names:
        return []
    one = len(names) == 1
    said = (
        f"{quote_names(names)} {'holds' if one else 'hold'} a few whole numbers. Are they codes, such as 1 "
        "for single and 2 for married, or amounts?"
    )
    kinds = {**spec.to_dict().get("kinds", {}), **dict.fromkeys(names, "categorical")}
    mends = [Mend("They are codes" if not one else "It is a code", {"kinds": kinds})]
    if not one:
        each = [(name, {**spec.to_dict().get("kinds", {}), name: "categorical"}) for name in names[:4]]
        mends += [Mend(f"Only {name}", {"kinds": kinds}) for name, kinds in each]
    return [Finding("codes", said, tuple(mends))]


def _free_text(data: AuditData) -> list[Finding]:
    """Name the columns of free text, which comparisons leave out."""
    names = [str(name) for name, kind in data.kinds.items() if kind == "text" and name not in data.protected]
    if not names:
        return []
    said = (
        f"{quote_names(names)} {'holds' if len(names) == 1 else 'hold'} free text, so comparisons leave it "
        "out. "
        f"Rule sets can compare people by identity terms in it (rule_sets: {{text: {names[0]}}})."
    )
    return [Finding("free text", said)]


def _texts(frame: pd.DataFrame, spec: DataSpec) -> list[str]:
    """Name the columns of text that are not recoded."""
    texts = map(str, frame.columns[[pd.api.types.is_string_dtype(kind) for kind in frame.dtypes]])
    return [name for name in texts if name not in spec.recode]


def _taken_as_missing(bad: pd.Series) -> dict[str, Any]:
    """Return the recode by which these values mean missing."""
    return {"map": {text_of(value): None for value in bad.unique()}}


def _numbers(frame: pd.DataFrame, spec: DataSpec) -> list[str]:
    """Name the columns of numbers that say something of a person and are not recoded."""
    apart = {*spec.design_columns, *spec.recode}
    return [
        name
        for name in frame.columns
        if name not in apart and column_role(name) is None and holds_numbers(frame[name])
    ]


def _read(spec: DataSpec, **more: Any) -> dict[str, Any]:
    return {**spec.to_dict().get("read", {}), **more}
