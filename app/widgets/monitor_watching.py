"""A monitor as it stands: chart, drift, alarms, flagged people, and how to send it predictions."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from app import state
from app.ingest import drop_folder
from app.monitor_api import INGEST
from app.widgets import notices
from app.widgets.figure_card import figure_card, number_columns
from app.workspace import Workspace
from audits.errors import InputError
from audits.figures import monitors as figures
from audits.runs.monitors import Monitor
from audits.sensitivity.watching import Alarm, Drift
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
    _acknowledge(monitor.id)
    _flags(monitor.id)
    with st.expander("Send predictions"):
        _sending(monitor)
    with st.expander("Export or remove"):
        _away(monitor, space)


def _token(monitor: Monitor) -> None:
    new = state.get("new-monitor")
    if new is not None and new[0] == monitor.id:
        notices.note("This is the monitor's token. It is shown now and kept nowhere: copy it.")
        st.code(new[1], language=None)
        st.button("I have copied it", on_click=state.forget, args=("new-monitor",))


def _live(identity: str) -> None:
    try:
        monitor = INGEST.monitors.get(identity)
    except InputError:
        st.text("This monitor is no longer there.")
        return
    points, alarms = INGEST.monitors.points(identity), INGEST.monitors.alarms(identity)
    drift = INGEST.monitors.drift(identity)
    with st.container(key="finding"):
        st.text(_finding(monitor, drift, alarms))
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


def _finding(monitor: Monitor, drift: Drift, alarms: list[Alarm]) -> str:
    if not monitor.people:
        return "No predictions have come in yet."
    chart = monitor.chart
    waiting = sum(alarm.acknowledged is None for alarm in alarms)
    text = (
        f"{count(monitor.flagged)} of {count(monitor.people)} people were flagged; of the latest "
        f"{count(drift.people)}, {percent_interval(drift.flagged)}. Up to {percent(chart.rate, 1000)} "
        f"count as in control: "
        f"the chart then alarms once in {count(chart.people_between)} people on average, and within about "
        f"{count(chart.people_to_detect)} when {percent(chart.detects, 1000)} are flagged. It stands at "
        f"{100 * monitor.chart_value / chart.limit:.0f} % of its limit; {waiting} alarms wait."
    )
    if drift.p_value is not None:
        text += (
            f" The latest sensitivities lie apart from the baseline by {number(drift.distance)} at most "
            f"(p {p_words(drift.p_value)})."
        )
    return text


def _acknowledge(identity: str) -> None:
    alarms = INGEST.monitors.alarms(identity)
    if not alarms:
        return
    st.subheader(f"Alarms ({len(alarms)})", anchor=False)
    waiting = [alarm for alarm in alarms if alarm.acknowledged is None]
    for alarm in waiting[:5]:
        with st.container(border=True, key=f"alarm-{alarm.person}"):
            told = f" Webhook {alarm.webhook}." if alarm.webhook else ""
            st.text(f"{_time(alarm.raised)}: {alarm.sentence}{told}")
            key = f"alarm-note-{identity}-{alarm.person}"
            st.text_input("Note", key=key, max_chars=10_000)
            st.button("Acknowledge", key=f"{key}-done", on_click=_done, args=(identity, alarm.person, key))
    if len(waiting) > 5:
        st.text(f"{len(waiting) - 5} earlier alarms wait as well.")
    seen = [alarm for alarm in alarms if alarm.acknowledged is not None]
    if seen:
        rows = [(_time(alarm.raised), _time(alarm.acknowledged or 0.0), alarm.note) for alarm in seen]
        st.dataframe(
            pd.DataFrame(rows, columns=["raised", "acknowledged", "note"]), hide_index=True, alt="Alarms seen"
        )


def _done(identity: str, person: int, key: str) -> None:
    INGEST.monitors.acknowledge(identity, person, state.widget(key) or "")


def _flags(identity: str) -> None:
    flags = INGEST.monitors.flags(identity)
    if not flags:
        return
    st.subheader("Latest flagged people", anchor=False)
    table = pd.DataFrame(
        {
            "time": [_time(flag.received) for flag in flags],
            "your id": [flag.client_id for flag in flags],
            "sensitivity": [flag.sensitivity for flag in flags],
            "score": [flag.score for flag in flags],
            "most by": [next(iter(flag.contributions), "") for flag in flags],
        },
        index=pd.Index([flag.person for flag in flags], name="person"),
    )
    st.dataframe(
        table,
        height=min(38 + 35 * len(table), 388),
        column_config=number_columns(table),
        alt="Latest flagged people, latest first",
    )
    people = [str(flag.person) for flag in flags]
    chosen = st.selectbox(
        "One person", people, index=None, placeholder="Choose one", width=240, key=f"flagged-{identity}"
    )
    if chosen is None:
        return
    flag = flags[people.index(chosen)]
    parts = pd.DataFrame(flag.contributions.items(), columns=["feature", "contribution"])
    parts["share"] = parts["contribution"] / parts["contribution"].sum()
    with st.container(border=True, key="person-card"):
        st.text(
            f"Person {chosen}{f' ({flag.client_id})' if flag.client_id else ''}, {_time(flag.received)}: "
            f"sensitivity {number(flag.sensitivity)}, score {number(flag.score)}."
        )
        shares = st.column_config.NumberColumn(format="percent")
        st.dataframe(
            parts,
            hide_index=True,
            column_config={**number_columns(parts), "share": shares},
            alt="Parts of the person's sensitivity by feature",
        )


def _sending(monitor: Monitor) -> None:
    bundle = monitor.bundle
    st.text(f"Rows have exactly these columns: {', '.join(bundle.reads)}. Nothing of a row is kept.")
    row = {entry["column"]: _example(entry) for entry in bundle.encoding if entry["column"] in bundle.reads}
    body = json.dumps({"rows": [row], "ids": ["your id"]}, ensure_ascii=False).replace("'", "'\\''")
    st.code(
        f"curl -X POST SERVER/api/v1/monitors/{monitor.id}/predictions \\\n"
        '  -H "Authorization: Bearer TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{body}'",
        language="bash",
        wrap_lines=True,
    )
    st.text(
        "The description of the API lies at SERVER/api/v1/openapi.json. Files dropped here are taken as well:"
    )
    st.code(str(drop_folder(monitor)), language=None)


def _example(entry: dict[str, object]) -> object:
    levels = entry["levels"]
    if isinstance(levels, list) and levels:
        return levels[0]
    if entry["kind"] == "datetime":
        return "2024-05-31"
    mean = float(entry["mean"])  # type: ignore[arg-type]
    return round(mean) if entry["kind"] == "integer" else round(mean, 3)


def _away(monitor: Monitor, space: Workspace) -> None:
    st.text("The bundle holds all that a service needs to measure people itself, without this server.")
    st.download_button(
        "Bundle (ZIP of JSON and safetensors)",
        data=lambda: _packed(monitor),
        file_name=f"monitor-{monitor.id[:8]}.zip",
        mime="application/zip",
        on_click="ignore",
    )
    sure = st.checkbox("Remove this monitor and all it measured", key=f"sure-{monitor.id}")
    st.button("Remove", disabled=not sure, on_click=_remove, args=(monitor.id, space.token))


def _remove(identity: str, owner: str) -> None:
    if any(monitor.id == identity for monitor in INGEST.monitors.of_owner(owner)):
        INGEST.monitors.delete(identity)


def _packed(monitor: Monitor) -> bytes:
    packed = io.BytesIO()
    text, weights = monitor.bundle.dump()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("monitor.json", text)
        archive.writestr("monitor.safetensors", weights)
    return packed.getvalue()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
