"""Saved audits: the list, how one stands, its report, what changed, and what is kept with it."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app import jobs, state
from app.latest_runs import saved_run
from app.serving.downloads import DOWNLOADS
from app.tables.exports import csv_bytes, portable
from app.widgets import notices
from app.widgets.download import download
from app.widgets.people.row_choice import WRAPPING, clickable_table
from app.widgets.people.selected import let_go
from app.widgets.results.export import REPORTS, json_of, report_file
from app.widgets.results.verdict_cards import title_of
from app.workspaces import deletion
from app.workspaces.shares import MAX_DAYS, SharedLink, Shares
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.findings import render
from audits.groups import GroupsResult
from audits.groups.ll144 import suggested_columns
from audits.groups.people import protected_names
from audits.report_kinds import BY_CATEGORY, SMALL_SHARE, TEMPLATES
from audits.runs.comparison.two_models import paired_changes
from audits.runs.gates.compare import before_and_after, compare_runs, comparison_frame, worded_frame
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.runs.storage.saved import RESTARTED, STATUSES, SavedRun, SavedRuns
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, VERDICTS
from audits.stats.text import several

_ANY = "(any)"
_NONE = "(none)"
_ALONE = "Only the report of this audit"
Columns = dict[str, Any]
_VERDICT_WORDS: dict[str, str] = {
    EVIDENCE: "Difference found",
    INSUFFICIENT: "Can't tell yet, or no verdict",
    NO_MATERIAL: "No material difference",
}
_MAX_CHANGES = 500
_MAX_STEM = 60
_SHORT_TITLE = 24  # letters that a line of the list holds


def choose_run(saved: SavedRuns, space: Workspace) -> SavedRun | None:
    """Draw the list with its filters; return the run whose id is in the address, or chosen, or the latest."""
    kept = saved.list(owner=space.token)
    if not kept:
        st.text("Nothing has been run yet.")
        return None
    text = st.text_input("Search in titles, notes and findings", **state.choice("find"))
    with st.grid(3, min_column_width=200, border=False):
        status = st.selectbox("Status", [_ANY, *STATUSES], **state.choice("of-status"))
        verdict = st.selectbox(
            "Verdict",
            [_ANY, *VERDICTS],
            format_func=lambda name: _VERDICT_WORDS.get(name, name),
            **state.choice("of-verdict"),
        )
        audit = st.selectbox(
            "Audit",
            [_ANY, *AUDITS],
            format_func=lambda name: name if name == _ANY else title_of(name),
            **state.choice("of-audit"),
        )
    asked_for = {"status": status, "verdict": verdict, "audit": audit}
    wanted = {name: value for name, value in asked_for.items() if value != _ANY}
    found = saved.list(owner=space.token, text=text, **wanted) if wanted or text else kept
    if not found:
        filtered = text or wanted
        st.text("No saved audit matches." if filtered else "Nothing has been run yet.")
        return None
    table = _listed(found)
    names = {run.id[:12]: run for run in found}
    clickable_table(
        table,
        "saved-runs",
        lambda place: _open_clicked(list(names), place),
        row_height=WRAPPING if table["title"].str.len().max() > _SHORT_TITLE else None,
        column_config={
            "title": st.column_config.TextColumn(width=155),  # a phone has all of the verdict beside it
            "status": st.column_config.TextColumn(width=90),
            "verdict": st.column_config.TextColumn(width=165),
        },
        alt="Saved audits, latest first; a click opens one",
    )
    asked = state.address_value("run")
    linked = saved_run(space, asked) if asked else None
    opened = linked.id[:12] if linked and linked.id[:12] in names else found[0].id[:12]
    if asked and linked is None:
        notices.note("The audit in this link is no longer saved. This is the latest one.")
    if state.widget("open") != opened:
        state.set_widget("open", opened)
    key = st.selectbox(
        "Open",
        list(names),
        format_func=lambda name: _unique_title(names[name]) if name in names else name,
        key="open",
        on_change=_open_chosen,
    )
    state.put_in_address("run", key)  # the latest too: a link must not move on to the next run
    return names.get(str(key))


def _listed(runs: Sequence[SavedRun]) -> pd.DataFrame:
    """Return a row for each saved audit."""
    rows = [
        (run.title, _short_badge(run), _when(run.created), run.status, run.finding or run.error)
        for run in runs
    ]
    return pd.DataFrame(rows, columns=["title", "verdict", "started", "status", "finding"])


def _short_badge(run: SavedRun) -> str:
    """Return a run's badge without what follows it."""
    return run.badge.partition(" · ")[0] or _VERDICT_WORDS.get(run.verdict, "")


