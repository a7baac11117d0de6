"""ONNX models: what an opened graph gives, read as class probabilities or as a number.

float32 scores are read as the shortest decimal that rounds to them, so that a model which says 0.7 meets a
threshold of 0.7.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.data.missing_markers import MissingCells
from audits.errors import InputError
from audits.models.onnx.file import class_labels, matrix_columns, parse_onnx, read_onnx, takes_gaps
from audits.models.onnx.graph import ROWS_AT_ONCE, Graph, find_outputs, open_session
from audits.models.onnx.inputs import Input, input_notes, match_inputs
from audits.models.outputs import (
    Classifier,
    Regressor,
    check_labels,
    classifier,
    number_sign,
    restored_classifier,
    zipmap_keys,
)

if TYPE_CHECKING:
    from pathlib import Path

    import onnx
    import pandas as pd

    from audits.data import AuditData
    from audits.models.spec import ModelSpec

_ASKED_TWICE = 1000
_LABELS_APART = 0.005  # of labels alone: what rounding at a tie may turn around


def load(path: Path, data: AuditData, spec: ModelSpec, *, number: bool) -> Classifier | Regressor:
    """Load an ONNX file and match it to `data`: see `audits.models.files.load`.

    Call it only from a worker process: the file is a stranger's. Beside it nothing is read but the files of
    weights that it names. Classes are by default what the ZipMap, the classifier or the label output states,
    else the sorted label values of the data.

    Raises
    ------
    InputError
        If the file is refused (see `read_onnx`), its inputs cannot be fed, its outputs are no
        probabilities, labels or numbers, its classes cannot be named, or its answers are random or depend on
        the batch.
    """
    name = f"ONNX model {path.name}"
    content, proto = read_onnx(path, name)
    session = open_session(content, name)
    inputs = match_inputs(session.get_inputs(), matrix_columns(proto, name), data, name, spec.columns)
    scores, labels = find_outputs(session.get_outputs(), name)
    graph = Graph(
        name,
        hashlib.sha256(content).hexdigest(),
        content,
        session,
        inputs,
        scores or (labels or "",),
        data.written,
        takes_gaps(proto),
    )
    notes = tuple(input_notes(inputs, data))
    if number:
        sign = number_sign(data)
        if not scores:
            raise InputError(name, "must have an output of numbers, but it gives labels only")
        _check_repeated(lambda frame: np.asarray(graph.ask(frame)), data, name)
        return Regressor(source=graph, notes=notes, sign=sign)
    return _classifier(graph, proto, scores, labels, data, spec, notes)


def _classifier(
    graph: Graph,
    proto: onnx.ModelProto,
    scores: tuple[str, ...],
    labels: str | None,
    data: AuditData,
    spec: ModelSpec,
    notes: tuple[str, ...],
) -> Classifier:
    sample = data.frame.iloc[:ROWS_AT_ONCE]
    answers = graph.ask(sample) if scores else None
    made = classifier(
        graph,
        data,
        answers,
        classes=spec.classes,
        stated=zipmap_keys(answers) or class_labels(proto, scores, labels),
        labels=not scores,
        logits=spec.output == "logits",
        notes=notes,
    )
    codes = made.labels
    if codes is not None and spec.classes is not None and not any(text.isdigit() for text in codes):
        numbered = {str(column): column for column in range(len(spec.classes))}
        made = dataclasses.replace(made, labels={**codes, **numbered})  # a label by its number
    if scores and labels is not None and spec.classes is None:
        check_labels(graph.ask(sample, [labels]), made.score(sample), made.classes or (), graph.name)
    _check_repeated(made.score, data, graph.name, labels=codes is not None)
    return made


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


def reopen(content: bytes, feeding: Mapping[str, Any]) -> Classifier:
    """Open a file again: see `audits.models.files.reopen`.

    Parameters
    ----------
    content : bytes
        The file.
    feeding : mapping
        From `Classifier.feeding`.

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
    # bundles made before cells were given as written know one output and no markers
    outputs = tuple(feeding.get("outputs") or [feeding["output"]])
    written = MissingCells.restored(feeding)
    graph = Graph(name, sha256, content, open_session(content, name), inputs, outputs, written)
    return restored_classifier(graph, feeding)
