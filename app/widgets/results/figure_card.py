"""A figure with its alt text, the table behind it, and both as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from app import state
from app.tables.exports import csv_bytes
from app.widgets import notices
from app.widgets.download import download
from app.widgets.people.selected import select, selection_texts
from app.widgets.results.plot import plot
from audits.drawing.style import KEPT_HERE, TURNED_JS, alt_text
from audits.stats.text import in_words

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_MAX_LISTED = 400  # selections below a figure: a list of more is not read


def figure_card(
    name: str,
    figure: go.Figure,
    table: Callable[[], pd.DataFrame],
    *,
    heading: str = "",
    caption: str = "",
    wide: bool = False,
    on_point: Callable[[list[Any]], object] | None = None,
) -> None:
    """Draw `figure` below its title; the table behind it and files of both are in a menu in its corner.

    Parameters
    ----------
    name : str
        Of the files, and unique on the page.
    figure : Figure
        From the audit's figures.
    table : callable
        Gives the numbers drawn; called when they are asked for.
    heading, caption : str
        What it shows, in a few words, and what to look for.
    wide : bool
        Keep the figure wide on a narrow screen, where it then scrolls inside itself, unless it has a layout
        for narrow ones (`audits.drawing.style.stacked_where_narrow`).
    on_point : callable, optional
        Called with the custom data of a point that is clicked; the people of the point are selected, too,
        unless it returns that it has done all.

    A trace whose `meta` lists people (`audits.drawing.selected.people_id`) stands for them: a click on a
    point selects them, and so does the list below the figure.
    """
    told = _people_of(figure)[:_MAX_LISTED]
    people = selection_texts(state.workspace(), told) if told else {}
    # one entry of the page: a table that comes or goes moves no figure below, which would be drawn again
    with st.container(key=f"exhibit-{name}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", key=f"head-{name}"):
            with st.container(gap="xsmall"):
                if heading:
                    st.subheader(notices.label(heading, longest=160), anchor=False)
                if caption:
                    st.text(caption)
            with st.popover("⋯", key=f"menu-{name}", type="tertiary", help="Table, files and people"):
                shown = _tools(name, figure, table, people)
        scrolls = wide and "narrow" not in (figure.layout.meta or {})
        with st.container(key=f"{'wide' if scrolls else 'fit'}-{name}"):
            plot(figure, name, on_click=partial(_on_click, figure, on_point) if people or on_point else None)
        if shown:
            frame = _in_words(table())
            st.dataframe(
                frame,
                hide_index=frame.index.name is None,
                column_config=number_columns(frame),
                alt=alt_text(figure),
            )


def _tools(name: str, figure: go.Figure, table: Callable[[], pd.DataFrame], people: dict[str, str]) -> bool:
    """Draw what can be done with a figure; return whether its table is to be shown."""
    shown = st.toggle("Table", key=f"table-{name}", persist_state="page")
    files = {
        "csv": ("CSV", "text/csv", lambda: csv_bytes(table()), "The numbers shown"),
        "html": (
            "HTML",
            "text/html",
            lambda: _page(figure),
            "The figure as a web page. For a PNG, use the camera icon on the figure",
        ),
    }
    for kind, (label, mime, make, told) in files.items():
        more = {"type": "tertiary", "key": f"{kind}-{name}", "help": told}
        download(label, f"{name}.{kind}", mime, make, what=name, **more)
    if people:
        _select_people(name, people)
    return shown


def _on_click(
    figure: go.Figure, on_point: Callable[[list[Any]], object] | None, trace: int, point: int
) -> None:
    told = _people_of_points(figure.data[trace]) if trace < len(figure.data) else ()
    if point >= len(told) or not told[point]:
        return
    if on_point is not None and on_point(list(figure.data[trace].customdata[point])):
        return
    select(json.loads(told[point]))


def _people_of(figure: go.Figure) -> list[str]:
    """Return whom the parts of a figure stand for, each once."""
    return list(dict.fromkeys(each for trace in figure.data for each in _people_of_points(trace) if each))


def _people_of_points(trace: Any) -> tuple[str, ...]:
    """Return whom the points of a trace stand for, in their order; nothing where it does not say."""
    return tuple(trace.meta) if isinstance(trace.meta, (list, tuple)) else ()


def _select_people(name: str, words: dict[str, str]) -> None:
    """Draw the list that selects people without a mouse."""
    key = f"select-{name}"

    def chosen() -> None:
        if (said := state.widget(key)) is not None:
            state.set_widget(key, None)
            select(json.loads(words[said]))

    st.selectbox(
        "Select people",
        list(words),
        index=None,
        key=key,
        placeholder="Select people: click the figure, or here",
        label_visibility="collapsed",
        on_change=chosen,
        width=320,
    )


def _in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table as a page shows it, ranges in words; its file keeps them as they are."""
    said = frame.copy(deep=False)
    for place, kind in enumerate(said.dtypes):
        if kind.kind == "O":
            said.isetitem(place, said.iloc[:, place].map(_worded_cell).to_list())
    if said.index.dtype.kind == "O":
        said.index = said.index.map(_worded_cell)
    return said


def _worded_cell(cell: Any) -> Any:
    return in_words(cell) if isinstance(cell, str) else cell


def number_columns(frame: pd.DataFrame) -> dict[str, Any]:
    """Show fractional numbers with three digits or so, people and whole ones with separators from 10,000."""
    shown: dict[str, Any] = {}
    for name in frame.columns:
        if "people" in str(name) and frame[name].dtype.kind == "f" and (frame[name].dropna() % 1 == 0).all():
            shown[name] = st.column_config.NumberColumn(format="localized")
        elif frame[name].dtype.kind in "fiu" and frame[name].isna().all():
            continue
        elif frame[name].dtype.kind == "f":
            largest = frame[name].abs().max()
            digits = 1 if largest >= 10 else 2 if largest >= 1 else 3
            shown[name] = st.column_config.NumberColumn(format=f"%.{digits}f")
        elif frame[name].dtype.kind in "iu":
            largest = frame[name].abs().max()
            shown[name] = st.column_config.NumberColumn(format="localized" if largest >= 10_000 else "%d")
    return shown


def _page(figure: go.Figure) -> bytes:
    text: str = figure.to_html(config=KEPT_HERE, include_plotlyjs=True, full_html=True, post_script=TURNED_JS)
    return text.encode()
