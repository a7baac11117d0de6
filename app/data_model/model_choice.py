"""What decides (a column, a score, a model), and from which score a decision is favorable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from app import state
from app.data_model.amounts import amount_columns, amount_section, is_amount
from app.data_model.columns import text_columns
from app.data_model.named import choose
from app.data_model.outcome import NUMBERS, says_more
from app.drafts.drafts import with_data, with_spec
from app.tables.columns import ColumnProfile
from app.widgets import notices
from app.widgets.subject import TRAINED
from app.workspaces.workspace import MAX_FILE_MB, Workspace
from audits.data.role_guesses import guess_verb
from audits.errors import InputError
from audits.models.formats import files_read
from audits.models.spec import PREDICT_LABELS, endpoint_hosts

WAYS = {
    "label": "A column of decisions",
    "score": "A score",
    "number": "An amount: pay, days, loss",
    "path": "A model file",
    "endpoint": "HTTP endpoint",
    "train": "No decision yet: train one",
}
"""What decides: a column (no model is needed), a score, a model; the first two are keys of predictions."""
_BETTER = {"favorable": "higher is better", "unfavorable": "higher is worse"}
_MADE = {"unknown": "not stated", "held_out": "on other people", "in_sample": "on these people"}


def model_section(
    space: Workspace,
    draft: dict[str, Any],
    profiles: Sequence[ColumnProfile],
    *,
    second: bool = False,
    brief: bool = False,
) -> dict[str, Any]:
    """Draw the choice of what decides; return the draft.

    A `second` model leaves the data as they are, and an upload goes into the draft's ``compare``. The `brief`
    choice leaves out what has a usual value.
    """
    old = draft["spec"]["model"]
    more = says_more(draft, profiles)
    before = way_of(old, None if second else draft["spec"]["data"])
    way = st.segmented_control(
        "What decides",
        [
            name
            for name in WAYS
            if (name != "endpoint" or endpoint_hosts() or name in old) and not (second and name == "number")
        ],
        format_func=WAYS.__getitem__,
        default=before,
        required=True,
        key=f"way-{draft['id']}",
    )
    if way == "number":
        return _amount(draft, profiles)
    if before == "number" and (way in {"label", "score"} or (brief and way != "train")):
        # a model learns the amount, or is audited by it where it was named and not only proposed
        draft = with_data(draft, label=None, outcome=None, favorable=None)
    if way == "path":
        model = _file(space, draft, second=second, brief=brief)
    elif way in {"label", "score"}:
        model = _column(draft, profiles, way)
    elif way == "endpoint":
        model = _address(draft)
    elif brief:
        model = {"train": old.get("train", "logistic")}
    else:
        draft, model = _training_choice(draft, () if second else text_columns(draft, profiles))
    people_decided = way == "label" and draft["spec"]["data"].get("label") is None
    if way != "train" and not brief and not people_decided:
        made = _trained_on(draft, old.get("made") or (old.get("predictions") or {}).get("made"))
        part = model.get("predictions")
        if part is None:
            model |= made
        elif part:
            part |= made
    if brief and way != "score":
        return with_spec(draft, model=model)
    if more and (way in {"path", "endpoint"} or model.get("train") in PREDICT_LABELS):
        model |= _predicts(draft)
    draft = with_spec(draft, model=model)
    if way == "train" and not second:
        draft = _held_out(draft)
    return _threshold(draft, way)


def _threshold(draft: dict[str, Any], way: str) -> dict[str, Any]:
    """Draw from which score a decision is favorable, where anything is decided; return the draft."""
    model = draft["spec"]["model"]
    if is_amount(draft):
        return with_spec(draft, threshold=None)
    threshold = draft["spec"].get("threshold", 0.5)
    if isinstance(threshold, dict):
        st.text("Thresholds differ by group, as in the spec.")
        return draft
    if way == "label":
        return draft
    if "predict" in model and isinstance(draft["spec"]["data"].get("label"), dict):
        st.text("A decision is favorable when the predicted number is on the favorable side.")
        return with_spec(draft, threshold=None)
    threshold = st.number_input(
        "Threshold",
        value=float(threshold),
        step=0.05,
        format="%g",
        key=f"threshold-{draft['id']}",
        width=200,
        help="A score at or above this is a favorable decision. At 0.5, a model with more than two "
        "classes picks its most probable class.",
    )
    if threshold == draft["spec"].get("threshold"):
        return draft  # a look at the page changes nothing
    if threshold == 0.5 and way != "score":  # the model's own decision
        return with_spec(draft, threshold=None)
    return with_spec(draft, threshold=threshold)


def way_of(model: Mapping[str, Any], data: Mapping[str, Any] | None = None) -> str:
    """Return which of `WAYS` a model section goes; an amount is the label itself, as `data` name it."""
    label = (data or {}).get("label") if (data or {}).get("outcome") else None
    if label is not None and (model.get("predictions") or {}).get("score") == label:
        return "number"
    if "predictions" in model:
        return "score" if "score" in (model["predictions"] or {}) else "label"
    return next((name for name in WAYS if name in model), "train")


def _amount(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Draw which column of numbers people got, and what is good of it; return the draft."""
    data = draft["spec"]["data"]
    names = amount_columns(profiles)
    before = data.get("label") if isinstance(data.get("label"), str) else None
    key = f"amount-{draft['id']}"
    column = choose("Column of the amounts", names, before, key, placeholder="Choose a column")
    if column is None:
        return with_spec(draft, model={"predictions": {}})
    item = next(each for each in profiles if each.name == column)
    if column != before:  # which end is good of one number, and its verb, say nothing of another
        words = {**(data.get("words") or {}), "verb": guess_verb(column)}
        draft = with_data(draft, favorable=None, words=words)
    draft = amount_section(with_data(draft, label=column), item)
    return with_spec(draft, model={"predictions": {"score": column}}, threshold=None)


