"""The controls of a flipset audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, state
from app.drafts.drafts import prediction_column
from app.flipset.map_choices import choose_map_options
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.counterfactuals import choose_counterfactuals
from app.widgets.choices.groups import choose_groups
from app.widgets.run_bar import time_words
from audits.data import group_name
from audits.errors import InputError
from audits.flipset.options import in_full
from audits.stats.text import count

_NOTHING = "(nothing)"
_LABEL = "(the true label)"
_CONDITION_KINDS = {"boolean", "categorical", "ordinal", "integer"}
_DRAWN = {
    *("source", "target", "transport", "map", "condition_on", "feature_weights", "counterfactuals"),
    "max_people",
}
_METHODS = {
    "exact": "Real people, matched exactly",
    "gan": "Invented by a GAN (FlipTest)",
    "neural": "Invented by a neural map",
    "entropic": "Invented by an entropic map",
    "linear": "Invented by a linear map (fast)",
    "unbalanced": "Unbalanced: the farthest stay unmatched",
}


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no group is chosen."""
    source, target = choose_groups(summary, draft.get("options") or {})
    if not source:
        return None
    sizes = _sizes(data, source, target)
    if sizes is not None:
        section = draft["spec"]["data"]
        counted = "rows" if section.get("weights") or section.get("person") else "people"
        st.text(
            f"{count(sizes[0])} source and {count(sizes[1])} target {counted}"
            + (" before the split" if "train" in draft["spec"]["model"] else "")
        )
    outcomes = {summary.label, prediction_column(draft)}
    columns = [
        name for name, kind in summary.kinds.items() if kind in _CONDITION_KINDS and name not in outcomes
    ]
    conditions = [_NOTHING, *([_LABEL] if summary.label else []), *columns]
    condition = st.selectbox(
        "Compare only people with the same",
        conditions,
        help="Choose the true label to compare people with the same outcome (equalized odds).",
        **state.choice("condition"),
    )
    options: dict[str, Any] = {"source": source, "target": target}
    method = st.selectbox(
        "Counterparts",
        list(_METHODS),
        format_func=_METHODS.__getitem__,
        help="A map learns from both groups and invents a counterpart for everyone. It must first pass "
        "checks that show it can be trusted. If the decisions are a column of the data, nobody can be "
        "invented: exact, entropic and unbalanced then match real people.",
        **state.choice("method"),
    )
    audited = None if sizes is None else _audited_sizes(draft, sizes)
    if method != "exact":
        options["transport"] = method
    elif audited is not None:
        options |= _everyone(*audited, summary.width)
    if condition != _NOTHING:
        options["condition_on"] = "label" if condition == _LABEL else condition
    fold = options_fold("flipset")
    options |= other_options("flipset", _DRAWN, fold)
    with fold:
        options |= choose_map_options(method)
        options |= _weights([name for name in data.features if name not in {*source, *target}])
        options |= choose_counterfactuals(draft.get("options") or {}, data, summary, source)
    title = f"{group_name(source)} → {group_name(target)}"
    return ChosenOptions(options, f"Flipset: {title}")


def _audited_sizes(draft: Mapping[str, Any], sizes: tuple[int, int]) -> tuple[int, int]:
    """About how many people of either group are audited: where a model is trained, those held out."""
    trained = draft["spec"]["model"].get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    n, m = (max(2, round(share * size)) for size in sizes)
    return n, m


def _everyone(n: int, m: int, width: int) -> dict[str, Any]:
    """Offer to match groups in full of which the audit would draw a subsample."""
    seconds, memory, unasked = in_full(n, m, width)
    if unasked:
        return {}
    everyone = st.toggle(
        "Match everyone",
        value=False,
        help="Otherwise a random sample of both groups is matched, as large as about two minutes allow.",
        **state.choice("everyone"),
    )
    st.text(f"All {count(n)} with {count(m)}: {time_words(seconds)}, {memory / 2**30:.1f} GB of memory.")
    most = jobs.executor().limits.memory
    if everyone and most is not None and memory > most:
        raise InputError(
            "Match everyone",
            f"would take {memory / 2**30:.1f} GB of memory, and one run may use {most / 2**30:.1f} GB",
            advice="leave it off, or leave out people on the page Data & model",
        )
    return {"max_people": max(n, m) + 1} if everyone else {}  # one more: a split may round otherwise


def _weights(features: list[str]) -> dict[str, Any]:
    """Weights in the distance, of the features that shall not count once."""
    chosen = st.multiselect(
        "Weight features differently",
        features,
        help="Weight in the distance: 1 as it is, 0 leaves it out of the matching, 3 counts it three times.",
        **state.choice("weighed"),
    )
    weights = {
        name: st.number_input(
            f"Weight of {notices.label(name)}",
            min_value=0.0,
            value=2.0,
            step=0.5,
            format="%g",
            **state.choice(f"weight-{name}"),
        )
        for name in chosen
    }
    return {"feature_weights": weights} if weights else {}


def _sizes(data: DataHandle, source: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[int, int] | None:
    try:
        return int(data.members(source).sum()), int(data.members(target).sum())
    except InputError:
        return None  # the run says what is wrong with the groups
