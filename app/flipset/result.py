"""What a flipset audit found, from the finding down to the single person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from app import state, work
from app.drawn import drawn, presented
from app.flipset.bars import marginals_section
from app.flipset.people import people_section
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.plot import plot
from app.widgets.results.result_frame import earlier_figure, fine_print, headline
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.flipset import FlipsetResult, words
from audits.flipset.figures import flipsets as figures
from audits.flipset.figures import maps as flipset_maps
from audits.flipset.figures.flipsets import Part
from audits.flipset.record import AUDIT
from audits.flipset.words import DISTRUST, interval_words
from audits.records import Exhibit
from audits.runs.executors.job import RunProgress
from audits.runs.result import RunResult

__all__ = ["live_curve", "show_earlier", "show_result"]

_PARTS: dict[Part, str] = {
    "positive": "Favorable here, not for the counterpart",
    "negative": "Unfavorable here, favorable for the counterpart",
}
_RANKINGS = {"difference": "how far they differ", "sign": "how consistently"}
_EVERYONE = "(everyone)"


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: FlipsetResult = found.audits[0].result
    distrusted = not result.validation.trusted
    if distrusted:
        for warning in result.warnings:
            show = notices.problem if warning.startswith(DISTRUST) else notices.note
            show(warning)
    _headline(result)
    exhibits = {each.key: each for each in presented(AUDIT, result).exhibits}
    for key in ("above_chance", "sizes"):
        if key in exhibits:
            _exhibit(exhibits.pop(key))
    notices.notes(() if distrusted else result.warnings)
    part, within = _part(result)
    data, _ = wait_for(work.data(space, found.spec["data"], found.spec["seed"]), "Preparing the people")
    marginals_section(result, part, within, data)
    _transparency(result, part, within)
    for key in list(exhibits):
        if not key.startswith(("marginals_", "transparency_")):
            if key == "fit":
                _checks(result)
            _exhibit(exhibits[key])
    if not result.classes.empty:
        st.subheader("From class to class", anchor=False)
        frame = result.classes.reset_index()
        st.dataframe(
            frame,
            hide_index=True,
            height="content",
            column_config=number_columns(frame),
            alt="People by the class given to them and to their counterparts",
        )
    people_section(found, space, part, within, data)
    fine_print(
        found,
        draft,
        "flipset",
        beside={"How stable a counterpart is": lambda: st.markdown(page_text("flipset_stability"))},
        **{"people compared": result.rows, "certificate": asdict(result.certificate)},
    )


def _exhibit(exhibit: Exhibit) -> None:
    st.subheader(exhibit.heading, anchor=False)
    st.text(exhibit.caption)
    name = f"flipset-{exhibit.key.replace('_', '-')}"
    figure_card(name, exhibit.figure(), exhibit.table, wide=exhibit.wide)


def _transparency(result: FlipsetResult, part: Part, within: str | None) -> None:
    """Draw the transparency report in either of its rankings."""
    st.subheader("How they differ from their counterparts", anchor=False)
    st.text(f"Transparency report of the {part} flipset: person minus counterpart, by feature.")
    ranking = st.segmented_control(
        "Ranked by",
        list(_RANKINGS),
        format_func=_RANKINGS.__getitem__,
        default="difference",
        **state.choice("ranking"),
    )
    by_sign = ranking == "sign"
    figure_card(
        f"flipset-transparency-{part}",
        drawn(figures.transparency, result, part, within, by_sign=by_sign),
        lambda: result.transparency_frame(part, within, by_sign=by_sign),
        wide=True,
    )


def live_curve(now: RunProgress) -> None:
    """Draw the training curve of a running audit as far as it has come."""
    if now.curve:
        plot(flipset_maps.curve(now.curve), "live-curve", tools=False)


def _checks(result: FlipsetResult) -> None:
    """Show what the map was held against."""
    st.subheader("Can this map be trusted?", anchor=False)
    st.dataframe(
        result.validation_frame(),
        hide_index=True,
        height="content",
        column_config={
            "value": st.column_config.NumberColumn(format="%.3g"),
            "at most": st.column_config.NumberColumn(format="%.3g"),
        },
        alt="What the map was held against, and whether it passed",
    )
    with st.expander("What these checks mean"):
        st.markdown(page_text("flipset_trust"))


def _headline(result: FlipsetResult) -> None:
    how = f"{interval_words(result.judged)} · {result.judged.interval.method} · {result.certificate.method}"
    headline(words.headline(result), result.judged, result.finding, how)


def show_earlier(result: FlipsetResult) -> None:
    """Draw the head of an earlier result."""
    _headline(result)
    earlier_figure(drawn(figures.sizes, result))


def _part(result: FlipsetResult) -> tuple[Part, str | None]:
    larger: Part = "positive" if result.positive.size > result.negative.size else "negative"
    options = list(_PARTS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = st.selectbox(
            "Flipset shown",
            options,
            index=options.index(larger),
            format_func=lambda name: _PARTS[name],
            width=420,
            **state.choice("part"),
        )
        within = None
        if result.within:
            within = st.selectbox(
                f"Among people with {notices.label(str(result.options['condition_on']))}",
                [_EVERYONE, *result.within],
                width=320,
                **state.choice("within"),
            )
    return part, None if within == _EVERYONE else within