def _open_clicked(names: list[str], place: int | None) -> None:
    if place is not None:
        state.put_in_address("run", names[place])


def _open_chosen() -> None:
    let_go("saved-runs")
    state.put_in_address("run", state.widget("open"))


def _badge(result: RunResult) -> str:
    """Return the badge of what the run says first, as its own page shows it."""
    compared = result.compared
    return result.headline().leads.badge_text if compared is None else compared.changes.judged.badge_text


def status_section(space: Workspace, run: SavedRun, result: RunResult | None) -> None:
    """Write how a run stands, with its finding, or why it has none and the way to start it again."""
    st.subheader(notices.label(run.title, 200), anchor=False)
    st.caption(_when(run.created))
    if RESTARTED in run.note:
        notices.note(RESTARTED)
    if run.status == "done":
        with st.container(key="finding"):
            st.text(run.finding)
        with st.container(key="verdict"):
            badge = _short_badge(run) if result is None else _badge(result)
            st.badge(notices.label(badge, 200), color="gray")
        return
    words = {
        "running": "It is still running.",
        "failed": run.error or "It failed.",
        "cancelled": "It was cancelled.",
        "interrupted": run.error
        or "It was interrupted: the program ended before the run did. Nothing was saved.",
    }
    notices.note(words[run.status])
    if run.status != "running":
        _button("Start again", "again", lambda: jobs.restart_run(space, run.id))


def report_section(space: Workspace, run: SavedRun, result: RunResult) -> None:
    """Draw the downloads of a run's report."""
    st.subheader("Report", anchor=False)
    kinds = [name for name in TEMPLATES if name != "comparison" or result.compared is not None]
    template = st.selectbox("Kind", kinds, format_func=TEMPLATES.__getitem__, **state.choice("kind"))
    columns = _law_columns(result) if template in BY_CATEGORY else {}
    result = dataclasses.replace(result, spec=portable(result.spec))
    told = file_stem(run)
    name = told if template == "full" else f"{told}-{template}"
    files: dict[str, tuple[str, str, Callable[[], bytes]]] = {
        words: (f"{name}.{kind}", mime, partial(report_file, space, result, kind, template, **columns))
        for kind, (words, mime) in REPORTS.items()
    }
    tables = partial(jobs.export, space, result, "tables")
    files["JSON"] = (f"{told}.json", "application/json", lambda: json_of(result))
    files["Tables (ZIP of CSV)"] = (f"{told}-tables.zip", "application/zip", tables)
    files["Model card"] = (f"{told}-model-card.md", "text/markdown", lambda: render(result, "card"))
    with st.container(horizontal=True):
        for label, file in files.items():
            download(label, *file, key=f"report-{label}")
    st.caption("A report supports an assessment. It is not legal advice.")


def file_stem(run: SavedRun) -> str:
    """Return how the files of a run begin: what it is, the day, and enough of its id to tell it from others.

    Letters and digits of any script stay; everything else becomes a hyphen.
    """
    words = re.sub(r"[^\w.]+|[_.]+(?=\W|$)", "-", run.title).strip("-.").lower()
    day = time.strftime("%Y-%m-%d", time.localtime(run.created))
    return f"{words[:_MAX_STEM].strip('-.') or 'audit'}-{day}-{run.id[:8]}"


