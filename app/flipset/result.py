"""What a flipset audit found, from the finding down to the single person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state, work
from app.flipset.people import people_section
from app.widgets import notices
from app.widgets.figure_card import figure_card, number_columns
from app.widgets.frame import page_text
from app.widgets.result_frame import earlier_figure, fine_print, headline
from app.widgets.waiting import wait_for
from app.workspace import Workspace
from audits.flipset import FlipsetResult
from audits.flipset.figures import comparisons as flipset_comparisons
from audits.flipset.figures import flipsets as figures
from audits.flipset.figures import maps as flipset_maps
from audits.flipset.figures.flipsets import Part
from audits.flipset.words import DISTRUST
from audits.runs.handle import RunProgress
from audits.runs.result import RunResult
from audits.stats.words import number, percent_interval

__all__ = ["live_curve", "show_earlier", "show_result"]

_PARTS: dict[Part, str] = {
    "positive": "Favorable here, not for the counterpart",
    "negative": "Unfavorable here, favorable for the counterpart",
}
_FIRST_FEATURES = 6
_MOST_FEATURES = 30


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: FlipsetResult = found.audits[0].result
    distrusted = not result.validation["trusted"]
    if distrusted:
        for warning in result.warnings:
            show = notices.problem if warning.startswith(DISTRUST) else notices.note
            show(warning)
    _headline(result)
    figure_card("flipset-sizes", figures.sizes(result), result.to_frame)
    for warning in () if distrusted else result.warnings:
        notices.note(warning)
    if not result.arrows.empty:
        st.subheader("People and their counterparts", anchor=False)
        figure_card("flipset-arrows", flipset_maps.arrows(result), lambda: result.arrows, wide=True)
    part = _part(result)
    flipset = result.positive if part == "positive" else result.negative
    st.subheader("Where flipped people differ from their group", anchor=False)
    more = len(flipset.marginals) > _FIRST_FEATURES and st.toggle("Show more features", key="more-features")
    shown = min(len(flipset.marginals), _MOST_FEATURES) if more else _FIRST_FEATURES
    figure_card(
        "flipset-marginals",
        figures.marginals(result, part, most=shown),
        lambda: result.marginals_frame(part),
        wide=True,
    )
    st.subheader("How they differ from their counterparts", anchor=False)
    figure_card(
        "flipset-transparency",
        figures.transparency(result, part),
        lambda: result.transparency_frame(part),
        wide=True,
    )
    _comparisons(result)
    if result.validation["checks"]:
        _trust(result)
    data, _ = wait_for(work.data(space, found.spec["data"]), "Preparing the people")
    people_section(result, part, data)
    fine_print(
        found,
        draft,
        "flipset",
        beside={"How stable a counterpart is": lambda: st.markdown(page_text("flipset_stability"))},
        **{"people compared": result.rows, "certificate": result.certificate},
    )


def live_curve(now: RunProgress) -> None:
    """Draw the training curve of a running audit as far as it has come."""
    if now.curve:
        st.plotly_chart(
            flipset_maps.curve(now.curve),
            key="figure-live-curve",
            theme=None,
            config={"displayModeBar": False},
            alt="The training curve so far",
        )


def _comparisons(result: FlipsetResult) -> None:
    """Show the same people compared otherwise: at equal values, in their other lives, by class and score."""
    if result.same_values:
        st.subheader("Compared at equal values", anchor=False)
        if result.disagreement:
            notices.note(result.disagreement)
        figure_card(
            "flipset-same-values",
            flipset_comparisons.same_values(result),
            result.same_values_frame,
            wide=True,
        )
    if result.causal is not None:
        st.subheader("Compared with the true counterfactuals", anchor=False)
        st.text(f"Both say the same of {percent_interval(result.causal.agreement)} of the people.")
        figure_card("flipset-causal", flipset_comparisons.causal(result), result.causal_frame)
    if not result.classes.empty:
        st.subheader("From class to class", anchor=False)
        _table(result.classes.reset_index(), "People by the class given to them and to their counterparts")
    if result.score_change is not None:
        change = result.score_change
        low, high = change["quantiles"]["0.05"], change["quantiles"]["0.95"]
        way = "better" if change["mean"] >= 0 else "worse"
        st.subheader("How the score changes", anchor=False)
        st.text(
            f"Counterparts score {number(abs(change['mean']))} {way} on average; nine in ten changes lie "
            f"between {number(low)} and {number(high)}, above 0 is better."
        )
        figure_card(
            "flipset-score-change", flipset_comparisons.score_change(result), result.score_change_frame
        )


def _table(frame: pd.DataFrame, alt: str) -> None:
    st.dataframe(frame, hide_index=True, height="content", column_config=number_columns(frame), alt=alt)


def _trust(result: FlipsetResult) -> None:
    """Show what the map was held against, feature by feature, and how it was trained."""
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
    figure_card("flipset-fit", flipset_maps.fit(result), result.fit_frame, wide=True)
    if result.training:
        figure_card("flipset-training", flipset_maps.training(result), result.training_frame, wide=True)
    with st.expander("What these checks mean"):
        st.markdown(page_text("flipset_trust"))


def _headline(result: FlipsetResult) -> None:
    larger = result.positive if result.positive.size > result.negative.size else result.negative
    how = f"{percent_interval(larger.share)} · {larger.share.method} · {result.certificate['method']}"
    headline(result.finding, result.verdict, how)


def show_earlier(result: FlipsetResult) -> None:
    """Draw the head of an earlier result."""
    _headline(result)
    earlier_figure(figures.sizes(result))


def _part(result: FlipsetResult) -> Part:
    larger: Part = "positive" if result.positive.size > result.negative.size else "negative"
    options = list(_PARTS)
    return st.selectbox(
        "Flipset shown",
        options,
        index=options.index(larger),
        format_func=lambda name: _PARTS[name],
        width=420,
        **state.choice("part"),
    )
