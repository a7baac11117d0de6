"""One look for every figure: Okabe-Ito colours, quiet axes, text that says what is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

__all__ = [
    "ACCENT",
    "CONTRAST",
    "GREY",
    "INK",
    "OKABE_ITO",
    "alt_text",
    "describe",
    "distinct",
    "empty",
    "finish",
]

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
"""Colour-blind safe (Okabe, Ito 2008), the strongest contrasts to white first."""

ACCENT = OKABE_ITO[0]
CONTRAST = OKABE_ITO[1]
GREY = "#B8BDC4"
INK = "#22262B"
# quoted: a bare name may not begin with a digit, and one that does voids the whole list
_FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', 'Segoe UI', Helvetica, Arial, sans-serif"


# what our figures use of Plotly's "plotly_white": the whole of it is checked and copied for every figure,
# which takes longer than drawing one
_AXIS = {
    "automargin": True,
    "gridcolor": "#ECEEF1",
    "linecolor": "#EBF0F8",
    "ticks": "",
    "title": {"standoff": 15, "font": {"size": 12}},
    "zerolinecolor": GREY,
    "zerolinewidth": 2,
}
_COLOURBAR = {"colorbar": {"outlinewidth": 0, "ticks": ""}}
_TEMPLATE = go.layout.Template(
    {
        "layout": {
            "autotypenumbers": "strict",
            "colorway": list(OKABE_ITO),
            "hovermode": "closest",
            "hoverlabel": {"align": "left", "font": {"family": _FONT}},
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
            "paper_bgcolor": "white",
            "plot_bgcolor": "white",
            "coloraxis": _COLOURBAR,
            "xaxis": _AXIS,
            "yaxis": _AXIS,
            "shapedefaults": {"line": {"color": INK}},
            "annotationdefaults": {"arrowcolor": INK, "arrowhead": 0, "arrowwidth": 1, "font": {"size": 13}},
            "title": {"x": 0.05},
        },
        "data": {
            "bar": [
                {
                    "marker": {"line": {"color": "white", "width": 0.5}},
                    "error_x": {"color": INK},
                    "error_y": {"color": INK},
                }
            ],
            "heatmap": [_COLOURBAR],
            "contour": [_COLOURBAR],
        },
    }
)


def finish(figure: go.Figure, *, height: int, alt: str) -> go.Figure:
    """Apply the common layout and attach the alt text."""
    layout = figure.layout  # property by property: a tenth of what update_layout and update_axes take
    layout.template = _TEMPLATE
    layout.font = {"family": _FONT, "size": 13, "color": INK}
    layout.height = height
    layout.margin = {"l": 8, "r": 12, "t": 36, "b": 8}
    layout.bargap = 0.08
    layout.meta = {"alt": alt}
    if any(note.font.size is not None for note in layout.annotations):  # titles of panels come with 16
        layout.annotations = [_sized(note.to_plotly_json()) for note in layout.annotations]
    return figure


def _sized(note: dict[str, Any]) -> dict[str, Any]:
    return {**note, "font": {**note.get("font", {}), "size": 13}}


def alt_text(figure: go.Figure) -> str:
    """Return what a figure shows, in a sentence, for those who cannot see it."""
    return str((figure.layout.meta or {}).get("alt", ""))


def empty(sentence: str) -> go.Figure:
    """Return a figure that says why there is nothing to draw."""
    figure = go.Figure()
    figure.add_annotation(text=sentence, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return finish(figure, height=160, alt=sentence)


def describe(name: str, *, longest: int = 28) -> str:
    """Shorten a label from the data for an axis, and keep it from being read as markup."""
    text = name if len(name) <= longest else name[: longest - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def distinct(names: Sequence[str], *, longest: int = 28) -> list[str]:
    """Shorten labels from the data as `describe` does, so that different names stay different.

    Examples
    --------
    >>> distinct(["north", "a" * 40 + "1", "a" * 40 + "2"], longest=8)
    ['north', 'aaaa…aa1', 'aaaa…aa2']
    """
    found = [describe(name, longest=longest) for name in names]
    for place in _again(found):
        head = longest // 2
        ending = names[place][head - longest + 1 :]
        found[place] = describe(f"{names[place][:head]}…{ending}", longest=longest)
    for number, place in enumerate(_again(found), start=1):
        found[place] = f"{found[place]} ({number})"
    return found


def _again(labels: Sequence[str]) -> list[int]:
    times = Counter(labels)
    return [place for place, label in enumerate(labels) if times[label] > 1]
