"""The columns of the data and the parts they play, edited in place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.drafts.drafts import label_column, made_groups, with_data
from app.drafts.numbers import read_numbers
from app.tables.columns import ColumnProfile
from app.widgets import notices
from audits.data import KINDS, ROLES
from audits.data.values import text_of
from audits.errors import InputError

_NOT_FEATURES = {"identifier", "text"}
_NUMBERS = {"continuous", "integer"}
_MAX_SHOWN = 11


def columns_section(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Draw the table of columns; return the draft with what was changed in it."""
    base = _base(draft, profiles)
    edited = st.data_editor(
        base,
        key=f"columns-{draft['id']}",
        hide_index=True,
        height="content" if len(base) <= _MAX_SHOWN else 388,
        placeholder="",
        disabled=["column", "missing", "values", "such as"],
        column_config={
            "column": st.column_config.TextColumn("column", pinned=True, width="medium"),
            "kind": st.column_config.SelectboxColumn("kind", options=list(KINDS), required=True),
            "feature": st.column_config.CheckboxColumn(
                "feature", help="The model reads it, and audits compare people by it"
            ),
            "protected": st.column_config.CheckboxColumn("protected", help="Audits compare these groups"),
            "role": st.column_config.SelectboxColumn(
                "role", options=list(ROLES), help="What a person can change"
            ),
            "unit": st.column_config.TextColumn(
                "unit", max_chars=30, help="Unit of the numbers, such as EUR a year"
            ),
            "missing": st.column_config.NumberColumn("missing", format="localized"),
            "values": st.column_config.NumberColumn(
                "values", format="localized", help="Number of different values"
            ),
        },
        alt="Columns of the data: kind, role, and whether each is a feature or a protected attribute",
    )
    return _apply_edits(draft, profiles, base, edited)


def bins_section(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Offer to cut numeric protected attributes into ranges; return the draft."""
    data = draft["spec"]["data"]
    kinds = _kinds(draft, profiles)
    bins: dict[str, Any] = dict(data.get("bins") or {})
    of_two = {item.name for item in profiles if item.distinct <= 2}  # no range lies between two values
    for name in data.get("protected") or ():
        if (kinds.get(name) not in _NUMBERS or name in of_two) and name not in bins:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"Cut {name} at", width=220)
            text = st.text_input(
                f"Cut {name} at",
                _bins_text(bins.get(name, ())),
                key=f"bins-{draft['id']}-{name}",
                placeholder="18, 25, 45, 120 or: 4 quantiles",
                label_visibility="collapsed",
            )
        try:
            number = _QUANTILES.fullmatch(text.strip())
            edges: Any = int(number[1]) if number else read_numbers(text, f"the edges of {name}")
        except InputError as error:
            notices.problem(str(error))
            continue
        if edges:
            bins[name] = edges
        else:
            bins.pop(name, None)
    return with_data(draft, bins=bins or None)


_QUANTILES = re.compile(r"(\d{1,2})\s*quantiles?", re.IGNORECASE)


def _bins_text(bins: Sequence[float] | int) -> str:
    return f"{bins} quantiles" if isinstance(bins, int) else ", ".join(map(text_of, bins))


def text_columns(draft: Mapping[str, Any], profiles: Sequence[ColumnProfile]) -> list[str]:
    """Return the columns of free text, as they look or as the draft says, the label aside."""
    label = label_column(draft["spec"]["data"])
    return [name for name, kind in _kinds(draft, profiles).items() if kind == "text" and name != label]


def _base(draft: Mapping[str, Any], profiles: Sequence[ColumnProfile]) -> pd.DataFrame:
    data = draft["spec"]["data"]
    kinds = _kinds(draft, profiles)
    features = set(features_of(draft, profiles))
    protected = set(data.get("protected") or ())
    roles = {name: role for role, names in (data.get("roles") or {}).items() for name in names}
    units = data.get("units") or {}
    return pd.DataFrame(
        {
            "column": pd.Series([item.name for item in profiles], dtype="str"),
            "kind": [kinds[item.name] for item in profiles],
            "feature": [item.name in features for item in profiles],
            "protected": [item.name in protected for item in profiles],
            "role": pd.Series([roles.get(item.name) for item in profiles], dtype=object),
            "unit": pd.Series([units.get(item.name) for item in profiles], dtype=object),
            "missing": [item.missing for item in profiles],
            "values": [item.distinct for item in profiles],
            "such as": [item.examples for item in profiles],
        }
    )


def _apply_edits(
    draft: dict[str, Any], profiles: Sequence[ColumnProfile], base: pd.DataFrame, edited: pd.DataFrame
) -> dict[str, Any]:
    """Return the draft with the edits; the spec names a thing only where it departs from the default."""
    names = [item.name for item in profiles]
    kinds = {
        item.name: kind
        for item, kind in zip(profiles, edited["kind"], strict=True)
        if kind and kind != item.kind
    }
    protected = [name for name, chosen in zip(names, edited["protected"], strict=True) if chosen]
    roles: dict[str, list[str]] = {}
    for name, role in zip(names, edited["role"], strict=True):
        if isinstance(role, str) and role:
            roles.setdefault(role, []).append(name)
    given = zip(names, edited["unit"], strict=True)
    units = {name: unit.strip() for name, unit in given if isinstance(unit, str) and unit.strip()}
    features = draft["spec"]["data"].get("features")
    touched = (base["feature"] != edited["feature"]).to_numpy()
    if touched.any():
        newly = set(protected) - set(draft["spec"]["data"].get("protected") or ())
        chosen = zip(names, edited["feature"], touched, strict=True)
        features = [name for name, ticked, by_hand in chosen if ticked and (by_hand or name not in newly)]
    order = list(draft["spec"]["data"].get("protected") or ())
    protected += [name for name in made_groups(draft["spec"]["data"]) if name in order]  # no column of theirs
    ordered: list[str] | None = sorted(
        protected, key=lambda name: order.index(name) if name in order else len(order)
    )
    if not ordered and "protected" not in draft["spec"]["data"]:
        ordered = None  # nobody chose none: suggest again when the columns change
    return with_data(
        draft,
        kinds=kinds or None,
        protected=ordered,
        roles=roles or None,
        units=units or None,
        features=features,
    )


def features_of(draft: Mapping[str, Any], profiles: Sequence[ColumnProfile]) -> list[str]:
    """Return the features named, or those that the data section takes when none are."""
    data = draft["spec"]["data"]
    if data.get("features") is not None:
        return list(data["features"])
    weights = data.get("weights")
    weighing = weights if isinstance(weights, dict) else {"column": weights}
    out = {label_column(data), data.get("person"), *(data.get("protected") or ())}
    out |= {weighing.get(name) for name in ("column", "strata", "cluster")}
    out |= set((draft["spec"]["model"].get("predictions") or {}).values())
    kinds = _kinds(draft, profiles)
    return [
        item.name
        for item in profiles
        if item.name not in out and item.stores is None and kinds[item.name] not in _NOT_FEATURES
    ]


def _kinds(draft: Mapping[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, str]:
    inferred: dict[str, str] = {item.name: item.kind for item in profiles}
    return inferred | dict(draft["spec"]["data"].get("kinds") or {})
