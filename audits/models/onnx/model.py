"""ONNX models: what an opened graph gives, read as class probabilities or as a number.

float32 scores are read as the shortest decimal that rounds to them, so that a model which says 0.7 meets a
threshold of 0.7.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.missing_markers import Written
from audits.errors import InputError
from audits.models.onnx.file import class_labels, parse_onnx
from audits.models.onnx.graph import ROWS_AT_ONCE, Graph, find_outputs, open_graph, open_session
from audits.models.onnx.inputs import Input, input_notes
from audits.models.outputs import (
    Numbers,
    check_labels,
    class_scores,
    name_classes,
    named_by_data,
    number_sign,
    probabilities_of,
    read_probabilities,
    zipmap_keys,
)
from audits.models.protocol import class_text, need_columns

if TYPE_CHECKING:
    from pathlib import Path

    from audits.data import AuditData
    from audits.models.spec import ModelSpec

__all__ = ["OnnxModel", "OnnxNumbers", "load", "load_onnx", "reopen"]

_ASKED_TWICE = 1000
_LABELS_APART = 0.005  # of labels alone: what rounding at a tie may turn around


@dataclass(frozen=True, eq=False)
class _Opened:
    """What models of an opened file share."""

    graph: Graph

    invents = True

    @property
    def name(self) -> str:
        """The model in words."""
        return self.graph.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that it reads."""
        return self.graph.columns

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return self.graph.sha256

    @property
    def content(self) -> bytes:
        """The file."""
        return self.graph.content

    @property
    def takes_gaps(self) -> bool:
        """Whether it was made for missing numbers."""
        return self.graph.takes_gaps


@dataclass(frozen=True, eq=False)
class OnnxModel(_Opened):
    """An ONNX model; `score` gives the probability of each of its `classes`, (n, k).

    A model that gives labels only has probability 1 for the label it gives; `labels` then says which
    class a label means (by its text), and is None for a model that gives probabilities. `notes` says
    in sentences how inputs and outputs were read; `logits` that what the outputs give are log-odds.
    """

    classes: tuple[object, ...]
    outputs: tuple[str, ...]
    labels: Mapping[str, int] | None
    logits: bool
    notes: tuple[str, ...]

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file and which outputs are read: see `reopen`."""
        return {
            **self.graph.feeding(),
            "classes": len(self.classes),
            "outputs": list(self.outputs),
            "labels": None if self.labels is None else dict(self.labels),
            "logits": self.logits,
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
        values, width = self.graph.run(frame, self.outputs), len(self.classes)
        return class_scores(values, frame, self.name, width=width, labels=self.labels, logits=self.logits)


@dataclass(frozen=True, eq=False)
class OnnxNumbers(Numbers, _Opened):
    """A file with one number a person as its output."""

    outputs: tuple[str, ...]
    notes: tuple[str, ...]
    sign: float

    def answers(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the file gives for rows, at least one."""
        return np.asarray(self.graph.run(frame, self.outputs))


def load(path: Path, data: AuditData, spec: ModelSpec, *, number: bool) -> OnnxModel | OnnxNumbers:
    """Load an ONNX file: see `audits.models.formats.reader_of`."""
    if number:
        graph, _ = open_graph(path, data, spec.columns)
        return _numbers(graph, data)
    return load_onnx(path, data, classes=spec.classes, columns=spec.columns, logits=spec.output == "logits")


