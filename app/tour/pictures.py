"""People as dots, one each: filled where they are approved, hollow where not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

from app.tour.story import FavoredShare
from audits.drawing.style import CONTEXT, FOCUS, INK, finish

_NEW = "new"
_PHONE = 364  # pixels across
_PICTURES = 16  # of the one example that everyone sees


def dots(marks: Sequence[str], *, across: int, pitch: float, size: float, color: str, alt: str) -> go.Figure:
    """Draw a block of people, row by row.

    Parameters
    ----------
    marks : sequence of {"yes", "no", "new"}
        Approved, declined, and approved only after a change, which is drawn in ink.
    across : int
        People in a row.
    pitch, size : float
        Pixels from one to the next where there is room, and of a dot.
    """
    figure = go.Figure()
    for mark, fill, line in (("yes", color, color), ("no", "white", color), (_NEW, INK, INK)):
        places = [place for place, each in enumerate(marks) if each == mark]
        if not places:
            continue
        figure.add_scatter(
            x=[place % across for place in places],
            y=[place // across for place in places],
            mode="markers",
            marker={
                "color": fill,
                "size": size,
                "line": {"color": line, "width": 1 if size < 8 else 1.6},
            },
            hoverinfo="skip",
            showlegend=False,
        )
    rows = -(-len(marks) // across)
    figure.update_xaxes(visible=False, range=[-0.6, across - 0.4], constrain="domain", fixedrange=True)
    figure.update_yaxes(visible=False, range=[rows - 0.4, -0.6], constrain="domain", fixedrange=True)
    figure.update_yaxes(scaleanchor="x", constraintoward="top")
    figure.layout.xaxis.constraintoward = "left"
    finish(figure, height=round(rows * pitch) + 12, alt=alt)
    figure.layout.margin = {"l": 2, "r": 2, "t": 6, "b": 6}
    if (part := _PHONE / (across * pitch)) < 1:
        narrow = {"below": _PHONE + 16, "dots": part, "height": round(rows * pitch * part) + 12}
        figure.layout.meta = {**figure.layout.meta, "narrow": narrow}
    return figure


@lru_cache(_PICTURES)
def crowd(share: FavoredShare, alt: str, *, across: int = 84, pitch: float = 5.7) -> go.Figure:
    """Draw many people, in any order: the declined are spread among the approved."""
    marks = ["yes"] * share.yes + ["no"] * share.no
    marks = np.random.default_rng(0).permutation(marks).tolist()
    return dots(marks, across=across, pitch=pitch, size=0.62 * pitch, color=CONTEXT, alt=alt)


@lru_cache(_PICTURES)
def group(share: FavoredShare, alt: str, *, new: int = 0) -> go.Figure:
    """Draw the group of the story, the approved first; `new` of them are approved only after a change."""
    marks = ["yes"] * (share.yes - new) + [_NEW] * new + ["no"] * share.no
    return dots(marks, across=16, pitch=19, size=14, color=FOCUS, alt=alt)
