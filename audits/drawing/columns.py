"""Labels of rows whose parts stand below each other: sex, ethnicity, age and people, each in a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from audits.drawing.style import CLEAR, annotate, describe, distinct

__all__ = ["group_parts", "rows_in_columns"]

_LETTER, _GAP = 7.0, 12  # pixels: of a letter, between columns
_ROOM = 340  # pixels that a phone has for a label
_MIN = 8  # letters that a part keeps
_HEAD_LETTERS = 12  # of a column's name, where its values are shorter
_SAID = 26  # letters of what all rows share
_HEAD = "#565E67"


def group_parts(attribute: str, group: str) -> list[str]:
    """Return the values that name a group of several attributes; its name where they cannot be told.

    Examples
    --------
    >>> group_parts("sex × age", "female & age [18, 30)"), group_parts("team", "R & D")
    (['female', '[18, 30)'], ['R & D'])
    """
    names, parts = attribute.split(" × "), group.split(" & ")
    if len(parts) != len(names):
        return [group]
    return [part.removeprefix(f"{name} ") for name, part in zip(names, parts, strict=True)]


def rows_in_columns(figure: go.Figure, rows: Sequence[Sequence[str]], heads: Sequence[str]) -> int:
    """Write each row's label above its marks, part below part; return the pixels that a row needs.

    A part that all rows share is said once, beside the names of the columns. Row 0 is the lowest.
    """
    table = list(zip(*rows, strict=True))
    same = [k for k, column in enumerate(table[:-1]) if len(rows) > 2 and len(set(column)) == 1]
    said = ", ".join(f"all {describe(table[k][0])}" for k in same)
    if len(said) > _SAID:
        same, said = [], ""
    kept = [k for k in range(len(table)) if k not in same]
    room = _ROOM - _LETTER * len(said)
    longest = _longest([table[k] for k in kept], [heads[k] for k in kept], room)
    left, notes = float(CLEAR), []
    top = len(rows) - 1
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(rows))),
        ticktext=[""] * len(rows),
        range=[-0.5, top + 1.2],
        zeroline=False,
    )
    for k, most in zip(kept, longest, strict=True):
        values = list(dict.fromkeys(table[k]))
        shown = dict(zip(values, distinct(values, longest=most), strict=True))
        head = describe(heads[k], longest=most)
        notes.append(_note(head, left, top + 0.62, colour=_HEAD))
        notes += [_note(shown[value], left, place) for place, value in enumerate(table[k])]
        left += _GAP + _LETTER * max(map(len, [head, *shown.values()]))
    if said:
        notes.append(_note(said, left, top + 0.62, colour=_HEAD))
    annotate(figure, notes)
    return 38


def _longest(columns: Sequence[Sequence[str]], heads: Sequence[str], room: float) -> list[int]:
    """Letters that each column may have: what it needs, the longest cut where that is more than there is."""
    need = [max(len(describe(value, longest=99)) for value in column) for column in columns]
    need = [max(n, min(len(head), _HEAD_LETTERS)) for n, head in zip(need, heads, strict=True)]
    letters = int((room - _GAP * len(columns)) / _LETTER)
    while sum(need) > letters and max(need) > _MIN:
        need[need.index(max(need))] -= 1
    return need


def _note(text: str, left: float, y: float, *, colour: str | None = None) -> dict[str, Any]:
    return {
        "text": text,
        "showarrow": False,
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "xshift": left,
        "y": y,
        "yanchor": "bottom",
        "yshift": 7,
        "bgcolor": "white",  # lines of the first panel stop at it
        "borderpad": 0,
        **({"font": {"color": colour, "size": 12}} if colour else {}),
    }
