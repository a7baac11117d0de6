"""What a row is: one person, several who are alike, or one of several that belong together."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd

from audits.data.preprocessing.column_names import named_protected, words_of_name
from audits.data.quality.findings import Finding, Mend
from audits.data.spec import DataSpec
from audits.data.values import holds_numbers
from audits.stats.text import count

_COUNTS = re.compile(
    r"freq|frequency|frequencies|counts?|n|num|number|total|weights?|wt|wgt|people|persons|cases|anzahl|häufigkeit"
    r"|haeufigkeit|gewicht|personen|effectifs?|nombre|poids|personnes|frecuencia|cantidad|número|peso|personas"
)
_IDS = re.compile(
    r"ids?|adid|persons?|patients?|applicants?|respondents?|subjects?|adverts?|ads?|households?|customers?"
    r"|clients?|users?|students?|kunden?|kundennummer|anzeige|bewerber|personennummer|annonce|candidat|anuncio"
)
_MEASURES = re.compile(
    r"ages?|years?|score|hours?|amount|price|weight|grade|level|day|month|week|size|alter|jahr|note"
)
_CELLS = 20  # cells that the other columns make, in rows: more are measurements, no cross table
_MIN_IDS, _MAX_ROWS, _SHARED = 20, 20, 0.5


def count_column(frame: pd.DataFrame) -> str | None:
    """Return the column that says how many people a row stands for: so named, whole, and of unlike rows.

    Examples
    --------
    >>> count_column(pd.DataFrame({"sex": ["f", "m"], "Freq": [20, 14]}))
    'Freq'
    """
    for name in map(str, frame.columns):
        column, others = frame[name], frame.drop(columns=name)
        if not _COUNTS.fullmatch(" ".join(words_of_name(name))) or others.empty:
            continue
        if not holds_numbers(column):
            continue
        values = column.to_numpy(dtype=float, na_value=np.nan)
        whole = bool(np.isfinite(values).all() and (values >= 0).all() and not (values % 1).any())
        if not whole or values.sum() < 2 * len(values):
            continue
        cells = math.prod(others.nunique(dropna=False).tolist())
        if cells <= _CELLS * len(frame) and not others.duplicated().any():
            return name
    return None


def shared_id(frame: pd.DataFrame) -> str | None:
    """Return the column that tells which rows belong together, of a few rows each.

    It is named like an id, holds times of day, or each of its values, no measured number, stands in as many
    rows: four applications to one advert.

    Examples
    --------
    >>> frame = pd.DataFrame({"seen": [f"advert {k // 4}" for k in range(120)], "sex": ["f", "m"] * 60})
    >>> shared_id(frame)
    'seen'
    """
    for name in map(str, frame.columns):
        column = frame[name]
        if column.isna().any() or pd.api.types.is_float_dtype(column.dtype):
            continue
        words = words_of_name(name)
        if any(_MEASURES.fullmatch(word) for word in words):
            continue
        sizes = column.value_counts()
        shared = int(sizes[sizes > 1].sum())
        if len(sizes) < _MIN_IDS or sizes.max() > _MAX_ROWS or shared < _SHARED * len(frame):
            continue
        named = any(_IDS.fullmatch(word) for word in words)
        times = pd.api.types.is_datetime64_any_dtype(column.dtype) and (column.dt.normalize() != column).any()
        if named or times or (sizes.min() == sizes.max() and not named_protected(name)):
            return name
    return None


def times_as_wide(sizes: pd.Series) -> float:
    """Return how many times as wide intervals are where rows of one unit, of these `sizes`, always agree.

    This is the square root of the mean size of the unit that a row is of, at least 1.

    Examples
    --------
    >>> times_as_wide(pd.Series([4, 4, 4]))
    2.0
    """
    return float(np.sqrt((sizes**2).sum() / sizes.sum()))


def row_units(frame: pd.DataFrame, spec: DataSpec) -> list[Finding]:
    """Find rows that stand for several people, and rows that belong together."""
    found = []
    counted = count_column(frame) if spec.weighing is None else None
    if counted is not None:
        said = f"{len(frame):,} rows represent {count(float(frame[counted].sum()))} people, by “{counted}”."
        put = {"weights": {"column": counted, "kind": "counts"}}
        found.append(Finding("count table", said, (Mend(f"Count people by {counted}", put),)))
    shared = shared_id(frame) if spec.person is None and spec.weighing is None and counted is None else None
    if shared is not None:
        n = frame[shared].nunique()
        said = (
            f"{len(frame):,} rows share {n:,} values of “{shared}”. If rows of one {shared} belong "
            "together, they are not independent evidence: intervals become up to "
            f"{times_as_wide(frame[shared].value_counts()):.2g} times as wide, depending on how much the "
            "rows agree."
        )
        mend = Mend(f"Keep rows of one {shared} together", {"person": shared})
        found.append(Finding("rows that belong together", said, (mend,)))
    return found
