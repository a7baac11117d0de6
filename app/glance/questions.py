"""The five questions: the badge and the sentence of each, or a button that runs what answers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, state
from app.glance.runs import submit_usual
from app.latest_runs import KEY, earlier_runs, latest_comparison
from app.pages import QUESTIONS, page_of
from app.widgets.notices import label
from app.widgets.page_words import page_words
from app.workspaces.workspace import Workspace
from audits.reports.comparison import leading_first
from audits.runs.headline import RunFinding, RunHeadline
from audits.runs.registry import AUDITS
from audits.stats import BADGES
from audits.stats.vocabulary import vocabulary


def question_cards(
    space: Workspace,
    draft: Mapping[str, Any],
    findings: list[RunFinding],
    headline: RunHeadline | None,
    latest: Mapping[str, dict[str, Any]],
    usual: Mapping[str, dict[str, Any]],
    begun: Mapping[str, jobs.SpecStatus],
) -> None:
    """Draw a card for each question, whose audits' first badge stands for it, and for each audit brought."""
    left = {name: each for name, each in usual.items() if name not in latest and name not in begun}
    by_name = {each.audit.name: each for each in findings if each.place is not None}
    records, earlier = dict(latest), earlier_runs(space, draft)
    if (record := latest_comparison(space, draft)) is not None:
        compared = jobs.result(space, record["spec"]).compared
        assert compared is not None  # noqa: S101  (its spec has a second model)
        change, across = leading_first(compared.changes)[0]
        by_name["compare"], records["compare"] = RunFinding(change, None, across), record
    brought = {f"+ {AUDITS[name].title}": (name,) for name in latest if AUDITS.brought(name)}
    with st.grid(2, min_column_width=300, border=False):
        for number, (question, names) in enumerate({**QUESTIONS, **brought}.items(), start=1):
            with st.container(border=True, height="stretch", key=f"question-{number}"):
                st.markdown(f"**{question.partition(' ')[2]}**")
                found = [name for name in names if name in by_name]
                if found:
                    first = min(found, key=lambda name: BADGES.index(by_name[name].judged.badge))
                    said = (
                        headline is not None
                        and first in latest
                        and headline.leads.place == by_name[first].place
                    )
                    _answer(first, by_name[first], records[first], said=said)
                else:
                    _not_run(space, draft, names, usual, begun, earlier)
        if left:
            with st.container(border=True, height="stretch", key="question-rest"):
                st.button(
                    "Run the remaining audits",
                    key="run-rest",
                    disabled=space.read_only,
                    on_click=submit_usual,
                    args=(space, draft, left),
                )
                st.caption(", ".join(AUDITS[name].title for name in left))


def _does(name: str) -> str:
    """Say what a run of an audit does, in the words of the data."""
    said = AUDITS[name].pages.does.format(yes=vocabulary().yes or "favored")
    return label(said or f"Run {AUDITS[name].title}")


def _answer(name: str, finding: RunFinding, record: Mapping[str, Any], *, said: bool) -> None:
    """Write an audit's badge and, unless the headline has `said` it, what it found; link to the run."""
    st.badge(label(finding.badge_text, 200), color="gray")
    if not said:
        st.text(finding.sentence)
    query = {**record.get("address", {}), **state.where(), "run": [record["key"][:KEY]]}
    page = page_of(name)
    if page is not None:
        st.page_link(page, label=f"{page.title} →", query_params=query)


def _not_run(
    space: Workspace,
    draft: Mapping[str, Any],
    names: tuple[str, ...],
    usual: Mapping[str, dict[str, Any]],
    begun: Mapping[str, jobs.SpecStatus],
    earlier: Mapping[str, str],
) -> None:
    """Say that no audit of the question has a result, and offer the first that needs no choice."""
    name = next((each for each in names if each in usual), names[0])
    standing = begun.get(name)
    if standing is not None and standing.going:
        st.text("Running")
        return
    error = standing.run.error if standing is not None and standing.run is not None else None
    last = next((f"Last run {earlier[each]}" for each in names if each in earlier), "Not run yet")
    st.text(last if error is None else page_words(error.sentence))
    if name in usual and error is None:
        st.button(
            _does(name),
            key=f"run-{name}",
            disabled=space.read_only,
            on_click=submit_usual,
            args=(space, draft, {name: usual[name]}),
        )
        return
    page = page_of(name)
    if page is not None:
        st.page_link(page, label=f"Open {page.title} →", query_params=state.address(page.title))
