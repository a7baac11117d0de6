"""What a recourse audit found: the page from the record, with one person's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app.figure_cache import cached_figure
from app.recourse.people_table import HEADS
from app.tables.listed import Order, PeopleTable
from app.widgets.people.person import card_of
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.figure_card import figure_card
from app.widgets.results.result_page import result_page
from app.workspaces.workspace import Workspace
from audits.recourse import RecourseResult, text
from audits.recourse.figures.person import person_path
from audits.recourse.sections import with_headings
from audits.runs.result import RunResult
from audits.stats.text import number

_WAY = ("change", "cost", "survives", "noisy")


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit; sliders move through what was scored once."""
    result_page(found, draft, panels={"people": lambda: _people(found, space)})


def _people(found: RunResult, space: Workspace) -> None:
    """List the rejected; one who is chosen is shown on the way."""
    result: RecourseResult = found.audits[0].result
    hidden = [] if _fewest_sought(result) else ["fewest", "fewest_columns", "fewest_proved"]
    if (result.people["people"] == 1).all():
        hidden.append("people")
    chosen = choose_row(
        PeopleTable(found, "rejected", {"hidden": hidden}),
        "recourse-people",
        "recourse-person",
        order=Order(HEADS["alpha"]),
        alt="Rejected people, nearest to acceptance first",
        number=HEADS["alpha"],
    )
    if chosen is not None:
        _person(found, space, chosen)


def _fewest_sought(result: RecourseResult) -> bool:
    """Whether a set of columns was looked for: of values in between there is none."""
    return bool(result.options["fewest"]) and result.options.get("interpolation") != "literal"


def _person(found: RunResult, space: Workspace, row: Any) -> None:
    """Draw one person: score and columns under a slider that moves in the browser, and the fewest changes."""
    result: RecourseResult = found.audits[0].result
    with card_of(row):
        person = result.people.loc[row]
        never = pd.isna(person["alpha"])
        way = (
            f"{text.yes_word()} at no step towards the match"
            if never
            else f"{text.yes_word()} {text.way_to(float(person['alpha']))}"
        )
        burden = "" if pd.isna(person["cost"]) else f", with a burden of {number(float(person['cost']))}"
        st.text(f"Row {row}: score {number(float(person['score']))} today; {way}{burden}.")
        figure_card(
            "person-path",
            cached_figure(person_path, result, row),
            lambda: with_headings(result.paths.loc[[row]]),
        )
        if isinstance(person["fewest_columns"], str):
            sure = "" if person["fewest_proved"] else " (not all smaller sets were tried)"
            st.text(f"Fewest columns that must take the match's value: {person['fewest_columns']}{sure}")
        elif _fewest_sought(result):
            tried = "" if person["fewest_proved"] else " that was tried"
            st.text(f"No set of the match's values{tried} changes the decision.")
        if result.ways is not None and row in result.ways.index:
            own = with_headings(result.ways.loc[[row], [name for name in _WAY if name in result.ways]])
            st.dataframe(own, hide_index=True, alt="Alternatives for this person, the cheapest first")
        what_if_section(space, found, row, towards=list(result.columns))
