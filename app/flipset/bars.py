"""Who is in a flipset, by one feature or two: figures whose bars and dots lead to the people in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from app import state
from app.drawn import drawn
from app.tables.held import DataHeld
from app.widgets.results.figure_card import figure_card
from audits.flipset import FlipsetPart, FlipsetResult
from audits.flipset.comparing.flipped import crossed
from audits.flipset.figures import flipsets as figures
from audits.flipset.figures import pairs
from audits.flipset.figures.flipsets import Part

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["marginals_section"]

_FIRST_FEATURES = 6
_MOST_FEATURES = 30


def marginals_section(result: FlipsetResult, part: Part, within: str | None, data: DataHeld) -> None:
    """Draw who is in the flipset shown, by one feature and by two."""
    flipset, _ = result.flipset(part, within)
    told = {item.feature: item for item in flipset.marginals}
    st.subheader("Where flipped people differ from their group", anchor=False)
    chosen = st.multiselect(
        "Features, in this order",
        list(told),
        placeholder=f"The {min(_FIRST_FEATURES, len(told))} that differ most",
        **state.choice("features-shown"),
    )
    more = not chosen and len(told) > _FIRST_FEATURES and st.toggle("Show more features", key="more-features")
    most = min(len(told), _MOST_FEATURES) if more else _FIRST_FEATURES
    figure_card(
        "flipset-marginals",
        drawn(figures.marginals, result, part, within, features=tuple(chosen), most=most),
        lambda: result.marginals_frame(part, within),
        wide=True,
    )
    st.text("A click on a bar selects its people: on grey, flipped and not; on colour, those who flip.")
    _two_features(result, part, within, flipset, data)


def _two_features(
    result: FlipsetResult, part: Part, within: str | None, flipset: FlipsetPart, data: DataHeld
) -> None:
    """Draw two features at once: where in the group its flipped people are."""
    told = {item.feature: item for item in flipset.marginals}
    if len(told) < 2 or flipset.size <= 0:
        return
    names = list(told)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        one = st.selectbox("Two features at once", names, index=0, **state.choice("pair-x"))
        others = [name for name in names if name != one]
        other = st.selectbox("with", others, index=0, **state.choice("pair-y"))

    def table() -> pd.DataFrame:
        people = result.people if within is None else result.people[result.people["within"] == within]
        values = data.frame.loc[people.index, [one, other]]
        return crossed(
            told[one],
            values[one],
            told[other],
            values[other],
            (people[part] * people["people"]).to_numpy(),
            people["people"].to_numpy(),
        )

    def draw(*_: object) -> go.Figure:
        return pairs.crossed(table(), told[one], told[other], part)

    figure_card(
        "flipset-pair",
        drawn(draw, result, part, within, one, other),
        lambda: table().drop(columns=["x", "y"]),
        wide=True,
    )