def _law_columns(result: RunResult) -> Columns:
    """Draw what such tables ask: the columns of sex and race or ethnicity, and which categories are small."""
    found = next(
        (
            audit.result
            for audit in result.audits
            if isinstance(audit.result, GroupsResult) and audit.result.amounts is None
        ),
        None,
    )
    if found is None:
        notices.note("These tables need a group comparison (Groups) in the run.")
        return {}
    names = [_NONE, *protected_names(found.people)]
    suggested = suggested_columns(found)
    with st.container(horizontal=True):
        chosen = [
            st.selectbox(label, names, index=names.index(first) if first else 0, **state.choice(f"law-{key}"))
            for label, key, first in (
                ("Column that holds sex", "sex", suggested[0]),
                ("Column that holds race or ethnicity", "race", suggested[1]),
            )
        ]
        percent = st.number_input(
            "Leave out of the ratios below (% of people)",
            0.0,
            100 * SMALL_SHARE,
            100 * SMALL_SHARE,
            step=0.5,
            format="%g",
            help="The rules allow categories this small to be left out of the impact ratios, with a "
            "reason. Their numbers are still shown. 0 leaves none out.",
            **state.choice("law-under"),
        )
    if chosen[0] == chosen[1] != _NONE:
        notices.problem("Choose two different columns.")
    named = {name: value for name, value in zip(("sex", "race"), chosen, strict=True) if value != _NONE}
    return {**named, "exclude_under": percent / 100}


def compare_section(saved: SavedRuns, space: Workspace, run: SavedRun, result: RunResult) -> None:
    """Say what changed between this run and another."""
    others = {
        other.id[:12]: other for other in saved.list(owner=space.token, status="done") if other.id != run.id
    }
    if not others:
        return
    st.subheader("What changed", anchor=False)
    key = st.selectbox(
        "Against",
        ["(none)", *others],
        format_func=lambda name: _unique_title(others[name]) if name in others else name,
        **state.choice("against"),
    )
    if key not in others:
        return
    try:
        other = jobs.saved_result(space, others[key].id)
        changes = compare_runs(other, result)
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
        return
    matters = before_and_after(other, result)
    st.table(matters.set_index("what"))
    for each in paired_changes(other, result):
        st.text(f"{title_of(each.audit)}, on the same people: {each.verdict}. {each.headline}")
        with st.expander(
            f"{title_of(each.audit)}: every number, with paired intervals", key=f"paired-{each.audit}"
        ):
            st.dataframe(each.worded(), hide_index=True, alt=each.headline)
    table = worded_frame(changes[:_MAX_CHANGES])
    more = f" The first {_MAX_CHANGES} are shown." if len(changes) > _MAX_CHANGES else ""
    st.text(f"{several(len(changes), 'difference')}. “Before” is the other run, “after” is this one.{more}")
    if len(table):
        with st.expander("Every difference", key="every-difference"):
            st.dataframe(table, hide_index=True, alt="What changed between the two runs")
            name = f"{file_stem(run)}-changes.csv"
            download("CSV", name, "text/csv", lambda: csv_bytes(comparison_frame(changes)), key="report-CSV")


def keep_section(saved: SavedRuns, space: Workspace, run: SavedRun) -> None:
    """Draw title, note and deletion."""
    if space.read_only:
        return
    with st.expander("Rename, annotate, delete", key="keep-saved"):
        with st.form(f"keep-{run.id[:12]}"):
            name = st.text_input("Title", run.title, max_chars=200, key=f"title-{run.id[:12]}")
            note = st.text_area("Note", run.note, max_chars=10_000, key=f"note-{run.id[:12]}")
            sent = st.form_submit_button("Save", key="save")
        if sent:
            try:
                saved.rename(run.id, name, space.token)
                saved.annotate(run.id, note, space.token)
                st.rerun()
            except (InputError, RunFailed) as error:
                notices.problem(str(error))
        sure = st.checkbox("Delete this saved audit for good", key=f"sure-{run.id[:12]}")
        if sure:
            _button("Delete", "delete", lambda: deletion.delete(space, run.id))


