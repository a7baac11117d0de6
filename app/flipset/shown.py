"""Which direction and stratum of a flipset audit a tab shows."""

from __future__ import annotations

import streamlit as st

from app import state
from app.widgets import notices
from audits.flipset import FlipsetResult
from audits.flipset.result import Way
from audits.flipset.text import larger_first, way_words
from audits.text import begun

_EVERYONE = "(everyone)"
_RANKINGS = {"difference": "how far they differ", "sign": "how consistently"}


def choose_by_sign(key: str) -> bool:
    """Draw the choice of a transparency report's ranking; return whether it is by the mean sign."""
    ranking = st.segmented_control(
        "Ranked by",
        list(_RANKINGS),
        format_func=_RANKINGS.__getitem__,
        default="difference",
        required=True,
        **state.choice(key),
    )
    return bool(ranking == "sign")


def choose_shown(result: FlipsetResult) -> tuple[Way, str | None]:
    """Draw the choice of a direction, the one that more people flip first, and of a stratum."""
    words = {way: begun(way_words(way)) for way in larger_first(result)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way: Way = st.selectbox(
            "People who are", list(words), format_func=words.__getitem__, width=420, **state.choice("part")
        )
        return way, choose_within(result)


def choose_within(result: FlipsetResult) -> str | None:
    """Draw the choice of a stratum, where people were matched within some."""
    if not result.within:
        return None
    within: str = st.selectbox(
        f"Among people with {notices.label(str(result.options['condition_on']))}",
        [_EVERYONE, *result.within],
        width=320,
        **state.choice("within"),
    )
    return None if within == _EVERYONE else within
