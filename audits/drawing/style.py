"""The theme of every figure: Okabe-Ito colors, quiet axes, text that says what is drawn."""

from __future__ import annotations

import calendar
import html
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from audits.stats.text import in_words

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
"""Color-blind safe (Okabe, Ito 2008), the strongest contrasts to white first."""

TURNED_JS = """
let turned;
addEventListener("resize", () => {
  clearTimeout(turned);
  turned = setTimeout(() => document.querySelectorAll(".js-plotly-plot").forEach(Plotly.redraw), 300);
});
"""
"""For a document of figures that follow its width: Plotly leaves a legend where the old width had it, as when
a phone is turned, unless the figure is drawn again."""

NARROWED_JS = """
function narrowed(layout, data = []) {
  const {dots = 1, taller = 0, below, ...lays} = layout.meta?.narrow ?? {};
  for (const {marker} of data) if (marker?.size > 0) marker.size *= dots;
  for (const [name, own] of Object.entries(lays))
    if (Array.isArray(own)) own.forEach((each, place) => Object.assign(layout[name][place], each));
    else if (typeof own === "object") Object.assign(layout[name], own);
    else layout[name] = own;
  layout.height += taller;
}
"""
"""What a figure has otherwise on a narrow screen: domains of panels, places of titles and names, height, size
of dots. The pages' component holds the same function."""

KEPT_HERE = {"displaylogo": False, "modeBarButtonsToRemove": ["sendChartToCloud"]}
"""Plotly's configuration of figures taken away: no button uploads what is drawn to a cloud."""

GROUPS = (*OKABE_ITO[2:6], *OKABE_ITO[:2], OKABE_ITO[6])
"""Of groups drawn beside each other: those that a verdict or a direction has come last."""

_AXIS_ROOM, _BETWEEN = 40, 96
"""Pixels of an axis below a panel, and between two panels, for an axis and a title."""
_BESIDE_PITCH, _ABOVE_PITCH = 30, 38  # pixels of a row whose name stands beside it, and above it
_BESIDE_WIDE = 44  # letters of a name that stands beside its row where a screen is wide
_PHONE_BLOCK = 152  # pixels of one of two blocks of dots on a phone
_WIDE_TITLE, _NARROW_TITLE, _PANEL_TITLE = 60, 40, 30  # letters in a line of an axis' title

CLEAR = 4
"""Pixels from the line at the left of a figure to a name above a row."""

FOCUS = OKABE_ITO[1]
"""The group that the page's sentence is about, and the interval that decides the verdict."""

CONTEXT = "#9AA1A9"
"""What is neither the group in question nor its comparison, and what is not to be trusted."""

ACCENT = OKABE_ITO[0]
CONTRAST = OKABE_ITO[1]
GRAY = "#B8BDC4"
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
    "ticklabelstandoff": 3,  # a mark at the end of an axis is not read as part of its label
    "title": {"standoff": 15, "font": {"size": 12}},
    "zerolinecolor": GRAY,
    "zerolinewidth": 2,
}
_COLORBAR = {"colorbar": {"outlinewidth": 0, "ticks": ""}}
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
            "coloraxis": _COLORBAR,
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
            "heatmap": [_COLORBAR],
            "contour": [_COLORBAR],
        },
    }
)


def finish(figure: go.Figure, *, height: int, alt: str) -> go.Figure:
    """Apply the common layout and attach the alt text."""
    layout = figure.layout  # property by property: a tenth of what update_layout and update_axes take
    layout.template = _TEMPLATE
    layout.font = {"family": _FONT, "size": 13, "color": INK}
    layout.height = height
    layout.minreducedheight = 30  # a row is lower than that; else titles of three lines run over its numbers
    layout.margin = {"l": 8, "r": 12, "t": 36, "b": 8}
    layout.bargap = 0.08
    layout.meta = {**(layout.meta or {}), "alt": html.unescape(alt)}  # names come as figures write them
    if any(note.font.size is not None for note in layout.annotations):  # titles of panels come with 16
        layout.annotations = [_with_font_size(note.to_plotly_json()) for note in layout.annotations]
    for trace in figure.data:
        if trace.type == "scatter" and trace.mode == "markers":
            trace.cliponaxis = False  # a dot at 0 is whole
        for letter in "xy":
            values = getattr(trace, letter, None)
            if values is not None and len(values) and isinstance(values[0], str):  # categories have no 0
                number = (getattr(trace, f"{letter}axis") or letter)[1:]
                layout.update({f"{letter}axis{number}": {"zeroline": False}})
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.ticktext is not None:
            axis.zeroline = False  # names have no 0, either
        if axis.title.text and "<br>" not in axis.title.text:
            ends = axis.domain or (0.0, 1.0)  # an axis over all the width has room for more, on a phone too
            whole = axis.plotly_name.startswith("xaxis") and ends[1] - ends[0] > 0.8
            text = axis.title.text
            axis.title.text = wrap_title(text, _WIDE_TITLE if whole else _PANEL_TITLE)
            if whole and len(text) > _NARROW_TITLE:
                where_narrow(figure, axis.plotly_name, {"title": {"text": wrap_title(text, _NARROW_TITLE)}})
    return figure


