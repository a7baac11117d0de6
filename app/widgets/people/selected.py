"""The people selected, on every page: the chip that names them, and what can be made of them."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from secrets import token_hex
from typing import Any

import pandas as pd
import streamlit as st

from app import jobs, state
from app.drafts.drafts import made_groups, with_data
from app.selection import Selection, read_selection, run_of
from app.tables.handles import DataHandle
from app.widgets import notices
from app.widgets.download import download
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.runs.result import RunResult
from audits.stats.text import count

_MAX = 80


def select(terms: Sequence[Mapping[str, Any]], by: str = "") -> None:
    """Select the people who meet all terms, in place of who was selected: in a callback.

    A term about "this run" is about the run whose result the page shows. `by` is the figure or table that was
    clicked: see `clickable`.
    """
    if _about_shown(terms) and _shown_run(state.workspace()) is None:
        return
    run = state.address_value("run")
    made = [{**term, "run": run} if term.get("run") == "" else dict(term) for term in terms]
    _selecting(by)
    state.select(json.dumps(made, ensure_ascii=False, separators=(",", ":")))


def clickable(name: str) -> str:
    """Return the key of the figure or table `name`: a new one once its click counts no more.

    A browser keeps what was clicked, and tells nothing of a click on the same again.
    """
    times = state.get(f"let go {name}", 0)
    return f"{name}-{times}" if times else name


def let_go(name: str) -> None:
    """Have the click on the figure or table `name` count no more: in a callback."""
    state.keep(f"let go {name}", state.get(f"let go {name}", 0) + 1)


def _selecting(by: str) -> None:
    """Note what selects now, and let go of what did before."""
    before = state.get("selecting", "")
    if before and before != by:
        let_go(before)
    state.keep("selecting", by)


def _take_back() -> None:
    _selecting("")
    state.select("")


def only_selected(table: pd.DataFrame) -> pd.DataFrame | None:
    """Return the rows of a table of people who are selected; None where nobody is."""
    kept = state.get("people selected")
    if kept is None or kept[0] != state.selection_in_address() or not kept[0]:
        return None
    return table[table.index.isin(kept[1])]


def selection_chip(space: Workspace) -> None:
    """Draw who is selected, with the ways to take them away, to make a group of them, and to clear it."""
    draft = space.draft()
    if draft is None:
        return
    among_note(space, draft)
    if not state.selection_in_address():
        return
    try:
        chosen = read_selection(state.selection_in_address())
        data, _ = data_of(space, draft["spec"], "the people selected")
        words, rows, people = _selected_people(space, chosen, data)
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
        st.button("Clear the selection", key="selection-clear", on_click=_take_back)
        return
    state.keep("people selected", (chosen.text, rows))
    with st.container(key="selection", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            notices.label(f"{words}: {count(people)} {'person' if people == 1 else 'people'}  ×", 160),
            key="selection-chip",
            on_click=_take_back,
            help="Take the selection back",
        )
        make = partial(jobs.export_people, space, data, rows)
        more = {"what": "people selected", "type": "tertiary", "key": "selection-csv"}
        download("Selected people (CSV)", "people-selected.csv", "text/csv", make, **more)
        if not space.read_only:
            with st.popover("Make this a group", type="tertiary", key="selection-group"):
                _make_group(space, chosen, data, words)
    if told := beyond_audit(chosen, _shown_run(space)):
        notices.note(told)


def beyond_audit(chosen: Selection, shown: RunResult | None) -> str:
    """Say where people were selected among all, and the audit that the page shows looked at some of them."""
    if shown is None or chosen.of_runs or not chosen.terms:
        return ""
    audited, used = shown.data["rows_audited"], shown.data["rows_used"]
    if audited >= used:
        return ""
    return f"The selection covers all {count(used)} rows; this audit looked at {count(audited)} of them."


def among_note(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Say so where only some people are audited, with the way back to everyone."""
    rules = draft["spec"]["data"].get("among")
    if not rules:
        return
    names = [str(value) for rule in rules for value in rule.get("in", ())]
    with st.container(key="among", horizontal=True, vertical_alignment="center"):
        notices.note(f"Only these people are audited: {' and '.join(names) or 'a part of them'}.")
        st.button(
            "Audit everybody",
            key="among-all",
            type="tertiary",
            on_click=_audit_all,
            args=(space,),
            disabled=space.read_only,
        )


