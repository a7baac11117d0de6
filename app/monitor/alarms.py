"""A monitor's alarms, acknowledged with a note, and its latest flagged people."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from app import state
from app.monitor_api import INGEST
from app.widgets import notices
from app.widgets.figure_card import number_columns
from audits.errors import InputError, RunFailed
from audits.sensitivity.monitor.watching import Alarm, Flag
from audits.stats.words import count, number

__all__ = ["alarms_card", "flags_card"]


def alarms_card(identity: str, alarms: list[Alarm], waiting: tuple[int, list[Alarm]]) -> None:
    """Draw the alarms: those that wait, oldest first so that none moves while its note is written.

    `alarms` are the latest, `waiting` how many wait in all and the oldest of them.
    """
    problem = state.get("alarm-problem")
    if problem:
        notices.problem(problem)
    if not alarms:
        return
    number_waiting, oldest = waiting
    st.subheader(f"Alarms ({count(number_waiting)} waiting)", anchor=False)
    for alarm in oldest:
        with st.container(border=True, key=f"alarm-{alarm.place}"):
            told = f" Webhook {alarm.told}." if alarm.told else ""
            st.text(f"{_time(alarm.raised)}: {alarm.sentence}{told}")
            key = f"alarm-note-{identity}-{alarm.place}"
            st.text_input("Note", key=key, max_chars=10_000)
            st.button("Acknowledge", key=f"{key}-done", on_click=_done, args=(identity, alarm.place, key))
    if number_waiting > 1:
        _all_at_once(identity, number_waiting, number_waiting - len(oldest))
    seen = [alarm for alarm in alarms if alarm.acknowledged is not None]
    if seen:
        rows = [(_time(alarm.raised), _time(alarm.acknowledged or 0.0), alarm.note) for alarm in seen]
        st.dataframe(
            pd.DataFrame(rows, columns=["raised", "acknowledged", "note"]), hide_index=True, alt="Alarms seen"
        )


def _all_at_once(identity: str, waiting: int, later: int) -> None:
    with st.container(border=True, key="alarms-all"):
        if later > 0:
            st.text(f"{count(later)} later alarm{'s wait' if later > 1 else ' waits'} as well.")
        key = f"alarm-note-{identity}-all"
        st.text_input("Note for all that wait", key=key, max_chars=10_000)
        st.button(f"Acknowledge all {count(waiting)}", on_click=_done, args=(identity, None, key))


def _done(identity: str, place: int | None, key: str) -> None:
    """Acknowledge the alarm at `place`, or every one that waits."""
    state.forget("alarm-problem")
    try:
        state.workspace().check_writable()
        if place is None:
            INGEST.monitors.acknowledge_all(identity, state.widget(key) or "")
        else:
            INGEST.monitors.acknowledge(identity, place, state.widget(key) or "")
    except (InputError, RunFailed) as error:
        state.keep("alarm-problem", str(error))


def flags_card(identity: str, flags: list[Flag]) -> None:
    """Draw the latest flagged people, and one of them in parts."""
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


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
