"""Figures of several panels as pages lay them out on a narrow screen."""

from __future__ import annotations

from itertools import pairwise

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.style import finish, rows_named, stacked_panels


def panels(names: list[str]) -> go.Figure:
    """Return three panels that share their rows, finished."""
    figure = make_subplots(rows=1, cols=3, shared_yaxes=True, subplot_titles=["one", "two", "three"])
    for col in (1, 2, 3):
        figure.add_trace(go.Scatter(x=[1, 2], y=[0, 1], mode="markers"), row=1, col=col)
    rows_named(figure, names)
    finish(figure, height=300, alt="three panels")
    stacked_panels(figure)
    return figure


def test_panels_stand_below_each_other_with_their_rows_names() -> None:
    figure = panels(["short", "names"])
    narrow = figure.layout.meta["narrow"]
    parts = [narrow[axis]["domain"] for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert parts[0][1] == 1
    assert abs(parts[2][0]) < 1e-9
    assert all(above[0] > below[1] for above, below in pairwise(parts))
    assert narrow["yaxis3"]["ticktext"] == ["short", "names"]
    assert narrow["height"] > 3 * 200


def test_names_above_rows_are_repeated_in_each_panel_and_hidden_where_there_is_room() -> None:
    figure = panels(["a name of more than thirty letters, first", "a name of more than thirty letters, last"])
    narrow, notes = figure.layout.meta["narrow"], figure.layout.annotations
    assert len(narrow["annotations"]) == len(notes) == 3 + 2 + 4
    hidden = [note for note in notes if note.visible is False]
    assert [note.yref for note in hidden] == ["y2", "y2", "y3", "y3"]
    shown = [told for told in narrow["annotations"] if told.get("visible")]
    assert len(shown) == len(hidden)


def test_one_panel_stays_as_it_is() -> None:
    figure = finish(go.Figure(go.Scatter(x=[1], y=[1])), height=200, alt="one panel")
    stacked_panels(figure)
    assert "narrow" not in figure.layout.meta
