"""The controls of the map that invents counterparts: those of its options that an auditor turns."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import state
from app.widgets.choices.stated import number_control
from app.widgets.page_words import page_words
from audits.options import option_of
from audits.transport.maps import OPTIONS

_UNMATCHED = {"relaxed": "people whose match costs too much", "partial": "a fixed share of people"}
_EPSILON = ("epsilon", "epsilon", "Regularization (ε)", 0.01)
_NETWORK = (
    ("batch", "batch", "People in a batch", None),
    ("learning_rate", "rate", "Learning rate", 1e-5),
    ("width", "width", "Units in a hidden layer", None),
)
# option, end of the control's key, label and step
_NUMBERS: dict[str, tuple[tuple[str, str, str, float | None], ...]] = {
    "gan": (
        ("iterations", "iterations", "Iterations of the GAN", 1000),
        ("transport_weight", "weight", "Weight of the cost (λ)", 1e-5),
        *_NETWORK,
    ),
    "neural": (
        ("dual_steps", "dual-steps", "Steps that price the groups", 500),
        ("map_steps", "map-steps", "Steps that train the map", 200),
        *_NETWORK,
    ),
    "entropic": (_EPSILON,),
    "unbalanced": (("price", "price", "Price", 0.1), _EPSILON),
}


def choose_map_options(method: str) -> dict[str, Any]:
    """Draw the controls of `method`; return what was chosen otherwise than usual, as a spec names it."""
    if method not in _NUMBERS:
        return {}
    kind, chosen = OPTIONS[method], dict[str, Any]()
    if method == "unbalanced":
        chosen["relaxation"] = st.selectbox(
            "Leave unmatched",
            list(_UNMATCHED),
            format_func=_UNMATCHED.__getitem__,
            **state.choice("relaxation"),
        )
    for name, end, label, step in _NUMBERS[method]:
        if name == "price" and chosen["relaxation"] == "partial":
            chosen["share"] = _share_matched(kind().share)
        else:
            key = f"{method}-{end}" if method in {"gan", "neural"} else end
            stated = option_of(kind, name)
            told = page_words(stated.help)
            chosen[name] = number_control(stated, label, step=step, help=told, **state.choice(key))
    if method == "gan":
        chosen["early_stopping"] = st.toggle(
            "Stop early",
            value=kind().early_stopping,
            help="Measured on people held out.",
            **state.choice("gan-stop"),
        )
    changed = {name: value for name, value in chosen.items() if value != getattr(kind(), name)}
    return {"map": changed} if changed else {}


def _share_matched(usual: float) -> float:
    percent = st.number_input(
        "Share matched (%)",
        min_value=1,
        max_value=100,
        value=round(100 * usual),
        **state.choice("matched-share"),
    )
    return round(percent / 100, 4)
