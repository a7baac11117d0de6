"""People changed a little in one attribute that no rule constrains (section 4.3).

Departures from the paper: steps stay within the range seen in the data; a decimal moves by 0.01 of its range
(the paper's 0.01 supposes columns scaled to [0, 1]); a category takes the value of a random other person.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.values import text_of
from audits.models import Subject
from audits.subgroups.attributes import Attribute

_SHARE_OF_RANGE = 0.01


def perturbable(subject: Subject, attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Return the columns that a perturbation may touch: what the model reads and no rule constrains."""
    fixed = {attribute.name for attribute in attributes} | set(subject.data.protected) | {subject.data.label}
    return tuple(
        name
        for name in sorted(subject.model.columns)
        if name not in fixed
        and name in subject.data.frame.columns
        and subject.data.kinds.get(name) not in {"text", "identifier"}
        and len(subject.data.frame[name].unique()) > 1
    )


def perturb(
    subject: Subject, rows: np.ndarray, columns: Sequence[str], rng: np.random.Generator
) -> pd.DataFrame:
    """Return the people at `rows` (k,), each changed a little in one of `columns`.

    An integer or a rank moves by 1, a decimal by 0.01 of its range, a date by a day, up or down, within the
    range seen; a category takes the value of a random person whose value differs. What is missing stays so.
    """
    frame = subject.data.frame.iloc[rows].copy()
    frame.index = pd.RangeIndex(len(frame))
    which = rng.integers(len(columns), size=len(frame))
    for place, name in enumerate(columns):
        here = np.flatnonzero(which == place)
        if here.size:
            changed = _perturb_column(frame[name].iloc[here], subject.data, name, rng)
            column = frame[name].copy()
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                values = column.to_numpy(copy=True)
                values[here] = changed
                frame[name] = pd.Series(values, index=frame.index, dtype=column.dtype)
            else:
                column.iloc[here] = changed
                frame[name] = column
    return frame


def _perturb_column(
    now: pd.Series, data: AuditData, name: str, rng: np.random.Generator
) -> np.ndarray | pd.api.extensions.ExtensionArray:
    direction = rng.choice([-1, 1], size=len(now))
    seen, kind = data.frame[name], data.kinds[name]
    if kind in {"integer", "continuous"} and pd.api.types.is_numeric_dtype(seen):
        low, high = seen.min(), seen.max()
        step = 1 if kind == "integer" else _SHARE_OF_RANGE * (high - low)
        moved = now + direction * step
        return moved.clip(low, high).astype(seen.dtype).to_numpy()
    if kind == "datetime":
        moved = now + pd.to_timedelta(direction, unit="D")
        return moved.clip(seen.min(), seen.max()).array
    if kind == "ordinal":
        rank = {value: place for place, value in enumerate(data.orders.get(name, ()))}
        values = pd.Index(
            sorted(seen.dropna().unique(), key=lambda value: (rank.get(text_of(value), 0), value))
        )
        place = values.get_indexer(now)
        moved = np.clip(place + direction, 0, len(values) - 1)
        return np.where(place < 0, now, values.take(np.maximum(moved, 0)))
    return _redrawn(now, seen, data.row_weights, rng)


def _redrawn(now: pd.Series, seen: pd.Series, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A value of a random person whose value differs, for every entry that is not missing.

    Values are in the order of their texts, so that neither the order of rows nor their counts decide.
    """
    codes, levels = pd.factorize(pd.concat([seen, now]))
    turn = np.argsort([text_of(level) for level in levels], kind="stable")
    levels, codes = levels.take(turn), np.append(np.argsort(turn), -1)[codes]
    known, own = codes[: len(seen)], codes[len(seen) :]
    counts = np.bincount(known[known >= 0], people[known >= 0], minlength=len(levels))
    ends = np.cumsum(counts)
    # skip the own value's stretch of the cumulated counts, so that every other value keeps its share
    left = ends[-1] - counts[own]
    point = rng.random(len(own)) * left
    point += np.where(point >= ends[own] - counts[own], counts[own], 0.0)
    drawn = np.minimum(np.searchsorted(ends, point, side="right"), len(levels) - 1)
    values = np.asarray(levels.take(np.where(own < 0, 0, drawn)), dtype=object)
    return np.where(own < 0, now.to_numpy(dtype=object), values)
