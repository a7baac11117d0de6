"""Making a monitor from a finished audit or from predictions alone, and its token, shown once."""

from __future__ import annotations

import base64
from typing import Any

import streamlit as st

from app import jobs, state
from app.drafts.drafts import audit_spec
from app.drafts.validation import problems
from app.serving.monitor_api import INGEST
from app.serving.webhook import webhook_hosts
from app.widgets import notices
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.monitor.bundle import MonitorBundle
from audits.monitor.recoding import with_values
from audits.monitor.windows import audits_of_windows, needing_rows, nouns
from audits.records import resolve
from audits.runs.registry import AUDITS

_PREDICTIONS = "Predictions on Data & model, without the model"


def finished_audits(space: Workspace) -> dict[str, dict[str, Any]]:
    """Return the specs of finished audits that a monitor can be made of by title, latest first."""
    able = {audit.name for audit in AUDITS.having("bundle")}
    found: dict[str, dict[str, Any]] = {}
    for record in space.runs():
        if not record["spec"].get("audits", [{}])[0].keys() <= able:
            continue
        try:
            finished = jobs.status_of(space, record["spec"]).finished
        except InputError:
            continue  # its file is gone
        if finished:
            found.setdefault(f"{record['title']} · {record['key'][:8]}", record["spec"])
    draft = space.draft()
    if draft is not None and problems(space, draft).ready:
        found[_PREDICTIONS] = audit_spec(draft, audits_of_windows()[0].name, {})
    return found


def _bundle(space: Workspace, spec: dict[str, Any], note: str, *, audited: bool) -> MonitorBundle:
    """Return what a monitor is made of: a finished audit's bundle, or one of predictions alone."""
    if audited:
        run = jobs.result(space, spec)
        [audit] = run.audits
        return with_values(resolve(AUDITS[audit.name].bundle)(audit.result, note=note), run.spec["data"])
    asked = jobs.ask(space, spec, {"of": "audits.monitor.bundle:packed_predictions", "note": note})
    with st.spinner("Reading the predictions"):
        asked.wait()
    if asked.answer is None:
        raise RunFailed(asked.error.sentence if asked.error else "The predictions could not be read.")
    made = MonitorBundle.parse(asked.answer["text"], base64.b64decode(asked.answer["weights"]))
    return with_values(made, spec["data"])


def _retention() -> tuple[int, int]:
    """Draw how long what came in is kept, and of how many people; return both."""
    with st.container(horizontal=True):
        days = st.number_input("Retention (days)", min_value=1, max_value=3650, value=90)
        most = st.number_input(
            "Retention (people)",
            min_value=1,
            max_value=10**9,
            value=1_000_000,
            step=100_000,
            help="Anything older, or about earlier people, is removed every ten minutes: sensitivities, "
            "flagged people, and the keys that recognize a batch sent twice. Counts and alarms stay.",
        )
    return int(days), int(most)


def make_monitor(audits: dict[str, dict[str, Any]], space: Workspace) -> None:
    """Draw the form; after it, the new monitor's token."""
    made_before = len(INGEST.monitors.of_owner(space.token))  # once one is made the form is empty again
    with st.form(f"new-monitor-{made_before}"):
        chosen = st.selectbox(
            "From",
            list(audits),
            help="A sensitivity audit includes the model and flags people. Predictions alone are enough "
            "to watch inputs, scores, decisions, groups and outcomes.",
        )
        name = st.text_input("Name", max_chars=200)
        note = st.text_area("Note (who owns it, what to do on an alarm)", max_chars=10_000)
        with st.container(horizontal=True):
            between = st.number_input(
                "People per false alarm", min_value=100, max_value=10**8, value=100_000, step=1000
            )
            times = st.number_input("Increase in flags to detect (times)", 1.1, 10.0, 2.0, step=0.1)
        days, most = _retention()
        keep_rows = st.checkbox(
            "Keep rows",
            help="Off: the monitor keeps what it finds about a row, not the row. On: incoming rows can also "
            f"be audited for {nouns(needing_rows())}, until retention removes them.",
        )
        hosts = webhook_hosts()
        webhook = st.text_input(
            "Webhook for alarms",
            disabled=not hosts,
            help=f"Allowed hosts: {', '.join(hosts)}" if hosts else "EVENHAND_WEBHOOK_HOSTS names no host.",
        )
        made = st.form_submit_button("Create the monitor", key="create-monitor", type="primary")
    if not made:
        return
    try:
        space.check_writable()
        bundle = _bundle(space, audits[chosen], note, audited=chosen != _PREDICTIONS)
        monitor, token = INGEST.monitors.create(
            bundle,
            name=name,
            owner=space.token,
            note=note,
            keep_days=days,
            keep_people=most,
            people_between=float(between),
            times=float(times),
            keep_rows=keep_rows,
            webhook=webhook or "",
            webhook_hosts=hosts,
        )
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
        return
    state.note("monitor made", space, monitor.id)
    state.keep("new-monitor", (monitor.id, token))
    state.keep("open-monitor", monitor.id)
    st.rerun()
