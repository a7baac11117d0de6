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
from audits.data.written import Written
from audits.errors import InputError
from audits.models.labels import cut_rule, label_numbers
from audits.models.onnx_file import class_labels, matrix_columns, parse_onnx, read_onnx, takes_gaps
from audits.models.onnx_inputs import Input, batch_size, feed, input_notes, match_inputs, text_columns
from audits.models.onnx_outputs import (
    check_labels,
    find_outputs,
    name_classes,
    named_by_data,
    one_hot,
    probabilities_of,
    read_probabilities,
    zipmap_keys,
)
from audits.models.protocol import check_scores, class_text, need_columns

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

    from audits.data import AuditData
    from audits.models.spec import ModelSpec

__all__ = ["Graph", "OnnxModel", "load", "load_onnx", "open_graph", "reopen_onnx"]

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
class Graph:
    """An opened file, and how columns feed it.

    Attributes
    ----------
    name, sha256 : str
        In words; digest of `content`.
    content : bytes
        The file, weights that lay beside it taken in.
    session : InferenceSession
    inputs : tuple of Input
    written : Written
        What stood in cells that count as missing: it is given that.
    takes_gaps : bool
        Whether it was made for missing numbers.
    """

    name: str
    sha256: str
    content: bytes = field(repr=False)
    session: onnxruntime.InferenceSession = field(repr=False)
    inputs: tuple[Input, ...]
    written: Written = field(default_factory=Written, repr=False)
    takes_gaps: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that it reads."""
        return tuple(dict.fromkeys(column for each in self.inputs for column in each.columns))

    def run(self, frame: pd.DataFrame, outputs: Sequence[str]) -> Any:
        """Return one output for all rows of `frame`, (n, ...) or n dictionaries; several side by side.

        Raises
        ------
        InputError
            If a column is missing or of the wrong type, or onnxruntime fails.
        """
        need_columns(frame, self.columns, self.name)
        given = self.written.restore(frame[list(self.columns)], texts=text_columns(self.inputs))
        found = [run_session(self.session, self.inputs, given, each, self.name) for each in outputs]
        if len(found) == 1:
            return found[0]
        return np.column_stack([np.asarray(each).reshape(len(frame)) for each in found])

    def front(self, proto: onnx.ModelProto, tensors: Sequence[str]) -> Front | None:
        """Return what computes `tensors` inside the graph from raw rows; None where the runtime cannot."""
        import onnx

        made = onnx.ModelProto()
        made.CopyFrom(proto)
        inputs = {each.name for each in made.graph.input}
        inner = [name for name in tensors if name not in inputs]
        del made.graph.output[:]
        made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
        if not inner:
            return Front(self, None, tuple(tensors))
        try:
            session = open_session(made.SerializeToString(), self.name)
        except InputError:
            return None
        return Front(self, session, tuple(tensors))

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file: see `reopen_onnx`."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "sha256": self.sha256,
            "inputs": [asdict(each) for each in self.inputs],
            "written": {name: text for name, text in self.written.usual.items() if name in self.columns},
        }


@dataclass(eq=False)
class Front:
    """The first steps of a graph: its inputs of numbers in float64, and tensors that the runtime computes."""

    graph: Graph
    session: onnxruntime.InferenceSession | None = field(repr=False)
    tensors: tuple[str, ...]
    widths: tuple[int, ...] = ()

    def __call__(self, frame: pd.DataFrame) -> list[np.ndarray]:
        """Return each tensor as (n, w) of float64; notes how wide they are."""
        graph = self.graph
        texts = text_columns(graph.inputs)
        given = graph.written.restore(frame[list(graph.columns)], texts=texts)
        inputs = {each.name: each for each in graph.inputs}
        found = []
        for name in self.tensors:
            if name in inputs:  # not through float32: a small slope times a large number keeps its digits
                values: Any = given[list(inputs[name].columns)].to_numpy(np.float64, na_value=np.nan)
            else:
                values = run_session(self.session, graph.inputs, given, name, graph.name)
            found.append(np.asarray(values, dtype=np.float64).reshape(len(frame), -1))
        self.widths = tuple(each.shape[1] for each in found)
        return found


def open_graph(
    path: Path, data: AuditData, columns: Sequence[str] | Mapping[str, Sequence[str]] | None = None
) -> tuple[Graph, onnx.ModelProto]:
    """Open an ONNX file and match its inputs to the columns of `data`; also return the parsed file.

    Call it only from a worker process: the file is a stranger's.

    Parameters
    ----------
    columns : sequence of str, or mapping of str to sequence of str, optional
        `ModelSpec.columns`.

    Raises
    ------
    InputError
        If the file is refused (see `read_onnx`), or its inputs cannot be fed.
    """
    name = f"ONNX model {path.name}"
    content, proto = read_onnx(path, name)
    session = open_session(content, name)
    inputs = match_inputs(session.get_inputs(), matrix_columns(proto, name), data, name, columns)
    digest = hashlib.sha256(content).hexdigest()
    return Graph(name, digest, content, session, inputs, data.written, takes_gaps(proto)), proto


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """An ONNX model; `score` gives the probability of each of its `classes`, (n, k).

    A model that gives labels only has probability 1 for the label it gives; `labels` then says which
    class a label means (by its text), and is None for a model that gives probabilities. `notes` says
    in sentences how inputs and outputs were read; `logits` that what the outputs give are log-odds.
    """

    graph: Graph
    classes: tuple[object, ...]
    outputs: tuple[str, ...]
    labels: Mapping[str, int] | None
    logits: bool
    notes: tuple[str, ...]
    invents: bool = True

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

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file and which outputs are read: see `reopen_onnx`."""
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
        values = self.graph.run(frame, self.outputs)
        if self.labels is not None:
            return one_hot(values, self.labels, len(self.classes), self.name)
        if self.logits:
            values = probabilities_of(values, self.name)
        scores = read_probabilities(values, frame, self.name)
        if scores.ndim == 1:
            return np.column_stack([1.0 - scores, scores])
        if scores.shape[1] != len(self.classes):
            raise InputError(
                self.name, f"must give {len(self.classes)} probabilities a person", scores.shape[1]
            )
        return scores


