"""The people in a flipset, sortable and searchable, and one of them beside the counterparts."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd
import streamlit as st

from app.flipset.comparing import compare
from app.flipset.listing import flipped_people
from app.tables.held import DataHeld
from app.tables.listed import Listed, raw_cells
from app.widgets import notices
from app.widgets.people.person import card_of, in_units
from app.widgets.people.row_choice import choose_row, show_selected
from app.widgets.people.selected import only_selected
from app.widgets.people.what_if import what_if_section
from app.workspaces.workspace import Workspace
from audits.brief import begun
from audits.flipset import FlipsetResult
from audits.flipset.figures.flipsets import Part
from audits.runs.result import RunResult
from audits.stats.words import count, people_in, so_many

__all__ = ["people_section"]

_MARK = "background-color: rgba(0, 114, 178, 0.14)"  # as light or dark as what it lies on


def people_section(
    found: RunResult, space: Workspace, part: Part, within: str | None, data: DataHeld
) -> None:
    """Draw the people of a flipset, or those selected, flipped and not; one who is chosen is compared."""
    result: FlipsetResult = found.audits[0].result
    of_group = result.people if within is None else result.people[result.people["within"] == within]
    selected = only_selected(of_group)
    where = "" if within is None else f" within {within}"
    if selected is None:
        size = count(result.flipset(part, within)[0].size)
        said, rows = f"People in the {part} flipset{where} ({size})", of_group.index[of_group[part] > 0]
    else:
        flipped = float((selected[part] * selected["people"]).sum())
        total = count(float(selected["people"].sum()))
        said, rows = f"{begun(people_in(result.source))} selected{where} ({total})", selected.index
    st.subheader(notices.label(said, longest=120), anchor=False)
    if selected is not None:
        st.text(
            f"{count(flipped)} of {total} {'is' if count(flipped) == '1' else 'are'} in the {part} flipset."
        )
    if not len(rows):
        st.text("Nobody.")
        return
    if selected is not None:
        show_selected(of_group, selected, f"people-{part}", "score")
    taken = flipped_people(result, part, rows[:0]).columns
    chosen = choose_row(
        Listed(found, "flipped", {"part": part}, rows),
        f"people-{part}",
        "person",
        beside=raw_cells(data, taken),
        alt=f"People in the {part} flipset, surest first",
        formats={"flips": st.column_config.NumberColumn(format="percent")},
        among=False,
    )
    if chosen is not None:
        _person(found, space, chosen, data)


def _person(run: RunResult, space: Workspace, row: Hashable, data: DataHeld) -> None:
    result: FlipsetResult = run.audits[0].result
    found = compare(result, row, data)
    table = in_units(found.table, run.spec)
    many = table.shape[1] > 3
    own, other = (so_many(1, group).removeprefix("1 ") for group in (result.source, result.target))
    with card_of(row):
        st.text(found.sentence)
        with st.container(key="quiet-person"):
            st.text(
                f"{begun(own)} in row {row}; to the right "
                f"{'counterparts' if many else 'a counterpart'} among {people_in(result.target)}. "
                "A counterpart is a statistical match, not the same person's other life."
            )
        marks = [[_MARK if differs else ""] * table.shape[1] for differs in found.differs]
        shades = pd.DataFrame(marks, index=table.index, columns=table.columns)
        styled = table.style.apply(lambda _: shades, axis=None)
        right = {name: st.column_config.TextColumn(alignment="right") for name in table.columns}
        st.dataframe(
            styled,
            height="content",
            column_config=right,
            alt=f"Row {row} beside the matched people of the other group",
        )
        if found.more:
            notices.bullets([f"{found.more:,} more counterparts hold smaller shares."])
        target = run.audits[0].options["target"]
        what_if_section(space, run, row, beside=target, of=other)
