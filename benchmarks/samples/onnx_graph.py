"""A small ONNX model that grows by one step at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, reduce

import numpy as np
from onnx import TensorProto, helper

_OPSETS = {"": 17, "ai.onnx.ml": 3}


class Graph:
    """A graph whose inputs are columns, each of shape (n, 1), as converters of pipelines write them."""

    def __init__(self, name: str) -> None:
        self._name, self._nodes, self._constants, self._inputs = name, [], [], []

    def number(self, column: str, kind: int = TensorProto.FLOAT) -> str:
        """Declare a numeric column (float32, NaN where missing); return its name."""
        self._inputs.append(helper.make_tensor_value_info(column, kind, ["n", 1]))
        return column

    def constant(self, value: float | np.ndarray) -> str:
        """Add a float32 array, or a scalar stored as shape (1,); return its name."""
        name, values = f"constant_{len(self._constants)}", np.atleast_1d(np.asarray(value, dtype="<f4"))
        shape, raw = list(values.shape), values.tobytes()
        self._constants.append(helper.make_tensor(name, TensorProto.FLOAT, shape, raw, raw=True))
        return name

    def op(self, kind: str, *inputs: str | float, name: str = "", **attributes: object) -> str:
        """Add one step; return the name of its output. A number among `inputs` becomes a constant."""
        names = [self.constant(item) if isinstance(item, (int, float)) else item for item in inputs]
        output = name or f"{kind.lower()}_{len(self._nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else None
        self._nodes.append(helper.make_node(kind, names, [output], domain=domain, **attributes))
        return output

    def lookup(self, column: str, table: Mapping[str, float]) -> str:
        """Declare a column of strings; replace each by its number in `table`, by 0 where it is not there."""
        told = {"keys_strings": list(table), "values_floats": [float(value) for value in table.values()]}
        return self.op("LabelEncoder", self.number(column, TensorProto.STRING), default_float=0.0, **told)

    def add(self, terms: Iterable[str | float]) -> str:
        """Sum the terms from left to right."""
        return reduce(partial(self.op, "Add"), terms)

    def to_bytes(self, output: str) -> bytes:
        """Close the graph with its one `output`, a float32 tensor (n, 1), and encode the model file."""
        end = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", 1])
        graph = helper.make_graph(self._nodes, self._name, self._inputs, [end], self._constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        told = {"producer_name": "evenhand", "opset_imports": opsets, "ir_version": 8}
        return helper.make_model(graph, **told).SerializeToString(deterministic=True)
