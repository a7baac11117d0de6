"""Which two groups are compared: attributes, and for each a value on either side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts.suggestions import suggested_groups
from app.tables.summary import Summary
from audits.data.preprocessing.groups import group_pair
from audits.stats.text import in_words

_REST = "(everyone else)"


def choose_groups(summary: Summary, suggested: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw the controls; return the source and the target group as a spec names them.

    Parameters
    ----------
    suggested : mapping
        Options of a flipset audit that came with the data, possibly empty.
    """
    first = suggested_groups(summary, suggested)
    attributes = list(summary.groups)
    by = st.multiselect(
        "Compare by",
        attributes,
        default=list(first) or attributes[:1],
        help="Protected attributes; several make an intersection, such as young women.",
        **state.choice("by"),
    )
    source: dict[str, Any] = {}
    target: dict[str, Any] = {}
    for place, attribute in enumerate(by):
        values = [size.value for size in summary.groups[attribute]]
        pair = first.get(attribute) or group_pair(summary.groups[attribute]) or (values[0], values[-1])
        ending = "" if place == 0 else str(place + 1)
        if len(by) > 1:
            st.text(attribute)
        chosen = [
            _value(name, f"{key}{ending}", values, wanted)
            for name, key, wanted in (("Source", "source", pair[0]), ("Target", "target", pair[1]))
        ]
        source[attribute] = {"not": chosen[1]} if chosen[0] == _REST else chosen[0]
        target[attribute] = {"not": chosen[0]} if chosen[1] == _REST else chosen[1]
    keys = [(f"source{ending}", f"target{ending}") for ending in ["", *map(str, range(2, len(by) + 1))]][
        : len(by)
    ]
    st.button(
        "Swap direction",
        icon=":material/swap_vert:",
        on_click=_swap,
        args=(keys,),
        type="tertiary",
        key="swap",
        disabled=not by,
        help="Each person in the source group gets a counterpart from the target group.",
    )
    return source, target


def _value(label: str, key: str, values: list[str], suggested: str) -> str:
    options = [*values, _REST] if _REST not in values else values
    return st.selectbox(
        label, options, index=options.index(suggested), format_func=in_words, **state.choice(key)
    )


def _swap(keys: list[tuple[str, str]]) -> None:
    for source, target in keys:
        old = state.widget(source), state.widget(target)
        state.set_widget(source, old[1])
        state.set_widget(target, old[0])
