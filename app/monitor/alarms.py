"""A monitor's alarms, acknowledged with a note, and its latest flagged people."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from app import state
from app.serving.monitor_api import INGEST
from app.tables.exports import csv_bytes
from app.widgets import notices
from app.widgets.results.figure_card import number_columns
from audits.monitor.alarms import Alarm, alarm_name
from audits.monitor.dashboard import Flag
from audits.stats.text import count, number


def alarms_card(
    identity: str, alarms: list[Alarm], waiting: tuple[int, list[Alarm]], *, flags: bool = True
) -> None:
    """Draw the alarms: of those that wait the ones that last, oldest first, so that new ones move none.

    `alarms` are the latest, `waiting` how many wait in all and the first of them. Without `flags` no model
    flags people, so that none can be listed.
    """
    notices.kept_problem("alarm-problem")
    if not alarms:
        return
    number_waiting, first = waiting
    st.subheader(f"Alarms ({count(number_waiting)} waiting)", anchor=False)
    for alarm in first:
        _one(identity, alarm, flags=flags)
    if number_waiting > 1:
        _all_at_once(identity, number_waiting, number_waiting - len(first))
    seen = pd.DataFrame([alarm_row(alarm) for alarm in alarms])
    st.dataframe(seen, hide_index=True, height=min(38 + 35 * len(seen), 248), alt="Alarms, latest first")
    st.download_button(
        "Alarms (CSV)",
        data=lambda: csv_bytes(pd.DataFrame(list(map(dataclasses.asdict, alarms)))),
        file_name=f"alarms-{identity[:8]}.csv",
        mime="text/csv",
        on_click="ignore",
    )


def alarm_row(alarm: Alarm) -> dict[str, str]:
    """Return a row of the table of alarms."""
    state = "ongoing" if alarm.lasts else "over"
    number_words, about = alarm_name(alarm.place, alarm.about)
    return {
        "alarm": number_words,
        "raised": _time(alarm.raised),
        "severity": alarm.severity,
        "about": about,
        "state": f"{state}, {'waiting' if alarm.waits else 'seen'}",
        "people": f"{count(alarm.person + 1)} to {count(alarm.last_person + 1)}",
        "found": f"{count(alarm.times)} times" if alarm.times > 1 else "once",
        "note": alarm.note,
    }


def _one(identity: str, alarm: Alarm, *, flags: bool) -> None:
    """Draw an alarm that waits, and what can be done with it."""
    with st.container(border=True, key=f"alarm-{alarm.place}"):
        told = f" {alarm.told}." if alarm.told else ""
        lasts = "ongoing" if alarm.lasts else "over"
        times = "found once" if alarm.times == 1 else f"found {count(alarm.times)} times"
        st.text(
            f"{_time(alarm.raised)}, {alarm.severity}: {alarm.sentence} Batch {alarm.batch}; {times}, last "
            "on "
            f"{_time(alarm.latest)}, {lasts}.{told}"
        )
        key = f"alarm-note-{identity}-{alarm.place}"
        st.text_input("Note", key=key, max_chars=10_000)
        with st.container(horizontal=True):
            st.button(
                "Acknowledge", key=f"{key}-done", on_click=_acknowledge, args=(identity, alarm.place, key)
            )
            if flags:
                st.button(
                    "Affected people", key=f"{key}-people", on_click=_show_people, args=(identity, alarm)
                )


def _show_people(identity: str, alarm: Alarm) -> None:
    state.keep(f"people-of-{identity}", (alarm.place, alarm.person, alarm.last_person))


@state.keep_errors("alarm-problem")
def _acknowledge(identity: str, place: int | None, key: str) -> None:
    """Acknowledge an alarm, or every one that waits, with the note beside it."""
    state.workspace().check_writable()
    note = state.widget(key) or ""
    if place is None:
        INGEST.monitors.acknowledge_all(identity, note)
    else:
        INGEST.monitors.acknowledge(identity, place, note)


def _all_at_once(identity: str, waiting: int, later: int) -> None:
    with st.container(border=True, key="alarms-all"):
        if later > 0:
            st.text(f"{count(later)} more alarm{'s waiting' if later > 1 else ' waiting'}.")
        key = f"alarm-note-{identity}-all"
        st.text_input("Note for all waiting alarms", key=key, max_chars=10_000)
        st.button(f"Acknowledge all {count(waiting)}", on_click=_acknowledge, args=(identity, None, key))


def flags_card(identity: str, flags: list[Flag]) -> None:
    """Draw the latest flagged people, and one of them in parts."""
    if not flags and state.get(f"people-of-{identity}") is None:
        return
    chosen_alarm = state.get(f"people-of-{identity}")
    if chosen_alarm is None:
        st.subheader("Latest flagged people", anchor=False)
    else:
        place, first, last = chosen_alarm
        st.subheader(
            f"Flagged people of alarm {place + 1} ({count(first + 1)} to {count(last + 1)})", anchor=False
        )
        st.button(
            "All flagged people", key="all-flagged", on_click=state.forget, args=(f"people-of-{identity}",)
        )
    if not flags:
        st.text("Nobody is flagged there, or retention removed them.")
        return
    table = pd.DataFrame(
        {
            "time": [_time(flag.received) for flag in flags],
            "your id": [flag.client_id for flag in flags],
            "sensitivity": [flag.sensitivity for flag in flags],
            "score": [flag.score for flag in flags],
            "most by": [next(iter(flag.contributions), "") for flag in flags],
        },
        index=pd.Index([flag.person + 1 for flag in flags], name="person"),
    )
    st.dataframe(
        table,
        height=min(38 + 35 * len(table), 388),
        column_config=number_columns(table),
        alt="Latest flagged people, latest first",
    )
    people = [str(flag.person + 1) for flag in flags]
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
