"""A slider that moves in the browser, which holds every step of the figure; it plays, too."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from audits.drawing.style import INK, finish

_MILLISECONDS = 450  # of a step that plays


def with_slider(
    figure: go.Figure, labels: Sequence[str], active: int, *, height: int, alt: str, link: str = ""
) -> go.Figure:
    """Finish a figure with frames: a slider with a step for each, and a button that plays them.

    Parameters
    ----------
    labels : sequence of str
        What is written of each step; that of the chosen one is shown.
    active : int
        The step shown first.
    link : str, optional
        Name under which the page's address holds the step.
    """
    names = [frame.name for frame in figure.frames]
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    playing = {
        "mode": "immediate",
        "fromcurrent": False,
        "frame": {"duration": _MILLISECONDS, "redraw": True},
        "transition": {"duration": _MILLISECONDS // 2},
    }
    figure.layout.sliders = [
        {
            "active": active,
            "steps": [
                {"method": "animate", "args": [[name], at_once], "label": label}
                for name, label in zip(names, labels, strict=True)
            ],
            "font": {"color": "rgba(0,0,0,0)", "size": 1},  # only the step chosen is written
            "currentvalue": {"xanchor": "right", "offset": 20, "font": {"size": 14, "color": INK}},
            "pad": {"t": 56, "b": 0, "l": 88},
            "ticklen": 4,
            "minorticklen": 0,
        }
    ]
    button = {"label": "▶ Play", "method": "animate", "args": [None, playing]}
    figure.layout.updatemenus = [
        {
            "type": "buttons",
            "buttons": [button],
            "showactive": False,
            "x": 0,
            "xanchor": "left",
            "y": 0,
            "yanchor": "top",
            "pad": {"t": 84, "l": 0},  # below what is written, which may be as wide as a phone
        }
    ]
    finish(figure, height=height + 10, alt=f"{alt} It moves by the arrow keys.")
    # a figure with a slider has its tools above
    figure.update_layout(margin={"b": 90, "t": 66})
    if link:
        figure.layout.meta = {**figure.layout.meta, "link": link}
    return figure
