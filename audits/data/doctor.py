"""What is likely wrong with a table before it is audited, each with what would mend it.

Nothing here changes anything: a `Mend` says which keys of a spec's ``data`` section would, so that what was
mended stands in the spec.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from audits.data.audit_data import AuditData
from audits.data.building.filters import EVERYONE_ELSE
from audits.data.building.naming import stored
from audits.data.files.columns import as_written_number, is_number
from audits.data.files.tables import Table
from audits.data.kinds import infer_kind
from audits.data.spec import DataSpec, LabelCut
from audits.data.values import as_text, text_of

__all__ = ["Finding", "Mend", "examine"]

_MOST_ROWS = 20_000  # looked at for what one column tells of another
_MOST_LEVELS = 50
_MOST_SPELLINGS = 200
_MOST_RECODED = 50
_GIVES_AWAY = 0.95  # AUC of one column for the label from which it is asked whether it is the label
_HELPS = 0.8  # the same, once a model was found better than is likely
_STANDS_IN = 0.8  # AUC of one column for a protected value from which it can be read instead of it
_FEWEST = 30  # people of either side
_HUGE = 1e15  # beyond it a number is a mark or a mistake
_ALIKE = 0.999  # share of rows in which two columns agree that say the same
_ROOM = 3  # different rows that there could be, in rows, from which equal ones are no matter of course
_AMOUNTS = re.compile(
    r"(^|[^a-z])(counts?|numbers?|num|n|years?|yrs|months?|days?|hours?|amounts?|percentage|percent|decile|score"
    r"|rank|size|since|dependants|dependents|children|degrees?)([^a-z]|$)",
    re.IGNORECASE,
)
_FEWEST_CODES, _MOST_CODES = 3, 12  # values of whole numbers that may be codes
_EQUAL, _ENOUGH = 0.2, 100
_WHOLE = 0.9
_AGES = re.compile(r"(^|[^a-z])(age|alter|âge|edad|età|years?_old)([^a-z]|$)", re.IGNORECASE)
_MARKS = (-9, -99, -999, -9999, 999, 9999, 99999, 999999)
_FAR = 5  # a mark lies so many times the spread of all others beyond them


@dataclass(frozen=True)
class Mend:
    """What would mend a finding.

    Attributes
    ----------
    button : str
        In words, as a command.
    put : mapping
        Keys of the ``data`` section and their new values; None takes a key away.
    leave_out : tuple of str
        Columns that are no features any more.
    unprotect : tuple of str
        Columns that are no protected attributes any more.
    recode : mapping
        Recodes to add.
    """

    button: str
    put: Mapping[str, Any] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    unprotect: tuple[str, ...] = ()
    recode: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """What was found, in a sentence or two, and the ways to mend it; none where only the user can tell."""

    kind: str
    said: str
    mends: tuple[Mend, ...] = ()


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
    features = list(frame.columns if data is None else data.features)
    found = [
        *_second_header(table, spec),
        *_sheets(table, spec),
        *_written_numbers(frame, spec),
        *_beyond_numbers(frame, spec),
        *_impossible(frame, spec),
        *_spellings(frame, spec),
        *_weights(frame, spec),
        *_repeated(frame, spec),
        *_numbering(frame, spec, features),
    ]
    if data is not None:
        found += [
            *_same_attribute(data),
            *_label_is_prediction(data, spec, predictions),
            *_telling(data, unlikely),
            *_standing_in(data),
            *_codes(data, spec),
        ]
    return found


def _second_header(table: Table, spec: DataSpec) -> list[Finding]:
    """Find a first row of names: columns that are numbers but for it."""
    frame = table.frame
    if len(frame) < 3 or len(table.report.files) != 1 or not table.report.files[0].header:
        return []
    columns = [name for name in frame.columns if pd.api.types.is_string_dtype(frame[name].dtype)]
    spoiled = [name for name in columns if _but_first(frame[name].iloc[:_MOST_ROWS])]
    if len(spoiled) < 2:
        return []
    first = [text_of(value) for value in frame.iloc[0]]
    lines = [line for line, _ in table.report.files[0].skipped]
    skip = max([*lines, spec.read.skip_rows if isinstance(spec.read.skip_rows, int) else 0]) + 1
    shown = _listed(first, most=4)
    said = f"The first row looks like a second header ({shown}): it makes {_columns(spoiled)} text."
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
    said = f"The workbook has {len(titles)} sheets; {read!r} is read, {_listed(others)} {_be(others)} not."
    mends = [Mend(f"Read {title}", {"read": _read(spec, sheet=title)}) for title in others[:4]]
    return [Finding("sheets", said, (*mends, Mend(f"{read} is right", {"read": _read(spec, sheet=read)})))]


def _written_numbers(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find texts that are numbers with decimal commas, marks of thousands, or signs of money."""
    if spec.read.decimal is not None:
        return []
    fits: dict[str, list[str]] = {",": [], ".": []}
    for name in frame.columns:
        if not pd.api.types.is_string_dtype(frame[name].dtype) or name in spec.recode:
            continue
        values = frame[name].dropna().unique()[:_MOST_ROWS]
        if (
            not len(values)
            or all(is_number(text) for text in values)
            or not any(c in "0123456789" for c in values[0])
        ):
            continue
        for mark, columns in fits.items():
            if all(as_written_number(text, mark) is not None for text in values):
                columns.append(name)
    names = list(dict.fromkeys(fits[","] + fits["."]))
    if not names:
        return []
    example = text_of(frame[names[0]].dropna().iloc[0])
    hold = "holds" if len(names) == 1 else "hold"
    said = f"{_columns(names)} {hold} numbers written like {example!r}, read as text."
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
        if len(bad) and bad.nunique() <= _MOST_RECODED:
            recode[name] = {"map": {text_of(value): None for value in bad.unique()}}
            cells += len(bad)
    if not recode:
        return []
    said = (
        f"{_cells(cells)} of {_columns(list(recode))} {_be(range(cells))} infinite or far too large to be "
        "a measurement."
    )
    return [Finding("infinite", said, (Mend("Take them as missing", recode=recode),))]


