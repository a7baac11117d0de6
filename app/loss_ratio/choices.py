"""The controls of a loss-ratio audit, and about how long it will take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts.drafts import check_invents
from app.drafts.numbers import read_number, read_numbers
from app.tables.held import DataHeld
from app.tables.summary import Summary
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.stated import stated_number, stated_switch
from app.widgets.page_words import page_words
from audits.checks import build
from audits.errors import InputError
from audits.loss_ratio.options import LossRatioOptions, usual_steps
from audits.options import option_of, options_of
from audits.records import Size
from audits.runs.registry import AUDITS

__all__ = ["choose_options", "read_directions", "read_matrix"]

_METRICS = {
    "learned": "what stands in for a group",
    "expert": "features or directions I name",
    "factor": "what comparable people differ in",
    "explore": "pairs of comparable people",
}
_LOSSES = {"cross_entropy": "cross-entropy", "squared": "squared (Brier)"}
_SCHEDULES = {"constant": "constant", "decreasing": "falling"}
_COMPARED = {
    "mlp": "neural network",
    "project": "Project",
    "reductions": "Reductions",
    "sensr": "SenSR",
    "logistic": "logistic regression",
}


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while nothing is chosen that should not matter.

    Raises
    ------
    InputError
        If the data have no label, or one outcome only: there is no loss then; or if the model is a column of
        predictions, which cannot say what a changed person would get.
    """
    check_invents(draft)
    data.asked("loss_ratio", "labels")
    metrics = list(_METRICS)
    usual = data.usual_audits(draft["spec"]["model"].get("train")).get("loss_ratio", {})
    metric = st.selectbox(
        "What should not matter",
        metrics,
        index=metrics.index(usual.get("metric", "learned")),
        format_func=_METRICS.__getitem__,
        help="People who differ only in this count as alike, and should be treated alike.",
        **state.choice("metric"),
    )
    if metric == "learned":
        options, chosen = _learned(data, usual)
    elif metric == "expert":
        options, chosen = _named(data, usual)
    else:
        options, chosen = _comparable(metric, summary)
    if not chosen:
        return None
    if metric == "factor":
        options["factors"] = int(
            st.number_input(
                "Directions that should not matter",
                min_value=1,
                max_value=max(1, summary.width - 1),
                value=min(option_of(LossRatioOptions, "factors").default, max(1, summary.width - 1)),
                help="Those in which people of the same value differ most.",
                **state.choice("factors"),
            )
        )
    with st.expander("More options"):
        options |= _more(_predicts_number(draft))
        options |= _turned()
        if "predict" not in draft["spec"]["model"]:  # the fair baselines learn favorable or not
            options |= _compared()
    return ChosenOptions(
        options, f"Individual fairness: {', '.join(chosen)}", _seconds(draft, data, summary, options)
    )