_worded: weakref.WeakKeyDictionary[RunResult, dict[str, str]] = weakref.WeakKeyDictionary()
"""The words of whom a run's figures stand for: found once, which takes longer than most of a page."""


def selection_texts(space: Workspace, people: Sequence[str]) -> dict[str, str]:
    """Return selections, each terms as JSON, by their words.

    Those about "this run" only where the page shows a run of one audit: such a term does not say of which
    audit of several it is, as in the guided demo, and is of no run where the address names none.
    """
    terms = {each: tuple(json.loads(each)) for each in people}
    shown = _shown_run(space) if any(map(_about_shown, terms.values())) else None
    found: Callable[[str], Any] = cache(lambda key: run_of(space, key) if key else shown)
    told = {each: own for each, own in terms.items() if shown or not _about_shown(own)}
    known: dict[str, str] = {} if shown is None else _worded.setdefault(shown, {})
    for each, own in told.items():
        if each not in known or any(term.get("run") for term in own):
            known[each] = Selection("", own).words(found)
    return {known[each]: each for each in told}


def _about_shown(terms: Sequence[Mapping[str, Any]]) -> bool:
    return any(term.get("run") == "" for term in terms)


def _shown_run(space: Workspace) -> RunResult | None:
    """Return the run that the page shows, where it is one of a single audit."""
    if not (key := state.address_value("run")):
        return None
    try:
        found = run_of(space, key)
    except InputError:
        return None
    return found if len(found.audits) == 1 and found.compared is None else None


def _selected_people(space: Workspace, chosen: Selection, data: DataHandle) -> tuple[str, pd.Index, float]:
    """Return the words, the rows and the number of people selected, found once for these data."""
    kept = state.get("selection found")
    mark = (chosen.text, data.digest)
    if kept is None or kept[0] != mark:
        kept = (mark, (chosen.words(partial(run_of, space)), *chosen.rows(space, data)))
        state.keep("selection found", kept)
    return kept[1]


def _make_group(space: Workspace, chosen: Selection, data: DataHandle, words: str) -> None:
    st.text(
        "The group becomes a column of the data. Any audit can then compare it with everyone else, or "
        "look only at it."
    )
    name = words.replace(", ", " & ")[:_MAX]
    st.text_input("Its name", name, max_chars=_MAX, key="group-name")
    for label, key, only in (
        ("Compare it with everyone else", "group-compare", False),
        ("Audit only these people", "group-only", True),
    ):
        st.button(label, key=key, on_click=_save_group, args=(space, chosen, data, name, only))


@state.report_errors
def _save_group(space: Workspace, chosen: Selection, data: DataHandle, proposed: str, only: bool) -> None:
    """Put the group into the draft: as a protected attribute, or as who is audited."""
    draft = space.draft()
    name = " ".join((state.widget("group-name") or proposed).split())
    if draft is None:
        raise InputError("the group", "needs data", advice="choose them first")
    section = draft["spec"]["data"]
    if name in data.frame and name not in made_groups(section):
        raise InputError("the group", "must not be the name of a column", name, "rename it")
    recode = data.group_of(chosen.of_data, chosen.rows_of_runs(space))
    changes: dict[str, Any] = {"recode": {**(section.get("recode") or {}), name: recode}}
    if only:
        changes["among"] = [{"column": name, "in": [name]}]
    elif name not in (section.get("protected") or ()):
        changes["protected"] = [*(section.get("protected") or ()), name]
    # what controls and addresses remember belongs to the data as they were
    state.forget_addresses()
    if not only and isinstance(shown := state.widget("groups-by"), list):
        state.set_widget("groups-by", [*dict.fromkeys([*shown, name])])
    space.save_draft({**with_data(draft, **changes), "id": token_hex(4)})
    _take_back()


@state.report_errors
def _audit_all(space: Workspace) -> None:
    draft = space.draft()
    if draft is not None:
        space.save_draft({**with_data(draft, among=None), "id": token_hex(4)})
