"""The spec being edited: made from an example or a file, changed by the page, turned into a spec to run.

A draft is plain data: ``id`` (new with each table brought), ``source`` (where the data came from), ``spec``
(data, model, threshold, seed, as in a spec file) and ``options`` (what an example suggests for its audit).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from app.tables.columns import ColumnProfile
from app.workspaces.workspace import Workspace
from audits.data.samples import ExampleSet
from audits.errors import InputError

_LISTS = ("features", "protected")
SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
_TEXTS = {".csv", ".tsv", ".tab", ".txt", ".data", ".test", ".gz", ".jsonl"}
_TABLES = _TEXTS | {".parquet", ".pq", ".arrow", ".feather", ".xlsx"}
_MAX_LISTED = 500


def from_sample(space: Workspace, sample: ExampleSet) -> dict[str, Any]:
    """Copy an example's files into the workspace and return its draft."""
    spec = sample.spec
    first, *others = spec.pop("audits")
    [options] = first.values()  # names the groups that all audits of two groups begin with
    spec["data"]["path"] = str(space.copy_file(SAMPLES / spec["data"]["path"]))
    if "path" in spec["model"]:
        spec["model"]["path"] = str(space.copy_file(SAMPLES / spec["model"]["path"]))
    source = {
        "kind": "sample",
        "name": sample.title.split(":")[0],
        "sample": sample.name,
        "sentence": sample.sentence,
    }
    return {
        "id": token_hex(4),
        "source": source,
        "spec": spec,
        "options": options,
        **{name: dict(given) for audit in others for name, given in audit.items()},
    }


def from_files(paths: Sequence[Path], kind: str) -> dict[str, Any]:
    """Return the draft of a table that was just brought; nothing is decided yet.

    Parameters
    ----------
    paths : sequence of Path
        Relative to the workspace, or absolute for files of the server.
    kind : {"upload", "server"}
        How it was brought.
    """
    names = " + ".join(path.name for path in paths)
    listed = [str(path) for path in paths]
    data = {"path": listed[0] if len(listed) == 1 else listed}
    return {
        "id": token_hex(4),
        "source": {"kind": kind, "name": names},
        "spec": {"data": data, "model": {"train": "logistic"}, "seed": 0},
        "options": {},
    }


