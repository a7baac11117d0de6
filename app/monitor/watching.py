"""A monitor as it stands: chart, drift, alarms, flagged people, drawn anew every few seconds."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app import state
from app.monitor.alarms import alarms_card, flags_card
from app.monitor.sending import give_file, remove_or_export, send
from app.monitor_api import INGEST
from app.widgets import notices
from app.widgets.figure_card import figure_card
from app.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.runs.monitors import Monitor
from audits.sensitivity.figures import monitors as figures
from audits.sensitivity.monitor.watching import Drift
from audits.stats.words import count, number, p_words, percent, percent_interval

__all__ = ["choose_monitor", "watch"]

_REFRESH = "5s"


def choose_monitor(space: Workspace) -> Monitor | None:
    """Return the monitor shown: the one in the address, else the latest; None without any."""
    found = {monitor.id: monitor for monitor in INGEST.monitors.of_owner(space.token)}
    if not found:
        return None
    made = state.get("open-monitor")
    if made in found:  # just made: shown at once
        state.set_widget("monitor", made)
    state.forget("open-monitor")
    with st.sidebar:
        chosen = st.selectbox(
            "Monitor",
            list(found),
            format_func=lambda identity: f"{found[identity].name} · {identity[:6]}",
            **state.choice("monitor"),
        )
    return found[chosen]


def watch(monitor: Monitor, space: Workspace) -> None:
    """Draw a monitor; what is live is drawn anew every few seconds."""
    st.subheader(monitor.name, anchor=False)
    if monitor.note:
        st.text(monitor.note)
    _token(monitor)

    @st.fragment(run_every=_REFRESH)
    def live() -> None:
        _live(monitor.id)

    live()
    if space.read_only:
        return
    give_file(monitor)
    with st.expander("Send predictions", expanded=not monitor.people):
        send(monitor)
    with st.expander("Export or remove"):
        remove_or_export(monitor, space)


def _token(monitor: Monitor) -> None:
    new = state.get("new-monitor")
    if new is not None and new[0] == monitor.id:
        notices.note("This is the monitor's token. It is shown now and kept nowhere: copy it.")
        st.code(new[1], language=None)
        st.button("I have copied it", on_click=state.forget, args=("new-monitor",))


def _live(identity: str) -> None:
    try:
        monitor = INGEST.monitors.get(identity)
        points, alarms = INGEST.monitors.points(identity), INGEST.monitors.alarms(identity)
        flags, drift = INGEST.monitors.flags(identity), INGEST.monitors.drift(identity)
        waiting = INGEST.monitors.waiting(identity)
    except InputError:
        st.text("This monitor is no longer there.")
        return
    except RunFailed as error:
        notices.problem(str(error))
        return
    with st.container(key="finding"):
        st.text(_finding(monitor, drift, waiting[0]))
    if not monitor.people:
        return
    figure_card(
        "monitor-chart",
        figures.control_chart(points, monitor.chart, alarms),
        lambda: figures.points_frame(points, monitor.chart.limit),
    )
    reference = monitor.bundle.reference
    figure_card(
        "monitor-drift",
        figures.drift(drift, reference, monitor.bundle.threshold),
        lambda: pd.DataFrame({"sensitivity": drift.values}),
    )
    alarms_card(identity, alarms, waiting)
    flags_card(identity, flags)


def _finding(monitor: Monitor, drift: Drift, waiting: int) -> str:
    if not monitor.people:
        return "No predictions have come in yet. What to send is said below."
    chart = monitor.chart
    text = (
        f"{count(monitor.flagged)} of {count(monitor.people)} people were flagged; among the latest "
        f"{count(drift.people)}: {percent_interval(drift.flagged)}. Up to {percent(chart.rate, 1000)} "
        f"count as in control: "
        f"the chart then alarms once in {count(chart.people_between)} people on average, and within about "
        f"{count(chart.people_to_detect)} when {percent(chart.detects, 1000)} are flagged. It stands at "
        f"{100 * monitor.chart_value / chart.limit:.0f} % of its limit; "
        f"{count(waiting) if waiting else 'no'} alarm{' waits' if waiting == 1 else 's wait'}."
    )
    if drift.p_value is not None:
        text += (
            f" The latest sensitivities lie apart from the baseline by {number(drift.distance)} at most; "
            "that "
            f"everybody so far came from the baseline has p {p_words(drift.p_value)}, however often you look."
        )
    return text
