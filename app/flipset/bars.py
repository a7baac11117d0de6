"""Who is in a flipset, by one feature or two: figures whose bars and dots lead to the people in them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.drawn import drawn
from app.held import DataHeld
from app.widgets.figure_card import figure_card
from audits.flipset import FlipsetPart, FlipsetResult, Marginal
from audits.flipset.bars import bar_names, crossed, in_bar
from audits.flipset.figures import flipsets as figures
from audits.flipset.figures import pairs
from audits.flipset.figures.flipsets import Part

__all__ = ["Bars", "marginals_section", "people_in"]

Bars = tuple[tuple[str, str], ...]
"""Features and the bar of each; people are in all of them."""

_FIRST_FEATURES = 6
_MOST_FEATURES = 30


def marginals_section(result: FlipsetResult, part: Part, within: str | None, data: DataHeld) -> Bars:
    """Draw who is in the flipset shown, and return the bar or the cell that was chosen, if any was."""
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
        drawn(figures.marginals, result, part, within, features=chosen, most=most),
        lambda: result.marginals_frame(part, within),
        wide=True,
        on_point=_open_bar,
    )
    st.text("A click on a bar shows the people in it, flipped and not.")
    _two_features(result, part, within, flipset, data)
    one = _bar(told, "bar-of", "bar", "People with a value of")
    other = _bar(told, "bar-of-2", "bar-2", "and of") if one else None
    return tuple(pair for pair in (one, other) if pair is not None)


def people_in(
    result: FlipsetResult, part: Part, within: str | None, bars: Bars, data: DataHeld
) -> pd.Index | None:
    """Return the source people in all `bars`; None where the whole flipset of everyone is meant."""
    if not bars and within is None:
        return None
    people = result.people if within is None else result.people[result.people["within"] == within]
    if not bars:
        return people.index[people[part] > 0]
    told = {item.feature: item for item in result.flipset(part, within)[0].marginals}
    values = data.frame.loc[people.index, list(dict.fromkeys(name for name, _ in bars))]
    inside = pd.Series(True, index=people.index)
    for name, bar in bars:
        inside &= in_bar(told[name], values[name], bar)
    return people.index[inside]


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
    people = result.people if within is None else result.people[result.people["within"] == within]
    values = data.frame.loc[people.index, [one, other]]
    table = crossed(
        told[one],
        values[one],
        told[other],
        values[other],
        (people[part] * people["people"]).to_numpy(),
        people["people"].to_numpy(),
    )
    figure_card(
        "flipset-pair",
        pairs.crossed(table, one, other, part),
        lambda: table.drop(columns=["x", "y"]),
        wide=True,
        on_point=lambda cell: _open_cell(one, other, cell),
    )


def _bar(told: dict[str, Marginal], of: str, bar: str, label: str) -> tuple[str, str] | None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        feature = st.selectbox(label, list(told), index=None, placeholder="Any feature", **state.choice(of))
        if feature is None:
            return None
        name = st.selectbox(
            f"value {'2' if of.endswith('2') else '1'}",
            bar_names(told[feature]),
            index=None,
            placeholder="Choose a bar",
            **state.choice(bar),
        )
    return None if name is None else (feature, name)


def _open_bar(bar: list[Any]) -> None:
    for key, value in (("bar-of", bar[2]), ("bar", bar[3]), ("bar-of-2", None), ("bar-2", None)):
        state.set_widget(key, value)


def _open_cell(one: str, other: str, cell: list[Any]) -> None:
    for key, value in (("bar-of", one), ("bar", cell[2]), ("bar-of-2", other), ("bar-2", cell[3])):
        state.set_widget(key, value)