def where_narrow(figure: go.Figure, part: str, own: Mapping[str, Any]) -> None:
    """Have a part of the layout otherwise where a screen is narrow."""
    narrow = _narrow(figure)
    _set_narrow(figure, {**narrow, part: {**narrow.get(part, {}), **own}})


def _narrow(figure: go.Figure) -> dict[str, Any]:
    """Return how the layout is otherwise where a screen is narrow."""
    return dict((figure.layout.meta or {}).get("narrow", {}))


def _set_narrow(figure: go.Figure, narrow: Mapping[str, Any]) -> None:
    figure.layout.meta = {**(figure.layout.meta or {}), "narrow": narrow}


def _with_font_size(note: dict[str, Any]) -> dict[str, Any]:
    return {**note, "font": {**note.get("font", {}), "size": 13}}


def stacked_where_narrow(figure: go.Figure, narrow: go.Figure | None, height: int | None = None) -> None:
    """Have pages lay out the panels of a finished figure as `narrow` has them, where a screen is narrow.

    Parameters
    ----------
    narrow : Figure or None
        Of as many panels with as many titles, in the same order; None where they fit as they are.
    height : int, optional
        Pixels of the figure then.
    """
    layout = _narrow(figure)
    if narrow is not None:
        axes = (*narrow.select_xaxes(), *narrow.select_yaxes())
        titles = [{"x": note.x, "y": note.y} for note in narrow.layout.annotations]
        layout = {axis.plotly_name: {"domain": list(axis.domain)} for axis in axes}
        layout |= {"height": height, "annotations": titles}
    _set_narrow(figure, layout)


def smaller_dots_where_narrow(figure: go.Figure, across: int) -> go.Figure:
    """Have the dots of two blocks beside each other, `across` in a row, keep apart on a phone."""
    pitch = _PHONE_BLOCK / across
    size = max(trace.marker.size for trace in figure.data if isinstance(trace.marker.size, (int, float)))
    _set_narrow(figure, {**_narrow(figure), "dots": min(1.0, (pitch - 2.6) / size)})
    return figure


def shorter_where_narrow(figure: go.Figure, texts: Mapping[str, str]) -> None:
    """Have annotations of a finished figure say less on a phone, by what they say where there is room."""
    narrow = _narrow(figure)
    notes = [dict(each) for each in narrow.get("annotations", [{}] * len(figure.layout.annotations))]
    for own, note in zip(notes, figure.layout.annotations, strict=True):
        if note.text in texts:
            own["text"] = texts[note.text]
    _set_narrow(figure, {**narrow, "annotations": notes})


def stacked_panels(figure: go.Figure) -> None:
    """Have pages lay out a finished row of titled panels one below the other where a screen is narrow.

    Each panel then has the names of the rows, which stand in the first one alone where there is room.
    """
    layout = figure.layout
    names = [axis.plotly_name for axis in figure.select_xaxes()]
    if len(names) < 2:
        return
    before = _narrow(figure)  # names above their rows
    room = layout.height - layout.margin.t - layout.margin.b - _AXIS_ROOM
    one = room + before.get("taller", 0)
    inner = one * len(names) + _BETWEEN * (len(names) - 1)
    tops = [1 - place * (one + _BETWEEN) / inner for place in range(len(names))]
    named = {"ticktext": list(layout.yaxis.ticktext)} if layout.yaxis.ticktext else {}
    named |= before.get("yaxis", {})
    narrow: dict[str, Any] = {"height": inner + layout.height - room}
    narrow |= {"margin": before["margin"]} if before else {}
    for name, top in zip(names, tops, strict=True):
        narrow[name] = {"domain": [0.0, 1.0]}
        narrow[f"y{name[1:]}"] = {"domain": [top - one / inner, top], "showticklabels": True, **named}
    if (layout.legend.y or 0) > 1:
        narrow["legend"] = {"y": 1 + (layout.legend.y - 1) * room / inner}
    notes = layout.annotations
    rows = [note for note in notes[len(names) :] if note.xref == "paper" and note.yref in {None, "y"}]
    copies = [
        {**note.to_plotly_json(), "yref": f"y{name[5:]}", "visible": False}
        for name in names[1:]
        for note in rows
    ]
    shown = [*before.get("annotations", ()), *({} for _ in notes)]
    narrow["annotations"] = [
        *({"x": 0.5, "y": top} for top in tops),
        *shown[len(names) : len(notes)],
        *({"visible": True} for _ in copies),
    ]
    annotate(figure, copies)
    _set_narrow(figure, narrow)


