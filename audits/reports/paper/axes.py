"""Axes of a figure on paper: from values to points, and the ticks between."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from audits.stats.words import number

__all__ = ["Axis", "axis_of", "round_steps"]

_PAD = 0.05
_DAY = 86_400_000.0  # milliseconds, as in Plotly's dates


@dataclass
class Axis:
    """One axis, laid out by `place` between two points.

    Attributes
    ----------
    categories : dict
        Category to position, for an axis of names; empty for numbers.
    low, high : float
        Ends in the axis's own unit: numbers, their logarithms (base 10), or positions of categories. `low`
        lies at the left or bottom; an axis that runs backwards has it above `high`.
    start, end : float
        The same ends in points of the drawing.
    """

    title: str
    categories: dict[str, int]
    log: bool
    low: float
    high: float
    labelled: bool
    grid: bool
    zero: bool
    ticks: list[tuple[float, str]] = field(default_factory=list)
    start: float = 0.0
    end: float = 1.0

    def value(self, item: Any) -> float | None:
        """Return `item` in the axis's unit; None where it is missing or not on the axis."""
        if self.categories:
            if isinstance(item, str):
                return float(self.categories[item]) if item in self.categories else None
            return _finite(item)
        found = _milliseconds(item) if isinstance(item, (str, datetime.date)) else _finite(item)
        if found is None or not self.log:
            return found
        return math.log10(found) if found > 0 else None

    def point(self, unit: float) -> float:
        """Return where a number in the axis's unit lies on paper."""
        return self.start + (unit - self.low) / (self.high - self.low) * (self.end - self.start)

    def place(self, item: Any) -> float | None:
        """Return where `item` lies on paper, or None."""
        unit = self.value(item)
        return None if unit is None else self.point(unit)

    def holds(self, point: float) -> bool:
        """Tell whether a point lies between the axis's ends, give or take a hair."""
        low, high = min(self.start, self.end), max(self.start, self.end)
        return low - 0.5 <= point <= high + 0.5


def axis_of(layout: dict[str, Any], values: Iterable[Any], edges: Sequence[float], *, bars: bool) -> Axis:
    """Make an axis for what is drawn on it.

    Parameters
    ----------
    layout : dict
        The axis's part of the figure's layout.
    values : iterable
        Every value drawn: numbers, names, dates.
    edges : sequence of float
        Numbers that must be on the axis too, such as ends of intervals; in units of the axis's data.
    bars : bool
        Whether bars stand on it, which begin at 0.
    """
    values = list(values)
    names = [item for item in values if isinstance(item, str) and _milliseconds(item) is None]
    categories = _categories(layout, values) if names or layout.get("type") == "category" else {}
    title = layout.get("title") or {}
    axis = Axis(
        title=str(title.get("text") or "") if isinstance(title, dict) else str(title),
        categories=categories,
        log=layout.get("type") == "log",
        low=0.0,
        high=1.0,
        labelled=layout.get("showticklabels", True) and layout.get("visible", True),
        grid=layout.get("showgrid", True) and not categories and layout.get("visible", True),
        zero=layout.get("zeroline", True) and not categories,
    )
    units = [unit for unit in map(axis.value, [*values, *edges]) if unit is not None]
    axis.low, axis.high = _ends(layout, axis, units, bars=bars)
    axis.ticks = _ticks(layout, axis, values)
    return axis


def _categories(layout: dict[str, Any], values: list[Any]) -> dict[str, int]:
    listed = layout.get("categoryarray") if layout.get("categoryorder") == "array" else None
    order = [*(map(str, listed) if listed is not None else ()), *map(str, values)]
    return {name: place for place, name in enumerate(dict.fromkeys(order))}


def _ends(layout: dict[str, Any], axis: Axis, units: list[float], *, bars: bool) -> tuple[float, float]:
    asked = layout.get("range")
    if asked is not None and None not in asked:
        low, high = (_milliseconds(end) if isinstance(end, str) else float(end) for end in asked)
        if low is not None and high is not None and low != high:
            return low, high
    if axis.categories:
        low, high = -0.5, len(axis.categories) - 0.5
    else:
        low, high = (min(units), max(units)) if units else (0.0, 1.0)
        from_zero = (bars or layout.get("rangemode") == "tozero") and not axis.log
        low, high = (min(low, 0.0), max(high, 0.0)) if from_zero else (low, high)
        if low == high:
            low, high = (low - 0.5, high + 0.5) if low or not from_zero else (0.0, 1.0)
        pad = _PAD * (high - low)
        low = low - pad if low < 0 or not from_zero else low
        high = high + pad if high > 0 or not from_zero else high
    return (high, low) if layout.get("autorange") == "reversed" else (low, high)


def _ticks(layout: dict[str, Any], axis: Axis, values: list[Any]) -> list[tuple[float, str]]:
    given = layout.get("tickvals")
    ending = str(layout.get("ticksuffix") or "")
    percent = str(layout.get("tickformat") or "").endswith("%")

    def worded(value: float) -> str:
        return (f"{100 * value:.3g} %" if percent else f"{value:,.10g}") + ending

    if given is not None:
        labels = layout.get("ticktext")
        shown = list(labels) if labels is not None else [worded(float(value)) for value in given]
        places = [(axis.value(value), str(label)) for value, label in zip(given, shown, strict=False)]
        return [(unit, label) for unit, label in places if unit is not None]
    if axis.categories:
        return [(float(place), name) for name, place in axis.categories.items()]
    low, high = min(axis.low, axis.high), max(axis.low, axis.high)
    if any(isinstance(value, (str, datetime.date)) for value in values):
        steps = round_steps(low / _DAY, high / _DAY)
        day = datetime.date(1970, 1, 1)
        return [(step * _DAY, str(day + datetime.timedelta(days=step))) for step in steps]
    if axis.log:
        return _log_ticks(low, high)
    return [(step, worded(step)) for step in round_steps(low, high)]


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten, with 2 and 5 between them where there are few."""
    parts = (1, 2, 5) if high - low < 2.5 else (1,)
    every = max(1, round((high - low) / 6)) if len(parts) == 1 else 1
    found = []
    for power in range(math.floor(low), math.ceil(high) + 1):
        for part in parts:
            unit = power + math.log10(part)
            if low - 1e-9 <= unit <= high + 1e-9 and power % every == 0:
                found.append((unit, f"{part * 10.0**power:,.10g}"))
    return found or [(step, number(10.0**step)) for step in round_steps(low, high)]


def round_steps(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from `low` to `high`, about `most` of them.

    Examples
    --------
    >>> round_steps(0, 97), round_steps(-0.02, 0.011)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [-0.02, -0.01, 0.0, 0.01])
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def _finite(item: Any) -> float | None:
    if item is None or isinstance(item, (bool, str)):
        return None
    found = float(item)
    return found if math.isfinite(found) else None


def _milliseconds(item: Any) -> float | None:
    """Return a date, or a text that is one, as Plotly counts: milliseconds since 1970."""
    if isinstance(item, str):
        if len(item) < 10 or not item[:4].isdecimal() or item[4] != "-":
            return None
        try:
            item = datetime.datetime.fromisoformat(item)
        except ValueError:
            return None
    if not isinstance(item, datetime.datetime):
        item = datetime.datetime(item.year, item.month, item.day)
    return float((item.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)).total_seconds() * 1000)
