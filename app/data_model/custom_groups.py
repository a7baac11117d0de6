"""The columns that were made, of people selected or of dates: what they are for, and how they go again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

import streamlit as st

from app.data_model.named import choose
from app.drafts.drafts import made_groups, with_data
from app.tables.columns import ColumnProfile
from app.widgets import notices

_PARTS: dict[str, str] = {
    "weekday": "weekday",
    "month": "month",
    "year": "year",
    "hour": "hour",
    "years": "age in years",
    "days": "days until",
}


def made_groups_section(draft: dict[str, Any]) -> dict[str, Any]:
    """List what was made of people selected on other pages, or of dates; return the draft as changed."""
    data: Mapping[str, Any] = draft["spec"]["data"]
    names = made_groups(data)
    if not names:
        return draft
    st.markdown("Columns made from selected people and from dates")
    protected, among = list(data.get("protected") or ()), list(data.get("among") or ())
    for place, name in enumerate(names):
        only = {"column": name, "in": [name]}
        with st.container(horizontal=True, vertical_alignment="center", key=f"made-{draft['id']}-{place}"):
            st.text(name, width="stretch")
            compared = st.toggle(
                "Compare by it", name in protected, key=f"made-compare-{draft['id']}-{place}"
            )
            alone = "take" not in data["recode"][name] and st.toggle(
                "Audit only these", only in among, key=f"made-only-{draft['id']}-{place}"
            )
            if st.button(notices.label("Remove"), key=f"made-remove-{draft['id']}-{place}"):
                return _without(draft, name)
        protected = [each for each in protected if each != name] + ([name] if compared else [])
        among = [rule for rule in among if rule != only] + ([only] if alone else [])
    return with_data(draft, protected=protected, among=among or None)


def dates_section(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Offer what can be taken of columns of dates; return the draft with the column that a click makes."""
    dates = [each.name for each in profiles if each.kind == "datetime"]
    if not dates:
        return draft
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = draft["id"]
        source = st.selectbox("Dates in", dates, key=f"date-{key}", width=200)
        part = choose("take the", _PARTS, "weekday", f"date-part-{key}", width=200)
        until = None
        if part in {"days", "years"}:
            others = [name for name in dates if name != source]
            until = st.selectbox(
                "until",
                others,
                index=None,
                accept_new_options=True,
                placeholder="A column or 2024-12-31",
                key=f"date-until-{key}",
                width=220,
            )
        made = f"{source} {part}"
        if st.button("Create the column", key="make-date", disabled=part in {"days", "years"} and not until):
            rule = {"from": source, "take": part, **({"until": until} if until else {})}
            return with_data(draft, recode={**(draft["spec"]["data"].get("recode") or {}), made: rule})
    return draft


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
