"""A finished comparison: the first sentence, who is decided otherwise, what changes in each audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from app.tables.listed import PeopleTable
from app.widgets import notices
from app.widgets.download import download
from app.widgets.frame import page_text
from app.widgets.people.person import card_of
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import show_exhibit
from app.widgets.results.export import REPORTS, export_section, report_file
from app.widgets.results.result_frame import headline
from app.workspaces.workspace import Workspace
from audits.reports.comparison import (
    accuracy_words,
    change_exhibit,
    decided_exhibit,
    leading_first,
    slope_exhibit,
    title_of,
)
from audits.runs.comparison.changes import AuditChange, Changes
from audits.runs.multiple_testing import RunCorrection
from audits.runs.result import RunResult
from audits.stats.text import count, number
from audits.stats.vocabulary import vocabulary


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished comparison: the sentence, the gap before and after, and tabs."""
    assert found.compared is not None  # noqa: S101  (the page asked for it)
    changes = found.compared.changes
    told = leading_first(changes)
    change, across = told[0]
    judged = across.judged
    headline(change.headline, judged)
    accuracy = "" if changes.accuracy is None else f"Accuracy: {accuracy_words(changes)}."
    st.text(f"{changes.finding} {accuracy}")
    if change.tested:
        show_exhibit(slope_exhibit(change, judged), name="slope")
    panels: dict[str, Callable[[], object]] = {
        "Who is decided differently?": lambda: _decisions_tab(found, space, changes),
        "Every audit": lambda: _audits(found, told),
        "How we tested": lambda: _test_tab(changes, across),
        "Report": lambda: _downloads(found, space, draft),
    }
    for container, draw in zip(
        st.tabs(list(panels), key="tab", bind="query-params"), panels.values(), strict=True
    ):
        if container.open:
            with container:
                draw()


def _test_tab(changes: Changes, across: RunCorrection) -> None:
    first, second = changes.models
    st.text(" ".join(filter(None, [across.doubt, across.note])))
    st.text(f"First model: {first}. Second model: {second}.")
    notices.notes(changes.warnings)
    for title, text in (
        ("How to read this", "compare_reading"),
        ("What it cannot tell you", "compare_limits"),
    ):
        with st.expander(title, key=text):
            st.markdown(page_text(text))


def _decisions_tab(found: RunResult, space: Workspace, changes: Changes) -> None:
    if changes.decided and not len(changes.people):
        st.text(changes.finding)
    elif changes.decided:
        show_exhibit(decided_exhibit(changes), name="decided")
        _people(found, space, changes)
    else:
        st.text("We don't know whose decision changes.")


def _people(found: RunResult, space: Workspace, changes: Changes) -> None:
    """List those whom the second model decides otherwise; one who is chosen can be asked about."""
    table = changes.people
    if not len(table):
        return
    st.subheader(f"Changed decisions ({count(len(table))})", anchor=False)
    row = choose_row(
        PeopleTable(found, "otherwise"),
        "decided-otherwise",
        "otherwise-person",
        alt="People whose decision changes, by row number",
        number="second score",
    )
    if row is None:
        return
    person = table.loc[[row]].iloc[0]
    words = vocabulary()
    sides = [
        f"{words.is_yes if person[f'{which} decision'] else words.is_no} with the {which} model (score "
        f"{number(float(person[f'{which} score']))})"
        for which in ("first", "second")
    ]
    with card_of(row):
        st.text(f"The {words.person} in row {row} {' and '.join(sides)}.")
        st.caption("The panel below uses the first model.")
        what_if_section(space, found, row)


def _audits(found: RunResult, told: Sequence[tuple[AuditChange, RunCorrection]]) -> None:
    for place, (change, across) in enumerate(told):
        _audit(found, place, change, across)


def _audit(found: RunResult, place: int, change: AuditChange, across: RunCorrection) -> None:
    """Draw one audit, which folds: how it changes, what either model's own finding is, every number."""
    badge = f"  {across.judged.badge_text}" if change.tested or change.refused else ""
    label = notices.label(f"{title_of(change)}{badge}", longest=120)
    fold = st.expander(label, expanded=not place, key=f"audit-{place}", on_change="rerun")
    if not fold.open:
        return
    with fold:
        _change(found, place, change, across)


def _change(found: RunResult, place: int, change: AuditChange, across: RunCorrection) -> None:
    st.text(change.headline)
    if change.refused:
        notices.note(change.refused)
        return
    for words in filter(None, (across.doubt, across.note, change.given)):
        st.caption(notices.label(words, 600))
    own = (
        found.compared.second.audits[change.second] if found.compared and change.second is not None else None
    )
    first = next(audit for audit in found.audits if audit.name == change.audit)
    said = [f"First model: {first.headline}"] + ([f"Second model: {own.headline}"] if own is not None else [])
    notices.bullets(said)
    show_exhibit(change_exhibit(change), name=f"change-{place}")


def _downloads(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    with st.container(horizontal=True):
        for kind, (words, mime) in REPORTS.items():
            make = partial(report_file, space, found, kind, "comparison")
            name = f"comparison.{kind}"
            download(words, name, mime, make, key=f"compare-{name}")
    st.caption("A report supports an assessment. It is not legal advice.")
    export_section(found, draft["source"].get("sample"))
