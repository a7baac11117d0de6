"""What a result has to show, drawn from its record: a page names only what it replaces by its own drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.widgets import notices
from app.widgets.results.figure_card import figure_card
from audits.records import Exhibit, Section

Instead = Mapping[str, Callable[[Exhibit], None] | None]

_FACTS = 12  # that are read at a glance


def show_exhibit(
    exhibit: Exhibit, *, name: str = "", on_point: Callable[[list[Any]], object] | None = None
) -> None:
    """Draw one exhibit: its heading, what to look for, the figure, and its menu.

    Parameters
    ----------
    exhibit : Exhibit
    name : str, default its key
        Of the files, and unique on the page.
    on_point : callable, optional
        What a click on a point does, as of `figure_card`.
    """
    figure_card(
        name or exhibit.key,
        exhibit.figure(),
        exhibit.table,
        heading=exhibit.heading,
        caption=exhibit.caption,
        wide=exhibit.wide,
        on_point=on_point,
    )


def folded(title: str, key: str, draw: Callable[[], object], *, expanded: bool = False) -> None:
    """Draw a fold, and what is in it once it is opened."""
    fold = st.expander(title, expanded=expanded, key=key, on_change="rerun")
    if fold.open:
        with fold:
            draw()


def folded_exhibit(exhibit: Exhibit, name: str) -> None:
    """Draw one exhibit in a fold that its heading names."""
    heading = notices.label(exhibit.heading, 160)
    folded(heading, f"fold-{name}", lambda: show_exhibit(exhibit, name=name))


def show_section(section: Section, *, instead: Instead | None = None, prefix: str = "") -> None:
    """Draw the exhibits of a result in their order.

    Parameters
    ----------
    section : Section
        As the audit's record presents the result.
    instead : mapping, optional
        Key of an exhibit to what draws it here, given the exhibit; None where the page has it elsewhere or
        not at all. Keys that this result lacks are of no effect.
    prefix : str
        Before the keys in the names of files, such as ``"recourse-"``.
    """
    own = instead or {}
    for exhibit in section.exhibits:
        if exhibit.key not in own:
            show_exhibit(exhibit, name=f"{prefix}{exhibit.key}")
        elif (draw := own[exhibit.key]) is not None:
            draw(exhibit)


def show_facts(section: Section) -> None:
    """Write the facts of a result, a line each; the last of many fold."""
    told = [f"{name}: {value}" for name, value in section.facts.items()]
    notices.bullets(told[:_FACTS])
    if more := told[_FACTS:]:
        with st.expander(f"{len(more)} more"):
            notices.bullets(more)
