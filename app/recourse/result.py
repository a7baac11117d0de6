"""What a recourse audit found, from the finding down to one person's way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from app.drawn import drawn
from app.recourse.listing import HEADS
from app.tables.listed import Listed, Order
from app.widgets import notices
from app.widgets.people.person import card_of
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import titled
from app.widgets.results.figure_card import figure_card
from app.widgets.results.result_frame import fine_print, headline
from app.workspaces.workspace import Workspace
from audits.recourse import RecourseResult, words
from audits.recourse.exhibits import section, ways_facts, worded
from audits.recourse.figures import groups, people
from audits.recourse.figures.person import person_path
from audits.runs.result import RunResult
from audits.stats.words import count, number

__all__ = ["show_result"]

_WAY = ("change", "cost", "survives", "noisy")


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom; the slider moves through what was scored once."""
    result: RecourseResult = found.audits[0].result
    _headline(result)
    notices.notes(result.warnings)
    draws = {"apart": groups.apart, "further": groups.further}
    compared = [each.key for each in section(result).exhibits if each.key in draws]
    for key in compared:
        _shown(result, key, key, draws[key])
    _shown(result, "reclassified", "recourse", people.reclassified)
    _shown(result, "changes", "recourse-steps", people.sliding)
    _shown(result, "burden", "burden", groups.burden)
    _ways(result)
    _people(found, space)
    fine_print(found, draft, "recourse", coupling=asdict(result.certificate))


def _shown(result: RecourseResult, key: str, name: str, draw: Callable[[RecourseResult], go.Figure]) -> None:
    """Draw an exhibit with the heading, the caption and the table that reports have, by `draw`."""
    exhibit = next(each for each in section(result).exhibits if each.key == key)
    titled((exhibit.heading, exhibit.caption))
    figure_card(name, drawn(draw, result), exhibit.table)


def _headline(result: RecourseResult) -> None:
    headline(words.headline(result), result.judged)


def _ways(result: RecourseResult) -> None:
    """Several ways for each person, how well they hold, and one action for each group."""
    for exhibit in section(result).exhibits:
        if exhibit.key in {"ways", "group-actions"}:
            st.subheader(exhibit.heading, anchor=False)
            st.text(exhibit.caption)
            if exhibit.key == "ways":
                st.text("; ".join(f"{name}: {told}" for name, told in ways_facts(result).items()))
            figure_card(exhibit.key, exhibit.figure(), exhibit.table)


def _people(found: RunResult, space: Workspace) -> None:
    result: RecourseResult = found.audits[0].result
    st.subheader(f"Rejected people ({count(result.n_rejected)})", anchor=False)
    hidden = [] if _fewest_sought(result) else ["fewest", "fewest_columns", "fewest_proved"]
    if (result.people["people"] == 1).all():
        hidden.append("people")
    chosen = choose_row(
        Listed(found, "rejected", {"hidden": hidden}),
        "recourse-people",
        "recourse-person",
        order=Order(HEADS["alpha"]),
        alt="Rejected people, those with least far to go first",
        number=HEADS["alpha"],
    )
    if chosen is not None:
        _person(found, space, chosen)


def _fewest_sought(result: RecourseResult) -> bool:
    """Whether a set of columns was looked for: of values in between there is none."""
    return bool(result.options["fewest"]) and result.options.get("interpolation") != "literal"


def _person(found: RunResult, space: Workspace, row: Any) -> None:
    """One person: score and columns under a slider that moves in the browser, and the fewest changes."""
    result: RecourseResult = found.audits[0].result
    with card_of(row):
        person = result.people.loc[row]
        way = (
            "never accepted"
            if pd.isna(person["alpha"])
            else f"accepted {words.way_to(float(person['alpha']))}"
        )
        burden = "" if pd.isna(person["cost"]) else f", with a burden of {number(float(person['cost']))}"
        st.text(f"The person in row {row} is rejected{_instead(person)}.")
        st.caption(f"Score {number(float(person['score']))} today; {way}{burden}.")
        figure_card("person-path", person_path(result, row), lambda: worded(result.paths.loc[[row]]))
        if isinstance(person["fewest_columns"], str):
            sure = "" if person["fewest_proved"] else " (not all smaller sets were tried)"
            st.text(
                f"Fewest columns that have to take their value all the way: {person['fewest_columns']}{sure}"
            )
        elif _fewest_sought(result):
            st.text("No set of these columns turns the decision.")
        if result.ways is not None and row in result.ways.index:
            own = worded(result.ways.loc[[row], [name for name in _WAY if name in result.ways]])
            st.dataframe(own, hide_index=True, alt="Different ways for this person, the cheapest first")
        what_if_section(space, found, row, towards=list(result.columns))


def _instead(person: pd.Series) -> str:
    """Say what would have one person accepted."""
    if isinstance(person["fewest_columns"], str):
        return f", and would be accepted with their accepted counterpart's {person['fewest_columns']}"
    if pd.isna(person["alpha"]):
        return ", and would be so even with their accepted counterpart's values in what they can change"
    return f", and would be accepted {words.way_to(float(person['alpha']))} to their accepted counterpart"
