"""A monitor as it stands: chart, drift, alarms, flagged people, drawn again every few seconds."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import state
from app.monitor.alarms import alarms_card, flags_card
from app.monitor.transfer import give_file, remove_or_export, send
from app.monitor.windows import audit_window
from app.serving.monitor_api import INGEST
from app.widgets import notices
from app.widgets.results.figure_card import figure_card
from app.widgets.run_bar import fold
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.monitor import figures
from audits.monitor.alarms import SEVERITIES, Alarm
from audits.monitor.dashboard import Drift, GroupRates, Point
from audits.monitor.monitors import StoredMonitor
from audits.stats import Estimate
from audits.stats.control import Chart, reference_for
from audits.stats.text import count, number, p_words, percent, percent_interval, several
from audits.stats.text import people as people_words
from audits.text import in_points

TABS = ("Alarms and people", "Inputs, scores and groups", "How we test")

_NOTHING = "No predictions have come in yet. See below what to send."

_REFRESH = "5s"
_LONG_NOTE = 300  # characters


def choose_monitor(space: Workspace) -> StoredMonitor | None:
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


def watch(monitor: StoredMonitor, space: Workspace) -> None:
    """Draw a monitor; what is live is drawn again every few seconds."""
    st.subheader(notices.label(monitor.name), anchor=False)
    if len(monitor.note) > _LONG_NOTE:  # what is wrong now shall be in sight
        with st.expander("Note", key="monitor-note"):
            st.text(monitor.note)
    elif monitor.note:
        st.text(monitor.note)
    _token(monitor)

    @st.fragment(run_every=_REFRESH)
    def live() -> None:
        _live(monitor.id)

    live()
    if space.read_only:
        return
    give_file(monitor)
    audit_window(monitor, space)
    with fold("Send predictions", "send-predictions", opened=not monitor.people):
        send(monitor)
    with st.expander("Export or remove", key="export-monitor"):
        remove_or_export(monitor, space)


def _delay(monitor: StoredMonitor) -> tuple[float, int | None]:
    """Return how late twice the audit's flags are found, and how many reference people would halve that."""
    return _reference(max(monitor.bundle.above / monitor.bundle.people, 1e-4), monitor.chart)


@functools.lru_cache(maxsize=200)
def _reference(rate: float, chart: Chart) -> tuple[float, int | None]:
    return reference_for(rate, chart)


def _token(monitor: StoredMonitor) -> None:
    new = state.get("new-monitor")
    if new is not None and new[0] == monitor.id:
        notices.note(
            "This is the monitor's token. Copy it now: it is not stored and will not be shown again."
        )
        st.code(new[1], language=None)
        st.button("I have copied it", key="token-copied", on_click=state.forget, args=("new-monitor",))


def _live(identity: str) -> None:
    try:
        monitor = INGEST.monitors.get(identity)
        points, alarms = INGEST.monitors.points(identity), INGEST.monitors.alarms(identity)
        chosen = state.get(f"people-of-{identity}")
        within = None if chosen is None else chosen[1:]
        flags, drift = INGEST.monitors.flags(identity, 200, within), INGEST.monitors.drift(identity)
        columns, rates = INGEST.monitors.counted(identity), INGEST.monitors.rates(identity)
        waiting = INGEST.monitors.waiting(identity)
    except InputError:
        st.text("This monitor no longer exists.")
        return
    except RunFailed as error:
        notices.problem(str(error))
        return
    lasting = [alarm for alarm in alarms if alarm.lasts]
    if not monitor.people:
        state_head(_NOTHING, "◌ No predictions yet")
        return
    measured = monitor.bundle.audited is not None
    early = not lasting and measured and monitor.people < _delay(monitor)[0]  # nor would much be found yet
    badge = "○ Can't tell yet" if early else alarms_badge(len(lasting), over=len(alarms) - len(lasting))
    state_head(_too_early(monitor) if early else _wrong(alarms), badge)
    if measured:
        with st.container(key="counted"):
            st.caption(f"{_flag_count(monitor)}.")
        chart_card(points, monitor.chart, alarms)
    else:
        st.caption(f"{people_words(monitor.people)} so far, watched without the model: nobody is flagged.")
    people, incoming, tested = st.tabs(TABS, key="monitor-tabs")
    with people:
        alarms_card(identity, alarms, waiting, flags=measured)
        flags_card(identity, flags)
    with incoming:
        if drift.distance is not None:
            reference = monitor.bundle.reference
            figure_card(
                "monitor-drift",
                figures.drift(drift, reference, monitor.bundle.threshold),
                lambda: pd.DataFrame({"sensitivity": drift.values}),
                heading="Sensitivity of the latest people, beside the baseline",
                caption="Lines: share of people. Right of the threshold: flagged.",
            )
        unseen_values(columns)
        _groups(rates)
    with tested:
        if monitor.bundle.audited is not None:
            st.text(_finding(monitor, drift, waiting[0]))
        else:
            once = f"at most once in {count(monitor.budget)} people on average"
            st.text(f"Without any change, an alarm of any kind is raised {once}.")


