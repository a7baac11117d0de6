"""Write a small ONNX model without the `onnx` package: the few protobuf messages that the samples need.

ONNX is protobuf (https://onnx.ai/onnx/repo-docs/IR.html; field numbers from its ``onnx.proto``). Encoding by
hand keeps `onnx` out of the installed packages and makes the bytes depend on nothing but the model: fields go
out in ascending order, as protobuf's own deterministic serialiser writes them, which the tests check.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["GraphWriter"]

_IR_VERSION = 8
_OPSETS = {"": 17, "ai.onnx.ml": 3}
_FLOAT, _STRING = 1, 8  # TensorProto.DataType
_AS_FLOATS, _AS_STRINGS, _AS_FLOAT, _AS_INT = 6, 8, 1, 2  # AttributeProto.AttributeType

Attribute = int | float | list[float] | list[str]


class GraphWriter:
    """A model that grows by one operation at a time and ends as bytes.

    Every tensor is known by its name. Inputs are columns, one input a column of shape (n, 1), as
    converters of data-frame pipelines write them.

    Parameters
    ----------
    name : str
        Name of the graph, kept in the file.

    Examples
    --------
    >>> graph = GraphWriter("double")
    >>> twice = graph.op("Add", graph.number("x"), "x")
    >>> content = graph.to_bytes(graph.op("Identity", twice, name="score"))
    >>> len(content)
    138
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []

    def number(self, column: str) -> str:
        """Declare a numeric column (float32, NaN where missing); return its name."""
        self._inputs.append(_value(column, _FLOAT))
        return column

    def text(self, column: str) -> str:
        """Declare a column of strings; return its name."""
        self._inputs.append(_value(column, _STRING))
        return column

    def constant(self, value: float) -> str:
        """Add a float32 scalar, stored as shape (1,); return its name."""
        name = f"constant_{len(self._constants)}"
        raw = np.array([value], dtype="<f4").tobytes()
        self._constants.append(_int(1, 1) + _int(2, _FLOAT) + _bytes(8, name.encode()) + _bytes(9, raw))
        return name

    def op(self, kind: str, *inputs: str | float, name: str = "", **attributes: Attribute) -> str:
        """Add one operation of the standard domains; return the name of its output.

        A number among `inputs` becomes a constant. `name` names the output (default: kind and number).
        """
        names = [self.constant(item) if isinstance(item, (int, float)) else item for item in inputs]
        output = name or f"{kind.lower()}_{len(self._nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        node = b"".join(_bytes(1, item.encode()) for item in names)
        node += _bytes(2, output.encode()) + _bytes(4, kind.encode())
        node += b"".join(_bytes(5, _attribute(key, attributes[key])) for key in sorted(attributes))
        if domain:
            node += _bytes(7, domain.encode())
        self._nodes.append(node)
        return output

    def lookup(self, column: str, table: Mapping[str, float], *, otherwise: float = 0.0) -> str:
        """Replace each string by its number in `table`, by `otherwise` when it is not there."""
        return self.op(
            "LabelEncoder",
            column,
            keys_strings=list(table),
            values_floats=[float(value) for value in table.values()],
            default_float=float(otherwise),
        )

    def add(self, terms: Iterable[str | float]) -> str:
        """Sum the terms from left to right."""
        first, *rest = terms
        total = first if isinstance(first, str) else self.constant(first)
        for term in rest:
            total = self.op("Add", total, term)
        return total

    def to_bytes(self, output: str) -> bytes:
        """Close the graph with its one `output`, a float32 tensor (n, 1), and encode the model file."""
        graph = b"".join(_bytes(1, node) for node in self._nodes)
        graph += _bytes(2, self._name.encode())
        graph += b"".join(_bytes(5, constant) for constant in self._constants)
        graph += b"".join(_bytes(11, column) for column in self._inputs)
        graph += _bytes(12, _value(output, _FLOAT))
        model = _int(1, _IR_VERSION) + _bytes(2, b"evenhand") + _bytes(7, graph)
        for domain, version in _OPSETS.items():
            model += _bytes(8, _bytes(1, domain.encode()) + _int(2, version))
        return model


def _value(name: str, element: int) -> bytes:
    dimensions = _bytes(1, _bytes(2, b"n")) + _bytes(1, _int(1, 1))  # (n, 1)
    tensor = _int(1, element) + _bytes(2, dimensions)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: Attribute) -> bytes:
    message = _bytes(1, name.encode())
    if isinstance(value, int):
        return message + _int(3, value) + _int(20, _AS_INT)
    if isinstance(value, float):
        return message + _float(2, value) + _int(20, _AS_FLOAT)
    if all(isinstance(item, str) for item in value):
        return message + b"".join(_bytes(9, str(item).encode()) for item in value) + _int(20, _AS_STRINGS)
    return message + b"".join(_float(7, float(item)) for item in value) + _int(20, _AS_FLOATS)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
