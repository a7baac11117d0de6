"""ONNX graphs of standard layers as torch networks: what stands behind the encoding of the columns.

Steps that turn a cell into numbers and have no slope (a one-hot encoding, a filled-in value) stay with
onnxruntime: their outputs, and the columns of numbers, are the *design* that the network reads. The network
is linear layers with ReLU, tanh or sigmoid units between them, whatever steps the exporter made of it; what
is none is asked for scores only. Nothing here is trusted by itself: see `audits.models.networks.exact`, which
holds scores against the runtime's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from audits.models.networks.gradients import linear_layer
from audits.models.onnx.file import attributes_of

if TYPE_CHECKING:
    import torch

_MIXING = {"Gemm", "MatMul", "LinearClassifier", "LinearRegressor", "Normalizer", "Softmax", "ReduceSum"}
_MAX_INPUTS = 20_000
_BENDS = {"Relu", "Tanh", "Sigmoid"}
_AFFINE = {
    "Identity", "Dropout", "Add", "Sub", "Sum", "MatMul", "Gemm", "Concat", "FeatureVectorizer", "Flatten",
    "ArrayFeatureExtractor", "Scaler", "Neg", "LinearRegressor", "ReduceSum",
}  # fmt: skip
Arrays = dict[str, np.ndarray]


class Unfit(ValueError):
    """The graph holds something that is no standard layer."""


class _Line(NamedTuple):
    """A tensor `end` that is an affine function of the tensors `starts`, and all `tensors` on the way."""

    starts: tuple[str, ...]
    end: str
    tensors: frozenset[str]


@dataclass(frozen=True, eq=False)
class Layers:
    """A graph cut in two, the second part being affine functions with a bend between each and the next."""

    graph: _Graph
    lines: tuple[_Line, ...]

    @property
    def cuts(self) -> tuple[str, ...]:
        """Tensors that onnxruntime computes, and graph inputs of numbers; together they are the design."""
        return self.lines[0].starts

    def network(self, widths: tuple[int, ...]) -> torch.nn.Module:
        """Return the torch module of logits (m, k), or of one log-odds (m, 1), from the widths of the cuts.

        Raises
        ------
        Unfit
            If it reads too many numbers.
        """
        from torch import nn

        bends = {"Relu": nn.ReLU, "Tanh": nn.Tanh, "Sigmoid": nn.Sigmoid}
        layers: list[nn.Module] = []
        for line in self.lines:
            if layers:
                layers.append(bends[self.graph.made_by[line.starts[0]].op_type]())
            layer = self._linear_layer(line, widths)
            layers.append(layer)
            widths = (layer.out_features,)
        return nn.Sequential(*layers)

    def _linear_layer(self, line: _Line, widths: tuple[int, ...]) -> torch.nn.Linear:
        """Return a line as a layer: its values at 0 and at unit vectors say what it is."""
        size = sum(widths)
        if size > _MAX_INPUTS:
            raise Unfit
        z = np.vstack([np.zeros(size), np.eye(size)])
        parts = np.split(z, np.cumsum(widths)[:-1], axis=1)
        values = self.graph.carry_out(line, dict(zip(line.starts, parts, strict=True))).reshape(size + 1, -1)
        return linear_layer((values[1:] - values[0]).T, values[0])


def layers_of(model: onnx.ModelProto, output: str, *, number: bool = False) -> tuple[Layers, ...]:
    """Return how the logits behind a probability output may be computed, the likeliest reading first.

    Parameters
    ----------
    output : str
        The output with probabilities.
    number : bool
        Whether it is a number instead, which is computed as it is.

    Returns
    -------
    tuple of Layers
        Empty where the graph holds other steps behind the encoding than standard layers. Which reading
        holds is for the caller to try.
    """
    import torch  # noqa: F401  (without torch there are no networks)

    graph = _Graph(model)
    found = []
    for tensor in [output] if number else graph.before_activation(output):
        with contextlib.suppress(Unfit):
            found.append(Layers(graph, graph.lines_to(tensor)))
    return tuple(found)


class _Graph:
    """A parsed graph, its constants as float64 arrays, and steps by what they give."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.made_by = {name: node for node in model.graph.node for name in node.output if name}
        self.order = list(model.graph.node)
        self.inputs = {each.name: each.type.tensor_type.elem_type for each in model.graph.input}
        self.constants: dict[str, np.ndarray] = {
            each.name: _constant(each) for each in model.graph.initializer
        }
        self.opsets = list(model.opset_import)
        for node in model.graph.node:
            if node.op_type == "Constant":
                value = attributes_of(node).get("value")
                if isinstance(value, onnx.TensorProto):
                    self.constants[node.output[0]] = _constant(value)

    def before_activation(self, output: str) -> list[str]:
        """Return the tensors that a last sigmoid, softmax or classifier turned into `output`."""
        found, waiting, seen = [], [output], set()
        while waiting:
            name = waiting.pop(0)
            node = self.made_by.get(name)
            if node is None or name in seen or name in self.constants:
                continue
            seen.add(name)
            if node.op_type in {"Sigmoid", "Softmax"}:
                found.append(node.input[0])
            elif node.op_type == "LinearClassifier":
                found.append(_scores_name(node))
            elif node.op_type in _AFTER:
                waiting += [each for each in node.input if each not in self.constants]
        return list(dict.fromkeys(found))

    def lines_to(self, tensor: str) -> tuple[_Line, ...]:
        """Return the affine functions, the last one giving `tensor`, between which lie bends alone.

        Raises
        ------
        Unfit
            If a step behind a layer is no standard one, or nothing lies behind the encoding.
        """
        lines = [self._line_to(tensor)]
        while bends := [name for name in lines[0].starts if self._is_bend(name)]:
            if len(lines[0].starts) > 1:
                raise Unfit
            lines.insert(0, self._line_to(self.made_by[bends[0]].input[0]))
        if lines[0].starts in {(), (tensor,)}:
            raise Unfit
        return tuple(lines)

    def _is_bend(self, name: str) -> bool:
        return name in self.made_by and self.made_by[name].op_type in _BENDS

    def _line_to(self, tensor: str) -> _Line:
        """Walk back through affine steps, to bends, graph inputs and what the runtime computes."""
        waiting, starts, seen = [tensor], set(), set()
        while waiting:
            name = waiting.pop()
            if name in seen or name in self.constants or not name:
                continue
            seen.add(name)
            node = self.made_by.get(name.removesuffix(_SCORES))
            if node is not None and (name.endswith(_SCORES) or self._is_affine(node)):
                waiting += list(node.input)
                continue
            starts.add(name)
            if node is None:
                fits = self.inputs.get(name) in _NUMERIC
            else:
                fits = node.op_type in _BENDS or not (node.op_type in {"Mul", "Div"} or self._mixes(name))
            if not fits:
                raise Unfit
        return _Line(tuple(sorted(starts)), tensor, frozenset(seen))

    def _is_affine(self, node: onnx.NodeProto) -> bool:
        """Whether a step is an affine one: constants where they must be, numbers where they are meant."""
        constant = [name in self.constants for name in node.input]
        if node.op_type == "Cast":
            return attributes_of(node)["to"] in _FLOATS
        if node.op_type in {"Reshape", "Squeeze", "Unsqueeze", "Slice"}:
            return all(known or not name for name, known in zip(node.input[1:], constant[1:], strict=True))
        if node.op_type == "Gather":
            return constant == [False, True]
        if node.op_type == "Div":
            return constant[1]
        return node.op_type in _AFFINE or (node.op_type == "Mul" and sum(constant) == 1)

    def carry_out(self, line: _Line, known: Arrays) -> np.ndarray:
        """Carry out a line in float64 from what its starts hold, the first axis being people."""
        values = self.constants | known
        for node in self.order:
            name = _scores_name(node) if node.op_type == "LinearClassifier" else node.output[0]
            if name in line.tensors and name not in values:
                values[name] = _step(node, {each: values[each] for each in node.input if each}, self.opsets)
        return values[line.end]

    def _mixes(self, name: str) -> bool:
        """Whether a tensor that the runtime computes is behind a layer: then it is no encoding."""
        waiting, seen = [name], {name}
        while waiting:
            node = self.made_by.get(waiting.pop())
            if node is None:
                continue
            if node.op_type in _MIXING or node.op_type.startswith(("TreeEnsemble", "SVM")):
                return True
            waiting += set(node.input) - seen
            seen.update(node.input)
        return False