def alarms_badge(alarms: int, *, over: int = 0) -> str:
    """Return the badge of a monitor to which enough people came: of alarms that last, and that are over."""
    if alarms:
        return f"● {several(alarms, 'alarm')}"
    return "○ No new change lately" if over else "✓ In control"


def state_head(said: str, badge: str) -> None:
    """Write the badge and the sentence of how it stands."""
    with st.container(key="verdict"):
        st.badge(badge, color="gray")
    with st.container(key="finding"):
        st.text(said)


def chart_card(points: Sequence[Point], chart: Chart, alarms: Sequence[Alarm]) -> None:
    """Draw the control chart with its alarms."""
    figure_card(
        "monitor-chart",
        figures.control_chart(points, chart, alarms),
        lambda: figures.points_frame(points, chart.limit),
        heading="Is it still like the day of the audit?",
        caption=f"Dot: share flagged in a batch; up to {percent(chart.rate, 1000)} (dotted) is in control. "
        "Line: evidence for more flags, which alarms at its limit. Cross: any alarm.",
    )


def _too_early(monitor: StoredMonitor) -> str:
    people = "one person" if monitor.people == 1 else f"{count(monitor.people)} people"
    return f"Nothing is out of control so far, but {people} cannot show much."


def _wrong(alarms: list[Alarm]) -> str:
    """Say in one sentence what is wrong now."""
    lasting = [alarm for alarm in alarms if alarm.lasts]
    if not lasting:
        return "No new change was found lately." if alarms else "Nothing is out of control now."
    worst = max(lasting, key=lambda alarm: SEVERITIES.index(alarm.severity))
    more = len(lasting) - 1
    also = f" {count(more)} other condition{'s persist' if more > 1 else ' persists'}, too." if more else ""
    return f"{worst.sentence.partition('. Without')[0].partition(' (after')[0]}.{also}"


def unseen_values(columns: dict[str, dict[str, int]]) -> None:
    """Draw how many values by column were odd."""
    if columns:
        st.subheader("Values the audit never saw", anchor=False)
        table = pd.DataFrame.from_dict(columns, orient="index").fillna(0).astype(int)
        st.dataframe(table.rename_axis("column"), alt="Values by column that the audit never saw")


def _groups(rates: list[GroupRates]) -> None:
    """Draw the rates of groups."""
    if rates:
        st.subheader("Groups so far", anchor=False)
        st.text("Each interval holds however often you look, for all groups of an attribute together.")
        rows = [
            {
                "attribute": each.attribute,
                "group": each.group,
                "people": each.people,
                "favorable": percent_interval(each.selection),
                "minus the others": _points(each.selection_gap),
                "outcomes": each.outcomes,
                "true positives": percent_interval(each.true_positives),
                "false positives": percent_interval(each.false_positives),
                "outcome minus score": _points(each.calibration),
            }
            for each in rates
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Rates of groups")
        for attribute in dict.fromkeys(each.attribute for each in rates):
            own = [each for each in rates if each.attribute == attribute]
            people, known = sum(each.people for each in own), sum(each.outcomes for each in own)
            if 0 < known < people:
                st.text(
                    f"By {attribute}, the outcomes of {count(people - known)} of {count(people)} people are "
                    "unknown. If bad ones are known sooner, outcomes seem worse than they are. If they are "
                    "known mainly after one decision, the true and false positive rates are wrong; after one "
                    "decision alone, they are not stated."
                )


def _points(gap: Estimate) -> str:
    if gap.value is None or gap.low is None or gap.high is None:
        return "–"
    value, low, high = (in_points(end, signed=True) for end in (gap.value, gap.low, gap.high))
    return f"{value} ({low} to {high}) points"


def _flag_count(monitor: StoredMonitor) -> str:
    were = "person was" if monitor.people == 1 else "people were"
    return f"{count(monitor.flagged)} of {count(monitor.people)} {were} flagged"


def _finding(monitor: StoredMonitor, drift: Drift, waiting: int) -> str:
    chart = monitor.chart
    late, needed = _delay(monitor)
    latest = "" if drift.people == monitor.people else f"; among the latest {count(drift.people)}"
    shorter = f"; {count(needed)} reference people would halve that" if needed else ""
    text = (
        f"{_flag_count(monitor)}{latest}: {percent_interval(drift.flagged)}. Up to "
        f"{percent(chart.rate, 1000)} count as in control. Without any change, an alarm of any kind is "
        f"raised at most once in {count(monitor.budget)} people on average. Twice as many flags as in the "
        f"audit are noticed within about {count(late)} people{shorter}. The chart stands at "
        f"{100 * monitor.chart_value / chart.limit:.0f}% of its limit; "
        f"{count(waiting) if waiting else 'no'} alarm{' is' if waiting == 1 else 's are'} waiting."
    )
    if drift.p_value is not None:
        text += (
            " The largest gap between the latest sensitivities and the baseline is "
            f"{number(drift.distance)} (p {p_words(drift.p_value)}, however often you look)."
        )
    return text
