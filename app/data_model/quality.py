"""What is likely wrong with the data, a card each, with a button that mends it and one that takes it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

import streamlit as st

from app import jobs
from app.data_model.columns import features_of
from app.drafts.drafts import with_data, with_data_restored
from app.drafts.sanity import too_good
from app.tables.columns import ColumnProfile
from app.widgets import notices
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.data.quality.findings import Finding, Mend
from audits.errors import InputError
from audits.stats.text import several

SHAPES = frozenset({"second header", "sheets", "count table", "rows that belong together", "spellings"})
"""Findings about what rows, columns and values are: asked before anything else."""
BLOCKING = frozenset({"undecided", "infinite", "impossible", "words among numbers", "written numbers"})
"""Findings for which an audit may refuse to run."""


def doctor_section(
    space: Workspace,
    draft: dict[str, Any],
    profiles: Sequence[ColumnProfile],
    only: frozenset[str] | None = None,
) -> dict[str, Any]:
    """Draw a card for each thing found, of some kinds `only`; return the draft with what a click mends.

    Below them stands what was mended.
    """
    done: list[dict[str, Any]] = list(draft.get("mended") or ())
    cards = open_findings(space, draft, only)
    if not cards and not done and only is None:
        st.text("Nothing here needs fixing.")
    if (after := finding_cards(draft, profiles, cards)) is not draft:
        return after
    for place, each in enumerate(done):
        with st.container(horizontal=True, vertical_alignment="center", key=f"quiet-mended-{place}"):
            st.text(f"Fixed: {each['said']}", width="stretch")
            if place == len(done) - 1 and st.button("Undo", type="tertiary", key="unmend"):
                back = with_data_restored(draft, each["before"])
                return {**back, "mended": done[:-1], "id": token_hex(4)}
    return draft


def finding_cards(
    draft: dict[str, Any], profiles: Sequence[ColumnProfile], cards: Sequence[Finding], place: str = ""
) -> dict[str, Any]:
    """Draw findings with their buttons; return the draft with what a click mends, else the draft itself.

    `place` tells the keys of one list on a page from those of another.
    """
    if cards:
        st.subheader("Worth a look before you go on", anchor=False)
    with st.grid(2, min_column_width=340, border=False):
        for card in cards:
            name = f"{place}{_key(card)}"
            with st.container(border=True, height="stretch", key=f"found-{name}"):
                st.text(card.said)
                st.space("stretch")
                with st.container(horizontal=True):
                    for number, mend in enumerate(card.mends):
                        if st.button(notices.label(mend.button), key=f"mend-{name}-{number}"):
                            return mend_draft(draft, profiles, card, mend)
                    if st.button("Leave as it is", type="tertiary", key=f"leave-{name}"):
                        return {**draft, "as it is": [*(draft.get("as it is") or ()), card.kind]}
    return draft


def findings_left(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Say that the tab Quality lists something, where the data are ready all the same."""
    if draft["source"]["kind"] != "sample" and (cards := open_findings(space, draft)):
        with st.container(key="quality-left"):
            verb = "is" if len(cards) == 1 else "are"
            st.text(f"{several(len(cards), 'finding')} under “Quality” {verb} worth a look first.")


def open_findings(
    space: Workspace, draft: Mapping[str, Any], only: frozenset[str] | None = None
) -> list[Finding]:
    """Return what is found in the data, of some kinds `only`, but for what is to be left as it is."""
    try:
        found = wait_for(jobs.findings(space, draft["spec"], too_good(space, draft)), "Checking the data")
    except InputError:
        return []  # told where the data are prepared
    seen = set(draft.get("as it is") or ())
    return [each for each in found if each.kind not in seen and (only is None or each.kind in only)]


def mend_draft(
    draft: dict[str, Any], profiles: Sequence[ColumnProfile], card: Finding, mend: Mend
) -> dict[str, Any]:
    """Return the draft with a finding mended, noted in its data section, and how to take that back."""
    data: Mapping[str, Any] = draft["spec"]["data"]
    changes: dict[str, Any] = dict(mend.put)
    if mend.leave_out:
        changes["features"] = [name for name in features_of(draft, profiles) if name not in mend.leave_out]
    if mend.unprotect:
        changes["protected"] = [name for name in data.get("protected") or () if name not in mend.unprotect]
    if mend.recode:
        changes["recode"] = {**(data.get("recode") or {}), **mend.recode}
    said = f"{card.said} {mend.button}."
    changes["mended"] = [*(data.get("mended") or ()), said]
    before = {name: data.get(name) for name in changes}
    done = [*(draft.get("mended") or ()), {"said": f"{mend.button} ({card.kind})", "before": before}]
    # what the page's controls remember belongs to the data as they were: a new mark draws them afresh
    return {**with_data(draft, **changes), "mended": done, "id": token_hex(4)}


def _key(card: Finding) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in card.kind)
