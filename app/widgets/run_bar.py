"""Having an audit run: the button, the progress, Cancel, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import jobs, state
from app.widgets import notices
from app.workspaces.workspace import Workspace
from audits.errors import InputError
from audits.runs.executors.job import Run, RunProgress


def time_words(seconds: float) -> str:
    """Word a time roughly.

    Examples
    --------
    >>> [time_words(seconds) for seconds in (0.2, 8.2, 44, 100, 4000)]
    ['a few seconds', 'about 10 seconds', 'about 45 seconds', 'about 2 minutes', 'about 67 minutes']
    """
    if seconds < 5:
        return "a few seconds"
    if seconds < 55:
        return f"about {max(10, 5 * round(seconds / 5))} seconds"
    minutes = max(1, round(seconds / 60))
    return f"about {minutes} minute{'s' if minutes > 1 else ''}"


def settings_fold(*, done: bool) -> DeltaGenerator:
    """Return where an audit's choices go: folded once there is a result, open until then."""
    return fold("Settings", "settings", opened=not done)


def fold(label: str, key: str, *, opened: bool) -> DeltaGenerator:
    """Return what folds: made anew once it is to be `opened` or not, as a browser keeps how one stood."""
    return st.container(key=key).expander(label, expanded=opened, key=f"{key}-{opened}")


def run_button(
    space: Workspace,
    spec: Mapping[str, Any],
    title: str,
    standing: jobs.SpecStatus,
    seconds: float,
    key: str,
    *,
    label: str = "Run audit",
) -> None:
    """Draw the one primary button of an audit page, and how long it will take."""
    if not (standing.going or standing.finished):
        st.text(f"Takes {time_words(seconds)}.")
    st.button(
        label,
        type="primary",
        width="stretch",
        key=key,
        disabled=standing.going or standing.finished or space.read_only,
        on_click=_submit,
        args=(space, spec, title),
        help="This audit has been run: its result is shown." if standing.finished else None,
    )


@state.report_errors
def _submit(space: Workspace, spec: Mapping[str, Any], title: str) -> None:
    jobs.submit(space, spec, title, state.chosen_in_address())


def status_shown(space: Workspace, spec: Mapping[str, Any]) -> jobs.SpecStatus | None:
    """Return how a run of `spec` stands; None where it cannot be run, and then the page says why."""
    try:
        return jobs.status_of(space, spec)
    except InputError as error:
        notices.problem(str(error))
        return None


def progress(
    run: Run, below: Callable[[RunProgress], None] | None = None, *, key: str = "", stop: str = "Cancel"
) -> None:
    """Show how far a run is, with Cancel; the page is drawn again when it is over.

    `below` draws what else there is to see of it, each time; `key` tells several on a page apart.
    """

    @st.fragment(run_every=0.7)
    def poll() -> None:
        if run.finished:
            st.rerun()
        now = run.progress
        st.progress(now.fraction)
        left = f" · {time_words(now.seconds_left)} left" if now.seconds_left is not None else ""
        st.text(f"{now.doing}{left}")
        if below is not None:
            below(now)

    with st.container(border=True, key=f"{key}running"):
        poll()
        st.button(stop, key=f"{key}cancel", on_click=run.cancel, disabled=run.cancel_requested)


def show_standing(standing: jobs.SpecStatus, below: Callable[[RunProgress], None] | None = None) -> None:
    """Show how far the run of a spec is, with `below` as of `progress`, or how it ended without a result."""
    if standing.going and standing.run is not None:
        progress(standing.run, below)
    else:
        ended_badly(standing.run)


def ended_badly(run: Run | None) -> None:
    """Say how a run ended that gave no result."""
    if run is None or not run.finished:
        return
    if run.status == "cancelled":
        notices.note("Run cancelled. Nothing was saved.")
    elif run.error is not None:
        notices.problem(run.error.sentence, run.error.details)
