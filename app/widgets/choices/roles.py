"""Roles of columns: what a person can change, edited where they matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.drafts.drafts import with_data
from app.tables.handles import DataHandle
from audits.data import ROLES
from audits.recourse import GERMAN_ROLES
from audits.runs.digests import digest_of


def is_german(data: DataHandle) -> bool:
    """Tell whether the columns are those of the German credit data, for which the paper lists roles."""
    return all(name in data.frame for name in GERMAN_ROLES if name != "sex")


def actionable_by_role(data: DataHandle) -> list[str]:
    """Return the features whose role says that a person can change them."""
    return [name for name in data.features if data.roles.get(name) == "actionable"]


def with_role(data: DataHandle) -> list[str]:
    """Return the columns, features or not, whose role says that a person can change them."""
    return [name for name, role in data.roles.items() if role == "actionable"]


def roles_section(draft: Mapping[str, Any], data: DataHandle) -> None:
    """Draw the table of roles; what is edited goes into the draft, for all audits."""
    names = list(dict.fromkeys([*data.features, *data.protected]))
    base = pd.DataFrame(
        {"column": names, "role": pd.Series([data.roles.get(name) for name in names], dtype=object)}
    )
    key = f"roles-{draft['id']}-{digest_of(dict(data.roles))[:8]}"
    with st.expander("Roles of columns", key="column-roles"):
        st.data_editor(
            base,
            key=key,
            hide_index=True,
            disabled=["column"],
            height="content" if len(base) <= 10 else 388,
            column_config={
                "role": st.column_config.SelectboxColumn(
                    "role",
                    options=list(ROLES),
                    help="Actionable: a person can change it. Mutable: it changes, but not by choice. "
                    "Immutable: it does not change.",
                )
            },
            on_change=_apply_edit,
            args=(key, names, changeable(data)),
            alt="Columns and their roles",
        )
        if is_german(data) and not actionable_by_role(data):
            st.button(
                "Roles of the paper's Table A1",
                key="roles-preset",
                on_click=_save,
                args=(
                    {name: role for name, role in GERMAN_ROLES.items() if name in data.frame},
                    changeable(data),
                ),
                help="For the German credit data: what the paper treats as actionable, mutable, immutable.",
            )


def changeable(data: DataHandle) -> list[str]:
    """Return the features that are no protected attributes: those are never changed."""
    return [name for name in data.features if name not in data.protected]


def _apply_edit(key: str, names: list[str], changeable: list[str]) -> None:
    rows = state.widget(key)["edited_rows"]
    _save({names[int(row)]: change["role"] for row, change in rows.items() if "role" in change}, changeable)


@state.report_errors
def _save(changed: Mapping[str, str | None], changeable: list[str]) -> None:
    """Write roles into the draft, and have the choice of actionable columns follow them."""
    space = state.workspace()
    draft = space.draft()
    if draft is None:
        return
    before = draft["spec"]["data"].get("roles") or {}
    roles = {name: role for role, columns in before.items() for name in columns} | dict(changed)
    by_role = {role: [name for name, given in roles.items() if given == role] for role in ROLES}
    given = {role: found for role, found in by_role.items() if found}
    space.save_draft(with_data(draft, roles=given or None))
    state.set_widget("actionable", [name for name in changeable if name in by_role["actionable"]])
