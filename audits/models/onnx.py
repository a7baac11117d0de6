"""ONNX models through onnxruntime: inputs matched to columns, outputs read as class probabilities.

One thread, so that the digits do not depend on the machine's; float32 scores are read as the shortest
decimal that rounds to them, so that a model which says 0.7 meets a threshold of 0.7.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import pandas as pd
from onnxruntime.capi import onnxruntime_pybind11_state as runtime_errors

from audits.checks import choices
from audits.errors import InputError
from audits.models.onnx_file import check_size, class_labels, matrix_columns, parse_onnx
from audits.models.onnx_inputs import Input, batch_size, feed, input_notes, match_inputs
from audits.models.onnx_outputs import (
    check_labels,
    find_outputs,
    name_classes,
    named_by_data,
    one_hot,
    read_probabilities,
    zipmap_keys,
)
from audits.models.protocol import class_text, need_columns

if TYPE_CHECKING:
    from pathlib import Path

    from audits.data import AuditData

__all__ = ["OnnxModel", "load_onnx", "open_session", "run_session"]

_ROWS_AT_ONCE = 8192
# what a damaged or unfit graph raises: the runtime's own errors, and Python's where texts in it are broken
_FAILURES: tuple[type[Exception], ...] = (
    ValueError,
    RuntimeError,
    *(
        kind
        for kind in vars(runtime_errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ),
)


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """An ONNX model; `score` gives the probability of each of its `classes`, (n, k).

    A model that gives labels only has probability 1 for the label it gives; `labels` then says which
    class a label means (by its text), and is None for a model that gives probabilities. `notes` says
    in sentences how inputs and outputs were read.
    """

    name: str
    columns: tuple[str, ...]
    classes: tuple[object, ...]
    sha256: str
    session: onnxruntime.InferenceSession
    inputs: tuple[Input, ...]
    output: str
    labels: Mapping[str, int] | None
    notes: tuple[str, ...]
    content: bytes = field(default=b"", repr=False)
    invents: bool = True

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file and which output is read: see `reopen_onnx`."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "classes": len(self.classes),
            "sha256": self.sha256,
            "inputs": [asdict(each) for each in self.inputs],
            "output": self.output,
            "labels": None if self.labels is None else dict(self.labels),
        }

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k) in [0, 1], rows summing to 1.

        Raises
        ------
        InputError
            If a column is missing or of the wrong type, onnxruntime fails, or what comes out is not
            finite, not in [0, 1], does not sum to 1, or is no known label.
        """
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty((0, len(self.classes)))
        values = run_session(self.session, self.inputs, frame, self.output, self.name)
        if self.labels is not None:
            return one_hot(values, self.labels, len(self.classes), self.name)
        scores = read_probabilities(values, frame, self.name)
        if scores.ndim == 1:
            return np.column_stack([1.0 - scores, scores])
        if scores.shape[1] != len(self.classes):
            raise InputError(
                self.name, f"must give {len(self.classes)} probabilities a person", scores.shape[1]
            )
        return scores


def load_onnx(path: Path, data: AuditData, *, classes: Sequence[object] | None = None) -> OnnxModel:
    """Load an ONNX file and match it to `data`.

    Call it only from a worker process: the file is a stranger's.

    Parameters
    ----------
    path : Path
        The file; its bytes are loaded, nothing beside it is read.
    data : AuditData
        Its features feed the inputs; its label values name the classes where the file does not.
    classes : sequence, optional
        Label values in the order of the model's outputs; for a single output the unfavourable or
        "negative" value first, the one whose probability it gives second. Default: what the ZipMap,
        the classifier or the label output states, else the sorted label values of the data.

    Raises
    ------
    InputError
        If the file is refused (see `parse_onnx`), its inputs cannot be fed from the features, its
        outputs are no probabilities or labels, or its classes cannot be named.
    """
    name = f"ONNX model {path.name}"
    check_size(path.stat().st_size, name)
    content = path.read_bytes()
    proto = parse_onnx(content, name)
    session = open_session(content, name)
    inputs = match_inputs(session.get_inputs(), matrix_columns(proto, name), data, name)
    scores, labels = find_outputs(session.get_outputs(), name)
    notes = list(input_notes(inputs, data))
    stated = class_labels(proto, scores, labels)
    codes = None
    if scores is None:
        notes.append("The model gives labels only: its scores are 0 or 1.")
        found = tuple(classes) if classes is not None else stated or named_by_data(data, name)
        codes = {class_text(value): column for column, value in enumerate(found)}
        if classes is not None and not any(text.isdigit() for text in codes):
            codes |= {str(column): column for column in range(len(found))}  # a label by its number
    else:
        sample = data.frame.iloc[:_ROWS_AT_ONCE]
        values = run_session(session, inputs, sample, scores, name)
        probabilities = read_probabilities(values, sample, name)
        width = 2 if probabilities.ndim == 1 else probabilities.shape[1]
        stated = zipmap_keys(values) or stated
        found = name_classes(width, classes, stated, data, name)
        if labels is not None and classes is None:
            check_labels(run_session(session, inputs, sample, labels, name), probabilities, found, name)
    if classes is None and found is not stated:
        notes.append(
            f"The file does not name its classes: they were taken to be {choices(found)}, in this order."
        )
    columns = tuple(dict.fromkeys(column for each in inputs for column in each.columns))
    sha256 = hashlib.sha256(content).hexdigest()
    output = scores or labels or ""
    return OnnxModel(name, columns, found, sha256, session, inputs, output, codes, tuple(notes), content)