def _learned(data: DataHeld, usual: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Choose the attributes whose traces should not matter."""
    left_out = [name for name in data.protected if name not in usual.get("sensitive", data.protected)]
    chosen = st.multiselect(
        "Attributes",
        data.asked("loss_ratio", "sensitive"),
        default=usual.get("sensitive", list(data.protected)),
        help="Protected attributes and columns of numbers. One cut into groups counts as the number.",
        **state.choice("sensitive"),
    )
    if left_out and chosen == usual["sensitive"]:
        with st.container(key="quiet-left-out"):
            st.text(
                f"{', '.join(left_out)} too would leave nothing that matters: the model reads "
                f"{', '.join(data.features)} alone."
            )
    return {"sensitive": chosen}, chosen


def _named(data: DataHeld, usual: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Name features, directions or a metric."""
    options: dict[str, Any] = {"metric": "expert"}
    chosen = st.multiselect(
        "Features",
        list(data.features),
        default=usual.get("free_features", []),
        **state.choice("free"),
    )
    options |= {"free_features": chosen} if chosen else {}
    lines = st.text_area(
        "And directions, one a line",
        placeholder="income: 1, savings: -0.5",
        help="Coefficients by encoded feature (column, or column=value): "
        + str(option_of(LossRatioOptions, "directions").help),
        **state.choice("directions"),
    )
    rows = st.text_area(
        "Or the metric itself, a row of numbers a line",
        help=option_of(LossRatioOptions, "matrix").help,
        **state.choice("matrix"),
    )
    directions, matrix = read_directions(lines), read_matrix(rows)
    options |= {"directions": directions} if directions else {}
    options |= {"matrix": matrix} if matrix else {}
    named = [", ".join(each) for each in directions]
    chosen = [*chosen, *named, *(["a metric of my own"] if matrix else [])]
    return options, chosen


def _comparable(metric: str, summary: Summary) -> tuple[dict[str, Any], list[str]]:
    """Choose the column of which people of one value are comparable."""
    columns = [name for name, kind in summary.kinds.items() if kind in {"categorical", "ordinal", "integer"}]
    column = st.selectbox("Comparable are people of the same", columns, **state.choice("comparable"))
    chosen = [column] if column else []
    return {"metric": metric, "comparable": column}, chosen


def read_directions(text: str) -> list[dict[str, float]]:
    r"""Read directions, one a line: features with their coefficients.

    Raises
    ------
    InputError
        For a part that is not a feature, a colon and a number.

    Examples
    --------
    >>> read_directions("income: 1, savings: -0.5\nsex=female: 2")
    [{'income': 1.0, 'savings': -0.5}, {'sex=female': 2.0}]
    >>> read_directions("income: 0,5, savings: -1,5")
    [{'income': 0.5, 'savings': -1.5}]
    """
    found = []
    for place, line in enumerate(text.splitlines(), 1):
        # a comma before a part with a colon stands between two, any other one in a number
        parts = [part.rpartition(":") for part in re.split(r"[,;](?=[^,;]*:)", line) if part.strip()]
        if parts:
            what = f"line {place} of the directions"
            found.append({name.strip(): _coefficient(number, what) for name, _, number in parts})
    return found


def read_matrix(text: str) -> list[list[float]]:
    r"""Read a matrix, a row a line: numbers separated by spaces, commas or semicolons.

    Raises
    ------
    InputError
        For anything that is no number.

    Examples
    --------
    >>> read_matrix("1 0\n0, 2")
    [[1.0, 0.0], [0.0, 2.0]]
    """
    rows = [
        read_numbers(line, f"row {place} of the metric") for place, line in enumerate(text.splitlines(), 1)
    ]
    return [row for row in rows if row]


def _coefficient(text: str, where: str) -> float:
    found = read_number(text.strip().rstrip(",;"))
    if found is None:
        raise InputError(where, "must hold numbers", text.strip() or "nothing", "write 1 or -0.5")
    return found


def _turned() -> dict[str, Any]:
    """Draw the choice of two directions, one of which the metric is turned towards; empty without one."""
    towards = st.text_input(
        "Turn the metric towards",
        placeholder="savings: 1",
        help=page_words(option_of(LossRatioOptions, "misspecified").help),
        **_kept("towards"),
    )
    first = st.text_input(
        "Turned is",
        placeholder="the first free direction",
        help="A direction in which people may move freely, as coefficients by encoded feature.",
        **_kept("turn"),
    )
    ends, starts = read_directions(towards), read_directions(first)
    if not ends:
        return {}
    return {"misspecified": {"towards": ends[0], **({"turn": starts[0]} if starts else {})}}


def _kept(key: str) -> dict[str, Any]:
    return state.choice(f"ratio-{key}")


def _compared() -> dict[str, Any]:
    chosen = st.multiselect(
        "Compare with models trained anew",
        list(_COMPARED),
        format_func=_COMPARED.__getitem__,
        help="Trains each on several splits of the same people, as the paper's Table 1 does.",
        **_kept("compare"),
    )
    return {"compare": chosen} if chosen else {}


def _predicts_number(draft: Mapping[str, Any]) -> bool:
    spec = draft["spec"]
    return "predict" in spec["model"] and isinstance(spec["data"].get("label"), dict)


def _more(number: bool) -> dict[str, Any]:
    losses, schedules = list(_LOSSES), list(_SCHEDULES)
    stated = LossRatioOptions
    usual: dict[str, Any] = {each.name: each.default for each in options_of(stated)}
    usual |= {"loss": losses[0], "steps": usual_steps(number=number)}
    found: dict[str, Any] = (
        {}
        if number
        else {"loss": st.selectbox("Loss", losses, format_func=_LOSSES.__getitem__, **_kept("loss"))}
    )
    found |= {
        "regularizer": stated_number(
            stated, "regularizer", "Price of moving elsewhere (λ)", **_kept("lambda")
        ),
        "steps": stated_number(
            stated,
            "steps",
            "Steps (T)",
            value=usual["steps"],
            **_kept("number-steps" if number else "steps"),
        ),
        "step_size": stated_number(stated, "step_size", "Step size", **_kept("size")),
        "schedule": st.selectbox(
            "Steps are", schedules, format_func=_SCHEDULES.__getitem__, **_kept("schedule")
        ),
        "within_range": stated_switch(
            stated, "within_range", "Keep people within observed ranges", **_kept("range")
        ),
        "level": stated_number(stated, "level", "Error rate", step=0.01, **_kept("level")),
    }
    if st.toggle("The paper's own intervals", value=False, **_kept("paper")):
        found["inference"] = "paper"
    return {key: value for key, value in found.items() if value != usual[key]}


def _seconds(draft: Mapping[str, Any], data: DataHeld, summary: Summary, options: Mapping[str, Any]) -> float:
    trained = draft["spec"]["model"].get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    given = {"steps": usual_steps(number=_predicts_number(draft)), **options}
    chosen = build(LossRatioOptions, given, "loss_ratio")
    size = Size(round(share * data.n), summary.width, trained)
    return AUDITS["loss_ratio"].expected_seconds(chosen, size)