_SCORES = "\0scores"
_FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16}
_NUMERIC = {*_FLOATS, onnx.TensorProto.INT64, onnx.TensorProto.INT32}
_AFTER = {
    "Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Normalizer", "ZipMap", "Concat", "Sub",
    "Slice", "Clip", "Add", "Div", "ReduceSum",
}  # fmt: skip


def _scores_name(node: onnx.NodeProto) -> str:
    """Return the name of a classifier's scores before its last transformation, which it does not give."""
    return node.output[1] + _SCORES


def _constant(tensor: onnx.TensorProto) -> np.ndarray:
    made = numpy_helper.to_array(tensor)
    return made.astype(np.float64) if made.dtype.kind == "f" else made


def _step(node: onnx.NodeProto, given: Arrays, opsets: list[onnx.OperatorSetIdProto]) -> np.ndarray:
    """Carry out one step, by the evaluator of the standard itself but for what exporters leave open."""
    x, about, kind = given[node.input[0]], attributes_of(node), node.op_type
    if kind in {"LinearClassifier", "LinearRegressor"}:
        return _linear(x, about, kind)
    if kind in {"Identity", "Cast", "Dropout"}:
        return x
    if kind == "Reshape":  # exporters write the number of rows of the example
        shape = given[node.input[1]].tolist()
        return x.reshape(
            -1 if -1 not in shape[1:] else len(x),
            *(size or x.shape[k + 1] for k, size in enumerate(shape[1:])),
        )
    if kind == "Concat":
        rows = max(len(each) for each in given.values())
        given = {name: np.broadcast_to(each, (rows, *each.shape[1:])) for name, each in given.items()}
    step = helper.make_function("step", "Step", list(given), node.output[:1], [node], opsets)
    outputs: Any = ReferenceEvaluator(step).run(None, given, attributes={})
    found: np.ndarray = outputs[0]
    return found


def _linear(x: np.ndarray, about: Mapping[str, Any], kind: str) -> np.ndarray:
    """Return the scores (n, k) of a linear classifier or regressor."""
    how = about.get("post_transform", b"NONE")
    if kind == "LinearRegressor" and how != b"NONE":
        raise Unfit
    scores = x @ np.array(about["coefficients"], dtype=float).reshape(-1, x.shape[1]).T
    scores += np.array(about.get("intercepts") or 0.0, dtype=float)
    # two logistic scores are each other's opposite: the second is the log-odds, not their difference
    paired = kind == "LinearClassifier" and scores.shape[1] == 2 and how == b"LOGISTIC"
    return scores[:, 1:] if paired else scores
