"""Columns that hold what a person's features would have been in the other group, where data know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from audits.errors import InputError


def choose_counterfactuals(
    suggested: Mapping[str, Any],
    data: DataHandle,
    summary: Summary,
    source: Mapping[str, Any],
    *,
    also: Sequence[str] = (),
    use: str = "Their flipsets are then shown beside transport's.",
) -> dict[str, Any]:
    """Draw the controls, where the data have columns that are not features; return the option chosen.

    Parameters
    ----------
    suggested : mapping
        Options of a flipset audit that came with the data, possibly empty. Its counterfactuals are those
        of its own groups, and are suggested for no others.
    source : mapping
        The source group chosen; only its attributes matter.
    also
        What else has columns of another life, besides the features that are no source.
    use
        What is done with them.
    """
    used = {*summary.features, *summary.groups, summary.label, *source}
    columns = [str(name) for name in data.frame.columns if name not in used]
    features = [name for name in summary.features if name not in source] + list(also)
    if not columns or not features:
        return {}
    fits = set(suggested.get("source") or {}) == set(source)
    given = {
        column: feature
        for feature, column in (suggested.get("counterfactuals") or {}).items()
        if fits and column in columns and feature in features
    }
    key = "lives" if also else "truth"  # of other features to choose among
    chosen = st.multiselect(
        "True counterfactuals",
        columns,
        default=list(given),
        help="Columns that say what a feature would have been, had the person belonged to the other group: "
        f"from a simulation, say. {use}",
        # a key for each choice of groups: what was suggested for one is not kept for another
        **state.choice("-".join([key, *sorted(source)])),
    )
    found: dict[str, str] = {}
    for column in chosen:
        feature = st.selectbox(
            f"{notices.label(column)} holds a counterfactual of",
            features,
            index=features.index(given.get(column) or _likely(column, features)),
            **state.choice(f"{key}-{column}"),
        )
        if feature in found:
            raise InputError(
                "True counterfactuals",
                f"has two columns for {feature!r}, {found[feature]!r} and {column!r}",
                advice="say which feature each column is about, or take one away",
            )
        found[feature] = column
    return {"counterfactuals": found} if found else {}


def _likely(column: str, features: list[str]) -> str:
    """Return the feature whose name the column's begins with or holds, the longest; else the first."""
    fits = [name for name in features if name in column]
    return max(fits, key=lambda name: (column.startswith(name), len(name))) if fits else features[0]
