"""What is compared: the second model, and which audits are made of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import jobs, state
from app.data_model.model_choice import model_section
from app.drafts.validation import whole_model
from app.latest_runs import latest_audits
from app.tables.columns import ColumnProfile
from app.tables.handles import DataHandle
from app.tables.summary import Summary, audited_size
from app.widgets.results.verdict_cards import title_of
from app.widgets.subject import model_words
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.checks import build
from audits.errors import InputError
from audits.models.spec import model_spec
from audits.runs.registry import AUDITS

_WAYS = {"another": "Another model", "treated": "The first, after mitigation"}


def choose_model(space: Workspace, draft: dict[str, Any]) -> dict[str, Any]:
    """Draw the choice of the second model; return the draft with it under ``compare``."""
    kept = draft.get("compare") or {}
    spec = draft["spec"]
    if "train" in spec["model"] and "predict" not in spec["model"]:  # mitigation can train it again
        way = st.segmented_control(
            "Second model",
            list(_WAYS),
            format_func=_WAYS.__getitem__,
            default="treated" if "treated" in kept else "another",
            required=True,
            key=f"second-{draft['id']}",
        )
        if way == "treated":
            st.text(
                "The first model, retrained with more samples of the group whose decisions differ most. "
                "Options are those last used on the page Mitigation; the threshold stays the same."
            )
            return {**draft, "compare": {"treated": _treatment(space, draft)}}
    _, profiles = wait_for(jobs.table(space, spec["data"]), "Reading the table")
    same = "model" in kept and _decides(kept) == _decides(spec)  # the first became what the second was
    chosen = None if same else kept.get("model")
    first = {"model": chosen or _another(spec["model"], profiles)}
    threshold = kept.get("threshold", spec.get("threshold"))
    if threshold is not None:
        first["threshold"] = threshold
    beside = {**draft, "id": f"{draft['id']}-second", "spec": {**spec, **first}}
    edited = model_section(space, beside, profiles, second=True)["spec"]
    return {**draft, "compare": {"model": edited["model"], "threshold": edited.get("threshold")}}


def checked_model(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``compare`` of a spec, or raise what is still to be chosen.

    Raises
    ------
    InputError
        If no file, column or address is chosen, or it cannot be used, or it is the first model.
    """
    chosen, first = dict(draft["compare"]), draft["spec"]
    if "treated" in chosen:
        return chosen
    if _decides(chosen) == _decides(first):
        raise InputError("the second model", "is the first", advice="choose another model or threshold")
    model = model_spec(whole_model(chosen["model"]), "compare.model")
    if model.endpoint is not None:
        model.endpoint.check_host()
    return chosen


def choose_audits(space: Workspace, draft: Mapping[str, Any], data: DataHandle) -> dict[str, dict[str, Any]]:
    """Draw the choice of audits; return each with its options: those last run here, else the usual ones."""
    latest = {name: record["spec"]["audits"][0][name] for name, record in latest_audits(space, draft).items()}
    usual = data.usual_audits(draft["spec"]["model"])
    known = {name: (latest | usual)[name] for name in AUDITS if name in latest or name in usual}
    known |= latest
    second = draft["compare"].get("model", {})
    stored = any("predictions" in model for model in (draft["spec"]["model"], second))
    names = [name for name in AUDITS if name in known and not (stored and AUDITS[name].asks_anew)]
    chosen = st.multiselect(
        "Audits of both models",
        names,
        default=[name for name in names if name == AUDITS.first or name in latest],
        format_func=title_of,
        help="Each audit uses the options of its last run here, or the defaults. Where numbers cannot be "
        "paired, both results appear side by side.",
        **state.choice("compared"),
    )
    return {name: known[name] for name in chosen}


def seconds_of(asked: Mapping[str, dict[str, Any]], draft: Mapping[str, Any], summary: Summary) -> float:
    """About how many seconds the audits of both models take."""
    size = audited_size(draft, summary)
    each = (
        AUDITS[name].expected_seconds(build(AUDITS[name].options, o, name), size) for name, o in asked.items()
    )
    treated = draft["compare"].get("treated")
    training = (
        0.0
        if treated is None
        else AUDITS.treating.expected_seconds(
            build(AUDITS.treating.options, treated, "compare.treated"), size
        )
    )
    return 2 * sum(each) + training


def both_words(draft: Mapping[str, Any]) -> str:
    """Return both models in words, for the title of a run."""
    first, second = model_words(draft["spec"]["model"]), draft["compare"].get("model")
    return f"{first} and {'the same, mitigated' if second is None else model_words(second)}"


def _treatment(space: Workspace, draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the audit that treats models last run here, but for the audits beside it."""
    treating = AUDITS.treating.name
    record = latest_audits(space, draft).get(treating)
    options = {} if record is None else record["spec"]["audits"][0][treating]
    return {name: value for name, value in options.items() if name != "also"}


def _decides(side: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return what the decisions of a model hang on: not on what is said of how it was made."""
    model = {**side["model"], "made": None}
    if "predictions" in model:
        model["predictions"] = {**model["predictions"], "made": None}
    threshold = side.get("threshold")
    return model, 0.5 if threshold is None else threshold


def _another(model: Mapping[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Return a model that is not the first one: where that is stored, the next that is, by its name."""
    stored, kinds = (model.get("predictions") or {}).values(), {"prediction": "label", "score": "score"}
    for item in profiles if stored else ():
        if item.name not in stored and item.stores in kinds:
            return {"predictions": {kinds[item.stores]: item.name}}
    return {"train": "boosting" if model.get("train") != "boosting" else "logistic"}
