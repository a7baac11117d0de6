"""ONNX graphs of standard layers as torch networks: what stands behind the encoding of the columns.

Steps that turn a cell into numbers and have no slope (a one-hot encoding, a filled-in value) stay with
onnxruntime: their outputs, and the columns of numbers, are the *design* that the network reads. Where the
network is linear layers with ReLUs, tanh or sigmoid units between them it becomes exactly that, whatever
steps the exporter made of it; otherwise a module that carries out the same steps in float64. Nothing here is trusted by itself: see
`audits.models.exact`, which holds scores against the runtime's.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

if TYPE_CHECKING:
    import torch

__all__ = ["Layers", "layers_of"]

_MIXING = {"Gemm", "MatMul", "LinearClassifier", "LinearRegressor", "Normalizer", "Softmax", "ReduceSum"}
_MOST_INPUTS = 20_000
Tensors = dict[str, "torch.Tensor"]
Step = Callable[..., "torch.Tensor"]


@dataclass(frozen=True, eq=False)
class Layers:
    """A graph cut in two.

    Attributes
    ----------
    cuts : tuple of str
        Tensors that onnxruntime computes, and graph inputs of numbers: side by side they are the design.
    network : callable
        From the widths of the cuts to the torch module of logits (m, k), or of one log-odds (m, 1).
    """

    cuts: tuple[str, ...]
    network: Callable[[tuple[int, ...]], torch.nn.Module]


class _Unfit(ValueError):
    """The graph holds something that is no standard layer."""


def layers_of(model: onnx.ModelProto, output: str) -> tuple[Layers, ...]:
    """Return how the logits behind a probability output may be computed, the likeliest reading first.

    Parameters
    ----------
    output : str
        The output with probabilities.

    Returns
    -------
    tuple of Layers
        Empty where the graph holds other steps behind the encoding than standard layers. Which reading
        holds is for the caller to try.
    """
    import torch  # noqa: F401  (without torch there are no networks)

    graph = _Graph(model)
    found = []
    for tensor, chances in [*((each, False) for each in graph.before_activation(output)), (output, True)]:
        with contextlib.suppress(_Unfit):
            cuts, nodes = graph.behind(tensor)
            part = _Part(graph, nodes, cuts, tensor)
            found.append(Layers(cuts, part.chances if chances else part.logits))
    return tuple(found)


class _Graph:
    """A parsed graph, its constants as float64 tensors, and steps by what they give."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.made_by = {name: node for node in model.graph.node for name in node.output if name}
        self.order = list(model.graph.node)
        self.inputs = {each.name: each.type.tensor_type.elem_type for each in model.graph.input}
        self.constants: dict[str, np.ndarray] = {
            each.name: numpy_helper.to_array(each) for each in model.graph.initializer
        }
        for node in model.graph.node:
            if node.op_type == "Constant":
                value = _attributes(node).get("value")
                if isinstance(value, onnx.TensorProto):
                    self.constants[node.output[0]] = numpy_helper.to_array(value)

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
        _Unfit
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
                    raise _Unfit
                cuts.append(name)
            elif node.op_type not in _STEPS or not _takes(node, self):
                if self._mixes(name, set()):
                    raise _Unfit
                cuts.append(name)
            else:
                steps[id(node)] = node
                waiting += list(node.input)
        if not cuts or not steps:
            raise _Unfit
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


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}


def _takes(node: onnx.NodeProto, graph: _Graph) -> bool:
    """Whether a step is the standard one: constants where they must be, numbers where they are meant."""
    if node.op_type == "Cast":
        return _attributes(node)["to"] in _FLOATS
    if node.op_type in {"Reshape", "Squeeze", "Unsqueeze", "Slice"}:
        return all(name in graph.constants for name in node.input[1:] if name)
    if node.op_type == "Gather":
        return node.input[1] in graph.constants and node.input[0] not in graph.constants
    return True


