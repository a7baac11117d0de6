"""What a model says of one person, as known and with other values: what if?"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.frames import with_columns
from audits.data.preprocessing.groups import cut
from audits.data.values import MISSING, as_text, find_level, is_missing, text_of
from audits.errors import InputError
from audits.models.subject import Subject
from audits.models.thresholds import cuts

_NUMBERS = {"continuous", "integer"}
_MAX_LEVELS, _MOST_SWAPS = 200, 6


def what_if(
    subject: Subject,
    row: Hashable,
    changes: Mapping[str, Any],
    *,
    beside: Mapping[str, Any] | None = None,
    towards: Sequence[str] = (),
    match: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Score one person as known, and with some values changed.

    Parameters
    ----------
    subject : Subject
        Whose model scores people who do not exist.
    row : hashable
        Row number of one of the people audited.
    changes : mapping of str to value
        New values of columns that the model reads; None: missing. Categories by their text, dates as text.
    beside : mapping, optional
        A group: who of it is most similar, by all features, before and after.
    towards : sequence of str
        Columns that a person can change: who of those decided favorably is most similar, by all features,
        and in which of these columns they differ, before and after.
    match : mapping of str to value, optional
        Values of whom the person is matched with: what each of them alone would do to the person's score.

    Returns
    -------
    dict
        Plain data. ``columns``: what can be changed, with the person's value and what was seen of others;
        ``before`` and ``after``: score and threshold on the user's scale, and whether the decision is
        favorable; ``higher_is``; ``notes``: which new values nobody has; ``nearest``: rows before and after;
        ``accepted``: row, and for each column that differs own and other value, before and after; ``swaps``:
        for each other value of each protected column that can be changed, score and whether the decision is
        favorable; ``effects``: by column of `match`, what its value adds to the favorable score; ``enough``:
        columns the person can change whose values from `match` together turn the decision, the strongest
        first; None where they do not, or where it is favorable.

    Raises
    ------
    InputError
        If the model cannot score changed people, the row is not audited, or a value cannot be taken.
    """
    if not subject.model.invents:
        raise InputError("model", "is a column of predictions: there is no model to ask about other values")
    subject = subject.everyone
    data = subject.data
    if row not in data.frame.index:
        raise InputError("row", "must be of a person audited", row)
    known = {name: _observed_values(subject, name) for name in _columns(subject)}
    everybody = data.n + (0 if subject.training is None else subject.training.n)
    person = _Person(subject, data.frame.loc[[row]], data.groups.loc[[row]], known)
    changed, _ = person.changed(changes)
    told = {name: None if value is None else changed[name].iloc[0] for name, value in changes.items()}
    notes = [_unseen(value, name, data.kinds[name], known[name], everybody) for name, value in told.items()]
    inside = None if beside is None else data.members(beside)
    nearest = None if inside is None else person.most_similar(changed, inside)
    return {
        **_alternatives(person, match or {}),
        "columns": [
            _column_choices(name, person.own[name].iloc[0], data, seen) for name, seen in known.items()
        ],
        "before": person.answer({}),
        "after": person.answer(changes),
        "higher_is": subject.higher_is,
        "labels": subject.score_kind == "label",
        "notes": [note for note in notes if note],
        "nearest": None if nearest is None else {side: _plain(found) for side, found in nearest.items()},
        "accepted": _closest_accepted(person, changed, towards) if towards else None,
    }