def _training_choice(draft: dict[str, Any], texts: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    before = draft["spec"]["model"].get("train", "logistic")
    kinds = {name: said for name, said in TRAINED.items() if name != "text" or texts or before == "text"}
    kind = choose(
        "Kind",
        kinds,
        before,
        f"train-{draft['id']}",
        help="A simple baseline model, trained on part of the data. Audits use the rest.",
    )
    if kind == "text" and texts:
        draft = _read_words(draft, texts)
    elif before == "text" != kind:
        draft = with_data(draft, features=None)  # the others read columns, not words
    return draft, {"train": kind}


def _predicts(draft: dict[str, Any]) -> dict[str, Any]:
    """Choose between favorable or not and the label itself."""
    number = isinstance(draft["spec"]["data"].get("label"), dict)
    # a box that holds None shows as one in which nothing is chosen
    itself = "the number itself" if number else "each value of the label"
    words = {"decision": "favorable or not", "label": itself}
    before = draft["spec"]["model"].get("predict", "decision")
    chosen = choose("Model output", words, before, f"predict-{draft['id']}")
    return {} if chosen == "decision" else {"predict": chosen}


def _read_words(draft: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Make one column of text the only feature."""
    chosen = draft["spec"]["data"].get("features") or ()
    now = next((name for name in chosen if name in texts), texts[0])
    if len(texts) > 1:
        now = choose("Column of text", texts, now, f"words-{draft['id']}")
    return with_data(draft, features=[now])


def _held_out(draft: dict[str, Any]) -> dict[str, Any]:
    with st.container(horizontal=True):
        share = st.number_input(
            "Share held out for audits",
            min_value=0.05,
            max_value=0.95,
            step=0.05,
            value=float(draft["spec"]["data"].get("test_size", 0.3)),
            key=f"held-{draft['id']}",
            width=200,
        )
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**32 - 1,
            value=int(draft["spec"].get("seed", 0)),
            key=f"seed-{draft['id']}",
            width=200,
            help="Fixes the split, the training and everything random in an audit.",
        )
    if share != draft["spec"]["data"].get("test_size", 0.3):  # a look at the page changes nothing
        draft = with_data(draft, test_size=share)
    return with_spec(draft, seed=int(seed))


def _file(space: Workspace, draft: dict[str, Any], *, second: bool, brief: bool) -> dict[str, Any]:
    turn = state.remember("models", lambda: 0)
    key = f"model-{turn}"
    st.file_uploader(
        "Model file",
        accept_multiple_files=True,
        key=key,
        max_upload_size=MAX_FILE_MB,
        on_change=_take_upload,
        args=(space, key, turn, second),
        help=f"{files_read()}. "
        "If an ONNX model keeps its weights in a separate file, choose both together. Pickles and other "
        "formats that can run code are refused.",
    )
    notices.kept_problem("model problem")
    path = draft["spec"]["model"].get("path") or state.get(f"model of {draft['id']}")
    if path:
        st.text(f"Chosen: {PurePosixPath(path).name}")
        state.keep(f"model of {draft['id']}", path)
        return {"path": path} | ({} if brief else _reading(draft))
    return {"path": ""}


def _reading(draft: dict[str, Any]) -> dict[str, Any]:
    """Draw what a file may not say itself; return the keys of the spec."""
    old = draft["spec"]["model"]
    kept: dict[str, Any] = {}
    with st.container(horizontal=True):
        listed = old.get("columns")
        if isinstance(listed, dict):
            st.text("Columns feed its inputs as the spec says.")
            kept["columns"] = listed
        else:
            words = st.text_input(
                "Columns in order",
                value=", ".join(listed or ()),
                key=f"model-columns-{draft['id']}",
                width=420,
                help="Only for a model that reads a matrix with unnamed columns. List the columns it was "
                "trained on, in order, separated by commas. Named inputs are matched automatically.",
            )
            names = _parts(words)
            kept |= {"columns": names} if names else {}
        classes = st.text_input(
            "Classes in order",
            value=", ".join(map(str, old.get("classes") or ())),
            key=f"model-classes-{draft['id']}",
            width=260,
            help="Only for a model that uses other names for the label, such as 0 and 1. List the label "
            "values in the order of its outputs, separated by commas.",
        )
        if _parts(classes):
            unchanged = _parts(classes) == [str(each) for each in old.get("classes") or ()]
            kept["classes"] = old["classes"] if unchanged else _parts(classes)
        outputs = {"probabilities": "probabilities", "logits": "log-odds"}
        before = old.get("output") or "probabilities"
        gives = choose("Scores are", outputs, before, f"model-output-{draft['id']}", width=200)
    return kept | ({"output": gives} if gives == "logits" else {})


def _parts(words: str) -> list[str]:
    return [part.strip() for part in words.split(",") if part.strip()]


@state.keep_errors("model problem")
def _take_upload(space: Workspace, key: str, turn: int, second: bool) -> None:
    draft = space.draft()
    with state.uploads(key) as files:
        if not files or draft is None:
            return
        state.keep("models", turn + 1)
        place = _model_among([file.name for file in files])
        path = space.add_files([(file.name, file) for file in files])[place]
    model = {"path": str(path)}
    if second:
        space.save_draft({**draft, "compare": {**(draft.get("compare") or {}), "model": model}})
    else:
        space.save_draft(with_spec(draft, model=model))


def _model_among(names: Sequence[str]) -> int:
    """Return which of the files chosen at once is the model: the one ONNX file, the others being its weights.

    Raises
    ------
    InputError
        If several were chosen, and not exactly one of them is an ONNX file.
    """
    found = [place for place, name in enumerate(names) if len(names) == 1 or name.lower().endswith(".onnx")]
    if len(found) != 1:
        raise InputError(
            "model",
            f"must be one file, or one .onnx file with its weight files, but {len(names)} were chosen",
            advice="choose them again",
        )
    return found[0]


def _address(draft: dict[str, Any]) -> dict[str, Any]:
    old = draft["spec"]["model"].get("endpoint") or {}
    with st.container(horizontal=True):
        url = st.text_input(
            "Address",
            value=old.get("url", ""),
            key=f"address-{draft['id']}",
            placeholder=f"http://{endpoint_hosts()[0]}/score" if endpoint_hosts() else None,
            width=420,
            help="The service receives people's features as JSON and returns their scores. Allowed hosts: "
            f"{', '.join(endpoint_hosts()) or 'none'}.",
        )
        version = st.text_input(
            "Version",
            value=old.get("version", ""),
            key=f"version-{draft['id']}",
            width=200,
            help="Answers are stored under this version. Change it when another model runs at this address.",
        )
    if not url.strip():
        return {"endpoint": {}}
    kept = {key: value for key, value in old.items() if key not in {"url", "version"}}
    return {"endpoint": {**kept, "url": url.strip()} | ({"version": version} if version else {})}


def _column(draft: dict[str, Any], profiles: Sequence[ColumnProfile], way: str) -> dict[str, Any]:
    old = draft["spec"]["model"].get("predictions") or {}
    column = old.get(way)
    names = [each.name for each in profiles if way == "label" or each.kind in NUMBERS or each.name == column]
    with st.container(horizontal=True):
        asked = "Column of the decisions" if way == "label" else "Column of the score"
        place = f"predicted-{draft['id']}-{way}"
        chosen = choose(asked, names, column, place, placeholder="Choose a column")
        told = {}
        if way == "score":
            before, key = old.get("higher_is", "favorable"), f"means-{draft['id']}-{chosen}"
            higher = choose("Its direction", _BETTER, before, key, width=260)
            told = {} if higher == "favorable" else {"higher_is": higher}
    return {"predictions": {} if chosen is None else {way: chosen} | told}


def _trained_on(draft: dict[str, Any], old: str | None) -> dict[str, str]:
    """Draw whether the model was trained on the people audited; return the key of the spec."""
    made = choose(
        "The model was trained",
        _MADE,
        old or "unknown",
        f"made-{draft['id']}",
        help="On its own training data a model looks too accurate and too fair, so no audit can clear it "
        "there.",
    )
    return {} if made == "unknown" else {"made": made}