def share_section(space: Workspace, run: SavedRun | None = None, result: RunResult | None = None) -> None:
    """Offer links by which others look at this workspace or at one report, and list those that hold."""
    if space.read_only:
        return
    shares = Shares()
    with st.expander("Share", key="share"):
        alone = (
            result is not None
            and st.radio("The link shows", ["The whole workspace", _ALONE], horizontal=True, key="share-what")
            == _ALONE
        )
        st.text(
            "Until the link expires, anyone who has it can read this report, but no table and no page."
            if alone
            else "Until the link expires, anyone who has it can view this workspace, rows included, but not "
            "change it."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            days = st.number_input("Days", 1, MAX_DAYS, 14, key="share-days", width=120)
            if st.button("Create a link", key="share-make"):
                _make_link(shares, space, int(days), run if alone else None, result)
        for share in shares.of(space):
            with st.container(horizontal=True, vertical_alignment="center"):
                by = f" by {share.by}" if share.by else ""
                shown = " to a report" if share.report else ""
                st.text(
                    f"Link {share.id[:8]}{shown}, made {_when(share.made)}{by}, valid until "
                    f"{_when(share.expires)}"
                )
                st.button(
                    "Revoke", key=f"revoke-{share.id[:12]}", on_click=_revoke, args=(shares, space, share)
                )


def _make_link(
    shares: Shares, space: Workspace, days: int, run: SavedRun | None, result: RunResult | None
) -> None:
    try:
        told: dict[str, Any] = {}
        if run is not None and result is not None:
            kept = dataclasses.replace(result, spec=portable(result.spec))
            told = {"report": DOWNLOADS.path(report_file(space, kept, "html")), "run": run.id}
        share, secret = shares.make(space, days, space.person, **told)
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
        return
    state.note("shared", space, share.id[:8])
    notices.note("This is the link. Copy it now: it is not stored and will not be shown again.")
    server = state.server_address()
    st.code(f"{server}/report/{secret}" if told else f"{server}/glance?share={secret}", language=None)


def _revoke(shares: Shares, space: Workspace, share: SharedLink) -> None:
    shares.revoke(share)
    state.note("revoked", space, share.id[:8])


def erase_section(space: Workspace) -> None:
    """Offer to remove the whole workspace."""
    if space.read_only:
        return
    _uploads(space)
    with st.expander("Delete everything", key="delete-everything"):
        st.text("This removes the workspace's uploads, audits, results and monitors from the server.")
        if st.checkbox("Delete this workspace for good", key="sure-of-all"):
            _button("Delete everything", "erase", lambda: deletion.erase(space))


def _uploads(space: Workspace) -> None:
    files = space.files()
    if not files:
        return
    with st.expander(f"Uploaded files ({len(files)})", key="uploaded-files"):
        st.text("Deleting a file also deletes its audits, because they hold its rows.")
        for path in files:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{path.name} · {(space.folder / path).stat().st_size / 1e6:,.1f} MB")
                key = path.parent.name
                if st.checkbox("Delete for good", key=f"sure-{key}"):
                    _button("Delete", f"upload-{key}", partial(deletion.delete_upload, space, path))


def _button(label: str, key: str, act: Callable[[], object]) -> None:
    """A button whose act may find that the run is gone; what is wrong is told on the page."""
    if st.button(label, key=key):
        try:
            act()
        except (InputError, RunFailed) as error:
            notices.problem(str(error))
            return
        st.rerun()


def _unique_title(run: SavedRun) -> str:
    """Name a run so that no other has the same name."""
    return f"{run.title} · {_when(run.created)} · {run.id[:8]}"


def _when(seconds: float) -> str:
    return time.strftime("%d %B %Y, %H:%M", time.localtime(seconds))