def _run(
    nodes: tuple[onnx.NodeProto, ...], known: Tensors, wanted: str, constants: Mapping[str, np.ndarray]
) -> torch.Tensor:
    """Carry out the steps that `wanted` needs, the first axis of every tensor being people."""
    import torch

    tensors = dict(known)

    def of(name: str) -> Any:
        if name not in tensors and name in constants:
            tensors[name] = torch.tensor(np.asarray(constants[name], dtype=np.float64))
        return tensors.get(name)

    for node in nodes:
        outputs = [name for name in node.output if name]
        if node.op_type == "LinearClassifier":
            outputs = [node.output[1], _scores_name(node)]
        if all(name in tensors for name in outputs):
            continue
        given = [of(name) for name in node.input]
        if any(value is None for name, value in zip(node.input, given, strict=True) if name):
            continue  # in front of what was given
        raw = [constants.get(name) for name in node.input]
        if node.op_type == "LinearClassifier":
            scores = _linear(given[0], _attributes(node))
            # two logistic scores are each other's opposite: the second is the log-odds, not their difference
            paired = scores.shape[1] == 2 and _attributes(node).get("post_transform") == b"LOGISTIC"
            tensors[_scores_name(node)] = scores[:, 1:] if paired else scores
            tensors[node.output[1]] = _transformed(scores, _attributes(node))
        else:
            tensors[outputs[0]] = _STEPS[node.op_type](given, _attributes(node), raw)
        if wanted in tensors:
            break
    return tensors[wanted]


def _linear(x: torch.Tensor, about: dict[str, Any]) -> torch.Tensor:
    import torch

    weights = torch.tensor(np.array(about["coefficients"], dtype=np.float64))
    rows = weights.reshape(-1, x.shape[1])
    found = x @ rows.T
    offsets = about.get("intercepts")
    return found if not offsets else found + torch.tensor(np.array(offsets, dtype=np.float64))


def _transformed(scores: torch.Tensor, about: dict[str, Any]) -> torch.Tensor:
    import torch

    how = about.get("post_transform", b"NONE")
    if scores.shape[1] == 1:  # one score of two classes
        chance = torch.sigmoid(scores) if how in {b"LOGISTIC", b"SOFTMAX"} else scores
        return torch.cat([1.0 - chance, chance], dim=1)
    if how == b"SOFTMAX":
        return torch.softmax(scores, dim=1)
    if how not in {b"LOGISTIC", b"NONE"}:
        raise _Unfit
    return torch.sigmoid(scores) if how == b"LOGISTIC" else scores


