"""An opened ONNX graph: columns matched to its inputs, and asked through onnxruntime.

One thread, so that the digits do not depend on the machine's.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import pandas as pd
from onnxruntime.capi import onnxruntime_pybind11_state as runtime_errors

from audits.checks import choices, number_from
from audits.data.missing_markers import MissingCells
from audits.data.values import truth_values
from audits.errors import InputError
from audits.models.onnx.inputs import Input, batch_size, feed, text_columns
from audits.models.protocol import need_columns

if TYPE_CHECKING:
    import onnx

ROWS_AT_ONCE = 8192
_LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)")
_SCORES = ("tensor(float)", "tensor(double)", "tensor(float16)")
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
    outputs : tuple of str
        Those that are read: one, or one a class.
    takes_gaps : bool
        Whether it was made for missing numbers.
    """

    name: str
    sha256: str
    content: bytes = field(repr=False)
    session: onnxruntime.InferenceSession = field(repr=False)
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    written: MissingCells = field(default_factory=MissingCells, repr=False)
    takes_gaps: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that it reads."""
        return tuple(dict.fromkeys(column for each in self.inputs for column in each.columns))

    def ask(self, frame: pd.DataFrame, outputs: Sequence[str] = ()) -> Any:
        """Return one output for all rows of `frame`, (n, ...) or n dictionaries; several side by side.

        Parameters
        ----------
        outputs : sequence of str
            Instead of `Graph.outputs`.

        Raises
        ------
        InputError
            If a column is missing or of the wrong type, or onnxruntime fails.
        """
        need_columns(frame, self.columns, self.name)
        given = self.given(frame)
        found = [
            run_session(self.session, self.inputs, given, each, self.name) for each in outputs or self.outputs
        ]
        if len(found) == 1:
            return found[0]
        return np.column_stack([np.asarray(each).reshape(len(frame)) for each in found])

    def given(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the columns that it reads, with what stood in cells that count as missing."""
        return self.written.restore(frame[list(self.columns)], texts=text_columns(self.inputs))

    def front(
        self, proto: onnx.ModelProto, tensors: Sequence[str]
    ) -> Callable[[pd.DataFrame], list[np.ndarray]] | None:
        """Return what gives tensors inside the graph of raw rows, each (n, w) of float64.

        None where the runtime cannot compute them.
        """
        inputs = {each.name: each for each in self.inputs}
        inner = [name for name in tensors if name not in inputs]
        made = type(proto)()
        made.CopyFrom(proto)
        del made.graph.output[:]
        for name in inner:
            made.graph.output.add(name=name)
        try:
            session = open_session(made.SerializeToString(), self.name) if inner else None
        except InputError:
            return None

        def computed(frame: pd.DataFrame) -> list[np.ndarray]:
            given, found = self.given(frame), []
            for name in tensors:
                if name in inputs:  # not through float32: a small slope times a large number keeps its digits
                    own = given[list(inputs[name].columns)].apply(truth_values)
                    values: Any = own.to_numpy(np.float64, na_value=np.nan)
                else:
                    values = run_session(session, self.inputs, given, name, self.name)
                found.append(np.asarray(values, dtype=np.float64).reshape(len(frame), -1))
            return found

        return computed

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file: see `reopen`."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "sha256": self.sha256,
            "inputs": [asdict(each) for each in self.inputs],
            "outputs": list(self.outputs),
            **self.written.described(self.columns),
        }


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


_RUNNING = "Non-zero status code returned while running "
_SOURCE = re.compile(r"^(?:/\S+:\d+ [^(]*\(.*?\)|\S+\.(?:h|cc|cpp):\d+ \S+) (?:.* was false\. )?")
_PLACE = re.compile(r"/\S+\.(?:h|cc|cpp):\d+ ?")


def _first_line(error: Exception) -> str:
    """Return what onnxruntime says in one line, without its code prefix and the places in its own source."""
    text = str(error).split(" : ", 3)[-1].split("\n")[0].strip()
    step, found, reason = text.partition(" Status Message: ")
    if found:
        node = step.removeprefix(_RUNNING).partition(" node")[0]
        text = f"{node}: {_SOURCE.sub('', reason)}"
    return _PLACE.sub("", text)[:200].rstrip(". ")


def _run_once(
    session: onnxruntime.InferenceSession, output: str, tensors: dict[str, np.ndarray], name: str
) -> Any:
    """Run a graph once; one that goes on for ever is stopped, between two of its steps."""
    how = onnxruntime.RunOptions()
    how.log_severity_level = 4
    seconds = number_from("EVENHAND_SCORE_SECONDS", 60, least=1e-3, most=86_400)
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
            rule = f"must score {ROWS_AT_ONCE:,} people within {seconds:g} seconds, and was stopped"
            raise InputError(name, rule, advice="EVENHAND_SCORE_SECONDS sets the limit") from None
        raise InputError(name, f"fails on the data: {_first_line(error)}") from None
    finally:
        clock.cancel()


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
    for start in range(0, len(frame), fixed or ROWS_AT_ONCE):
        rows = frame.iloc[start : start + (fixed or ROWS_AT_ONCE)]
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


def find_outputs(outputs: Sequence[Any], name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the names of the probability outputs (none, one, or one a class) and of the label output."""
    scores = [each.name for each in outputs if each.type in _SCORES or each.type.startswith("seq(map(")]
    labels = [each.name for each in outputs if each.type in _LABELS]
    if len(scores) > 1:
        likely = [each for each in scores if "prob" in each.lower()]
        scores = likely if len(likely) == 1 else scores
    if len(scores) > 1 and len(labels) == 1 and all(_is_column(each) for each in outputs):
        return tuple(scores), labels[0]  # a ZipMap by columns
    if len(scores) > 1 or (not scores and len(labels) != 1):
        found = [f"{each.name}: {each.type}" for each in outputs]
        raise InputError(
            name,
            f"must have one output with probabilities or one with labels, but has {choices(found)}",
            advice="export it with a single probability output",
        )
    return tuple(scores), (labels[0] if len(labels) == 1 else None)


def _is_column(output: Any) -> bool:
    return len(output.shape) == 1 or (len(output.shape) == 2 and output.shape[1] == 1)