def load_onnx(
    path: Path,
    data: AuditData,
    *,
    classes: Sequence[object] | None = None,
    columns: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    logits: bool = False,
) -> OnnxModel:
    """Load an ONNX file and match it to `data`.

    Call it only from a worker process: the file is a stranger's.

    Parameters
    ----------
    path : Path
        The file; beside it nothing is read but the files of weights that it names.
    data : AuditData
        Its columns feed the inputs; its label values name the classes where the file does not.
    classes : sequence, optional
        Label values in the order of the model's outputs; for a single output the unfavourable or
        "negative" value first, the one whose probability it gives second. Default: what the ZipMap,
        the classifier or the label output states, else the sorted label values of the data.
    columns : sequence of str, or mapping of str to sequence of str, optional
        `ModelSpec.columns`.
    logits : bool
        Whether the output gives log-odds (`ModelSpec.output`).

    Raises
    ------
    InputError
        If the file is refused (see `read_onnx`), its inputs cannot be fed, its outputs are no
        probabilities or labels, its classes cannot be named, or it answers at random or by the batch.
    """
    graph, proto = open_graph(path, data, columns)
    name = graph.name
    scores, labels = find_outputs(graph.session.get_outputs(), name)
    notes = list(input_notes(graph.inputs, data))
    stated = class_labels(proto, scores, labels)
    codes = None
    if not scores:
        notes.append("The model gives labels only: its scores are 0 or 1.")
        found = tuple(classes) if classes is not None else stated or named_by_data(data, name)
        codes = {class_text(value): column for column, value in enumerate(found)}
        if classes is not None and not any(text.isdigit() for text in codes):
            codes |= {str(column): column for column in range(len(found))}  # a label by its number
    else:
        sample = data.frame.iloc[:ROWS_AT_ONCE]
        values = graph.run(sample, scores)
        stated = zipmap_keys(values) or stated
        if logits:
            values = probabilities_of(values, name)
        probabilities = read_probabilities(values, sample, name)
        width = 2 if probabilities.ndim == 1 else probabilities.shape[1]
        found = name_classes(width, classes, stated, data, name)
        if labels is not None and classes is None:
            check_labels(graph.run(sample, [labels]), probabilities, found, name)
    if classes is None and found is not stated:
        notes.append(
            f"The file does not name its classes: they were taken to be {choices(found)}, in this order."
        )
    outputs = scores or (labels or "",)
    model = OnnxModel(graph, found, outputs, codes, logits and bool(scores), tuple(notes))
    _check_repeated(model.score, data, name, labels=codes is not None)
    return model


def _check_repeated(
    answers: Callable[[pd.DataFrame], np.ndarray], data: AuditData, name: str, *, labels: bool = False
) -> None:
    """Ask about the first people twice, the second time in reverse, one alone and the others in two batches.

    Raises
    ------
    InputError
        If the scores differ by more than rounding: they are random, or hang on who else is in the batch.
    """
    sample = data.frame.iloc[:_ASKED_TWICE]
    first = np.asarray(answers(sample), dtype=np.float64)
    turned = np.arange(len(sample))[::-1]
    parts = [part for part in np.split(turned, [1, 1 + len(turned) // 3]) if len(part)]
    second = np.empty_like(first)
    for part in parts:
        second[part] = answers(sample.iloc[part])
    apart = ~np.isclose(first, second, rtol=1e-3, atol=1e-4 * np.nanmax(np.abs(first)), equal_nan=True)
    people = apart.reshape(len(sample), -1).any(axis=1)
    if people.mean() > (_LABELS_APART if labels else 0.0):
        raise InputError(
            name,
            f"must give a person the same score every time, but gave {int(people.sum()):,} of "
            f"{len(sample):,} people another one in another batch",
            advice="export it for inference: without random steps, and with each row scored by itself",
        )


def _numbers(graph: Graph, data: AuditData) -> OnnxNumbers:
    """Return an opened file as a model of the number that the label of `data` cuts."""
    sign = number_sign(data)
    scores, _ = find_outputs(graph.session.get_outputs(), graph.name)
    if not scores:
        raise InputError(graph.name, "must have an output of numbers, but it gives labels only")
    _check_repeated(lambda frame: np.asarray(graph.run(frame, scores)), data, graph.name)
    return OnnxNumbers(graph, scores, tuple(input_notes(graph.inputs, data)), sign)


def reopen(content: bytes, feeding: Mapping[str, Any]) -> OnnxModel:
    """Open a file again: see `audits.models.formats.reopen`.

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
    # bundles made before cells were given as written know one output and no markers
    outputs = tuple(feeding.get("outputs") or [feeding["output"]])
    written = Written.restored(feeding)
    graph = Graph(name, sha256, content, open_session(content, name), inputs, written)
    return OnnxModel(
        graph, tuple(range(feeding["classes"])), outputs, labels, bool(feeding.get("logits")), ()
    )
