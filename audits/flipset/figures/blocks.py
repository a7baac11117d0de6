"""The people of a group as dots, in two blocks: those who flip one way, and those who flip the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import decisive
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import (
    CONTEXT,
    FOCUS,
    GRAY,
    INK,
    describe,
    finish,
    smaller_dots_where_narrow,
    wrap_title,
)
from audits.flipset.result import LIKE_FOR_LIKE, FlipsetResult, Way
from audits.flipset.text import interval_words, larger_first, way_words
from audits.stats import Estimate
from audits.stats.badges import interval_text, short_number
from audits.stats.text import count, out_of, people_in, percent
from audits.text import points_words

_MAX_DOTS, _COLUMNS, _ROW = 320, 16, 18
_INTERVAL, _BETWEEN, _TITLE, _BELOW = 64, 40, 58, 44  # pixels
_REACH = 30.0  # points to either side, at least


def blocks(result: FlipsetResult) -> go.Figure:
    """Draw the interval that decides, and below it both ways of flipping as blocks of people.

    A dot is a person of the source group, or as many as keep a block within 320 dots: hollow where declined,
    in the focus color where the match gets the other answer; the dashed line goes around as many as chance
    alone gives.
    """
    ways, n = larger_first(result), result.n_source
    each = max(1, math.ceil(n / _MAX_DOTS))
    columns = _COLUMNS if n <= 10 * _COLUMNS * each else _COLUMNS + 4
    rows = math.ceil(n / each / columns)
    inner = _INTERVAL + _BETWEEN + _TITLE + rows * _ROW + _BELOW
    figure = go.Figure(decisive(result.judged, 0, 100.0))
    _interval_axis(figure, result, inner)
    low, high = _BELOW / inner, (_BELOW + rows * _ROW) / inner
    for k, way in enumerate(ways, start=2):
        for trace in _dots(result, way, each, columns):
            figure.add_trace(trace.update(xaxis=f"x{k}", yaxis=f"y{k}"))
        domain = [0.0, 0.46] if k == 2 else [0.54, 1.0]
        axes = {"visible": False, "fixedrange": True}
        figure.update_layout(
            {
                f"xaxis{k}": {**axes, "domain": domain, "range": [-0.7, columns - 0.3], "anchor": f"y{k}"},
                f"yaxis{k}": {**axes, "domain": [low, high], "range": [rows - 0.5, -0.5], "anchor": f"x{k}"},
            }
        )
        _label_block(figure, result, way, domain[0], (low, high))
    larger = result.flipset(ways[0])[0]
    alt = (
        f"{interval_words(result.judged)}. {_flip_count(result, ways[0])} {people_in(result.source)}: "
        f"{way_words(ways[0])}; {_flip_count(result, ways[1])}: the reverse."
    )
    if larger.expected_by_chance is not None:
        alt += f" Chance alone gives about {count(larger.expected_by_chance.value or 0.0)} of the first."
    figure = finish(figure, height=inner + 56, alt=alt).update_layout(margin={"l": 12, "t": 44, "b": 12})
    return smaller_dots_where_narrow(figure, columns)


def _interval_axis(figure: go.Figure, result: FlipsetResult, inner: int) -> None:
    """Lay out the row of the interval that decides: one scale, the same to both sides."""
    judged = result.judged
    ends = [abs(100 * end) for end in (judged.interval.low, judged.interval.high) if end is not None]
    reach = max([_REACH, *(1.08 * end for end in ends)])
    limit = 100 * (judged.immaterial_high or result.options["material"])
    figure.update_layout(
        xaxis={"range": [-reach, reach], "zeroline": False, "ticksuffix": "", "anchor": "y"},
        yaxis={"range": [-1.0, 0.7], "visible": False, "domain": [1 - _INTERVAL / inner, 1.0]},
    )
    figure.add_shape(
        type="rect", x0=-limit, x1=limit, y0=0, y1=1, yref="y domain", fillcolor=GRAY, opacity=0.18,
        line_width=0, layer="below",
    )  # fmt: skip
    figure.add_shape(type="line", x0=0, x1=0, y0=0.32, y1=1, yref="y domain", line={"color": INK, "width": 1})
    unit = "more than chance alone gives"
    if judged.decided_by == LIKE_FOR_LIKE:
        unit = "or more get another answer<br>than people with the same features"
    elif judged.decided_by.startswith("level: "):
        unit = "difference of rates among people<br>with " + describe(judged.decided_by[7:], longest=34)
    told = interval_text(judged).split(" · ")[0]
    if not told and judged.interval.value is not None:
        told = f"{points_words(short_number(100 * judged.interval.value, 1))} (no interval)"
    told = told or "not measured"
    said = {"showarrow": False, "xref": "paper", "yref": "paper", "x": 0, "xanchor": "left", "align": "left"}
    figure.add_annotation(text=f"<b>{told}</b> {unit}", y=1, yanchor="bottom", **said)
    figure.add_annotation(
        text="too little to matter", x=0, y=-0.72, xref="x", yref="y", showarrow=False, font={"size": 12}
    )


def _flip_count(result: FlipsetResult, way: Way) -> str:
    return out_of(result.flipset(way)[0].size, result.n_source)


def _label_block(
    figure: go.Figure, result: FlipsetResult, way: Way, left: float, ends: tuple[float, float]
) -> None:
    """Write above a block how many flip, and below it what chance alone gives."""
    part, n = result.flipset(way)
    share = percent(part.share.value, n)
    title = f"<b>{_flip_count(result, way)}</b> ({share})<br>{wrap_title(way_words(way), 24)}"
    said = {"showarrow": False, "xref": "paper", "yref": "paper", "xanchor": "left", "align": "left"}
    figure.add_annotation(text=title, x=left, y=ends[1], yanchor="bottom", yshift=4, **said)
    if (chance := part.expected_by_chance) is not None:
        figure.add_annotation(text=_by_chance(chance), x=left, y=ends[0], yanchor="top", yshift=-4, **said)


def _by_chance(chance: Estimate) -> str:
    reach = (
        ""
        if chance.low is None or chance.high is None
        else f"<br>({count(chance.low)} to {count(chance.high)})"
    )
    return f"┄ chance alone: about {count(chance.value or 0.0)}{reach}"


def _dots(result: FlipsetResult, way: Way, each: int, columns: int) -> list[go.Scatter]:
    """Return the dots of one block: those who flip, the declined and the favored of the rest, and chance."""
    people, part = result.people, result.flipset(way)[0]
    total, flipped = math.ceil(result.n_source / each), math.ceil(part.size / each - 0.5)
    order = people.assign(_flips=people[way]).sort_values(["_flips", "decision"], ascending=[False, True])
    single = each == 1 and len(order) == total
    declined = (~order["decision"].to_numpy(dtype=bool) * order["people"].to_numpy()).sum()
    rest_declined = math.floor((declined - (part.size if way == "negative" else 0.0)) / each + 0.5)
    if single:
        rest = order.iloc[flipped:].sort_values("decision", kind="stable")
        order = pd.concat([order.iloc[:flipped], rest])
        rest_declined = int((~rest["decision"].astype(bool)).sum())
    looks = [
        ("the match gets the other answer", FOCUS, way == "negative", range(flipped), [of_run(way, above=0)]),
        ("declined", GRAY, True, range(flipped, min(flipped + rest_declined, total)), []),
        ("favored", GRAY, False, range(min(flipped + rest_declined, total), total), []),
    ]
    found, every = [], order.index.tolist()
    for name, color, hollow, places, terms in looks:
        rows = [every[k] for k in places] if single else []
        meta = [people_id({"run": "", "row": row}) for row in rows] or [
            people_id(*terms) if terms else "" for _ in places
        ]
        found.append(
            go.Scatter(
                x=[k % columns for k in places],
                y=[k // columns for k in places],
                mode="markers",
                marker={
                    "size": 11,
                    "color": "white" if hollow else color,
                    "line": {"color": color, "width": 1.6},
                },
                meta=meta,
                customdata=[[f"row {row}", row, way if terms else ""] for row in rows]
                or [[name]] * len(places),
                hovertemplate="%{customdata[0]}<extra>" + describe(name) + "</extra>",
                showlegend=False,
            )
        )
    if part.expected_by_chance is not None:
        found.append(_contour((part.expected_by_chance.value or 0.0) / each, columns))
    return found


def _contour(dots: float, columns: int) -> go.Scatter:
    """Return the line below the first so many dots."""
    whole, rest = divmod(round(dots), columns)
    corners: Sequence[tuple[float, float]] = [(-0.5, whole - 0.5), (columns - 0.5, whole - 0.5)]
    if rest:
        corners = [
            (-0.5, whole + 0.5), (rest - 0.5, whole + 0.5),
            (rest - 0.5, whole - 0.5), (columns - 0.5, whole - 0.5),
        ]  # fmt: skip
    x, y = zip(*corners, strict=True)
    look = {"color": CONTEXT, "width": 2, "dash": "dash"}
    return go.Scatter(x=x, y=y, mode="lines", line=look, hoverinfo="skip", showlegend=False, cliponaxis=False)
