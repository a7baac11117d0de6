"""How much a graph makes of little, read off the file: loops, and tensors far larger than what makes them.

What can be read before anything runs is refused here. What depends on the data is met by the limits on the
process that runs the graph and on the time of one run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from audits.errors import InputError

if TYPE_CHECKING:
    import onnx

__all__ = ["check_count", "check_work"]

_MOST_NODES = 50_000
_MOST_LEVELS = 10
_MOST_TRIPS = 1_000_000
_MOST_VALUES = 50_000_000
_LONGEST_SHAPE = 64
_WRITTEN_OUT = " once its functions are written out where they are used"
_MAKERS = {"ConstantOfShape": 0, "Expand": 1, "Tile": 1, "Reshape": 1, "EyeLike": 0}


def check_work(model: onnx.ModelProto, name: str) -> None:
    """Raise `InputError` for more nodes, levels, trips of a loop or values of a tensor than any model needs.

    Parameters
    ----------
    model : ModelProto
        The parsed file.
    name : str
        The file's name, for messages.
    """
    check_count(model, name)
    graphs = list(_graphs(model, name))
    _check_functions(model, graphs, name)
    nodes = sum(len(graph.node) for graph in graphs) + sum(len(each.node) for each in model.functions)
    _check_nodes(nodes, name)
    known: dict[str, tuple[int, ...]] = {}
    for graph in graphs:
        for sparse in graph.sparse_initializer:
            _check_values(math.prod(sparse.dims), "a sparse tensor", name)
        for tensor in graph.initializer:
            _check_values(math.prod(tensor.dims), f"the tensor {tensor.name!r}", name)
            known |= _numbers(tensor, tensor.name, name)
        for node in graph.node:
            for item in node.attribute:
                if item.HasField("sparse_tensor"):
                    _check_values(math.prod(item.sparse_tensor.dims), "a sparse tensor", name)
                if item.HasField("t"):
                    _check_values(math.prod(item.t.dims), f"a constant of {node.op_type}", name)
                    if node.op_type == "Constant" and node.output:
                        known |= _numbers(item.t, node.output[0], name)
                if node.op_type == "Constant" and item.name in {"value_int", "value_ints"} and node.output:
                    known[node.output[0]] = tuple(item.ints) or (item.i,)
    for graph in graphs:
        for node in graph.node:
            _check_node(node, known, name)


def check_count(model: onnx.ModelProto, name: str) -> None:
    """Raise `InputError` for more nodes than any model needs, without looking at any of them."""
    _check_nodes(len(model.graph.node) + sum(len(each.node) for each in model.functions), name)


def _check_nodes(nodes: int, name: str, when: str = "") -> None:
    if nodes > _MOST_NODES:
        raise InputError(name, f"must have at most {_MOST_NODES:,} nodes, but has {nodes:,}{when}")


def _check_functions(model: onnx.ModelProto, graphs: list[onnx.GraphProto], name: str) -> None:
    """Refuse functions that call themselves, or that are too many nodes once written out where they are used.

    A function that calls another twice, which calls another twice, doubles with each: forty make 2^40 nodes.
    """
    bodies = {_called(function): list(_nodes_of(function)) for function in model.functions}
    sizes: dict[tuple[str, ...], int] = {}
    waiting = [(each, False) for each in bodies]
    begun = set()
    while waiting:
        own, ready = waiting.pop()
        if own in sizes:
            continue
        inner = [key for node in bodies[own] if (key := _called(node)) in bodies]
        if ready:
            sizes[own] = sum(sizes.get(_called(node), 1) for node in bodies[own])
            _check_nodes(sizes[own], name, _WRITTEN_OUT)
        elif own in begun or own in inner:
            raise InputError(name, "must not have functions that call themselves", own[1][:80])
        else:
            begun.add(own)
            waiting += [(own, True), *((each, False) for each in set(inner) if each not in sizes)]
    whole = sum(sizes.get(_called(node), 1) for graph in graphs for node in graph.node)
    _check_nodes(whole, name, _WRITTEN_OUT)


def _called(what: onnx.NodeProto | onnx.FunctionProto) -> tuple[str, ...]:
    """Return what names a function, where it is and where it is called."""
    kind = what.name if hasattr(what, "opset_import") else what.op_type
    return (what.domain, kind, getattr(what, "overload", ""))


def _nodes_of(function: onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a function, those of graphs inside them too."""
    waiting = list(function.node)
    while waiting:
        node = waiting.pop()
        yield node
        for item in node.attribute:
            for graph in [item.g] if item.HasField("g") else list(item.graphs):
                waiting += graph.node


def _check_node(node: onnx.NodeProto, known: Mapping[str, tuple[int, ...]], name: str) -> None:
    given = [known.get(each) for each in node.input]
    if node.op_type == "Loop" and given and given[0] and given[0][0] > _MOST_TRIPS:
        raise InputError(
            name, f"must go round a loop at most {_MOST_TRIPS:,} times, but goes {given[0][0]:,} times"
        )
    place = _MAKERS.get(node.op_type)
    if place is not None and len(given) > place and given[place]:
        _check_values(math.prod(max(size, 1) for size in given[place] or ()), f"a {node.op_type}", name)
    if node.op_type == "Range" and len(given) == 3 and all(given):
        start, limit, step = (each[0] for each in given if each)
        if step:
            _check_values(math.ceil((limit - start) / step), "a Range", name)


def _check_values(number: int, what: str, name: str) -> None:
    if number > _MOST_VALUES:
        raise InputError(
            name, f"must make tensors of at most {_MOST_VALUES:,} values, but {what} has {number:,}"
        )


def _graphs(model: onnx.ModelProto, name: str) -> Iterator[onnx.GraphProto]:
    """Yield the graph and all graphs inside it."""
    waiting = [(model.graph, 1)]
    bodies = [node for function in model.functions for node in function.node]
    waiting += [(item.g, 2) for node in bodies for item in node.attribute if item.HasField("g")]
    while waiting:
        graph, level = waiting.pop()
        if level > _MOST_LEVELS:
            raise InputError(name, f"must have at most {_MOST_LEVELS} graphs inside each other")
        yield graph
        for node in graph.node:
            for item in node.attribute:
                inner = [item.g] if item.HasField("g") else list(item.graphs)
                waiting += [(each, level + 1) for each in inner]


def _numbers(tensor: onnx.TensorProto, title: str, name: str) -> dict[str, tuple[int, ...]]:
    """Return the few whole numbers that a tensor holds, which may be a shape or a number of trips."""
    if math.prod(tensor.dims) > _LONGEST_SHAPE:
        return {}
    try:
        values = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, OverflowError, DecodeError, KeyError):
        raise InputError(name, f"has a tensor that is not whole: {title[:80]!r}") from None
    if not np.issubdtype(values.dtype, np.integer):
        return {}
    return {title: tuple(int(each) for each in values.ravel())}