def suggest_columns(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Return `draft` with protected attributes suggested by their names, unless some were chosen.

    The first time, predictions too, where a column is named like them: then no model is trained.
    What was chosen is no choice any more when the table, read differently, has none of those columns.
    """
    draft = _with_stored(draft, profiles)
    chosen = draft["spec"]["data"].get("protected")
    known = {item.name for item in profiles} | set(made_groups(draft["spec"]["data"]))
    if chosen is not None and (not chosen or known & set(chosen)):
        return draft
    return with_data(draft, protected=[item.name for item in profiles if item.likely_protected] or None)


def _with_stored(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    if draft.get("looked") or draft["spec"]["model"] != {"train": "logistic"}:
        return draft
    kept = {item.stores: item.name for item in reversed(profiles) if item.stores in {"prediction", "score"}}
    if not kept:
        return draft
    found = {"label": kept["prediction"]} if "prediction" in kept else {"score": kept["score"]}
    return {**with_spec(draft, model={"predictions": found}), "looked": True}


def with_spec(draft: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return `draft` with keys of its spec set, or dropped where None."""
    spec = {**draft["spec"], **changes}
    return {**draft, "spec": {key: value for key, value in spec.items() if value is not None}}


def as_list(value: Any) -> list[Any]:
    """Return what a spec gives as one value, several or none as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def label_column(data: Mapping[str, Any]) -> str | None:
    """Return the column of the label of a data section, cut or not."""
    label = data.get("label")
    return label["column"] if isinstance(label, dict) else label


def with_data(draft: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return `draft` with keys of its data section set, or dropped where None.

    A column that becomes the label, the weights or the persons is no feature and not protected for as long
    as it is that: a slip of the hand costs nothing.
    """
    before = draft["spec"]["data"]
    data = {**before, **changes}
    taken, freed = _single(data) - _single(before), _single(before) - _single(data)
    displaced = dict(draft.get("displaced") or {})
    for column in freed:
        for name in displaced.pop(column, ()):
            if column not in (data.get(name) or [column]):
                data[name] = [*data[name], column]
    stood = {each: [name for name in _LISTS if each in (data.get(name) or ())] for each in taken}
    displaced |= {column: names for column, names in stood.items() if names}
    data = {key: value for key, value in _without(data, taken).items() if value is not None}
    more = {"displaced": displaced} if displaced or "displaced" in draft else {}
    return {**with_spec(draft, data=data), **more}


def with_data_restored(draft: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return `draft` with keys of its data section as they were, but for what has got another part since."""
    data = draft["spec"]["data"]
    return with_data(draft, **_without(before, _single({**data, **before})))


def _without(data: Mapping[str, Any], taken: set[Any]) -> dict[str, Any]:
    """Return a data section whose features and protected attributes are without some columns."""
    lists = {name: data[name] for name in _LISTS if taken & set(data.get(name) or ())}
    return {**data, **{name: [each for each in held if each not in taken] for name, held in lists.items()}}


def _single(data: Mapping[str, Any]) -> set[Any]:
    """Return the columns that are the label, the weights and the persons."""
    told = [data.get(name) for name in ("label", "weights", "person")]
    return {each.get("column") if isinstance(each, dict) else each for each in told} - {None}


def made_groups(data: Mapping[str, Any]) -> list[str]:
    """Return the columns that were made, of people selected or of dates, by their names."""
    recode = data.get("recode") or {}
    return [name for name, made in recode.items() if {"where", "rows", "take"} & set(made)]


def prediction_column(draft: Mapping[str, Any]) -> str | None:
    """Return the column that holds the predictions; None where a model makes them."""
    told = draft["spec"]["model"].get("predictions") or {}
    return told.get("label") or told.get("score")


def check_invents(draft: Mapping[str, Any]) -> None:
    """Raise `InputError` if the model is a column of predictions, which cannot score a changed person."""
    if "predictions" in draft["spec"]["model"]:
        raise InputError(
            "model",
            "must be one that can be asked about changed people, not a column of predictions",
            advice="upload a model file, or train one, on the page Data & model",
        )


def check_trained(draft: Mapping[str, Any]) -> None:
    """Raise `InputError` unless the model is trained here, so that it can be trained again."""
    if not draft["spec"]["model"].get("train"):
        raise InputError(
            "model.train",
            "is missing: mitigation trains the model again, and this one was trained elsewhere",
            advice="train one on the page Data & model, or use evenhand.mitigate in a notebook",
        )


def audit_spec(draft: Mapping[str, Any], name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec that runs one audit on the draft's data and model."""
    return {**draft["spec"], "audits": [{name: dict(options)}]}


def server_folder() -> Path | None:
    """Return the folder whose files may be read, ``EVENHAND_DATA_DIR``; None where it is not set."""
    text = os.environ.get("EVENHAND_DATA_DIR")
    return Path(text).expanduser().resolve() if text else None


def server_files(folder: Path) -> list[str]:
    """Return the tables in `folder`, as paths relative to it, at most 500; a folder of Parquet is one."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not _inside(path, folder):
            continue
        if _is_table(path) or (path.suffix.lower() in _TABLES and path.is_file()):
            found.append(str(path.relative_to(folder)))
            if len(found) == _MAX_LISTED:
                break
    return found


def _is_table(path: Path) -> bool:
    """Tell whether a folder holds Parquet, or folders named ``key=value``, which are columns of one table."""
    if not path.is_dir() or "=" in path.name:
        return False
    return any(each.suffix == ".parquet" or "=" in each.name for each in path.iterdir())


def server_file(folder: Path, name: str) -> Path:
    """Return the file that `name` means in `folder`.

    Raises
    ------
    InputError
        If it leads out of the folder, through ``..``, an absolute path or a link, or is no file.
    """
    path = folder / name
    if not _inside(path, folder):
        raise InputError("the file", "must lie in the server's data folder", name)
    if not path.is_file() and not (path.is_dir() and any(path.rglob("*.parquet"))):
        raise InputError("the file", "must be a file that exists", name)
    return path.resolve()


def _inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):
        return False