def _gemm(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    left = x[0].T if about.get("transA") else x[0]
    right = x[1].T if about.get("transB") else x[1]
    found = about.get("alpha", 1.0) * (left @ right)
    return found if len(x) < 3 or x[2] is None else found + about.get("beta", 1.0) * x[2]


def _scaled(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    import torch

    offset, scale = (
        torch.tensor(np.array(about.get(key, d))) for key, d in (("offset", 0.0), ("scale", 1.0))
    )
    return (x[0] - offset.double()) * scale.double()


def _normalised(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    norm = about.get("norm", b"MAX")
    size = {
        b"L1": lambda: x[0].abs().sum(dim=1, keepdim=True),
        b"L2": lambda: x[0].square().sum(dim=1, keepdim=True).sqrt(),
        b"MAX": lambda: x[0].amax(dim=1, keepdim=True),
    }[norm]()
    return x[0] / size


def _concat(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    import torch

    rows = max(each.shape[0] for each in x)
    return torch.cat([each.expand(rows, *each.shape[1:]) for each in x], dim=about.get("axis", 1))


def _vectorised(x: list[Any], _: dict[str, Any], __: Any) -> torch.Tensor:
    import torch

    return torch.cat([each.reshape(len(each), -1) for each in x], dim=1)


def _reshaped(x: list[Any], _: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    shape = [int(size) for size in raw[1]]
    shape = [x[0].shape[place] if size == 0 else size for place, size in enumerate(shape)]
    if shape and shape[0] not in {-1, x[0].shape[0]} and math.prod(shape) != x[0].numel():
        shape[0] = -1  # exporters write the number of rows of the example
    return x[0].reshape(shape)


def _squeezed(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    axes = raw[1].tolist() if len(raw) > 1 and raw[1] is not None else about.get("axes", [])
    found = x[0]
    for axis in sorted((int(each) for each in axes), reverse=True):
        found = found.squeeze(axis)
    return found


def _unsqueezed(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    axes = raw[1].tolist() if len(raw) > 1 and raw[1] is not None else about.get("axes", [])
    found = x[0]
    for axis in sorted(int(each) for each in axes):
        found = found.unsqueeze(axis)
    return found


def _sliced(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    if about:  # before opset 10
        starts, ends = about["starts"], about["ends"]
        axes, steps = about.get("axes", range(len(starts))), [1] * len(starts)
    else:
        starts, ends = raw[1].tolist(), raw[2].tolist()
        axes = raw[3].tolist() if len(raw) > 3 and raw[3] is not None else range(len(starts))
        steps = raw[4].tolist() if len(raw) > 4 and raw[4] is not None else [1] * len(starts)
    found = x[0]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step < 1:
            raise _Unfit
        index = [slice(None)] * found.ndim
        index[axis] = slice(start, min(end, found.shape[axis]), step)
        found = found[tuple(index)]
    return found


def _picked(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    import torch

    axis = about.get("axis", 0)
    places = raw[1]
    if axis == 0:
        raise _Unfit
    found = x[0].index_select(axis, torch.tensor(np.atleast_1d(places).astype(np.int64)))
    return found if np.ndim(places) else found.squeeze(axis)


def _extracted(x: list[Any], _: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    import torch

    return x[0].index_select(-1, torch.tensor(raw[1].ravel().astype(np.int64)))


def _regressed(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    if about.get("post_transform", b"NONE") != b"NONE":
        raise _Unfit
    return _linear(x[0], about)


def _summed(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    axes = raw[1].tolist() if len(raw) > 1 and raw[1] is not None else about.get("axes", [])
    if 0 in axes or not axes:
        raise _Unfit
    return x[0].sum(dim=tuple(axes), keepdim=bool(about.get("keepdims", 1)))


def _clipped(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    low = raw[1] if len(raw) > 1 and raw[1] is not None else about.get("min", -np.inf)
    high = raw[2] if len(raw) > 2 and raw[2] is not None else about.get("max", np.inf)
    return x[0].clamp(float(low), float(high))


def _plain(name: str) -> Step:
    import torch

    made = {
        "Relu": torch.relu,
        "Sigmoid": torch.sigmoid,
        "Tanh": torch.tanh,
        "Softplus": torch.nn.functional.softplus,
        "Exp": torch.exp,
        "Erf": torch.erf,
        "Sqrt": torch.sqrt,
        "Neg": torch.neg,
    }[name]
    return lambda x, _, __: made(x[0])


def _lazy(name: str) -> Step:
    return lambda x, about, raw: _plain(name)(x, about, raw)


_STEPS: dict[str, Step] = {
    **{name: _lazy(name) for name in ("Relu", "Sigmoid", "Tanh", "Softplus", "Exp", "Erf", "Sqrt", "Neg")},
    "Identity": lambda x, _, __: x[0],
    "Cast": lambda x, _, __: x[0],
    "Dropout": lambda x, _, __: x[0],
    "Add": lambda x, _, __: x[0] + x[1],
    "Sub": lambda x, _, __: x[0] - x[1],
    "Mul": lambda x, _, __: x[0] * x[1],
    "Div": lambda x, _, __: x[0] / x[1],
    "Sum": lambda x, _, __: sum(x[1:], x[0]),
    "MatMul": lambda x, _, __: x[0] @ x[1],
    "Gemm": _gemm,
    "Concat": _concat,
    "FeatureVectorizer": _vectorised,
    "Reshape": _reshaped,
    "Flatten": lambda x, about, __: x[0].flatten(about.get("axis", 1)),
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Slice": _sliced,
    "Gather": _picked,
    "ArrayFeatureExtractor": _extracted,
    "Scaler": _scaled,
    "Normalizer": _normalised,
    "Softmax": lambda x, about, __: x[0].softmax(dim=about.get("axis", -1)),
    "LeakyRelu": lambda x, about, __: x[0].clamp(min=0) + about.get("alpha", 0.01) * x[0].clamp(max=0),
    "Elu": lambda x, about, __: x[0].clamp(min=0) + about.get("alpha", 1.0) * (x[0].clamp(max=0).exp() - 1),
    "Clip": _clipped,
    "ReduceSum": _summed,
    "LinearClassifier": lambda x, about, __: _transformed(_linear(x[0], about), about),
    "LinearRegressor": _regressed,
}
_AFFINE = {
    "Identity", "Cast", "Dropout", "Add", "Sub", "Sum", "MatMul", "Gemm", "Concat", "FeatureVectorizer",
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather", "ArrayFeatureExtractor", "Scaler", "Neg",
    "LinearRegressor", "ReduceSum",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Part:
    """The steps between the cuts and one tensor."""

    graph: _Graph
    nodes: tuple[onnx.NodeProto, ...]
    cuts: tuple[str, ...]
    tensor: str

    def logits(self, widths: tuple[int, ...]) -> torch.nn.Module:
        """Return the network of a tensor of logits: plain layers where it is some, else its steps."""
        plain = self._plain_layers(widths)
        return plain if plain is not None else self._module(widths, chances=False)

    def chances(self, widths: tuple[int, ...]) -> torch.nn.Module:
        """Return a network whose logits are the logarithms of the chances that the tensor holds."""
        return self._module(widths, chances=True)

    def _module(self, widths: tuple[int, ...], *, chances: bool) -> torch.nn.Module:
        import torch

        part = self

        class Steps(torch.nn.Module):
            """The steps of a graph, (m, w) to logits (m, k)."""

            def forward(self, z: torch.Tensor) -> torch.Tensor:
                found = _run(part.nodes, _split(z, part.cuts, widths), part.tensor, part.graph.constants)
                found = found.reshape(len(z), -1)
                if not chances:
                    return found
                if found.shape[1] == 1:
                    found = torch.cat([1.0 - found, found], dim=1)
                return found.clamp(min=1e-30).log()

        return Steps()

    def _plain_layers(self, widths: tuple[int, ...]) -> torch.nn.Module | None:
        """Return the network as linear layers with bends between them, None if it is none."""
        from torch import nn

        bends = {"Relu": nn.ReLU, "Tanh": nn.Tanh, "Sigmoid": nn.Sigmoid}

        layers: list[nn.Module] = []
        wanted = self.tensor
        for _ in range(len(self.nodes) + 1):
            ends = self._affine_in(wanted)
            if ends is None:
                return None
            if ends <= set(self.cuts):
                layers.append(self._line(self.cuts, widths, wanted))
                return nn.Sequential(*layers[::-1]).double()
            if len(ends) != 1:
                return None
            (bent,) = ends
            node = self.graph.made_by[bent]
            before = node.input[0]
            layers += [self._line((bent,), (self._width(before, widths),), wanted), bends[node.op_type]()]
            wanted = before
        return None

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
            if name in self.cuts or node is None or node.op_type in {"Relu", "Tanh", "Sigmoid"}:
                ends.add(name)
            elif name.endswith(_SCORES) or node.op_type in _AFFINE or _by_constant(node, constants):
                waiting += list(node.input)
            else:
                return None
        return ends

    def _width(self, tensor: str, widths: tuple[int, ...]) -> int:
        import torch

        if tensor in self.cuts:
            return widths[self.cuts.index(tensor)]
        known = _split(torch.zeros(2, sum(widths), dtype=torch.float64), self.cuts, widths)
        return int(_run(self.nodes, known, tensor, self.graph.constants).reshape(2, -1).shape[1])

    def _line(self, starts: tuple[str, ...], widths: tuple[int, ...], tensor: str) -> torch.nn.Linear:
        """Return the affine function from `starts` to `tensor`: its values at 0 and at unit vectors."""
        import torch

        size = sum(widths)
        if size > _MOST_INPUTS:
            raise _Unfit
        points = torch.cat([torch.zeros(1, size), torch.eye(size)]).double()
        known = _split(points, starts, widths)
        values = known[tensor] if tensor in known else _run(self.nodes, known, tensor, self.graph.constants)
        values = values.reshape(size + 1, -1)
        made = torch.nn.Linear(size, values.shape[1], dtype=torch.float64)
        made.weight.data = (values[1:] - values[0]).T.contiguous()
        made.bias.data = values[0].clone()
        return made


def _by_constant(node: onnx.NodeProto, constants: Mapping[str, np.ndarray]) -> bool:
    """Whether a step multiplies or divides by a constant."""
    if node.op_type == "Div":
        return node.input[1] in constants
    return node.op_type == "Mul" and sum(each in constants for each in node.input) == 1


def _split(z: torch.Tensor, cuts: tuple[str, ...], widths: tuple[int, ...]) -> Tensors:
    import torch

    return dict(zip(cuts, torch.split(z, list(widths), dim=1), strict=True))
