"""The people in a flipset, sortable and searchable, and one of them beside the counterparts."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd
import streamlit as st

from app.held import DataHeld
from app.people import compare, flipped_people
from app.widgets import notices
from app.widgets.row_choice import choose_row
from audits.flipset import FlipsetResult
from audits.flipset.figures.flipsets import Part
from audits.stats.words import count

__all__ = ["people_section"]

_MARK = "background-color: #E8F1F8"


def people_section(result: FlipsetResult, part: Part, data: DataHeld) -> None:
    """Draw the people of a flipset; a click on a row, or its number chosen, opens the comparison."""
    size = result.positive.size if part == "positive" else result.negative.size
    st.subheader(f"People in the {part} flipset ({count(size)})", anchor=False)
    table = flipped_people(result, part, data)
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


def _person(result: FlipsetResult, row: Hashable, data: DataHeld) -> None:
    found = compare(result, row, data)
    many = found.table.shape[1] > 3
    with st.container(border=True, key="person-card"):
        st.markdown("**This person beside the counterpart" + ("s**" if many else "**"))
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
