"""Colours and texts of a Plotly figure as ReportLab takes them."""

from __future__ import annotations

import functools
import html
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plotly.colors import get_colorscale
from reportlab.graphics.shapes import Drawing, Group, String
from reportlab.lib.colors import Color, HexColor, toColor
from reportlab.pdfbase.pdfmetrics import stringWidth

from audits.drawing.style import GREY, INK

__all__ = ["AXIS", "INK_COLOUR", "PALE", "SMALL", "Paper", "colour_of", "on_scale", "plain", "plain_lines"]

AXIS = 6.5
"""Points of tick labels."""

SMALL = 7.0
"""Points of titles, legend and notes."""

INK_COLOUR, PALE = HexColor(INK), HexColor(GREY)
_RGB = re.compile(r"rgba?\(([^)]*)\)")
_BREAK = re.compile(r"<br\s*/?>")
_MARK = re.compile(r"</?[a-z]+[^<>]*>")


@dataclass
class Paper:
    """Where things are drawn, and the font that all texts are in.

    Attributes
    ----------
    printable : callable
        Gives a text in the characters that the font has.
    """

    drawing: Drawing
    font: str
    printable: Callable[[str], str]
    notes: list[str] = field(default_factory=list)

    def width(self, text: str, size: float = AXIS) -> float:
        """Return how wide `text` is, in points."""
        return float(stringWidth(text, self.font, size))

    def fitted(self, text: str, width: float, size: float = AXIS) -> str:
        """Return as much of `text` as fits into `width`."""
        text = self.printable(text)
        if self.width(text, size) <= width:
            return text
        kept = text
        while kept and self.width(kept + "…", size) > width:
            kept = kept[:-1]
        return kept + "…"

    def text(
        self, x: float, y: float, text: str, *, size: float = AXIS, anchor: str = "start", turned: float = 0.0
    ) -> None:
        """Write `text` at a point, turned by so many degrees."""
        drawn = String(
            0, 0, self.printable(text), fontName=self.font, fontSize=size, textAnchor=anchor,
            fillColor=INK_COLOUR,
        )  # fmt: skip
        place = Group(drawn)
        place.translate(x, y)
        if turned:
            place.rotate(turned)
        self.drawing.add(place)


def plain_lines(text: Any) -> list[str]:
    """Return the lines of a text that a figure holds, without markup."""
    return [html.unescape(_MARK.sub("", line)) for line in _BREAK.split(str(text or ""))]


def plain(text: Any) -> str:
    """Return a text that a figure holds on one line, without markup.

    Examples
    --------
    >>> plain("a &amp; b<br><b>c</b> &lt;i&gt;")
    'a & b c <i>'
    """
    return " ".join(plain_lines(text))


@functools.lru_cache(maxsize=500)
def colour_of(text: str, opacity: float = 1.0) -> Color:
    """Return a CSS colour as Plotly takes it: ``#0072B2``, ``rgba(0,114,178,0.5)`` or a name."""
    found = _RGB.fullmatch(text.strip())
    if found:
        parts = [float(part) for part in found.group(1).split(",")]
        alpha = parts[3] if len(parts) > 3 else 1.0
        return Color(*(part / 255 for part in parts[:3]), alpha=alpha * opacity)
    named = toColor(text)
    return Color(named.red, named.green, named.blue, alpha=named.alpha * opacity)


def on_scale(scale: Any, share: float) -> Color:
    """Return the colour at `share` in [0, 1] of a colour scale: a name, or pairs of place and colour."""
    pairs: Sequence[Any] = get_colorscale(scale) if isinstance(scale, str) else scale
    share = min(max(share, 0.0), 1.0)
    for (low, first), (high, second) in itertools.pairwise(pairs):
        if share <= high:
            part = (share - low) / (high - low) if high > low else 0.0
            a, b = colour_of(first), colour_of(second)
            mixed = [x + part * (y - x) for x, y in zip(a.rgb(), b.rgb(), strict=True)]
            return Color(*mixed)
    return colour_of(pairs[-1][1])
