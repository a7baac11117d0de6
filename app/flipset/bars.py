"""Who is in a flipset, by one feature or two: figures whose bars and dots lead to the people in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from app import state
from app.figure_cache import cached_figure
from app.flipset.shown import choose_shown
from app.tables.handles import DataHandle
from app.widgets.results.exhibits import folded
from app.widgets.results.figure_card import figure_card
from audits.flipset import FlipsetPart, FlipsetResult, Marginal
from audits.flipset.comparisons.marginals import joint_marginal
from audits.flipset.figures import flipsets, pairs
from audits.flipset.result import Way
from audits.flipset.text import way_words
from audits.text import begun

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_FIRST_FEATURES = 3
_MAX_FEATURES = 30


def marginals_section(result: FlipsetResult, data: DataHandle) -> None:
    """Draw who flips, by one feature and by two: of a direction and a stratum that can be chosen."""
    part, within = choose_shown(result)
    flipset, _ = result.flipset(part, within)
    told = {item.feature: item for item in flipset.marginals}
    chosen = st.multiselect(
        "Features, in this order",
        list(told),
        placeholder=f"The {min(_FIRST_FEATURES, len(told))} that differ most",
        **state.choice("features-shown"),
    )
    more = not chosen and len(told) > _FIRST_FEATURES and st.toggle("Show more features", key="more-features")
    most = min(len(told), _MAX_FEATURES) if more else _FIRST_FEATURES
    figure_card(
        "flipset-marginals",
        cached_figure(flipsets.marginals, result, part, within, features=tuple(chosen), most=most),
        lambda: result.marginals_frame(part, within),
        heading=f"{begun(way_words(part))}: they differ most in {_first(told, chosen)}",
        caption="Up: people who flip. Down: everyone in the group. Click a bar to select its people.",
        wide=True,
    )
    _two_features(result, part, within, flipset, data)


def _first(told: Mapping[str, Marginal], chosen: Sequence[str]) -> str:
    """Return the feature, of those chosen or of all, that sets those who flip most apart."""
    return max(chosen or told, key=lambda name: told[name].distance, default="nothing")


def _two_features(
    result: FlipsetResult, part: Way, within: str | None, flipset: FlipsetPart, data: DataHandle
) -> None:
    """Draw two features at once: where in the group its flipped people are."""
    told = {item.feature: item for item in flipset.marginals}
    if len(told) < 2 or flipset.size <= 0:
        return
    draw = partial(_pair_of_features, result, part, within, told, data)
    folded("Two features at once", "two-features", draw)


def _pair_of_features(
    result: FlipsetResult, part: Way, within: str | None, told: Mapping[str, Marginal], data: DataHandle
) -> None:
    names = list(told)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        one = st.selectbox("Feature", names, index=0, **state.choice("pair-x"))
        others = [name for name in names if name != one]
        other = st.selectbox("with", others, index=0, **state.choice("pair-y"))

    def table() -> pd.DataFrame:
        people = result.people if within is None else result.people[result.people["within"] == within]
        values = data.frame.loc[people.index, [one, other]]
        return joint_marginal(
            told[one],
            values[one],
            told[other],
            values[other],
            (people[part] * people["people"]).to_numpy(),
            people["people"].to_numpy(),
        )

    def draw(*_: object) -> go.Figure:
        return pairs.joint_marginal(table(), told[one], told[other], part)

    figure_card(
        "flipset-pair",
        cached_figure(draw, result, part, within, one, other),
        lambda: table().drop(columns=["x", "y"]),
        wide=True,
    )
