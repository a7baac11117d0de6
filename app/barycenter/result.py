"""What a barycenter audit found: every group, who flips in one, and a person beside counterparts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from app import state, work
from app.drawn import drawn_once, presented
from app.tables.held import DataHeld
from app.tables.listed import Listed, raw_cells
from app.tables.people import DECIDED, FAVORABLE, beside, most_different, spreads_of
from app.widgets import notices
from app.widgets.people.person import card_of, in_units
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import show_exhibit, show_facts, show_section
from app.widgets.results.result_frame import fine_print, headline
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.barycenter import BarycenterResult, figures, words
from audits.barycenter.exhibits import marginals_exhibit, transparency_exhibit
from audits.barycenter.record import AUDIT
from audits.runs.result import RunResult
from audits.stats.words import count, in_words, number, people_in

__all__ = ["show_result"]

_WAYS = {
    "only_self": "Favored only as themselves",
    "only_counterpart": "Favored only as their counterparts",
}
_RANKINGS = {"difference": "mean difference", "sign": "mean sign"}


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: BarycenterResult = found.audits[0].result
    _headline(result)
    notices.notes(result.warnings)
    section = presented(AUDIT, result)
    data, _ = wait_for(work.data(space, found.spec["data"], found.spec["seed"]), "Preparing the people")
    keys = [each.key for each in section.exhibits]
    # what is of one group stands with its choice, in the place of the first such exhibit
    own = [key for key in keys if key in {"marginals", "transparency"}]
    instead = {key: lambda _: None for key in own[1:]} | {
        key: lambda _: _one_group(found, space, data) for key in own[:1]
    }
    show_section(section, instead=instead, prefix="all-")
    if not own:
        _one_group(found, space, data)
    show_facts(section)
    fine_print(
        found, draft, "barycenter", nearness=asdict(result.nearness), **{"people compared": result.rows}
    )


def _headline(result: BarycenterResult) -> None:
    headline(words.headline(result), result.judged)


def _one_group(found: RunResult, space: Workspace, data: DataHeld) -> None:
    """Draw who flips in a group that can be chosen, and its people."""
    result: BarycenterResult = found.audits[0].result
    names = [each.group for each in result.groups]
    first = names.index(result.rests_on)
    group = st.selectbox(
        "Look into the group", names, index=first, format_func=in_words, **state.choice("all-group")
    )
    if any(row.group == group for row in result.marginals):
        exhibit = drawn_once(marginals_exhibit(result, group), figures.marginals, result, group)
        show_exhibit(exhibit, name="all-marginals")
    told = result.group(group)
    ways = list(_WAYS)
    way = st.segmented_control(
        "Which way",
        ways,
        default=ways[told.mostly != "only self"],
        format_func=_WAYS.__getitem__,
        required=True,
        **state.choice("all-way"),
    )
    _transparency(result, group, way)
    people = result.people[(result.people["group"] == group) & (result.people[way] > 0)]
    size = count(float((people[way] * people["people"]).sum()))
    st.subheader(notices.label(f"{_WAYS[way]}: {size} {people_in(group)}", longest=120), anchor=False)
    if people.empty:
        st.text("Nobody.")
        return
    columns = [*data.protected, *(name for name in data.features if name not in data.protected)]

    taken = ("flips", "decision", "score", "nearest counterpart", "of", "distance")
    chosen = choose_row(
        Listed(found, "flipping", {"group": group, "way": way}),
        f"all-people-{way}",
        "person",
        beside=raw_cells(data, taken),
        alt=f"{_WAYS[way]} among {group}, surest first",
        formats={"flips": st.column_config.NumberColumn(format="percent")},
    )
    if chosen is not None and chosen in result.people.index:
        spreads = spreads_of(data, result.people.index, columns)
        _person(found, space, chosen, data, columns, spreads)


def _transparency(result: BarycenterResult, group: str, way: str) -> None:
    """Draw how those who flip differ from their counterparts, in either ranking."""
    if not result.report(group, way):
        return
    ranking = st.segmented_control(
        "Ranked by",
        list(_RANKINGS),
        format_func=_RANKINGS.__getitem__,
        default="difference",
        required=True,
        **state.choice("all-ranking"),
    )
    by_sign = ranking == "sign"
    exhibit = transparency_exhibit(result, group, way, by_sign=by_sign)
    exhibit = drawn_once(exhibit, figures.transparency, result, group, way, by_sign=by_sign)
    show_exhibit(exhibit, name="all-transparency")


def _person(
    found: RunResult,
    space: Workspace,
    row: Hashable,
    data: DataHeld,
    columns: list[str],
    spreads: Mapping[str, float],
) -> None:
    """Put a person beside the main counterpart of every other group, the nearest first."""
    result: BarycenterResult = found.audits[0].result
    person = result.people.loc[[row]].iloc[0]
    near = result.counterparts.loc[[row]].sort_values("distance", kind="stable")
    own = FAVORABLE[bool(person["decision"])]
    raw = data.frame.loc[[row, *near["counterpart"]], columns]
    headings = [
        f"row {number}, {group}"
        for number, group in zip(raw.index, [person["group"], *near["of"]], strict=True)
    ]
    table = beside(raw, headings, spreads)
    scores = [float(person["score"]), *map(float, near["counterpart_score"])]
    decided = [own, *(FAVORABLE[bool(each)] for each in near["counterpart_decision"])]
    top = pd.DataFrame([decided, [number(score) for score in scores]], ["decision", "score"], headings)
    whole = pd.concat([top, table]).fillna("").rename_axis("feature")[table.columns]
    others = f"{len(near)} other group{'s' if len(near) > 1 else ''}"
    with card_of(row):
        st.text(
            f"The person in row {row} is decided {DECIDED[bool(person['decision'])]}; "
            f"{100 * person['counterparts_favorable']:.0f} % of the counterparts in {others} are favored. "
            f"{most_different(table)}"
        )
        with st.container(key="quiet-person"):
            st.text(
                "Beside the person the main counterpart of each other group, the nearest first. A "
                "counterpart is a statistical match, not the same person's other life."
            )
        st.dataframe(
            in_units(whole, found.spec),
            height="content",
            alt=f"Row {row} beside counterparts in {others}, feature by feature, largest differences on top",
        )
        name = result.by[0]
        elsewhere = {name: {"not": str(data.groups.loc[[row], name].iloc[0])}}
        what_if_section(space, found, row, beside=elsewhere, of=f"person of another {name}")