@dataclass(frozen=True)
class _Person:
    """One of the people audited, who may be asked about with other values."""

    subject: Subject
    own: pd.DataFrame
    groups: pd.DataFrame
    known: Mapping[str, pd.Series]

    def changed(self, changes: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the person's row and groups with other values."""
        data, changed, groups = self.subject.data, self.own, self.groups
        for name, value in changes.items():
            if name not in self.known:
                raise InputError("what if", "must name a column that the model reads", name)
            told = _cast_value(value, name, data, self.known[name])
            changed = with_columns(changed, {name: _one(told, data.frame[name], changed.index)})
            if name in groups:
                texts = cut(changed[name], data.bins[name]) if name in data.bins else as_text(changed[name])
                groups = with_columns(groups, {name: texts.fillna(MISSING)})
        return changed, groups

    def answer(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return score and threshold on the user's scale, and whether the decision is favorable."""
        subject, (frame, groups) = self.subject, self.changed(changes)
        try:
            score = subject.favorable_score(frame)
        except InputError as error:
            gone = " and ".join(name for name, value in changes.items() if value is None)
            if not gone:
                raise
            raise InputError("the model", f"gives no score to a person without {gone} ({error})") from None
        return {
            "score": (-1.0 if subject.higher_is == "unfavorable" else 1.0) * float(score[0]),
            "threshold": float(np.broadcast_to(cuts(subject.threshold, groups), 1)[0]),
            "favorable": bool(subject.decide(score, groups)[0]),
        }

    def most_similar(self, changed: pd.DataFrame, inside: np.ndarray) -> dict[str, Any] | None:
        """Return the row of those `inside` most similar before and after, by L1 of all features."""
        space, frame = self.subject.space, self.subject.data.frame
        inside = inside & (frame.index != self.own.index[0])
        if not space.columns or not inside.any():
            return None
        points = space.encode(frame[inside], unknown="zero")
        apart = {
            side: np.abs(points - space.encode(each, unknown="zero")).sum(axis=1)
            for side, each in (("before", self.own), ("after", changed))
        }
        return {side: frame.index[inside][int(far.argmin())] for side, far in apart.items()}


def _alternatives(person: _Person, match: Mapping[str, Any]) -> dict[str, Any]:
    """Return what other protected values, and single values of the match, do to score and decision."""
    data, known = person.subject.data, person.known
    sign = -1.0 if person.subject.higher_is == "unfavorable" else 1.0
    swaps = []
    for name in known:
        for level in _others(data, person.own, name) if name in data.protected else ():
            found = person.answer({name: level})
            swaps.append(
                {"column": name, "value": level} | {key: found[key] for key in ("score", "favorable")}
            )
    before, effects = person.answer({}), {}
    for name in match:
        with suppress(InputError):  # a model that takes no missing value says nothing of it
            if name in known:
                effects[name] = sign * (person.answer({name: match[name]})["score"] - before["score"])
    can = [name for name in effects if name not in data.protected and data.roles.get(name) != "immutable"]
    can.sort(key=lambda name: -effects[name])
    together = [] if before["favorable"] else [can[:k] for k in range(1, len(can) + 1)]
    turns = (names for names in together if person.answer({name: match[name] for name in names})["favorable"])
    return {"swaps": swaps, "effects": effects, "enough": next(turns, None)}


def _others(data: AuditData, own: pd.DataFrame, name: str) -> list[Any]:
    """Return the other values of a protected column, the most frequent first; of a number, none."""
    if data.kinds[name] in {*_NUMBERS, "datetime", "text", "identifier"}:
        return []
    mine = text_of(own[name].iloc[0])
    levels = as_text(data.frame[name].dropna()).value_counts().index
    return [str(level) for level in levels if str(level) != mine][:_MOST_SWAPS]


def _columns(subject: Subject) -> list[str]:
    """Return what a change can matter of: what the model reads, and what thresholds differ by."""
    by = [] if isinstance(subject.threshold, (int, float)) else list(subject.threshold)
    return list(dict.fromkeys([*subject.data.features, *by]))


def _observed_values(subject: Subject, name: str) -> pd.Series:
    """Return the known values of a column, of the people audited and of those the model learned from."""
    parts = [subject.data.frame[name]]
    if subject.training is not None:
        parts.append(subject.training.frame[name])
    return pd.concat(parts).dropna()


def _column_choices(name: str, value: Any, data: AuditData, seen: pd.Series) -> dict[str, Any]:
    """Return what a page needs to offer other values of a column."""
    kind = data.kinds[name]
    told: dict[str, Any] = {"name": name, "kind": kind, "protected": name in data.protected}
    told |= {"levels": None, "low": None, "high": None}
    if kind in _NUMBERS:
        number = None if is_missing(value) else float(value)
        low, high = (float(seen.min()), float(seen.max())) if len(seen) else (None, None)
        return {**told, "value": number, "low": low, "high": high}
    told["value"] = None if is_missing(value) else text_of(value)
    levels = list(data.orders.get(name, ())) or as_text(seen).value_counts().index.tolist()
    if kind not in {"text", "datetime", "identifier"} and len(levels) <= _MAX_LEVELS:
        told["levels"] = [str(level) for level in levels]
    return told


def _cast_value(value: Any, name: str, data: AuditData, seen: pd.Series) -> Any:
    """Return a new value as the column holds it."""
    if value is None:
        return None
    dtype = data.frame[name].dtype
    where = f"what if: {name}"
    if data.kinds[name] in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
            raise InputError(where, "must be a number", value)
        return value
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _date(value, dtype, where)
    if data.kinds[name] in {"text", "identifier"}:
        return str(value)
    distinct = seen.unique()
    by_text = {text_of(each): each for each in distinct}
    return by_text[find_level(where, value, list(by_text), rule="must be a value of the data")]


def _date(value: Any, dtype: Any, where: str) -> pd.Timestamp:
    """Return a date of a column's own kind; one that could be read in two ways is refused."""
    try:
        if not _DATE.match(str(value)):
            raise ValueError
        told = pd.Timestamp(value).as_unit("ns")  # models are given nanoseconds
        date: pd.Timestamp = pd.Series([told], dtype=dtype).iloc[0]  # with a time zone it fits no other
    except (TypeError, ValueError):
        raise InputError(where, "must be a date", value, "write it as 2024-12-31") from None
    return date


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def _unseen(value: Any, name: str, kind: str, seen: pd.Series, everybody: int) -> str:
    """Say so where a value lies beyond all that was seen, or is missing where nobody's is."""
    if value is None:
        known = len(seen) == everybody
        return f"Nobody here lacks {name}, so the model's answer is a guess." if known else ""
    if kind not in {*_NUMBERS, "datetime"} or not len(seen):
        return ""
    low, high = seen.min(), seen.max()
    if low <= value <= high:
        return ""
    return (
        f"Nobody here has {name} {text_of(value)}; it ranges from {text_of(low)} to {text_of(high)}. "
        "Beyond that the model only guesses."
    )


def _one(value: Any, column: pd.Series, index: pd.Index) -> pd.Series:
    """Return a column of one cell, of the type that the column has unless the value needs another."""
    if value is None:
        dtype = "float64" if pd.api.types.is_numeric_dtype(column.dtype) else column.dtype
        if pd.api.types.is_bool_dtype(column.dtype):
            dtype = "object"
        return pd.Series([None], index=index, dtype=dtype)
    whole = pd.api.types.is_integer_dtype(column.dtype) and float(value).is_integer()
    if pd.api.types.is_integer_dtype(column.dtype) and not whole:
        return pd.Series([float(value)], index=index)
    return pd.Series([value], index=index, dtype=column.dtype)


def _closest_accepted(
    person: _Person, changed: pd.DataFrame, towards: Sequence[str]
) -> dict[str, Any] | None:
    """Return who of those decided favorably is most similar, and what of `towards` differs from theirs."""
    rows = person.most_similar(changed, person.subject.decisions)
    if rows is None:
        return None
    told = {}
    for side, frame in (("before", person.own), ("after", changed)):
        theirs = person.subject.data.frame.loc[[rows[side]]]
        pairs = [
            [name, _text(frame[name].iloc[0]), _text(theirs[name].iloc[0])]
            for name in towards
            if name in frame
        ]
        told[side] = {"row": _plain(rows[side]), "differs": [each for each in pairs if each[1] != each[2]]}
    return told


def _text(value: Any) -> str:
    return MISSING if is_missing(value) else text_of(value)


def _plain(row: Any) -> Any:
    return int(row) if isinstance(row, (int, np.integer)) else str(row)
