"""A finished audit on its page: verdict, sentence, one figure, and tabs of which the open one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from app import state
from app.figure_cache import cached_section
from app.tables.listed import PeopleTable
from app.widgets import notices
from app.widgets.people.row_choice import choose_row
from app.widgets.results.exhibits import Instead, folded, show_facts, show_section
from app.widgets.results.plot import plot
from app.widgets.results.result_frame import fine_print, headline
from audits.records import Audit, Exhibit, Section
from audits.results import tables
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.verdicts import judged_of

TABS = {
    "who": "Who are they?",
    "apart": "What sets them apart?",
    "tested": "How we tested",
    "people": "People",
}
"""Tabs that every page may have, in their order; a page's own come before the last two."""

Panel = Callable[[], object]

_TALLEST, _HEAD, _TITLE = 1800, 670, 96  # pixels: of a page, of what is no figure on it, of a figure's title
_BELOW = {"tested": 360, "people": 500}  # of what a tab has beside its figures; a panel of another takes
_PANEL, _CHOICES = 560, 80  # what a panel takes, and the choices above a figure that a page draws itself


def result_page(
    found: RunResult,
    draft: Mapping[str, Any],
    *,
    panels: Mapping[str, Panel] | None = None,
    instead: Instead | None = None,
    settings: Mapping[str, Any] | None = None,
    below_hero: int = 0,
) -> None:
    """Draw a finished run of one audit.

    Parameters
    ----------
    panels : mapping, optional
        What a tab shows above its exhibits, by the key of the tab (`TABS`) or the title of a tab of its own.
        Where there is none for ``"people"``, the result's tables of people stand there.
    instead : mapping, optional
        What draws an exhibit here, by its key; None leaves it out. The first exhibit is the hero.
    settings : mapping, optional
        What belongs to the settings used beside the run's spec.
    below_hero : int
        Pixels that the page draws between the first figure and the tabs.
    """
    name, result = found.audits[0].name, found.audits[0].result
    record = AUDITS[name]
    section = cached_section(record, result)
    headline(record.sentence(result), judged_of(result))
    hero, *others = section.exhibits or (None,)
    if hero is not None and not _looks_at_one():
        show_section(Section(section.title, (hero,)), instead=instead, prefix=f"{name}-")
    drawn = dict(panels or {})
    if tables(result):
        drawn.setdefault("people", lambda: _people(name, found))
    own = dict.fromkeys(tab for tab in (*(each.tab for each in others), *drawn) if tab not in TABS)
    kept = {tab: [each for each in others if each.tab == tab] for tab in (*TABS, *own)}
    keys = ["who", "apart", *own, "tested", "people"]
    keys = [tab for tab in keys if tab == "tested" or tab in drawn or kept.get(tab)]
    opened = st.tabs([TABS.get(tab, tab) for tab in keys], key="tab", bind="query-params")
    for tab, container in zip(keys, opened, strict=True):
        if not container.open:
            continue
        with container:
            if tab == "tested":
                _test_tab(result, section)
            if tab in drawn:
                drawn[tab]()
            below = _BELOW.get(tab, _PANEL if tab in drawn else 0)
            room = _TALLEST - _HEAD - _height(hero) - below_hero - below
            _fitting(kept.get(tab, []), room, instead or {}, f"{name}-")
            if tab == "tested":
                fine_print(found, draft, settings or {})


def _looks_at_one() -> bool:
    """Whether someone is looked at, whose card then takes the place of the first figure."""
    return state.chosen("person") is not None and state.chosen("tab") == TABS["people"]


def _height(exhibit: Exhibit | None) -> int:
    """Return how high a figure is, in pixels."""
    return 0 if exhibit is None else exhibit.figure().layout.height or 0


def _fitting(exhibits: Sequence[Exhibit], room: float, instead: Instead, prefix: str) -> None:
    """Draw exhibits one below the other while there is room; the others fold, and are drawn once opened."""
    for exhibit in exhibits:
        if exhibit.key in instead and instead[exhibit.key] is None:
            continue
        draw = partial(show_section, Section("", (exhibit,)), instead=instead, prefix=prefix)
        room -= _TITLE + _height(exhibit) + (_CHOICES if exhibit.key in instead else 0)
        if room >= 0:
            draw()
        else:
            folded(notices.label(exhibit.heading, 160), f"fold-{prefix}{exhibit.key}", draw)


def earlier_page(record: Audit, result: Any) -> None:
    """Draw the head of an earlier result: its sentence, its badge and its first figure."""
    headline(record.sentence(result), judged_of(result))
    if exhibits := cached_section(record, result).exhibits:
        plot(exhibits[0].figure(), "earlier", tools=False)


def _test_tab(result: Any, section: Section) -> None:
    """Write the finding with its numbers, how they came, and what to know of them."""
    st.text(result.finding)
    notices.notes(result.warnings)
    show_facts(section)


def _people(name: str, found: RunResult) -> None:
    """Draw the tables with one row a person; a person chosen is shown value by value."""
    for field, table in tables(found.audits[0].result).items():
        if not len(table):
            continue
        st.subheader(notices.label(field.replace("_", " ").capitalize()), anchor=False)
        row = choose_row(
            PeopleTable(found, field), f"{name}-{field}", f"person-{field}", alt=f"{field}, a row each"
        )
        if row is not None:
            one = table.loc[[row]].iloc[0].map(str).rename(f"row {row}").to_frame()
            st.dataframe(one, alt=f"Row {row}, value by value")
