"""Flows between two lists of groups: a map of bands with numbers, and the same as rows of bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.selected import people_id
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, annotate, finish, wrap_title

_PAD, _THICK, _SIDE = 12.0, 12, 0.26  # pixels, pixels, share of the width for names
_LINE = 17  # pixels of a line of a name
_ROW, _LEAST = 70, 13.0  # pixels of a row, and of a band that has room for its number
_LETTERS, _MAX_BARS = 26, 5  # in a line; of a row
_MARGIN = {"l": 8, "r": 12, "t": 36, "b": 8}


@dataclass(frozen=True)
class FlowMap:
    """Flows from rows to columns.

    Attributes
    ----------
    rows, columns : sequence of str
        Names, as they are written.
    mass, share : matrices (rows, columns)
        Width of a band, and the share of its row that its number says.
    words : matrix of str
        What is said of a band where the mouse rests.
    keys : matrix of list
        What a click on it tells the page, and selects.
    focus : set of int
        Rows of the group that the page's sentence is about.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    mass: Sequence[Sequence[float]]
    share: Sequence[Sequence[float]]
    words: Sequence[Sequence[str]]
    keys: Sequence[Sequence[list[str]]]
    focus: frozenset[int] = frozenset()

    def bands(self, least: float = 0.0) -> list[tuple[int, int]]:
        """Return the rows and columns between which more than `least` of all flows."""
        pairs = [(r, c) for r in range(len(self.rows)) for c in range(len(self.columns))]
        total = sum(map(sum, self.mass))
        return [(r, c) for r, c in pairs if self.mass[r][c] > least * total]

    def people(self, r: int, c: int) -> str:
        """Return whom a band stands for; nobody where groups are drawn together."""
        key = self.keys[r][c]
        return people_id({"run": "", "flow": key}) if key else ""

    def number(self, r: int, c: int) -> str:
        """Return a share as it is written."""
        share = 100 * self.share[r][c]
        return "<1%" if 0 < share < 0.5 else f"{share:.0f}%"


def flow_map(flows: FlowMap, *, alt: str) -> go.Figure:
    """Draw bands in two colors, that of the focus and gray, each with its share of the row."""
    bands, shift = flows.bands(0.002), len(flows.rows)
    lists = [[0.0] * shift, [0.0] * len(flows.columns)]
    for r, c in bands:
        lists[0][r] += flows.mass[r][c]
        lists[1][c] += flows.mass[r][c]
    # as a node without a band has no place in Plotly, and the places of those after it would be its own
    nodes = [place for place, size in enumerate(lists[0] + lists[1]) if size]
    height = max(300, _ROW * max(map(len, lists)) + 40)
    inner = height - _MARGIN["t"] - _MARGIN["b"]
    # as Plotly lays nodes out: the fullest side fills the height, with a gap between nodes
    scale = min((inner - _pads(sizes)) / (sum(sizes) or 1.0) for sizes in lists)
    starts = [_starts(sizes, scale, inner) for sizes in lists]
    middles = [
        [(top + size * scale / 2) / inner for top, size in zip(tops, sizes, strict=True)]
        for tops, sizes in zip(starts, lists, strict=True)
    ]
    colors = [FOCUS if r in flows.focus else CONTEXT for r in range(shift)]
    places = [*((0.001, y) for y in middles[0]), *((0.999, y) for y in middles[1])]
    clear = {FOCUS: "rgba(213,94,0,0.45)", CONTEXT: "rgba(154,161,169,0.40)"}
    figure = go.Figure(
        go.Sankey(
            arrangement="fixed",
            domain={"x": [_SIDE, 1 - _SIDE]},
            node={
                "label": [""] * len(nodes),
                "x": [places[node][0] for node in nodes],
                "y": [places[node][1] for node in nodes],
                "color": [colors[node] if node < shift else GRAY for node in nodes],
                "pad": _PAD,
                "thickness": _THICK,
                "hoverinfo": "skip",
                "line": {"width": 0},
            },
            link={
                "source": [nodes.index(r) for r, _ in bands],
                "target": [nodes.index(shift + c) for _, c in bands],
                "value": [flows.mass[r][c] for r, c in bands],
                "color": [clear[colors[r]] for r, _ in bands],
                "customdata": [flows.words[r][c] for r, c in bands],
                "hovertemplate": "%{customdata}<extra></extra>",
            },
            customdata=[flows.keys[r][c] for r, c in bands],
            meta=[flows.people(r, c) for r, c in bands],
        )
    )
    notes, tops = [], list(starts[0])
    for r, c in bands:  # columns are in order, as bands leave a row
        width = flows.mass[r][c] * scale
        middle, tops[r] = tops[r] + width / 2, tops[r] + width
        if width >= _LEAST:
            notes.append(_note(flows.number(r, c), _SIDE, middle / inner, "left", _THICK + 6))
    notes += _names(flows.rows, middles[0], inner, ("right", _SIDE, -8))
    notes += _names(flows.columns, middles[1], inner, ("left", 1 - _SIDE, 8))
    annotate(figure, notes)
    return finish(figure, height=height, alt=alt)


def _starts(sizes: Sequence[float], scale: float, inner: float) -> list[float]:
    """Return where the nodes of a side begin, in pixels from the top; a side that is shorter is centered."""
    tops = [(inner - scale * sum(sizes) - _pads(sizes)) / 2]
    for size in sizes[:-1]:
        tops.append(tops[-1] + size * scale + _PAD * bool(size))
    return tops


