"""Plain drawings of a table's numbers for paper: dots with their intervals, or bars from zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from reportlab.graphics.shapes import Circle, Drawing, Line, Rect, String
from reportlab.lib.colors import Color, HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth

from audits.figures.style import ACCENT, GREY, INK
from audits.reports.blocks import columns_of
from audits.stats.words import number

__all__ = ["Series", "draw", "series_of"]

_MOST = 24
_ROW, _TOP, _BOTTOM, _GAP = 13.0, 6.0, 24.0, 8.0
_NOT_DRAWN = {"people", "n", "of", "people inside", "people outside"}
_ACCENT, _GREY, _INK = HexColor(ACCENT), HexColor(GREY), HexColor(INK)


@dataclass(frozen=True)
class Series:
    """What is drawn: one number a row, with its interval where it has one.

    Attributes
    ----------
    name : str
        Of the number.
    labels : tuple of str
        Of the rows.
    values : tuple of (value, low, high)
        Ends are None without an interval.
    whole : int
        Rows of the table; more than are drawn where it is long.
    """

    name: str
    labels: tuple[str, ...]
    values: tuple[tuple[float, float | None, float | None], ...]
    whole: int


def series_of(frame: pd.DataFrame) -> Series | None:
    """Return a table's first estimate, else its first number, by the names of its rows; None without any."""
    parts = columns_of(frame)
    texts = [places[0] for _, places in parts if not _is_number(frame.iloc[:, places[0]])]
    numbers = [(name, places) for name, places in parts if _is_number(frame.iloc[:, places[0]])]
    drawn = [item for item in numbers if len(item[1]) == 3] or [
        item for item in numbers if item[0] not in _NOT_DRAWN
    ]
    if not texts or not drawn or texts[0] > drawn[0][1][0]:
        return None
    name, places = drawn[0]
    named = [place for place in texts if place < places[0]][:2]
    labels: list[str] = []
    values: list[Any] = []
    for line in frame.itertuples(index=False, name=None):
        found = [float(line[place]) if _finite(line[place]) else None for place in places]
        if found[0] is not None and len(values) < _MOST:
            labels.append(" · ".join(str(line[place]) for place in named))
            values.append((found[0], *(found[1:] or (None, None))))
    return Series(name, tuple(labels), tuple(values), len(frame)) if values else None


def draw(series: Series, width: float, font: str) -> Drawing:
    """Draw a series, a row a line, on `width` points."""
    height = _TOP + _ROW * len(series.values) + _BOTTOM
    drawing = Drawing(width, height)
    labels = [_fitted(label, font, width * 0.38) for label in series.labels]
    left = max(stringWidth(label, font, 7) for label in labels) + _GAP
    low, high = _range(series)
    scale = (width - left - 10) / (high - low)

    def across(value: float) -> float:
        return left + (value - low) * scale

    for tick in _ticks(low, high):
        drawing.add(Line(across(tick), _BOTTOM - 4, across(tick), height, strokeColor=_GREY, strokeWidth=0.3))
        drawing.add(
            String(across(tick), _BOTTOM - 12, number(tick), fontName=font, fontSize=6.5, textAnchor="middle")
        )
    drawing.add(String(left, 2, series.name, fontName=font, fontSize=7, fillColor=_INK))
    if low <= 0 <= high:
        drawing.add(Line(across(0), _BOTTOM - 4, across(0), height, strokeColor=_INK, strokeWidth=0.6))
    for place, (label, (value, start, end)) in enumerate(zip(labels, series.values, strict=True)):
        middle = height - _TOP - _ROW * (place + 0.5)
        drawing.add(String(left - _GAP, middle - 2.5, label, fontName=font, fontSize=7, textAnchor="end"))
        _mark(drawing, middle, across(value), across(0), start, end, across, _ACCENT)
    return drawing


def _mark(
    drawing: Drawing,
    middle: float,
    at: float,
    zero: float,
    start: float | None,
    end: float | None,
    across: Callable[[float], float],
    colour: Color,
) -> None:
    """A dot on its interval, or a bar from zero where there is no interval."""
    if start is None and end is None:
        drawing.add(Rect(min(zero, at), middle - 3, abs(at - zero), 6, fillColor=colour, strokeColor=None))
        return
    ends = [at if edge is None else across(edge) for edge in (start, end)]
    drawing.add(Line(ends[0], middle, ends[1], middle, strokeColor=colour, strokeWidth=1.4))
    drawing.add(Circle(at, middle, 2.4, fillColor=colour, strokeColor=None))


def _range(series: Series) -> tuple[float, float]:
    """From 0, or from the lowest end below it, to the highest end."""
    every = [edge for ends in series.values for edge in ends if edge is not None]
    low, high = min(0.0, *every), max(0.0, *every)
    if low == high:
        return low, low + 1.0
    return low, high


def _ticks(low: float, high: float) -> Sequence[float]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _is_number(column: pd.Series) -> bool:
    if column.dtype.kind in "iuf":
        return True
    return bool(column.dtype == object and column.notna().any() and column.dropna().map(_finite).all())


def _finite(value: Any) -> bool:
    number_like = not isinstance(value, (bool, str)) and hasattr(value, "__float__")
    return number_like and math.isfinite(float(value))


def _fitted(label: str, font: str, width: float) -> str:
    if stringWidth(label, font, 7) <= width:
        return label
    kept = label
    while kept and stringWidth(kept + "…", font, 7) > width:
        kept = kept[:-1]
    return kept + "…"