@dataclass(frozen=True, eq=False)
class OnnxNumbers:
    """A file with one number a person as its output; `sign` turns it into a score, higher better."""

    graph: Graph
    outputs: tuple[str, ...]
    notes: tuple[str, ...]
    sign: float

    classes = None
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
    def takes_gaps(self) -> bool:
        """Whether it was made for missing numbers."""
        return self.graph.takes_gaps

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty(0)
        values = np.asarray(self.graph.run(frame, self.outputs))
        if values.size != len(frame):
            raise InputError(self.name, "must give one number a person", values.shape)
        return check_scores(values.reshape(-1), frame, self.name)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number, its sign turned where lower is better for the person, (n,) float64."""
        return self.sign * self.number(frame)


def load(path: Path, data: AuditData, spec: ModelSpec, *, number: bool) -> OnnxModel | OnnxNumbers:
    """Load an ONNX file as `load_file` asks for it."""
    if number:
        return load_onnx_number(path, data, columns=spec.columns)
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
        probabilities or labels, or its classes cannot be named.
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
        sample = data.frame.iloc[:_ROWS_AT_ONCE]
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
    return OnnxModel(graph, found, scores or (labels or "",), codes, logits and bool(scores), tuple(notes))


def load_onnx_number(
    path: Path, data: AuditData, *, columns: Sequence[str] | Mapping[str, Sequence[str]] | None = None
) -> OnnxNumbers:
    """Load an ONNX file that gives one number a person, as `load_onnx` loads a classifier.

    Raises
    ------
    InputError
        If the file is refused, its inputs cannot be fed, or it gives anything but one number a person.
    """
    label_numbers(data)
    graph, _ = open_graph(path, data, columns)
    scores, _ = find_outputs(graph.session.get_outputs(), graph.name)
    if not scores:
        raise InputError(graph.name, "must have an output of numbers, but it gives labels only")
    sign = 1.0 if cut_rule(data.cut)[1] == "favorable" else -1.0  # type: ignore[arg-type]
    notes = tuple(input_notes(graph.inputs, data))
    return OnnxNumbers(graph, scores, notes, sign)


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
    # bundles made before cells were given as written know one output and no markers
    outputs = tuple(feeding.get("outputs") or [feeding["output"]])
    written = Written(dict(feeding.get("written", {})))
    graph = Graph(name, sha256, content, open_session(content, name), inputs, written)
    return OnnxModel(
        graph, tuple(range(feeding["classes"])), outputs, labels, bool(feeding.get("logits")), ()
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
