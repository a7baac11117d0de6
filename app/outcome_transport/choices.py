"""The controls of an outcome-transport audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.groups import choose_groups
from app.widgets.choices.roles import roles_section
from app.workspaces.workspace import MAX_FILE_MB
from audits.data import group_name
from audits.models.spec import check_format

_LABEL, _GROUPS, _REJECTED, _EQUAL, _OTHER = (
    "the labels with the model",
    "two groups of people",
    "rejected with accepted people",
    "an equal-opportunity version with the model",
    "another model with the model",
)
_HELD = "train logistic with equal opportunity"
_CONSTRAINT = {"constraint": "equal_opportunity"}
_TRAINED = {
    "train logistic": "logistic regression, trained here",
    "train mlp": "neural network, trained here",
    "train forest": "random forest, trained here",
    "train boosting": "gradient boosting, trained here",
    _HELD: "logistic regression with equal opportunity, trained here",
}
_BROUGHT = {
    "path": "a model file",
    "score": "scores in a column",
    "label": "decisions in a column",
    "learn": "logistic regression, trained here on another column",
    "learn held": "logistic regression with equal opportunity, trained here on another column",
}
_DRAWN = {"by", "source", "target", "against"}


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no protected attribute is there to make groups of."""
    if not summary.groups:
        return None
    kinds = [_GROUPS, _REJECTED, _OTHER]
    kinds = kinds if summary.label is None else [_LABEL, *kinds, _EQUAL]
    kind = st.selectbox("Compare the outcomes of", kinds, **state.choice("compare"))
    options: dict[str, Any] = {}
    if kind == _GROUPS:
        source, target = choose_groups(summary, draft.get("options") or {})
        if not source:
            return None
        options |= {"source": source, "target": target}
        title = f"{group_name(source)} → {group_name(target)}"
    elif kind == _REJECTED:
        options |= {"source": "rejected", "target": "accepted"}
        title = "rejected → accepted"
    elif kind == _OTHER:
        policy = _other_model(draft, data)
        if not policy:
            return None
        options["against"] = policy
        title = "another model → model"
    else:
        options["against"] = "label" if kind == _LABEL else "equal_opportunity"
        title = "label → model" if kind == _LABEL else "equal opportunity → model"
    names = list(data.protected)
    by = st.multiselect("Subgroups by", names, default=names[:1], **state.choice("flows-by"))
    roles_section(draft, data)
    if not by:
        return None
    options["by"] = by
    options |= other_options("outcome_transport", _DRAWN, options_fold("outcome_transport"))
    return ChosenOptions(options, f"Flows: {title}")


def _other_model(draft: Mapping[str, Any], data: DataHandle) -> dict[str, str]:
    """Draw the choice of a second model; return it as a spec names it, empty while it is not chosen."""
    trained = "train" in draft["spec"]["model"]
    ways = {**(_TRAINED if trained else {}), **_BROUGHT}
    way = st.selectbox("The other model", list(ways), format_func=ways.__getitem__, **state.choice("other"))
    if way == _HELD:
        return {"train": "logistic", **_CONSTRAINT}
    if way.startswith("train "):
        return {"train": way.removeprefix("train ")}
    if way == "path":
        return _file(draft)
    columns = [name for name in data.frame.columns if name != data.label or way not in {"score"}]
    if way == "score":
        columns = [name for name in columns if data.types[name] in "iuf"]
    column = st.selectbox(
        "Column", columns, index=None, placeholder="Choose a column", **state.choice(f"other-{way}")
    )
    if column is None:
        return {}
    if way in {"learn", "learn held"}:
        return {"train": "logistic", "label": column, **(_CONSTRAINT if way == "learn held" else {})}
    return {way: column}


def _file(draft: Mapping[str, Any]) -> dict[str, str]:
    if state.get("other model of") != draft["id"]:  # it was brought for other data
        state.forget("other model")
        state.forget("other model problem")
    st.file_uploader(
        "ONNX file",
        key="other-file",
        max_upload_size=MAX_FILE_MB,
        on_change=_take_upload,
        help="It must read the same features. Pickles and other formats that can run code are refused.",
    )
    notices.kept_problem("other model problem")
    path = state.get("other model")
    if not path:
        return {}
    st.text(f"{PurePosixPath(path).name} is used.")
    return {"path": path}


@state.keep_errors("other model problem")
def _take_upload() -> None:
    with state.uploads("other-file") as files:
        for file in files:
            draft = state.workspace().draft()
            state.keep("other model of", None if draft is None else draft["id"])
            check_format(file.name, "The other model")
            state.keep("other model", str(state.workspace().add_file(file.name, file)))
