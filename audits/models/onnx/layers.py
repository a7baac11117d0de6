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
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from audits.models.networks.gradients import linear_layer
from audits.models.onnx.file import attributes_of

if TYPE_CHECKING:
    import torch

__all__ = ["Layers", "layers_of"]

_MIXING = {"Gemm", "MatMul", "LinearClassifier", "LinearRegressor", "Normalizer", "Softmax", "ReduceSum"}
_MAX_INPUTS = 20_000
_BENDS = {"Relu", "Tanh", "Sigmoid"}
_AFFINE = {
    "Identity", "Cast", "Dropout", "Add", "Sub", "Sum", "MatMul", "Gemm", "Concat", "FeatureVectorizer",
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather", "ArrayFeatureExtractor", "Scaler", "Neg",
    "LinearRegressor", "ReduceSum",
}  # fmt: skip
_STEPS = _AFFINE | _BENDS | {"Mul", "Div"}
Arrays = dict[str, np.ndarray]


class Unfit(ValueError):
    """The graph holds something that is no standard layer."""


@dataclass(frozen=True, eq=False)
class Layers:
    """A graph cut in two.

    Attributes
    ----------
    cuts : tuple of str
        Tensors that onnxruntime computes, and graph inputs of numbers: side by side they are the design.
    """

    graph: _Graph
    nodes: tuple[onnx.NodeProto, ...]
    cuts: tuple[str, ...]
    tensor: str

    def network(self, widths: tuple[int, ...]) -> torch.nn.Module:
        """Return the torch module of logits (m, k), or of one log-odds (m, 1), from the widths of the cuts.

        Raises
        ------
        Unfit
            If it is no linear layers with bends between them.
        """
        from torch import nn

        bends = {"Relu": nn.ReLU, "Tanh": nn.Tanh, "Sigmoid": nn.Sigmoid}

        layers: list[nn.Module] = []
        wanted = self.tensor
        for _ in range(len(self.nodes) + 1):
            ends = self._affine_in(wanted)
            if ends is None:
                break
            if ends <= set(self.cuts):
                layers.append(self._line(self.cuts, widths, wanted))
                return nn.Sequential(*layers[::-1]).double()
            if len(ends) != 1:
                break
            (bent,) = ends
            node = self.graph.made_by[bent]
            before = node.input[0]
            layers += [self._line((bent,), (self._width(before, widths),), wanted), bends[node.op_type]()]
            wanted = before
        raise Unfit

    def _affine_in(self, tensor: str) -> set[str] | None:
        """Return the cuts and outputs of bends that a tensor is an affine function of; None if it is none."""
        constants = self.graph.constants
        waiting, ends, seen = [tensor], set(), set()
        while waiting:
            name = waiting.pop()
            if name in seen or name in constants or not name:
                continue
            seen.add(name)
            node = self.graph.made_by.get(name.removesuffix(_SCORES))
            if name in self.cuts or node is None or node.op_type in _BENDS:
                ends.add(name)
            elif name.endswith(_SCORES) or node.op_type in _AFFINE or _by_constant(node, constants):
                waiting += list(node.input)
            else:
                return None
        return ends

    def _width(self, tensor: str, widths: tuple[int, ...]) -> int:
        if tensor in self.cuts:
            return widths[self.cuts.index(tensor)]
        known = _split(np.zeros((2, sum(widths))), self.cuts, widths)
        return int(_run(self.graph, self.nodes, known, tensor).reshape(2, -1).shape[1])

    def _line(self, starts: tuple[str, ...], widths: tuple[int, ...], tensor: str) -> torch.nn.Linear:
        """Return the affine function from `starts` to `tensor`: its values at 0 and at unit vectors."""
        size = sum(widths)
        if size > _MAX_INPUTS:
            raise Unfit
        known = _split(np.vstack([np.zeros(size), np.eye(size)]), starts, widths)
        values = known[tensor] if tensor in known else _run(self.graph, self.nodes, known, tensor)
        values = values.reshape(size + 1, -1)
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
            cuts, nodes = graph.behind(tensor)
            found.append(Layers(graph, nodes, cuts, tensor))
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

    def behind(self, tensor: str) -> tuple[tuple[str, ...], tuple[onnx.NodeProto, ...]]:
        """Return the cuts that `tensor` is computed from, and the steps in their order.

        Raises
        ------
        Unfit
            If a step behind a layer is no standard one.
        """
        waiting, cuts, steps, seen = [tensor], [], {}, set()
        while waiting:
            name = waiting.pop()
            if name in seen or name in self.constants or not name:
                continue
            seen.add(name)
            node = self.made_by.get(name.removesuffix(_SCORES))
            if node is None:
                if self.inputs.get(name) not in _NUMERIC:
                    raise Unfit
                cuts.append(name)
            elif not name.endswith(_SCORES) and (node.op_type not in _STEPS or not _takes(node, self)):
                if self._mixes(name, set()):
                    raise Unfit
                cuts.append(name)
            else:
                steps[id(node)] = node
                waiting += list(node.input)
        if not cuts or not steps:
            raise Unfit
        return tuple(sorted(cuts)), tuple(node for node in self.order if id(node) in steps)

    def _mixes(self, name: str, seen: set[str]) -> bool:
        """Whether a tensor that the runtime computes is behind a layer: then it is no encoding."""
        node = self.made_by.get(name)
        if node is None or name in seen:
            return False
        seen.add(name)
        if node.op_type in _MIXING or node.op_type.startswith(("TreeEnsemble", "SVM")):
            return True
        return any(self._mixes(each, seen) for each in node.input)


