"""The groups that were made of people selected: what they are for, and how they go again."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import Any

import streamlit as st

from app.drafts.drafts import made_groups, with_data
from app.widgets import notices

__all__ = ["made_groups_section"]


def made_groups_section(draft: dict[str, Any]) -> dict[str, Any]:
    """List the groups made of people selected on other pages; return the draft with what is changed."""
    data: Mapping[str, Any] = draft["spec"]["data"]
    names = made_groups(data)
    if not names:
        return draft
    st.markdown("Groups made of people you selected")
    protected, among = list(data.get("protected") or ()), list(data.get("among") or ())
    for place, name in enumerate(names):
        only = {"column": name, "in": [name]}
        with st.container(horizontal=True, vertical_alignment="center", key=f"made-{draft['id']}-{place}"):
            st.text(name, width="stretch")
            compared = st.toggle(
                "Compare by it", name in protected, key=f"made-compare-{draft['id']}-{place}"
            )
            alone = st.toggle("Audit nobody else", only in among, key=f"made-only-{draft['id']}-{place}")
            if st.button(notices.label("Remove"), key=f"made-remove-{draft['id']}-{place}"):
                return _without(draft, name)
        protected = [each for each in protected if each != name] + ([name] if compared else [])
        among = [rule for rule in among if rule != only] + ([only] if alone else [])
    return with_data(draft, protected=protected, among=among or None)


def _without(draft: dict[str, Any], name: str) -> dict[str, Any]:
    data: Mapping[str, Any] = draft["spec"]["data"]
    recode = {each: made for each, made in data["recode"].items() if each != name}
    changed = with_data(
        draft,
        recode=recode or None,
        protected=[each for each in data.get("protected") or () if each != name],
        among=[rule for rule in data.get("among") or () if rule["column"] != name] or None,
    )
    return {**changed, "id": token_hex(4)}
