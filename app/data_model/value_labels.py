"""What the values of a column mean, where they are codes: kept with the data, and said everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.drafts.drafts import with_data
from app.tables.columns import ColumnProfile

_MAX_VALUES, _MAX_SHOWN = 12, 8
_CODES = {"integer", "boolean", "categorical", "ordinal"}


def meanings_section(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Offer a name for each value of groups, outcome and codes; return the draft with those given."""
    data: Mapping[str, Any] = draft["spec"]["data"]
    labels: dict[str, Any] = {name: dict(means) for name, means in (data.get("labels") or {}).items()}
    shown = [item for item in profiles if _is_offered(item, data, labels)]
    if not shown:
        return draft
    base = pd.DataFrame(
        [
            (item.name, value, str(labels.get(item.name, {}).get(value, "")))
            for item in shown
            for value in item.values
        ],
        columns=["column", "value", "means"],
        dtype="str",
    )
    box = st.expander("Names for values", key=f"meanings-{draft['id']}", on_change="rerun")
    if not box.open:
        return draft
    with box:
        st.text(
            "If values are codes, say what they mean, such as 1 for male. Sentences and figures then use "
            "your names."
        )
        edited = st.data_editor(
            base,
            key=f"means-{draft['id']}",
            hide_index=True,
            height="content" if len(base) <= _MAX_SHOWN else 320,
            disabled=["column", "value"],
            column_config={"means": st.column_config.TextColumn("means", max_chars=60, width="medium")},
            alt="Values of the columns and what they mean",
        )
    found: dict[str, dict[str, str]] = {}
    for name, value, means in edited.itertuples(index=False):
        if isinstance(means, str) and means.strip() and means.strip() != value:
            found.setdefault(name, {})[value] = means.strip()
    hidden = {name: means for name, means in labels.items() if name not in {item.name for item in shown}}
    return with_data(draft, labels={**hidden, **found} or None)


def _is_offered(item: ColumnProfile, data: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    if item.name in labels:
        return bool(item.values)
    label = data.get("label")
    kind = (data.get("kinds") or {}).get(item.name, item.kind)
    if not item.values or item.distinct > _MAX_VALUES or item.name in (data.get("bins") or {}):
        return False
    if kind not in _CODES or item.stores in {"prediction", "score"}:
        return False
    told = (
        item.name in (data.get("protected") or ())
        or item.name == label
        or item.name in (data.get("kinds") or {})
    )
    return told and any(value.lstrip("+-").isdecimal() or len(value) <= 2 for value in item.values)