_SCORES = "\0scores"
_NUMERIC = {
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.DOUBLE,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.INT64,
    onnx.TensorProto.INT32,
}
_FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16}
_AFTER = {
    "Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Normalizer", "ZipMap", "Concat", "Sub",
    "Slice", "Clip", "Add", "Div", "ReduceSum",
}  # fmt: skip


def _scores_name(node: onnx.NodeProto) -> str:
    """Return the name of a classifier's scores before its last transformation, which it does not give."""
    return node.output[1] + _SCORES


def _takes(node: onnx.NodeProto, graph: _Graph) -> bool:
    """Whether a step is the standard one: constants where they must be, numbers where they are meant."""
    if node.op_type == "Cast":
        return attributes_of(node)["to"] in _FLOATS
    if node.op_type in {"Reshape", "Squeeze", "Unsqueeze", "Slice"}:
        return all(name in graph.constants for name in node.input[1:] if name)
    if node.op_type == "Gather":
        return node.input[1] in graph.constants and node.input[0] not in graph.constants
    return True


def _constant(tensor: onnx.TensorProto) -> np.ndarray:
    made = numpy_helper.to_array(tensor)
    return made.astype(np.float64) if made.dtype.kind == "f" else made


def _run(graph: _Graph, nodes: tuple[onnx.NodeProto, ...], known: Arrays, wanted: str) -> np.ndarray:
    """Carry out in float64 the steps that `wanted` needs, the first axis of every array being people."""
    values = dict(known)
    for node in nodes:
        name = _scores_name(node) if node.op_type == "LinearClassifier" else node.output[0]
        given = {each: values.get(each, graph.constants.get(each)) for each in node.input if each}
        if name in values or any(each is None for each in given.values()):  # in front of what was given
            continue
        values[name] = _step(node, given, graph)  # type: ignore[arg-type]
        if wanted in values:
            break
    return values[wanted]


def _step(node: onnx.NodeProto, given: Arrays, graph: _Graph) -> np.ndarray:
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
    step = helper.make_function("step", "Step", list(given), node.output[:1], [node], graph.opsets)
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


def _by_constant(node: onnx.NodeProto, constants: Mapping[str, np.ndarray]) -> bool:
    """Whether a step multiplies or divides by a constant."""
    if node.op_type == "Div":
        return node.input[1] in constants
    return node.op_type == "Mul" and sum(each in constants for each in node.input) == 1


def _split(z: np.ndarray, cuts: tuple[str, ...], widths: tuple[int, ...]) -> Arrays:
    return dict(zip(cuts, np.split(z, np.cumsum(widths)[:-1], axis=1), strict=True))
