"""The controls of the map that invents counterparts: those of its options that an auditor turns."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import state
from audits.transport.maps import OPTIONS, CoupledOptions, GanOptions, NeuralOptions, UnbalancedOptions

__all__ = ["choose_map_options"]


def choose_map_options(method: str) -> dict[str, Any]:
    """Draw the controls of `method`; return what was chosen otherwise than usual, as a spec names it."""
    if method not in OPTIONS:
        return {}
    usual = OPTIONS[method]()
    chosen: dict[str, Any] = {}
    if isinstance(usual, GanOptions):
        chosen = _gan(usual)
    elif isinstance(usual, NeuralOptions):
        chosen = _neural(usual)
    elif isinstance(usual, CoupledOptions):
        chosen = (
            _unbalanced_controls(usual) if isinstance(usual, UnbalancedOptions) else {}
        ) | _entropic_controls(usual)
    changed = {key: value for key, value in chosen.items() if value != getattr(usual, key)}
    return {"map": changed} if changed else {}


def _gan(usual: GanOptions) -> dict[str, Any]:
    return {
        "iterations": int(
            st.number_input(
                "Iterations of the GAN",
                min_value=100,
                max_value=1_000_000,
                value=usual.iterations,
                step=1000,
                **state.choice("gan-iterations"),
            )
        ),
        "transport_weight": st.number_input(
            "Weight of the cost (λ)",
            min_value=0.0,
            value=usual.transport_weight,
            step=1e-5,
            format="%g",
            help="Larger keeps counterparts nearer and fits the target group less well.",
            **state.choice("gan-weight"),
        ),
        "early_stopping": st.toggle(
            "Stop early",
            value=usual.early_stopping,
            help="Measured on people held out.",
            **state.choice("gan-stop"),
        ),
        **_network("gan", usual),
    }


def _neural(usual: NeuralOptions) -> dict[str, Any]:
    return {
        "dual_steps": int(
            st.number_input(
                "Steps that price the groups",
                min_value=50,
                max_value=1_000_000,
                value=usual.dual_steps,
                step=500,
                **state.choice("neural-dual-steps"),
            )
        ),
        "map_steps": int(
            st.number_input(
                "Steps that train the map",
                min_value=50,
                max_value=1_000_000,
                value=usual.map_steps,
                step=200,
                **state.choice("neural-map-steps"),
            )
        ),
        **_network("neural", usual),
    }


def _network(kind: str, usual: GanOptions | NeuralOptions) -> dict[str, Any]:
    """How either network is trained: people in a batch, size of a step, units in a layer."""
    return {
        "batch": int(
            st.number_input(
                "People in a batch",
                min_value=1,
                max_value=65_536,
                value=usual.batch,
                help="FlipTest: 64 for hiring, 4 for its list of arrests, 2 for the law school.",
                **state.choice(f"{kind}-batch"),
            )
        ),
        "learning_rate": st.number_input(
            "Learning rate",
            min_value=1e-7,
            max_value=1.0,
            value=usual.learning_rate,
            step=1e-5,
            format="%g",
            **state.choice(f"{kind}-rate"),
        ),
        "width": int(
            st.number_input(
                "Units in a hidden layer",
                min_value=1,
                max_value=4096,
                value=usual.width,
                **state.choice(f"{kind}-width"),
            )
        ),
    }


def _entropic_controls(usual: CoupledOptions) -> dict[str, Any]:
    return {
        "epsilon": st.number_input(
            "Regularization (ε)",
            min_value=1e-5,
            max_value=1e3,
            value=usual.epsilon,
            step=0.01,
            format="%g",
            help="Smaller is nearer to exact matching and takes longer.",
            **state.choice("epsilon"),
        )
    }


def _unbalanced_controls(usual: UnbalancedOptions) -> dict[str, Any]:
    names = {"relaxed": "people whose match costs too much", "partial": "a fixed share of people"}
    relaxation = st.selectbox(
        "Leave unmatched", list(names), format_func=names.__getitem__, **state.choice("relaxation")
    )
    if relaxation == "partial":
        percent = st.number_input(
            "Share matched (%)",
            min_value=1,
            max_value=100,
            value=round(100 * usual.share),
            **state.choice("matched-share"),
        )
        return {"relaxation": relaxation, "share": round(percent / 100, 4)}
    price = st.number_input(
        "Price",
        min_value=0.001,
        max_value=1e6,
        value=usual.price,
        step=0.1,
        format="%g",
        help="As a multiple of the cost of random pairing. A high price matches everyone.",
        **state.choice("price"),
    )
    return {"price": price}