def _pads(sizes: Sequence[float]) -> float:
    return _PAD * (sum(map(bool, sizes)) - 1)


def spread(middles: Sequence[float], highs: Sequence[float]) -> list[float]:
    """Move texts along a side, from 0 to 1, until none lies over another, each near its place.

    Examples
    --------
    >>> [round(middle, 3) for middle in spread([0.3, 0.9, 0.97], [0.1, 0.1, 0.1])]
    [0.3, 0.85, 0.95]
    """
    found, end = list(middles), 0.0
    for place, high in enumerate(highs):
        found[place] = max(found[place], end + high / 2)
        end = found[place] + high / 2
    end = 1.0
    for place, high in reversed(list(enumerate(highs))):
        found[place] = min(found[place], end - high / 2)
        end = found[place] - high / 2
    return found


def _names(
    names: Sequence[str], middles: Sequence[float], inner: float, side: tuple[str, float, float]
) -> list[dict[str, object]]:
    """Write the names of a side beside its nodes; `side`: how they are aligned, where, and how far away."""
    anchor, x, away = side
    texts = [wrap_title(name, _LETTERS) for name in names]
    highs = [_LINE * (text.count("<br>") + 1) / inner for text in texts]
    return [
        _note(text, x, middle, anchor, away)
        for text, middle in zip(texts, spread(middles, highs), strict=True)
    ]


def _note(text: str, x: float, down: float, anchor: str, away: float) -> dict[str, object]:
    where = {"xref": "paper", "x": x, "yref": "paper", "y": 1 - down, "xanchor": anchor, "xshift": away}
    where["yanchor"] = "middle"  # unless told, Plotly hangs a text in the upper third from its top
    return {"text": text, "showarrow": False, "align": anchor, "font": {"size": 12, "color": INK}, **where}


_LEFT = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "y", "showarrow": False}


def _bars(flows: FlowMap, cells: Sequence[tuple[int, int]], places: Sequence[int]) -> go.Bar:
    """Return a bar for each of some flows, rows and columns, as long as its share of the row."""
    return go.Bar(
        x=[100 * flows.share[r][c] for r, c in cells],
        y=places,
        orientation="h",
        marker={"color": [FOCUS if r in flows.focus else CONTEXT for r, _ in cells]},
        textposition="outside",
        cliponaxis=False,
        customdata=[flows.keys[r][c] for r, c in cells],
        meta=[flows.people(r, c) for r, c in cells],
        showlegend=False,
    )


def flow_bars(flows: FlowMap, *, alt: str) -> go.Figure:
    """Draw a table: a row a group, a column each of the others, in each cell a bar of the row's share."""
    rows, places = flows.rows, list(range(len(flows.rows)))[::-1]
    figure = make_subplots(
        rows=1,
        cols=len(flows.columns),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[wrap_title(name, max(52 // len(flows.columns), 10)) for name in flows.columns],
    )
    for c in range(len(flows.columns)):
        figure.add_trace(
            _bars(flows, [(r, c) for r in range(len(rows))], places).update(
                width=0.42,
                offset=-0.42,
                text=[flows.number(r, c) for r in range(len(rows))],
                hovertext=[flows.words[r][c] for r in range(len(rows))],
                hovertemplate="%{hovertext}<extra></extra>",
            ),
            row=1,
            col=c + 1,
        )
    where = {**_LEFT, "yanchor": "bottom", "yshift": 2}
    annotate(figure, [{**where, "y": y, "text": name} for y, name in zip(places, rows, strict=True)])
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, range=[-0.55, len(rows) - 0.4])
    figure.update_xaxes(range=[0, 135], visible=False)
    lines = max(note.text.count("<br>") + 1 for note in figure.layout.annotations[: len(flows.columns)])
    above = 15 + _LINE * lines
    finish(figure, height=24 + above + 52 * len(rows), alt=alt)
    return figure.update_layout(margin={"t": above})


def flow_list(flows: FlowMap, *, alt: str) -> go.Figure:
    """Draw the same for a phone: under each row's name a bar for each column, the widest first."""
    names, others, bars, place = [], list[tuple[int, str]](), [], 0
    for r, name in enumerate(flows.rows):
        names.append((place, name))
        own = sorted(
            (pair for pair in flows.bands(0.002) if pair[0] == r), key=lambda pair: -flows.mass[r][pair[1]]
        )
        shown = own if len(own) <= _MAX_BARS + 1 else own[:_MAX_BARS]
        bars += [(place - 1 - k, r, c) for k, (_, c) in enumerate(shown)]
        place -= 1 + len(shown)
        if rest := own[len(shown) :]:
            share = 100 * sum(flows.share[r][c] for _, c in rest)
            others.append((place, f"{share:.0f}% the {len(rest)} others"))
            place -= 1
    figure = go.Figure(
        _bars(flows, [(r, c) for _, r, c in bars], [y for y, _, _ in bars]).update(
            width=0.7, text=[f"{flows.number(r, c)} {flows.columns[c]}" for _, r, c in bars], hoverinfo="skip"
        )
    )
    said = [*((y, f"<b>{name}</b>") for y, name in names), *others]
    annotate(figure, [{**_LEFT, "yanchor": "middle", "y": y, "text": text} for y, text in said])
    figure.update_yaxes(visible=False, range=[place + 0.4, 0.6])
    figure.update_xaxes(range=[0, 300], visible=False)
    return finish(figure, height=50 + 24 * -place, alt=alt)
