"""Columns that hold what a person's features would have been in the other group, where data know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.summary import Summary
from audits.data import AuditData

__all__ = ["choose_counterfactuals"]


def choose_counterfactuals(
    suggested: Mapping[str, Any], data: AuditData, summary: Summary, source: Mapping[str, Any]
) -> dict[str, Any]:
    """Draw the controls, where the data have columns that are not features; return the option chosen.

    Parameters
    ----------
    suggested : mapping
        Options of a flipset audit that came with the data, possibly empty. Its counterfactuals are those
        of its own groups, and are suggested for no others.
    source : mapping
        The source group chosen.
    """
    used = {*summary.features, *summary.groups, summary.label, *source}
    columns = [str(name) for name in data.frame.columns if name not in used]
    features = [name for name in summary.features if name not in source]
    if not columns or not features:
        return {}
    fits = set(suggested.get("source") or {}) == set(source)
    given = {
        column: feature
        for feature, column in (suggested.get("counterfactuals") or {}).items()
        if fits and column in columns and feature in features
    }
    chosen = st.multiselect(
        "True counterfactuals",
        columns,
        default=list(given),
        help="Columns that say what a feature would have been, had the person belonged to the other group: "
        "from a simulation, say. Their flipsets are then shown beside transport's.",
        # a key for each choice of groups: what was suggested for one is not kept for another
        **state.choice("-".join(["truth", *sorted(source)])),
    )
    found = {
        st.selectbox(
            f"{column} is another life's",
            features,
            index=features.index(given.get(column) or _likely(column, features)),
            **state.choice(f"truth-{column}"),
        ): column
        for column in chosen
    }
    return {"counterfactuals": found} if found else {}


def _likely(column: str, features: list[str]) -> str:
    """Return the feature whose name the column's begins with, the longest such; else the first."""
    return max(features, key=lambda name: len(name) if column.startswith(name) else -1)
