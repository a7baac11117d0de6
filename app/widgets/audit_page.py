"""The course every audit's page takes: data, choices, the run, its result or an earlier one, what is next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app import jobs, state
from app.drafts.drafts import audit_spec, check_invents, prediction_column
from app.drafts.sanity import words_of
from app.drafts.validation import whole_model
from app.latest_runs import KEY, is_outdated, latest_audits, linked_run, saved_run
from app.tables.handles import DataHandle
from app.tables.summary import Summary, audited_size
from app.widgets import notices
from app.widgets.choices.power_plan import planning_panel
from app.widgets.choices.stand_in import offer_stand_in, stand_in_note
from app.widgets.frame import page_text, title
from app.widgets.results.result_page import earlier_page
from app.widgets.run_bar import run_button, settings_fold, show_standing
from app.widgets.subject import source_name, subject_line
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.checks import build
from audits.errors import InputError, RunFailed
from audits.runs.executors.job import RunProgress
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.text import in_words
from audits.text import join_names

_OTHER = {
    "data": "other choices of data",
    "model": "another model",
    "threshold": "another threshold",
    "seed": "another seed",
}


@dataclass(frozen=True)
class ChosenOptions:
    """Options as a spec names them, and a title for the run."""

    options: dict[str, Any]
    title: str


def audit_page(
    audit: str,
    *,
    needs: str,
    choose: Callable[[Mapping[str, Any], DataHandle, Summary], ChosenOptions | None],
    show: Callable[[RunResult, Workspace, Mapping[str, Any]], None],
    below: Callable[[Workspace, Mapping[str, Any]], None] | None = None,
    while_running: Callable[[RunProgress], None] | None = None,
) -> None:
    """Draw the page of `audit`.

    Parameters
    ----------
    audit
        The audit's name in a spec; the text ``NAME_question``, or the record's question, says what the page
        answers, and is shown while there is no result.
    needs
        What to choose, while `choose` returns None.
    choose
        Draws the controls of the sidebar.
    show
        Draws a finished run.
    below
        Draws what else stands below the question.
    while_running
        Draws what else there is to see of a run that goes on, below its progress.
    """
    record = AUDITS[audit]
    heading, question = record.title, page_text(f"{audit}_question", record.question)
    space = state.workspace()
    draft, data, summary = open_data(space, heading, question)
    data = data.without_feature(prediction_column(draft))
    stand_in_note(space, draft)
    choices = st.sidebar.empty()
    try:
        whole_model(draft["spec"]["model"])
        if record.asks_anew:
            check_invents(draft)
        with st.sidebar:
            with choices.container(), settings_fold(done=audit in latest_audits(space, draft)):
                chosen = choose(draft, data, summary)
            bar = st.container(key="run-bar")
        if chosen is None:
            notices.note(needs)
            if not data.protected:
                to_data("Tick a protected attribute on the data page")
            return
        options: Any = build(record.options, chosen.options, audit)
        seconds = record.expected_seconds(options, audited_size(draft, summary))
        spec = audit_spec(draft, audit, chosen.options)
        standing = jobs.status_of(space, spec)
    except InputError as error:
        if elsewhere := error.where.partition(".")[0] in {"data", "model"}:  # no choice at the side mends it
            choices.empty()
        notices.problem(str(error))
        stored = error.where == "model" and draft["spec"]["model"].get("predictions")
        if stored or error.where == "model.train":
            offer_stand_in(space, draft, data)
        if elsewhere:
            to_data()
        return
    name = run_title(draft, chosen.title)
    with bar:
        run_button(space, spec, name, standing, seconds, "run")
    asked = _linked_run(heading, standing.key)
    linked = linked_run(space, draft, audit, asked) if asked else None
    if linked is not None:
        notices.note(
            f"You opened {linked['title']!r} from a link. Its settings differ from those in "
            "the sidebar; change one of them to leave this run."
        )
        show(jobs.result(space, linked["spec"]), space, draft)
        return
    if asked:
        _other_run(space, asked)
    if standing.finished:
        known = any(record["key"] == standing.key for record in space.runs())
        if not known and not space.read_only:
            jobs.submit(space, spec, name)  # known from elsewhere: it is this workspace's run too
        state.put_in_address("run", standing.key[:KEY])
        state.keep(f"shown {heading}", standing.key[:KEY])
        found = jobs.result(space, spec)
        _too_good(found)
        show(found, space, draft)
        _next_look(space, draft, audit)
        planning_panel(space, spec, audit)
        return
    st.markdown(question)
    with st.container(key="narrow"):  # where the sidebar is folded away
        run_button(space, spec, name, standing, seconds, "run-narrow")
    show_standing(standing, while_running)
    _earlier_result(space, spec, audit)
    if below is not None:
        below(space, draft)
    planning_panel(space, spec, audit)


def open_data(
    space: Workspace, heading: str, question: str = ""
) -> tuple[dict[str, Any], DataHandle, Summary]:
    """Write a page's title; return the draft, its data and their summary. Without data the page ends here."""
    draft = space.draft()
    if draft is None:
        title(heading)
        if question:
            st.markdown(question)
        st.text("There are no data yet.")
        to_data("Choose data and a model")
        st.stop()
    try:
        data, summary = data_of(space, draft["spec"], source_name(draft))
    except InputError as error:
        title(heading, subject_line(draft))
        notices.problem(str(error))
        to_data()
        st.stop()
    title(heading, subject_line(draft, summary))
    return draft, data, summary


