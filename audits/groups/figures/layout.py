"""What figures of groups share: which groups, in which order, how rows are named, what room they take."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

import plotly.graph_objects as go

from audits.data import group_name, named_with
from audits.drawing.selected import of_group, people_id
from audits.drawing.style import (
    FOCUS,
    INK,
    OKABE_ITO,
    describe,
    distinct,
    finish,
    rows_named,
    stacked_panels,
    wrap_title,
)
from audits.groups.metrics import METRICS
from audits.groups.result import AmountRow, GroupRow, GroupsResult
from audits.stats import EVIDENCE
from audits.stats.text import count, named_group

Row = TypeVar("Row", GroupRow, AmountRow)

BESIDE = 24  # letters of a name that stands beside its row, not above
LEGEND = 46  # letters of a name in a legend
_TITLE, _NARROWEST = 44, 9  # letters in a line of a panel's title
_PAGE, _LETTER = 760, 7  # pixels: of a figure on a page, of a letter
_PHONE = 27  # letters of a name and a value that leave a phone's rows half of its width
_FEW_PANELS = 3  # beside which a column of names has room
MAX_GROUPS = 25
"""Groups that are drawn in one figure, the largest; tables hold all."""


def groups_to_draw(
    result: GroupsResult, attribute: str, *, most: int, by_gap: bool = False, findings: bool = False
) -> list[GroupRow]:
    """Return the groups that a figure shows, in its order."""
    rows = list(result.of(attribute))
    if findings:
        rows = [row for row in rows if row.is_reference or row.verdict == EVIDENCE]
    if by_gap:
        rows.sort(key=lambda row: (not row.is_reference, -_widest(row)))
    return rows[:most]


def people_of(result: GroupsResult, attribute: str) -> dict[str, str]:
    """Return by which terms the people of each group are selected: see `audits.drawing.selected.people_id`.

    `attribute` may be several joined by " × "; nothing is known of those where nobody was kept.
    """
    names = attribute.split(" × ")
    if len(names) == 1:
        return {row.group: people_id(of_group(attribute, row.group)) for row in result.of(attribute)}
    columns = [f"group: {name}" for name in names]
    if not len(result.people) or not set(columns) <= set(result.people):
        return {}
    known = result.people[columns].set_axis(names, axis="columns")
    rows = known.drop_duplicates().itertuples(index=False, name=None)
    found = [dict(zip(names, values, strict=True)) for values in rows]
    return {group_name(values): people_id({"group": values}) for values in found}


def _widest(row: GroupRow) -> float:
    """Return a group's largest difference from the reference in a rate."""
    gaps = [row.differences[each.name] for each in METRICS if each.judged and each.name in row.differences]
    return max((abs(gap.estimate.value or 0.0) for gap in gaps), default=0.0)


def named_rows(
    figure: go.Figure, attribute: str, groups: Sequence[tuple[str, float | None]], reference: str
) -> int:
    """Name the rows by group and people: beside the panels where names are short, else above marks."""
    names = distinct([named_group(named_with(attribute, group)) for group, _ in groups], longest=40)
    labels = [
        f"{name}{'' if n is None else f' ({count(n)})'}{' · reference' * (group == reference)}"
        for name, (group, n) in zip(names, groups, strict=True)
    ]
    return rows_named(figure, labels, beside=BESIDE, wide=len(list(figure.select_xaxes())) <= _FEW_PANELS)


def leading(rows: Sequence[Row], told: Sequence[Row], most: int) -> list[Row]:
    """Return the groups of a figure of lines: the reference, those of the sentence (`told`), the largest."""
    ranked = sorted(
        rows, key=lambda row: (not row.is_reference, all(row is not each for each in told), -row.n)
    )
    return ranked[:most]


def value_column(texts: Sequence[str], colors: Sequence[str]) -> list[dict[str, Any]]:
    """Return what stands to the right of each row, in words; nothing where that is empty."""
    column = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "showarrow": False}
    rows = enumerate(zip(texts, colors, strict=True))
    return [
        {**column, "y": place, "text": text, "font": {"size": 12, "color": color}}
        for place, (text, color) in rows
        if text
    ]


def beside_values(texts: Sequence[str]) -> int:
    """Return the letters of a name that has room beside its row on a phone, beside a column of values."""
    return max(0, _PHONE - max(map(len, texts), default=0))


def panel_titles(panels: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Break the panels' titles into lines that fit above them; on a phone each has the whole width."""
    longest = max((len(describe(group)) for group in groups), default=0)
    room = _PAGE - 14 - _LETTER * longest
    letters = int(room / max(len(panels), 1) / _LETTER)
    return [wrap_title(words, min(max(letters, _NARROWEST), _TITLE)) for words in panels]


def laid_out(figure: go.Figure, rows: int, pitch: int, alt: str) -> go.Figure:
    """Finish a figure of one row a group: its legend above the titles of the panels."""
    height = 170 + pitch * (rows + (pitch > 30))  # names above the marks have a head
    labels = [text for text in figure.layout.yaxis.ticktext or () if text]
    left = 14 + _LETTER * max(map(len, labels)) if labels else 8  # before their font has come
    lines = max(
        (note.text.count("<br>") + 1 for note in figure.layout.annotations if note.y == 1.0), default=1
    )
    above = 12 + 17 * lines
    finish(figure, height=height + above - 46, alt=alt)
    figure.layout.margin = {"l": left, "r": 12, "t": 38 + above, "b": 8}
    figure.layout.legend.y = 1.0 + above / (height - 140)
    stacked_panels(figure)
    return figure


def colors(rows: Sequence[Row], told: Sequence[Row]) -> list[str]:
    """Return a color for each group: the sentence's first in focus, the other and the reference black."""
    others = itertools.cycle(OKABE_ITO[2:6])
    first, other = told
    return [
        FOCUS if row is first else INK if row is other or row.is_reference else next(others) for row in rows
    ]
