"""How large a graph is, read off the file: its nodes, functions written out, and the tensors that it holds.

What a graph makes of them as it runs (loops, tensors filled by a number) is met by the limits on the process
that runs it and on the time of one run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from audits.errors import InputError

if TYPE_CHECKING:
    import onnx

__all__ = ["check_count", "check_work"]

_MOST_NODES = 50_000
_MOST_LEVELS = 10
_MOST_VALUES = 50_000_000
_WRITTEN_OUT = " once its functions are written out where they are used"


def check_work(model: onnx.ModelProto, name: str) -> None:
    """Raise `InputError` for more nodes, levels or values of a tensor than any model needs.

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
    for graph in graphs:
        tensors = [(tensor, f"the tensor {tensor.name!r}") for tensor in graph.initializer]
        sparse = list(graph.sparse_initializer)
        for node in graph.node:
            tensors += [(item.t, f"a constant of {node.op_type}") for item in node.attribute]
            sparse += [item.sparse_tensor for item in node.attribute]
        for tensor, what in (*tensors, *((each, "a sparse tensor") for each in sparse)):
            _check_values(math.prod(tensor.dims) if tensor.dims else 1, what, name)


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
