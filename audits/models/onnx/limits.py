"""What a graph may hold and how large it may be, read off the file before anything is run.

What a graph makes of that as it runs (loops, tensors filled by a number) is met by the limits on the process
that runs it and on the time of one run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

import onnx
from google.protobuf.message import Message

from audits.errors import InputError

_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
_MAX_NODES = 50_000
_MAX_LEVELS = 10
_MAX_VALUES = 50_000_000


def check_parts(model: onnx.ModelProto, name: str) -> None:
    """Raise `InputError` for what no model needs.

    External tensors, operators of other domains that the file does not define itself, names that are not
    UTF-8, and more nodes, levels of graphs or values of a tensor than any model has.

    Parameters
    ----------
    model : ModelProto
        The parsed file.
    name : str
        The file's name, for messages.
    """
    _check_nodes(len(model.graph.node) + sum(len(each.node) for each in model.functions), name)
    own = {(function.domain, function.name) for function in model.functions}
    nodes = 0
    for part, level in messages(model):
        kind = part.DESCRIPTOR.name
        if level > _MAX_LEVELS:
            raise InputError(name, f"must have at most {_MAX_LEVELS} nested graphs")
        if kind == "TensorProto" and is_external(part):
            raise InputError(
                name,
                f"must be self-contained, but tensor {part.name!r} lies in an external file",
                advice="save it with onnx.save(model, path, save_as_external_data=False)",
            )
        values = math.prod(part.dims) if kind in {"TensorProto", "SparseTensorProto"} else 0
        if values > _MAX_VALUES:
            rule = f"must make tensors of at most {_MAX_VALUES:,} values, but one has {values:,}"
            raise InputError(name, rule)
        if kind == "NodeProto":
            nodes += 1
            if part.domain not in _DOMAINS and (part.domain, part.op_type) not in own:
                raise InputError(
                    name,
                    "must use only the standard operators of ai.onnx and ai.onnx.ml, but uses "
                    f"{part.op_type!r} of the domain {part.domain!r}",
                    advice="export it again without custom or vendor-specific operators",
                )
        for field, value in part.ListFields():
            if field.type == field.TYPE_STRING:
                for text in [value] if isinstance(value, (str, bytes)) else value:
                    if isinstance(text, bytes) or (not text.isprintable() and "\ufffd" in text):
                        raise InputError(name, "has a name that is not UTF-8 text", advice="export it again")
    _check_nodes(nodes, name)
    _check_functions(model, name)


def is_external(tensor: onnx.TensorProto) -> bool:
    """Whether the numbers of a tensor lie in another file."""
    return bool(tensor.external_data) or tensor.data_location == onnx.TensorProto.EXTERNAL


def messages(root: Message) -> Iterator[tuple[Any, int]]:
    """Yield every message inside `root` (subgraphs, functions, sparse tensors), and how many graphs deep."""
    waiting = [(root, 0)]
    while waiting:
        message, level = waiting.pop()
        level += message.DESCRIPTOR.name in {"GraphProto", "FunctionProto"}
        yield message, level
        for field, value in message.ListFields():
            if field.message_type is not None:
                waiting += [(each, level) for each in ([value] if isinstance(value, Message) else value)]


def _check_nodes(nodes: int, name: str, when: str = "") -> None:
    if nodes > _MAX_NODES:
        raise InputError(name, f"must have at most {_MAX_NODES:,} nodes, but has {nodes:,}{when}")


def _check_functions(model: onnx.ModelProto, name: str) -> None:
    """Refuse functions that call themselves, or that are too many nodes once written out where they are used.

    A function that calls another twice, which calls another twice, doubles with each: forty make 2^40 nodes.
    """
    bodies = {_function_key(function): _calls(function) for function in model.functions}
    inner = {own: body.keys() & bodies.keys() for own, body in bodies.items()}
    try:
        order = list(TopologicalSorter(inner).static_order())
    except CycleError as error:
        itself = error.args[1][0][1][:80]
        raise InputError(name, "must not have functions that call themselves", itself) from None
    sizes: dict[tuple[str, ...], int] = {}
    for own, body in [*((each, bodies[each]) for each in order), (("graph",), _calls(model.graph))]:
        sizes[own] = sum(times * sizes.get(called, 1) for called, times in body.items())
        _check_nodes(sizes[own], name, " once its functions are written out where they are used")


def _calls(root: Message) -> Counter[tuple[str, ...]]:
    return Counter(_function_key(part) for part, _ in messages(root) if part.DESCRIPTOR.name == "NodeProto")


def _function_key(what: onnx.NodeProto | onnx.FunctionProto) -> tuple[str, ...]:
    """Return what names a function, where it is and where it is called."""
    kind = what.name if hasattr(what, "opset_import") else what.op_type
    return (what.domain, kind, getattr(what, "overload", ""))
