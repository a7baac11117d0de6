"""A numeric outcome: which end is good, its unit and verb, or where to cut it, its distribution in view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from app.data_model.named import choose
from app.drafts.drafts import with_data
from app.tables.columns import ColumnProfile
from app.widgets.results.plot import plot
from audits.data.role_guesses import guess_good_end, guess_verb
from audits.drawing.style import CONTEXT, FOCUS, INK, finish
from audits.stats.text import amount

_GOOD = {"high": "High numbers are good", "low": "Low numbers are good"}


def is_amount(draft: Mapping[str, Any]) -> bool:
    """Whether the outcome of a draft is a number that is taken as it is."""
    return draft["spec"]["data"].get("outcome") == "numeric"


def amount_section(draft: dict[str, Any], item: ColumnProfile) -> dict[str, Any]:
    """Draw which end of a number is good, what it is counted in, and what people do with it."""
    data, key = draft["spec"]["data"], f"{draft['id']}-{item.name}"
    good = data.get("favorable") if data.get("favorable") in _GOOD else guess_good_end(item.name)
    units, words = dict(data.get("units") or {}), dict(data.get("words") or {})
    with st.container(horizontal=True):
        chosen = choose(
            "Good for the person", _GOOD, good, f"amount-good-{key}", placeholder="High or low?", width=230
        )
        unit = st.text_input(
            "Unit",
            units.get(item.name, ""),
            key=f"amount-unit-{key}",
            max_chars=30,
            placeholder="such as $ an hour",
            width=180,
        ).strip()
        verb = st.text_input(
            "Verb for the amount",
            words.get("verb", "") if "verb" in words or is_amount(draft) else guess_verb(item.name),
            key=f"amount-verb-{key}",
            max_chars=20,
            placeholder="such as earn, pay, wait",
            help="Sentences use it: women earn less than men.",
            width=180,
        ).strip()
    distribution(item, key)
    units = {name: told for name, told in {**units, item.name: unit}.items() if told}
    words = {name: told for name, told in {**words, "verb": verb}.items() if told}
    return with_data(draft, outcome="numeric", favorable=chosen, units=units or None, words=words or None)


def distribution(item: ColumnProfile, key: str, cut: float | None = None) -> None:
    """Draw how a column of numbers is spread, and a cut of it."""
    if not item.counts:
        return
    total = sum(item.counts) or 1
    figure = go.Figure(
        go.Scatter(
            x=[item.edges[0], *item.edges],
            y=[0.0, *(100 * n / total for n in item.counts), 0.0],
            mode="lines",
            line={"color": INK, "shape": "hv", "width": 2},
            hovertemplate="from %{x:.4g}: %{y:.1f}%<extra></extra>",
            showlegend=False,
        )
    )
    if cut is not None:
        figure.add_vline(x=cut, line={"color": FOCUS, "width": 2})
    figure.update_xaxes(title=item.name, linecolor=CONTEXT)
    figure.update_yaxes(title="rows (%)", rangemode="tozero")
    ends = f"{amount(item.edges[0])} to {amount(item.edges[-1])}"
    told = "" if cut is None else f", cut at {amount(cut)}"
    finish(figure, height=180, alt=f"Distribution of {item.name}, from {ends}{told}.")
    plot(figure, f"spread-{key}", tools=False)


def amount_columns(profiles: Sequence[ColumnProfile]) -> list[str]:
    """Return columns of many numbers, outcome-like ones first."""
    found = [each for each in profiles if each.kind in {"continuous", "integer"}]
    return [each.name for each in sorted(found, key=lambda each: each.likely_label is None)]
