"""The frame of a figure on paper: which axes it has, what they hold, and where they lie."""

from __future__ import annotations

import itertools
from typing import Any

from audits.reports.paper.axes import Axis, axis_of
from audits.reports.paper.ink import AXIS, SMALL, Paper, plain, plain_lines
from audits.reports.paper.traces import ends_of

__all__ = ["LINE", "LONGEST_TICK", "Frame", "Trace", "on_paper"]

LINE = 9.0
"""Points from one line of small text to the next."""

LONGEST_TICK = 110.0
"""Points of a turned tick label."""

Trace = dict[str, Any]


class Frame:
    """The axes of a figure, laid out.

    Attributes
    ----------
    panels : list of (str, str)
        Names of the axes that traces lie between.
    axes : dict
        Name to axis.
    box : tuple
        Left, bottom, width and height of what lies inside the margins, in points.
    legend : list of lists
        Rows of names, each with its trace and the trace's place in the figure.
    """

    def __init__(
        self, paper: Paper, traces: list[Trace], layout: dict[str, Any], width: float, height: float
    ) -> None:
        self.paper, self.traces, self.layout = paper, traces, layout
        self.panels = list(
            dict.fromkeys((trace.get("xaxis") or "x", trace.get("yaxis") or "y") for trace in traces)
        )
        self.axes = {
            name: self._axis(name) for name in dict.fromkeys(itertools.chain.from_iterable(self.panels))
        }
        self._lay_out(width, height)

    def settings(self, name: str) -> dict[str, Any]:
        """Return what the layout says of an axis."""
        return dict(self.layout.get(f"{name[0]}axis{name[1:]}") or {})

    def domain(self, name: str, letter: str) -> tuple[float, float]:
        """Where the panel of an axis lies along `letter`, as shares of the whole."""
        panel = next(pair for pair in self.panels if name in pair)
        other = panel[0] if letter == "x" else panel[1]
        low, high = self.settings(other).get("domain") or (0.0, 1.0)
        return float(low), float(high)

    def tick_room(self, name: str, width: float) -> float:
        """How much room an axis takes beside its panel."""
        axis = self.axes[name]
        titled = LINE if axis.title else 0.0
        if not axis.labelled:
            return 6.0 + titled
        longest = max((self.tick_width(label) for _, label in axis.ticks), default=0.0)
        if name[0] == "y":
            return min(longest, 0.36 * width) + 6 + titled
        share = self.domain(name, "x")
        slot = 0.85 * width * (share[1] - share[0]) / max(len(axis.ticks), 1)
        return 6.0 + titled + (0.5 * min(longest, LONGEST_TICK) + 6 if longest > slot else AXIS)

    def tick_width(self, label: str) -> float:
        """Return how wide the longest line of a tick label is."""
        return max(self.paper.width(self.paper.printable(line)) for line in plain_lines(label))

    def spot(self, item: dict[str, Any], letter: str, key: str = "") -> float | None:
        """Where a note or a line lies along `letter`, in whichever frame it says."""
        frame = str(item.get(f"{letter}ref") or letter)
        value = item.get(key or letter)
        start, length = (self.box[0], self.box[2]) if letter == "x" else (self.box[1], self.box[3])
        if frame == "paper":
            return start + float(value or 0) * length
        axis = self.axes.get(frame.split()[0])
        if axis is None:
            return None
        if frame.endswith("domain"):
            return axis.start + float(value or 0) * (axis.end - axis.start)
        return axis.place(value)

    def _axis(self, name: str) -> Axis:
        """Make an axis for its traces and for those of axes that match it."""
        own = self.settings(name)
        root = own.get("matches") or name
        family = {name, root} | {
            other
            for other in itertools.chain.from_iterable(self.panels)
            if other[0] == name[0] and self.settings(other).get("matches") == root
        }
        settings = {**self.settings(root), **own} if root != name else own
        letter = name[0]
        values: list[Any] = []
        edges: list[float] = []
        bars = False
        for trace in self.traces:
            if (trace.get(f"{letter}axis") or letter) not in family:
                continue
            given = trace.get(letter)
            values += list(given) if given is not None else []
            edges += [end for ends in ends_of(trace, letter) for end in ends if end is not None]
            reaching = (trace.get("orientation") == "h") == (letter == "x")
            bars = bars or (trace.get("type") == "bar" and reaching)
            if bars and reaching and trace.get("base") is not None:
                edges += [
                    float(a) + float(b)
                    for a, b in zip(_listed(trace["base"], len(values)), values, strict=False)
                ]
        edges += self._across(family, letter)
        axis = axis_of(settings, values, edges, bars=bars)
        if axis.categories or not self._stands(family, letter):
            return axis
        return self._with_room(axis, settings, values)

    def _across(self, family: set[str], letter: str) -> list[Any]:
        """Where lines and bands across the panel lie on the axis: it must hold them."""
        return [
            shape[key]
            for shape in self.layout.get("shapes") or ()
            if str(shape.get(f"{letter}ref") or letter) in family
            for key in (f"{letter}0", f"{letter}1")
        ]

    def _stands(self, family: set[str], letter: str) -> bool:
        """Whether bars stand on the axis, so that half a bar sticks out at either end."""
        return any(
            trace.get("type") == "bar"
            and (trace.get("orientation") == "h") == (letter == "y")
            and (trace.get(f"{letter}axis") or letter) in family
            for trace in self.traces
        )

    def _with_room(self, axis: Axis, settings: dict[str, Any], values: list[Any]) -> Axis:
        if settings.get("range") is not None:
            return axis
        units = sorted({unit for unit in map(axis.value, values) if unit is not None})
        step = min((b - a for a, b in itertools.pairwise(units)), default=1.0)
        sign = 1.0 if axis.high > axis.low else -1.0
        low, high = (units[0], units[-1]) if units else (0.0, 1.0)
        ends = (min(axis.low, axis.high, low - step / 2), max(axis.low, axis.high, high + step / 2))
        axis.low, axis.high = ends if sign > 0 else ends[::-1]
        return axis

    def _lay_out(self, width: float, height: float) -> None:
        """Give every axis its ends on paper."""
        legend = self._legend_rows(width)
        titled = any(on_paper(note, "y") > 0.99 for note in self.layout.get("annotations") or ())
        top = height - 2 - LINE * len(legend) - (12 if titled else 2)
        lines = {name: self.tick_room(name, width) for name in self.axes}
        bottom = max(
            (tall for name, tall in lines.items() if name[0] == "x" and self.domain(name, "y")[0] < 0.01),
            default=16.0,
        )
        left = max(
            (wide for name, wide in lines.items() if name[0] == "y" and self.domain(name, "x")[0] < 0.01),
            default=10.0,
        )
        self.box = (left, bottom, width - 8 - left, max(top - bottom, 30.0))
        for name, axis in self.axes.items():
            low, high = self.settings(name).get("domain") or (0.0, 1.0)
            start, length = (self.box[0], self.box[2]) if name[0] == "x" else (self.box[1], self.box[3])
            axis.start, axis.end = start + low * length, start + high * length
        self.legend = legend

    def _legend_rows(self, width: float) -> list[list[tuple[str, Trace, int]]]:
        """Return the names of traces, in rows that fit."""
        if self.layout.get("showlegend") is False:
            return []
        entries, seen = [], set()
        for place, trace in enumerate(self.traces):
            name, group = plain(trace.get("name")), trace.get("legendgroup")
            if not name or trace.get("showlegend") is False or (group and group in seen):
                continue
            seen.add(group)
            entries.append((self.paper.fitted(name, 0.6 * width, SMALL), trace, place))
        if len(entries) < 2 and not any(trace.get("showlegend") for _, trace, _ in entries):
            return []
        rows: list[list[tuple[str, Trace, int]]] = [[]]
        at = 0.0
        for entry in entries:
            wide = self.paper.width(entry[0], SMALL) + 22
            if rows[-1] and at + wide > width:
                rows.append([])
                at = 0.0
            rows[-1].append(entry)
            at += wide
        return rows


def on_paper(item: dict[str, Any], letter: str) -> float:
    """Return a place in shares of the whole figure; 0 where it is stated otherwise."""
    return float(item.get(letter) or 0) if item.get(f"{letter}ref") == "paper" else 0.0


def _listed(value: Any, k: int) -> list[Any]:
    return [value] * k if not hasattr(value, "__len__") else list(value)