def alt_text(figure: go.Figure) -> str:
    """Return what a figure shows, in a sentence, for those who cannot see it."""
    return str((figure.layout.meta or {}).get("alt", ""))


def wrap_title(text: str, longest: int = 30) -> str:
    """Break a title into lines that a narrow screen holds.

    Examples
    --------
    >>> wrap_title("mean difference (standard deviations)", 20)
    'mean difference<br>(standard<br>deviations)'
    """
    return "<br>".join(textwrap.wrap(text, longest, break_long_words=False, break_on_hyphens=False))


def short(value: float) -> str:
    """Return a number for a tick, with few letters.

    Examples
    --------
    >>> [short(value) for value in (0, 0.25, 18437.5, 2_500_000, -300)]
    ['0', '0.25', '18.4k', '2.5M', '-300']
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            size = 1e3 if unit == "k" else size
            return f"{value / size:.3g}{unit}"
    return f"{value:.4g}" if abs(value) >= 1 else f"{value:.2g}"


def round_ticks(low: float, high: float, most: int = 3) -> list[float]:
    """Return at most about `most` round numbers between `low` and `high`.

    Examples
    --------
    >>> round_ticks(13_052, 76_000)
    [25000.0, 50000.0, 75000.0]
    """
    span = (high - low) / most
    if not span > 0:
        return [low]
    unit = 10.0 ** math.floor(math.log10(span))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= span)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def date_ticks(low: float, high: float) -> dict[float, str]:
    """Return round dates between two years with fractions, in words: years, or months.

    Examples
    --------
    >>> date_ticks(1990.2, 2021.4)
    {2000.0: '2000', 2020.0: '2020'}
    >>> date_ticks(2021.0, 2021.8)
    {2021.0: 'Jan 2021', 2021.5: 'Jul 2021'}
    """
    years = [tick for tick in round_ticks(low, high) if tick % 1 == 0]
    if len(years) > 1:
        return {tick: f"{tick:.0f}" for tick in years}
    step = next((months for months in (1, 2, 3, 6) if months >= 4 * (high - low)), 12)
    months = range(step * math.ceil(12 * low / step - 1e-9), math.floor(12 * high + 1e-9) + 1, step)
    return {month / 12: f"{calendar.month_abbr[month % 12 + 1]} {month // 12}" for month in months}


def shares_axis(percents: Iterable[float]) -> dict[str, Any]:
    """Return the range of an axis of shares: from 0 to 100, unless all are below 30.

    Examples
    --------
    >>> shares_axis([12, 61]), shares_axis([4, 20])
    ({'range': [0, 103]}, {'range': [0, 22.0]})
    """
    highest = max(percents, default=0.0)
    return {"range": [0, 103 if highest >= 30 else round(1.1 * highest, 6) or 1.0]}


def rows_named(
    figure: go.Figure, labels: Sequence[str], *, beside: int = 24, wide: bool | None = None, lift: int = 0
) -> int:
    """Name the rows of a figure, row 0 lowest, so that no name is cut; return the pixels that a row needs.

    Short names stand in a column beside the first panel. Longer ones stand above their rows, over all panels,
    where they have the whole width.

    Parameters
    ----------
    beside : int
        Letters of a name that stands beside its row on any screen.
    wide : bool, optional
        Whether longer ones stand there, too, where a screen is wide; by default those of a single panel.
    lift : int
        Pixels that marks stand higher than the middle of their row, which names above must clear.
    """
    places, longest = list(range(len(labels))), max(map(len, labels), default=0)
    figure.update_yaxes(range=[-0.6, len(labels) - 0.4], tickmode="array", tickvals=places, zeroline=False)
    if wide is None:
        wide = len(list(figure.select_xaxes())) == 1
    if longest <= (_BESIDE_WIDE if wide else beside):
        figure.layout.yaxis.ticktext = list(labels)
        figure.layout.yaxis.ticklabelstandoff = 8  # clear of a mark at the end of the axis
        if longest <= beside:
            return _BESIDE_PITCH
    row = {"showarrow": False, "xref": "paper", "x": 0, "xanchor": "left", "xshift": CLEAR}
    row |= {"yanchor": "bottom", "yshift": 7 + lift, "align": "left"}
    row |= {"bgcolor": "white", "borderpad": 0}  # lines of the first panel stop at it
    notes = [{**row, "text": label, "y": place} for place, label in zip(places, labels, strict=True)]
    above = {"ticktext": [""] * len(labels), "range": [-0.5, len(labels) - 0.25]}
    before = len(figure.layout.annotations)
    if figure.layout.yaxis.ticktext is None:
        figure.update_traces(width=0.28, selector={"type": "bar"})  # below its name
        figure.update_yaxes(**above)
        annotate(figure, notes)
        return _ABOVE_PITCH + lift
    figure.update_traces(width=0.36, selector={"type": "bar"})
    figure.update_xaxes(tickangle=0)  # Plotly turns ticks that have no room before names are moved
    annotate(figure, [{**note, "visible": False} for note in notes])
    shown = [*({} for _ in range(before)), *({"visible": True} for _ in notes)]
    taller = (_ABOVE_PITCH + lift - _BESIDE_PITCH) * len(labels)
    for axis in figure.select_yaxes():
        where_narrow(figure, axis.plotly_name, above)
    where_narrow(figure, "margin", {"l": 8})
    _set_narrow(figure, {**_narrow(figure), "annotations": shown, "taller": taller})
    return _BESIDE_PITCH


def annotate(figure: go.Figure, notes: Iterable[Mapping[str, Any]]) -> None:
    """Add annotations at once: Plotly checks all that a figure has again with each that is added alone."""
    figure.layout.annotations = [*figure.layout.annotations, *map(dict, notes)]


def empty(sentence: str) -> go.Figure:
    """Return a figure that says why there is nothing to draw."""
    figure = go.Figure()
    figure.add_annotation(text=sentence, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return finish(figure, height=160, alt=sentence)


def describe(name: str, *, longest: int = 28) -> str:
    """Shorten a label from the data for an axis, and keep it from being read as markup."""
    name = in_words(name)
    text = name if len(name) <= longest else name[: longest - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def distinct(names: Sequence[str], *, longest: int = 28) -> list[str]:
    """Shorten labels from the data as `describe` does, so that different names stay different.

    Examples
    --------
    >>> distinct(["north", "a" * 40 + "1", "a" * 40 + "2"], longest=8)
    ['north', 'aaaa…aa1', 'aaaa…aa2']
    >>> distinct([f"people of the great {side} district" for side in ("northern", "southern")], longest=16)
    ['…northern distr…', '…southern distr…']
    """
    names = [in_words(name) for name in names]
    found = [describe(name, longest=longest) for name in names]
    names = without_shared(names, found)
    found = [describe(name, longest=longest) for name in names]
    for place in _duplicate_places(found):
        head = longest // 2
        ending = names[place][head - longest + 1 :]
        found[place] = describe(f"{names[place][:head]}…{ending}", longest=longest)
    for number, place in enumerate(_duplicate_places(found), start=1):
        found[place] = f"{found[place]} ({number})"
    return found


def without_shared(names: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return names of which those that are `shown` alike begin where they differ.

    Where that is little, such as a number, some of what is before it stays.

    Examples
    --------
    >>> without_shared(["one", "people of the north", "people of the south"], ["one", "people …", "people …"])
    ['one', '…north', '…south']
    >>> without_shared([f"people of district number {k}" for k in (1, 2)], ["people of district …"] * 2)
    ['people of district…1', 'people of district…2']
    """
    alike = _duplicate_places(shown)
    words = [names[place].split(" ") for place in alike]
    shared = next((k for k, each in enumerate(zip(*words, strict=False)) if len(set(each)) > 1), 0)
    found = list(names)
    for place, own in zip(alike if shared else [], words, strict=False):
        rest = f"…{' '.join(own[shared:])}"
        room = len(shown[place]) - len(rest)
        found[place] = f"{names[place][:room] if 2 * room > len(shown[place]) else ''}{rest}"
    return found


def _duplicate_places(labels: Sequence[str]) -> list[int]:
    times = Counter(labels)
    return [place for place, label in enumerate(labels) if times[label] > 1]
