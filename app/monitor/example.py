"""The month that a bundled example's monitor saw: shown until there is a monitor of your own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app.monitor.alarms import alarm_row
from app.monitor.dashboard import TABS, alarms_badge, chart_card, state_head, unseen_values
from app.widgets.frame import page_text
from audits.monitor.example_stream import ExampleStream, example_stream
from audits.stats.text import count, several


def stream_of(draft: Mapping[str, Any] | None) -> ExampleStream | None:
    """Return the stream of the example that is open; None where it is none, or has no stream."""
    name = None if draft is None else draft["source"].get("sample")
    return None if name is None else example_stream(name)


def watch_example(stream: ExampleStream) -> None:
    """Draw an example's month on the anatomy of a monitor."""
    early = [alarm for alarm in stream.alarms if alarm.raised < stream.began]
    later = [alarm for alarm in stream.alarms if alarm.raised >= stream.began]
    seen = sum(point.people for point in stream.points if point.received < stream.began)
    found = (
        f" The first alarm came after {several(later[0].person + 1 - seen, 'more person')}" if later else ""
    )
    found = found.replace("more persons", "more people")
    state_head(f"{stream.incident}{found}.".replace("..", "."), alarms_badge(len(later)))
    st.caption(
        f"An example: {count(stream.people)} generated predictions over {len(stream.points)} days. "
        f"Before the incident {count(len(early)) if early else 'no'} alarm was raised."
    )
    chart_card(stream.points, stream.chart, stream.alarms)
    alarms, incoming, tested = st.tabs(TABS, key="monitor-tabs")
    with alarms:
        rows = pd.DataFrame([alarm_row(alarm) for alarm in stream.alarms])
        st.dataframe(rows, hide_index=True, alt="Alarms of the example")
        for alarm in later:
            said, _, more = alarm.sentence.partition(". Without")[0].partition(" (after ")
            st.text(f"{said}.{more.partition(').')[2]}".rstrip(".") + ".")
    with incoming:
        unseen_values(stream.columns)
    with tested:
        st.markdown(page_text("monitor_reading"))