def reopen_onnx(content: bytes, feeding: Mapping[str, Any]) -> OnnxModel:
    """Open a file again as it was matched to data before; its classes are known by number only.

    Call it only from a worker process, unless the file is your own.

    Parameters
    ----------
    content : bytes
        The file.
    feeding : mapping
        From `OnnxModel.feeding`.

    Raises
    ------
    InputError
        If the file is refused, or is another one.
    """
    name = str(feeding["name"])
    sha256 = hashlib.sha256(content).hexdigest()
    if sha256 != feeding["sha256"]:
        raise InputError(name, "must be the file that was audited", sha256)
    parse_onnx(content, name)
    inputs = tuple(
        Input(each["name"], each["type"], tuple(each["shape"]), tuple(each["columns"]))
        for each in feeding["inputs"]
    )
    labels = None if feeding["labels"] is None else dict(feeding["labels"])
    return OnnxModel(
        name,
        tuple(feeding["columns"]),
        tuple(range(feeding["classes"])),
        sha256,
        open_session(content, name),
        inputs,
        feeding["output"],
        labels,
        (),
        content,
    )


def open_session(content: bytes, name: str) -> onnxruntime.InferenceSession:
    """Return a session on one thread, or raise `InputError` with what onnxruntime says."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # without it the runtime would also accept its own binary format, which was not checked
    options.add_session_config_entry("session.load_model_format", "ONNX")
    try:
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except _FAILURES as error:
        raise InputError(name, f"cannot be loaded by onnxruntime: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """Return what onnxruntime says, without its code prefix, in one line."""
    text = str(error).split(" : ", 3)[-1].split("\n")[0].strip()
    return text[:200].rstrip(". ")


def _run_once(
    session: onnxruntime.InferenceSession, output: str, tensors: dict[str, np.ndarray], name: str
) -> Any:
    """Run a graph once; one that goes on for ever is stopped, between two of its steps."""
    how = onnxruntime.RunOptions()
    how.log_severity_level = 4
    seconds = _most_seconds()
    over = threading.Event()

    def stop() -> None:
        over.set()
        how.terminate = True

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    try:
        return session.run([output], tensors, how)[0]
    except _FAILURES as error:
        if over.is_set():
            rule = f"must score {_ROWS_AT_ONCE:,} people within {seconds:g} seconds, and was stopped"
            raise InputError(name, rule, advice="EVENHAND_SCORE_SECONDS sets the limit") from None
        raise InputError(name, f"fails on the data: {_first_line(error)}") from None
    finally:
        clock.cancel()


def _most_seconds() -> float:
    text = os.environ.get("EVENHAND_SCORE_SECONDS", "60")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise InputError("EVENHAND_SCORE_SECONDS", "must be a number of seconds above 0", text)
    return seconds


def run_session(
    session: onnxruntime.InferenceSession,
    inputs: tuple[Input, ...],
    frame: pd.DataFrame,
    output: str,
    name: str,
) -> np.ndarray | list[dict[Any, float]]:
    """Return one output for all rows of `frame`: an array (n, ...) or, from a ZipMap, n dictionaries."""
    fixed = batch_size(inputs, name)
    parts: list[Any] = []
    for start in range(0, len(frame), fixed or _ROWS_AT_ONCE):
        rows = frame.iloc[start : start + (fixed or _ROWS_AT_ONCE)]
        tensors = {each.name: feed(each, rows, name) for each in inputs}
        if fixed:  # repeat the last person to fill the batch; the repeats are cut off below
            fill = np.minimum(np.arange(fixed), len(rows) - 1)
            tensors = {key: tensor[fill] for key, tensor in tensors.items()}
        values = _run_once(session, output, tensors, name)
        if not hasattr(values, "__len__") or np.ndim(values) == 0 or len(values) != (fixed or len(rows)):
            raise InputError(
                name,
                f"must give one result a person, but output {output!r} has {np.shape(values)}",
            )
        parts.append(values[: len(rows)])
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    return np.concatenate(parts)
