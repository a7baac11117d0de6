"""The people in a flipset, sortable and searchable, and one of them beside the counterparts."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd
import streamlit as st

from app import state
from app.flipset.bars import Bars, people_in
from app.held import DataHeld
from app.people import compare, flipped_people
from app.widgets import notices
from app.widgets.row_choice import choose_row
from audits.flipset import FlipsetResult
from audits.flipset.figures.flipsets import Part
from audits.stats.words import count

__all__ = ["people_section"]

_MARK = "background-color: #E8F1F8"


def people_section(result: FlipsetResult, part: Part, within: str | None, bars: Bars, data: DataHeld) -> None:
    """Draw the people of a flipset or of a bar; a row that is chosen opens the comparison."""
    rows = people_in(result, part, within, bars, data)
    if bars:
        _bar_heading(result, part, bars, rows)
    else:
        where = "" if within is None else f" within {within}"
        size = count(result.flipset(part, within)[0].size)
        st.subheader(
            notices.label(f"People in the {part} flipset{where} ({size})", longest=120), anchor=False
        )
    table = flipped_people(result, part, data, rows)
    if table.empty:
        st.text("Nobody.")
        return
    chosen = choose_row(
        table,
        f"people-{part}",
        "person",
        alt=f"People in the {part} flipset, surest first",
        formats={"flips": st.column_config.NumberColumn(format="percent")},
    )
    if chosen is not None:
        _person(result, chosen, data)


def _bar_heading(result: FlipsetResult, part: Part, bars: Bars, rows: pd.Index | None) -> None:
    people = result.people if rows is None else result.people.loc[rows]
    flipped = float((people[part] * people["people"]).sum())
    st.subheader(
        notices.label("People with " + ", ".join(f"{name}: {bar}" for name, bar in bars), longest=160),
        anchor=False,
    )
    st.text(f"{count(flipped)} of {count(people['people'].sum())} are in the {part} flipset.")
    chosen = " & ".join(f"{name}: {bar}" for name, bar in bars)
    st.button(
        notices.label(f"{chosen}: {count(people['people'].sum())} people  ×", longest=120),
        on_click=_back,
        key="bar-back",
        help="Take the selection back: everybody in the flipset is shown then",
    )


def _back() -> None:
    for key in ("bar-of", "bar", "bar-of-2", "bar-2"):
        state.set_widget(key, None)


def _person(result: FlipsetResult, row: Hashable, data: DataHeld) -> None:
    found = compare(result, row, data)
    many = found.table.shape[1] > 3
    with st.container(border=True, key="person-card"):
        st.text(found.sentence)
        with st.container(key="quiet-person"):
            st.text(
                f"{result.source} person in row {row}; {result.target} counterpart{'s' if many else ''} "
                "to the right. "
                "A counterpart is a statistical match, not the same person's other life."
            )
        marks = [[_MARK if differs else ""] * found.table.shape[1] for differs in found.differs]
        shades = pd.DataFrame(marks, index=found.table.index, columns=found.table.columns)
        styled = found.table.style.apply(lambda _: shades, axis=None)
        right = {name: st.column_config.TextColumn(alignment="right") for name in found.table.columns}
        st.dataframe(
            styled,
            height="content",
            column_config=right,
            alt=f"Row {row} beside the matched people of the other group",
        )
        if found.more:
            notices.bullets([f"{found.more:,} more counterparts hold smaller shares."])