def run_title(draft: Mapping[str, Any], question: str) -> str:
    """Return what a run is called in lists: the data, the model, the question and the threshold."""
    threshold = draft["spec"].get("threshold", 0.5)
    stored = "label" in (draft["spec"]["model"].get("predictions") or {})
    at = [] if stored else [f"at {threshold:g}" if isinstance(threshold, (int, float)) else "by group"]
    return " · ".join([subject_line(draft), in_words(question), *at])


def _too_good(found: RunResult) -> None:
    """Say where a model did better than is likely, and where its data are looked into."""
    spec, said = found.spec, words_of(found.model)
    is_label = (spec["model"].get("predictions") or {}).get("label") == spec["data"].get("label")
    if said and not is_label:  # decisions that are the label itself agree with it
        notices.note(f"The model is {said}. Few are so good: the outcome may be among what it reads.")
        to_data("See which columns predict the outcome on their own")


def _linked_run(heading: str, key: str) -> str:
    """Return the run that a link led to, while it is another than that of what is chosen now.

    Empty where nobody came by such a link, and once a choice was changed since.
    """
    asked = state.address_value("run") or ""
    if not asked or key.startswith(asked):
        return ""
    if asked == state.get(f"shown {heading}"):
        state.drop_from_address("run")  # a choice was changed: the address is of no run
        return ""
    landed = state.get(f"landed {heading}")
    if landed is None or landed[0] != asked:
        landed = (asked, key)
        state.keep(f"landed {heading}", landed)
    return asked if landed[1] == key else ""


def _other_run(space: Workspace, asked: str) -> None:
    """Say that a link was to a run on other data or another model, and where that one is."""
    found = saved_run(space, asked)
    if found is None:
        notices.note("The linked run is no longer saved. This page is about the current settings.")
        return
    notices.note(f"The link leads to another run, {found.title!r}. This page is about the current settings.")
    query = {**state.where(), "run": [found.id[:KEY]]}
    st.page_link("views/saved.py", label="Open that run", query_params=query)


def to_data(label: str = "Fix this on the data page") -> None:
    """Link to the page of the data."""
    st.page_link("views/data_model.py", label=label, query_params=state.address("Data & model"))


def _earlier_result(space: Workspace, spec: Mapping[str, Any], audit: str) -> None:
    """Show the last result of `audit`, grayed and dated, unless it is that of `spec`."""
    for record in space.runs():
        if record["spec"].get("audits", [{}])[0].keys() != {audit} or "compare" in record["spec"]:
            continue  # its page is another one
        if record["spec"].get("data", {}).get("path") != spec.get("data", {}).get("path"):
            continue  # of other people
        outdated = is_outdated(space, record)
        if record["spec"] == spec and not outdated:
            continue
        try:
            saved = saved_run(space, record["key"]) if outdated else None
            found = (
                jobs.result(space, record["spec"]) if saved is None else jobs.saved_result(space, saved.id)
            )
            result = found.audits[0].result
        except (InputError, RunFailed, ValueError):
            continue  # it was cancelled, failed, or its file is gone
        when = time.strftime("%d %B %Y, %H:%M", time.localtime(record["submitted"]))
        st.divider()
        parts = [words for part, words in _OTHER.items() if record["spec"].get(part) != spec.get(part)]
        parts += ["another version of Evenhand"] if outdated else [] if parts else ["other options"]
        st.text(f"Earlier result, {when}, with {join_names(parts)}: {record['title']}")
        with st.container(key="earlier"):
            earlier_page(AUDITS[audit], result)
        return


def _next_look(space: Workspace, draft: Mapping[str, Any], audit: str) -> None:
    """Link to an audit that was not run yet on these data and this model, with what it answers."""
    if space.read_only:
        return
    done = latest_audits(space, draft)
    stored = "predictions" in draft["spec"]["model"]
    for name in (*AUDITS[audit].then, "saved"):
        if name == "saved":
            query = state.address("Report & saved audits")
            label = "Next: get the report →"
            st.page_link("views/saved.py", label=label, query_params=query)
            return
        if name in done or AUDITS.brought(name) or (stored and AUDITS[name].asks_anew):
            continue
        record = AUDITS[name]
        with st.container(key="next-look", horizontal=True, vertical_alignment="center"):
            st.text(f"Next: {record.question}")
            query = state.address(record.title)
            st.page_link(f"views/{name}.py", label=f"{record.title} →", query_params=query)
        return
