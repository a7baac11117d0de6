"""What a flipset audit found: its result page, with the panels that drill down to the single person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import streamlit as st

from app import state
from app.figure_cache import drawn_once
from app.flipset.bars import marginals_section
from app.flipset.people import people_section
from app.flipset.shown import choose_by_sign, choose_within
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.results.exhibits import show_exhibit
from app.widgets.results.figure_card import number_columns
from app.widgets.results.plot import plot
from app.widgets.results.result_page import TABS, result_page
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.flipset import FlipsetResult
from audits.flipset.figures import flipsets, maps
from audits.flipset.text import DISTRUST
from audits.records import Exhibit
from audits.runs.executors.job import RunProgress
from audits.runs.result import RunResult


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit; a map that cannot be trusted says so before anything else."""
    result: FlipsetResult = found.audits[0].result
    for warning in result.warnings:
        if warning.startswith(DISTRUST):
            notices.problem(warning)
    data, _ = data_of(space, found.spec)
    marks = ["", *(f"_{k}" for k in range(len(result.within)))]
    panels = ("marginals_positive", "marginals_negative", "transparency")  # with choices of their own
    result_page(
        found,
        draft,
        panels={
            "who": lambda: marginals_section(result, data),
            "tested": partial(_checks, result),
            "people": lambda: people_section(found, space, data),
        },
        instead={
            "blocks": partial(show_exhibit, name="flipset-blocks", on_point=_open),
            **dict.fromkeys(f"{key}{mark}" for key in panels for mark in marks),
            "transparency": partial(_transparency, result),
        },
        settings={"people compared": result.rows, "certificate": asdict(result.certificate)},
    )


def _open(dot: list[Any]) -> bool:
    """Open the person of a dot; whoever flips stays one of those listed, anyone else is selected alone."""
    if len(dot) < 2:
        return False
    _, row, way = dot
    state.set_widget("tab", TABS["people"])
    if way:
        state.set_widget("part", way)
        state.set_widget("person", str(row))
    return bool(way)


def _transparency(result: FlipsetResult, exhibit: Exhibit) -> None:
    """Draw the transparency report in either of its rankings, of everyone or within a stratum."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by_sign = choose_by_sign("ranking")
        within = choose_within(result)
    own = drawn_once(exhibit, flipsets.transparency, result, within, by_sign=by_sign)
    own = replace(own, table=partial(result.reports_frame, within, by_sign=by_sign))
    show_exhibit(own, name="flipset-transparency")
    if not result.classes.empty:
        st.subheader("From class to class", anchor=False)
        frame = result.classes.reset_index()
        st.dataframe(
            frame,
            hide_index=True,
            height="content",
            column_config=number_columns(frame),
            alt="People by the class given to them and to their matches",
        )


def live_curve(now: RunProgress) -> None:
    """Draw the training curve of a running audit as far as it has come."""
    if now.curve:
        plot(maps.curve(now.curve), "live-curve", tools=False)


def _checks(result: FlipsetResult) -> None:
    """Show what the map was compared with, and how stable a match is."""
    if result.validation.checks:
        st.subheader("Can this map be trusted?", anchor=False)
        number = st.column_config.NumberColumn(format="%.3g")
        st.dataframe(
            result.validation_frame(),
            hide_index=True,
            height="content",
            column_config={"value": number, "at most": number},
            alt="Checks of the map, and whether it passed",
        )
        with st.expander("What these checks mean", key="flipset-trust"):
            st.markdown(page_text("flipset_trust"))
    with st.expander("How stable a match is", key="flipset-stability"):
        st.markdown(page_text("flipset_stability"))
