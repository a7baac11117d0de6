"""The people of a flipset audit, flipped or selected, and one of them beside the closest match."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from app import state
from app.flipset.people_table import flipped_people
from app.flipset.shown import choose_shown
from app.tables.handles import DataHandle
from app.tables.listed import PeopleTable, raw_cells
from app.widgets import notices
from app.widgets.people.person import Beside, person_card, steps
from app.widgets.people.row_choice import choose_row, show_selected
from app.widgets.people.selected import only_selected
from app.widgets.run_bar import fold
from app.workspaces.workspace import Workspace
from audits.flipset import FlipsetResult
from audits.flipset.text import one_of, way_words
from audits.runs.result import RunResult
from audits.stats.text import count, people_in


def people_section(found: RunResult, space: Workspace, data: DataHandle) -> None:
    """Draw the people who flip, or those selected, flipped and not; one who is chosen is compared."""
    result: FlipsetResult = found.audits[0].result
    way, within = choose_shown(result)
    of_group = result.people if within is None else result.people[result.people["within"] == within]
    selected = only_selected(of_group)
    where = "" if within is None else f", within {within}"
    if selected is None:
        rows = of_group.index[of_group[way] > 0]
        some = count(result.flipset(way, within)[0].size)
    else:
        rows = selected.index
        total, flipped = (float((each * selected["people"]).sum()) for each in (1.0, selected[way]))
        some = f"{count(flipped)} of {count(total)} selected"
        where = f", of {people_in(result.source)}{where}"
    partly = f" · {len(rows):,} at least in part" if selected is None and count(len(rows)) != some else ""
    st.subheader(notices.label(f"{some} {way_words(way)}{where}{partly}", longest=120), anchor=False)
    if not len(rows):
        st.text("Nobody.")
        return
    if selected is not None and len(rows) > 1:
        show_selected(of_group, selected, f"people-{way}", "score")
    listed = PeopleTable(found, "flipped", {"part": way}, rows)
    card = st.container()  # above the list, which folds while someone is looked at
    with fold("The list", f"list-{way}", opened=state.chosen("person") is None and len(rows) > 1):
        chosen = choose_row(
            listed,
            f"people-{way}",
            "person",
            beside=raw_cells(data, flipped_people(result, way, rows[:0]).columns),
            alt=f"People: {way_words(way)}, most certain first",
            formats={"flips": st.column_config.NumberColumn(format="percent")},
            among=False,
        )
    if chosen is None and len(rows) == 1:  # a mark that is one person was clicked
        chosen = rows[0]
    if chosen is not None and chosen in result.people.index:
        with card:
            steps(list(listed().index), chosen)
            person_card(
                space,
                found,
                chosen,
                match=match_of(result, chosen),
                said="A match is a statistical comparison. It does not show how the same person would "
                "have lived in another group.",
                beside=found.audits[0].options["target"],
                of=one_of(result.target),
            )


def match_of(result: FlipsetResult, row: Hashable) -> Beside:
    """Return the closest match of the person in `row`: the one with the largest share."""
    person = result.people.loc[[row]].iloc[0]
    if not result.invented.empty:
        values = result.invented.iloc[int(person["atom"])]
        favorable = bool(person["counterparts_favorable"] > 0.5)
        return Beside(None, values, favorable, float(person["counterpart_score"]))
    match = result.counterparts.loc[[person["counterpart"]]].iloc[0]
    more = int((result.links["source_atom"] == person["atom"]).sum()) - 1
    smaller = "es have smaller shares" if more > 1 else " has a smaller share"
    told = f"{more} more match{smaller}." if more else ""
    return Beside(person["counterpart"], match, bool(match["decision"]), float(match["score"]), told)
