"""What a barycenter audit found: every group, who flips in one, and a person beside the closest match."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from app import state
from app.figure_cache import drawn_once
from app.flipset.shown import choose_by_sign
from app.tables.handles import DataHandle
from app.tables.listed import PeopleTable, raw_cells
from app.tables.people import FAVORABLE
from app.widgets import notices
from app.widgets.people.person import Beside, person_card, steps
from app.widgets.people.row_choice import choose_row
from app.widgets.results.exhibits import show_exhibit
from app.widgets.results.result_page import result_page
from app.widgets.run_bar import fold
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.barycenter import BarycenterResult, figures
from audits.barycenter.sections import marginals_exhibit, transparency_exhibit
from audits.barycenter.text import way_words
from audits.runs.result import RunResult
from audits.stats.text import count, in_words, people_in
from audits.text import begun

_WAYS = ("only_self", "only_counterpart")


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit."""
    result: BarycenterResult = found.audits[0].result
    data, _ = data_of(space, found.spec)
    result_page(
        found,
        draft,
        panels={
            "who": lambda: _who(result),
            "apart": lambda: _apart(result),
            "people": lambda: _people(found, space, data),
        },
        instead=dict.fromkeys(("marginals_only_self", "marginals_only_counterpart", "transparency")),
        settings={"nearness": asdict(result.nearness), "people compared": result.rows},
    )


def _choose_group(result: BarycenterResult) -> str:
    """Draw the choice of a group, at first that of the verdict."""
    names = [each.group for each in result.groups]
    first = names.index(result.rests_on)
    return st.selectbox("Group", names, index=first, format_func=in_words, **state.choice("all-group"))


def _choose_way(result: BarycenterResult, group: str) -> str:
    """Draw the choice of a direction, at first the one that more of the group flip."""
    words = {name: notices.label(begun(way_words(name)), 100) for name in _WAYS}
    return st.segmented_control(
        "People who are",
        list(words),
        default=result.group(group).way,
        format_func=words.__getitem__,
        required=True,
        **state.choice("all-way"),
    )


def _who(result: BarycenterResult) -> None:
    """Draw who flips in a group, by features of choice."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        group = _choose_group(result)
        way = _choose_way(result, group)
    names = [each.feature for each in result.marginals(group, way)]
    chosen = st.multiselect(
        "Features, in this order", names, placeholder="The 3 that differ most", **state.choice("all-features")
    )
    exhibit = marginals_exhibit(result, group, way)
    exhibit = drawn_once(exhibit, figures.marginals, result, group, way, features=tuple(chosen))
    show_exhibit(exhibit, name="all-marginals")


def _apart(result: BarycenterResult) -> None:
    """Draw how those of a group who flip differ from their matches, in either ranking."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        group = _choose_group(result)
        by_sign = choose_by_sign("all-ranking")
    exhibit = transparency_exhibit(result, group, by_sign=by_sign)
    show_exhibit(
        drawn_once(exhibit, figures.transparency, result, group, by_sign=by_sign), name="all-transparency"
    )


def _people(found: RunResult, space: Workspace, data: DataHandle) -> None:
    """Draw the people of a group who flip one way, and one of them."""
    result: BarycenterResult = found.audits[0].result
    with st.container(horizontal=True, vertical_alignment="bottom"):
        group = _choose_group(result)
        way = _choose_way(result, group)
    people = result.people[(result.people["group"] == group) & (result.people[way] > 0)]
    size = count(float((people[way] * people["people"]).sum()))
    st.subheader(notices.label(f"{size} {people_in(group)}: {way_words(way)}", longest=120), anchor=False)
    if people.empty:
        st.text("Nobody.")
        return
    listed = PeopleTable(found, "flipping", {"group": group, "way": way})
    card = st.container()
    with fold("The list", f"list-{way}", opened=state.chosen("person") is None):
        chosen = choose_row(
            listed,
            f"all-people-{way}",
            "person",
            beside=raw_cells(data, ("flips", "decision", "score", "closest match", "of", "distance")),
            alt=f"{begun(way_words(way))} among {group}, most certain first",
            formats={"flips": st.column_config.NumberColumn(format="percent")},
        )
    if chosen is not None and chosen in result.people.index:
        with card:
            steps(list(listed().index), chosen)
            _person(found, space, chosen, data)


def _person(found: RunResult, space: Workspace, row: Hashable, data: DataHandle) -> None:
    """Draw a person beside the closest match, and name the match in every other group."""
    result: BarycenterResult = found.audits[0].result
    person = result.people.loc[[row]].iloc[0]
    near = result.counterparts.loc[[row]].sort_values("distance", kind="stable")
    first, name = near.iloc[0], result.by[0]
    favorable, score = bool(first["counterpart_decision"]), float(first["counterpart_score"])
    others = f"{len(near)} other group{'s' if len(near) > 1 else ''}"
    yes = f"{100 * person['counterparts_favorable']:.0f}%"
    person_card(
        space,
        found,
        row,
        match=Beside(first["counterpart"], first, favorable, score),
        said=f"Of all matches in {others}, {yes} get the favorable decision. A match is a statistical "
        "comparison. It does not show how the same person would have lived in another group.",
        beside={name: {"not": str(data.groups.loc[[row], [name]].iloc[0, 0])}},
        of=f"person of another {name}",
    )
    if len(near) > 1:
        told = near.assign(decision=near["counterpart_decision"].map(FAVORABLE))
        st.dataframe(
            told[["of", "counterpart", "decision", "counterpart_score", "distance"]],
            hide_index=True,
            alt=f"The closest match of row {row} in each other group",
        )