def _impossible(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find ages that nobody has, and marks such as -999 among other numbers."""
    recode, shown = {}, []
    for name in _numbers(frame, spec):
        column = frame[name].dropna()
        column = column[np.isfinite(column)]
        if column.nunique() < 5:
            continue
        bad = column[(column < 0) | (column > 125)] if _AGES.search(name) else column[:0]
        if not len(bad):
            bad = _marks(column)
        if len(bad) and len(bad) < len(column) / 2 and bad.nunique() <= _MOST_RECODED:
            recode[name] = {"map": {text_of(value): None for value in bad.unique()}}
            shown.append(f"{name} {text_of(bad.iloc[0])} ({_cells(len(bad))})")
    if not recode:
        return []
    said = f"Values that cannot be: {_listed(shown, quoted=False)}."
    return [Finding("impossible", said, (Mend("Take them as missing", recode=recode),))]


def _marks(column: pd.Series) -> pd.Series:
    marks = column.isin(_MARKS)
    others = column[~marks]
    if not marks.any() or len(others) < 10:
        return column[:0]
    low, high = float(others.min()), float(others.max())
    spread = max(high - low, 1.0)
    far = (column < low - spread / _FAR) | (column > high + _FAR * spread)
    below = (column < 0) & (low >= 0)
    return column[marks & (far | below)]


def _spellings(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find values that differ in capitals, spaces or a full stop only."""
    recode, shown = {}, []
    for name in frame.columns:
        column = frame[name]
        if not pd.api.types.is_string_dtype(column.dtype) or name in spec.recode:
            continue
        counts = column.value_counts()
        if not 2 <= len(counts) <= _MOST_SPELLINGS:
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
    said = f"The same value is written in several ways: {_listed(shown, quoted=False)}."
    return [Finding("spellings", said, (Mend("Write each in one way", recode=recode),))]


def _weights(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    weighing = spec.weighing
    if weighing is None or weighing.kind != "counts" or weighing.column not in frame:
        return []
    column = frame[weighing.column]
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return []
    counts = column.to_numpy(dtype=float, na_value=np.nan)
    if np.isclose(counts, np.round(counts)).mean() >= _WHOLE:
        return []
    said = (
        f"The weights {weighing.column!r} are no whole numbers: they look like sampling weights, not people."
    )
    new = {"column": weighing.column, "kind": "sampling"}
    return [Finding("fractional weights", said, (Mend("They are sampling weights", {"weights": new}),))]


def _repeated(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    if (
        spec.person is not None
        or spec.weighing is not None
        or spec.repeated is not None
        or len(frame) < _ENOUGH
    ):
        return []
    repeated = int(frame.duplicated().sum())
    possible = math.prod(max(1, count) for count in frame.nunique())
    if repeated <= _EQUAL * len(frame) or possible < _ROOM * len(frame):  # few columns: people who are alike
        return []
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
        said = f"{_columns(numbering)} {does} nothing of a person."
        found.append(Finding("row numbers", said, (Mend(_leave(numbering), leave_out=tuple(numbering)),)))
    if naming:
        said = f"{_columns(naming)} {_be(naming)} different for nearly everybody, like a name or an address."
        found.append(Finding("identifiers", said, (Mend(_leave(naming), leave_out=tuple(naming)),)))
    return found


def _same_attribute(data: AuditData) -> list[Finding]:
    """Find columns that say the same as a protected attribute, or as each other."""
    looked = list(dict.fromkeys([*data.protected, *data.features]))
    frame = _some(data.frame)
    codes = {}
    for name in looked:
        found, levels = pd.factorize(frame[name], use_na_sentinel=False)
        if 2 <= len(levels) <= _MOST_LEVELS:
            codes[name] = found
    same: dict[str, list[str]] = {}
    taken: set[str] = set()
    for first, second in combinations(codes, 2):
        if first not in taken and second not in taken and _one_to_one(codes[first], codes[second]):
            same.setdefault(first, []).append(second)
            taken.add(second)
    findings = []
    for first, others in same.items():
        kept = tuple(name for name in others if name in data.features)
        twice = tuple(name for name in others if name in data.protected)
        if not kept and not twice:
            continue
        said = f"{_columns([first, *others])} say the same: only their values' names differ."
        if first in data.protected and kept:
            said += f" A model that reads {_listed(kept)} reads {first}."
        findings.append(
            Finding("same attribute", said, (Mend(f"Keep {first} only", leave_out=kept, unprotect=twice),))
        )
    return findings


def _one_to_one(first: np.ndarray, second: np.ndarray) -> bool:
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    if table.shape[0] != table.shape[1]:
        return False
    return bool(min(table.max(axis=0).sum(), table.max(axis=1).sum()) >= _ALIKE * len(first))


def _label_is_prediction(data: AuditData, spec: DataSpec, predictions: str | None) -> list[Finding]:
    label = spec.label.column if isinstance(spec.label, LabelCut) else spec.label
    if predictions is None or label is None or predictions not in data.frame or label not in data.frame:
        return []
    if predictions != label and not (as_text(data.frame[predictions]) == as_text(data.frame[label])).all():
        return []
    said = f"The predictions in {predictions!r} equal the label {label!r} for everybody: one is a copy."
    return [
        Finding(
            "label equals predictions",
            said,
            (Mend("Audit the predictions without a label", {"label": None}),),
        )
    ]


def _telling(data: AuditData, unlikely: str) -> list[Finding]:
    """Find features from each of which the label can be told, the strongest first."""
    if data.y is None:
        return []
    frame, y = _some(data.frame), _some(pd.Series(data.y)).to_numpy(dtype=bool)
    strong = _ranked(frame, data.features, y, _HELPS if unlikely else _GIVES_AWAY)
    shown = [f"{name} ({auc:.2f})" for name, auc in strong]
    names = [name for name, _ in strong]
    if unlikely:
        return [_too_good(unlikely, names, shown)]
    if not strong:
        return []
    said = (
        f"{_listed(shown)} almost {'tells' if len(names) == 1 else 'each tell'} the outcome by itself (1 is "
        "certain, 0.5 a guess). Leave out what is only known afterwards."
    )
    return [Finding("gives the label away", said, (Mend(_leave(names), leave_out=tuple(names)),))]


def _too_good(unlikely: str, names: Sequence[str], shown: Sequence[str]) -> Finding:
    """Say that a model did better than is likely, and which columns may be why."""
    said = f"The model is {unlikely}: few are so good, and fairness by it says little."
    if not names:
        said += " No column alone tells the outcome; several may together."
        return Finding("unlikely performance", said)
    said += (
        f" Alone, {_listed(shown)} {'tells' if len(names) == 1 else 'tell'} the outcome best (1 is certain, "
        "0.5 a guess). Leave out what is only known afterwards."
    )
    mends = [Mend(_leave([name]), leave_out=(name,)) for name in names[:3]]
    if len(names) > 1:
        mends.append(Mend(_leave(names), leave_out=tuple(names)))
    return Finding("unlikely performance", said, tuple(mends))


def _standing_in(data: AuditData) -> list[Finding]:
    """Find features from which a protected value can be read, the strongest first."""
    found = []
    frame, groups = _some(data.frame), _some(data.groups)
    codes = {name: pd.factorize(frame[name], use_na_sentinel=False)[0] for name in data.features}
    for attribute in data.protected:
        column = groups[attribute].to_numpy(dtype=str)
        if EVERYONE_ELSE in column:  # a group made of columns can be read from them
            continue
        values, counts = np.unique(column, return_counts=True)
        own = pd.factorize(column)[0]
        features = [
            name
            for name in data.features
            if name not in data.protected
            and not (codes[name].max() == own.max() and _one_to_one(own, codes[name]))
        ]
        best: dict[str, tuple[float, str]] = {}
        for value in values[np.argsort(-counts)][:6]:
            for name, auc in _ranked(frame, features, column == value, _STANDS_IN):
                if auc > best.get(name, (0.0, ""))[0]:
                    best[name] = (auc, str(value))
        if not best:
            continue
        names = sorted(best, key=lambda name: -best[name][0])
        auc, value = best[names[0]]
        more = f"; so {'does' if len(names) == 2 else 'do'} {_listed(names[1:])}" if len(names) > 1 else ""
        said = (
            f"{names[0]!r} stands in for {attribute!r}: it alone tells {value} from the others in "
            f"{100 * auc:.0f} of 100 pairs{more}. Left in, a model can use it instead."
        )
        found.append(Finding(f"proxies of {attribute}", said, (Mend(_leave(names), leave_out=tuple(names)),)))
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
        and _FEWEST_CODES <= data.frame[name].nunique() <= _MOST_CODES
    ]
    if not names:
        return []
    one = len(names) == 1
    said = (
        f"{_columns(names)} {'holds' if one else 'hold'} a few whole numbers. Are they codes, such as 1 for "
        "single and 2 for married, or amounts?"
    )
    kinds = {**spec.to_dict().get("kinds", {}), **dict.fromkeys(names, "categorical")}
    mends = [Mend("They are codes" if not one else "It is a code", {"kinds": kinds})]
    if not one:
        each = [(name, {**spec.to_dict().get("kinds", {}), name: "categorical"}) for name in names[:4]]
        mends += [Mend(f"Only {name}", {"kinds": kinds}) for name, kinds in each]
    return [Finding("codes", said, tuple(mends))]


def _ranked(
    frame: pd.DataFrame, names: Iterable[str], y: np.ndarray, least: float
) -> list[tuple[str, float]]:
    if min(y.sum(), (~y).sum()) < _FEWEST:
        return []
    told = [(name, auc) for name in names if (auc := _auc(frame[name], y)) >= least]
    return sorted(told, key=lambda each: -each[1])


def _auc(column: pd.Series, y: np.ndarray) -> float:
    """Return how well one column tells `y`: the rates of its values in every other row, tried on the rest."""
    codes, levels = pd.factorize(column, use_na_sentinel=False)
    if len(levels) > _MOST_LEVELS:
        if not pd.api.types.is_numeric_dtype(column.dtype):
            return 0.5
        edges = np.unique(np.nanquantile(column.to_numpy(dtype=float), np.linspace(0, 1, _MOST_LEVELS)))
        codes = np.where(column.isna(), 0, 1 + np.searchsorted(edges, column.to_numpy(dtype=float)))
    n = int(codes.max()) + 1
    learn = np.arange(len(y)) % 2 == 0
    good = np.bincount(codes[learn & y], minlength=n)
    rate = (good + y.mean()) / (np.bincount(codes[learn], minlength=n) + 1.0)
    score, truth = rate[codes[~learn]], y[~learn]
    order = np.unique(score, return_inverse=True)[1]
    pos, neg = (np.bincount(order[part], minlength=order.max() + 1) for part in (truth, ~truth))
    if not pos.sum() or not neg.sum():
        return 0.5
    below = np.cumsum(neg) - neg
    return float((pos * (below + neg / 2)).sum() / (pos.sum() * neg.sum()))


def _some(frame: Any) -> Any:
    step = -(-len(frame) // _MOST_ROWS)
    return frame.iloc[::step]


def _numbers(frame: pd.DataFrame, spec: DataSpec) -> list[str]:
    """Name the columns of numbers that say something of a person and are not recoded."""
    apart = {*spec.design_columns, *spec.recode}
    return [
        name
        for name in frame.columns
        if name not in apart
        and stored(name) is None
        and pd.api.types.is_numeric_dtype(frame[name].dtype)
        and not pd.api.types.is_bool_dtype(frame[name].dtype)
    ]


def _read(spec: DataSpec, **more: Any) -> dict[str, Any]:
    return {**spec.to_dict().get("read", {}), **more}


def _leave(names: Sequence[str]) -> str:
    return f"Leave out {_listed(names, most=3)}"


def _columns(names: Sequence[str]) -> str:
    return repr(names[0]) if len(names) == 1 else _listed([repr(name) for name in names], quoted=False)


def _cells(n: int) -> str:
    return "1 cell" if n == 1 else f"{n:,} cells"


def _be(several: Any) -> str:
    return "is" if len(several) == 1 else "are"


def _listed(names: Sequence[str], *, most: int = 5, quoted: bool = False) -> str:
    shown = [repr(name) if quoted else str(name) for name in names]
    shown = shown if len(shown) <= most else [*shown[: most - 1], f"{len(shown) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
