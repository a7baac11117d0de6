"""People made up for the tests of models, and ONNX files made from them by skl2onnx and onnx.helper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper, numpy_helper

from audits.data import AuditData, DataSpec, build_data


def make_people(n: int = 400, *, seed: int = 0) -> pd.DataFrame:
    """Return people with numbers, a category, a flag, a group and a label that depends on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(50.0, 10.0, n).round(2),
            "job": rng.choice(["cook", "judge", "nurse"], n),
            "flag": rng.integers(0, 2, n),
            "sex": rng.choice(["f", "m"], n),
        },
        index=pd.RangeIndex(1, n + 1, name="row"),
    )
    logit = (frame["age"] - 50) / 10 + 2.0 * (frame["job"] == "judge") - frame["flag"]
    frame["hired"] = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    return frame


def audit_data(frame: pd.DataFrame, **spec: Any) -> AuditData:
    """Return the data with label `hired`, favorable "yes", protected `sex`, unless told otherwise."""
    given = {"label": "hired", "favorable": "yes", "protected": ("sex",), **spec}
    return build_data(frame, DataSpec(**given))


@pytest.fixture(scope="session")
def make_data() -> Callable[..., AuditData]:
    return audit_data


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    return make_people()


@pytest.fixture(scope="session")
def data(people: pd.DataFrame) -> AuditData:
    return audit_data(people)


@pytest.fixture
def numeric_data(people: pd.DataFrame) -> AuditData:
    return audit_data(people, features=("age", "income"))


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that saves a graph, given as helper.make_graph's parts, and gives its path."""

    def saved(
        nodes: list[onnx.NodeProto],
        inputs: dict[str, tuple[int, list[Any]]],
        outputs: dict[str, tuple[int, list[Any]]],
        constants: dict[str, np.ndarray] | None = None,
        *,
        domains: tuple[str, ...] = ("", "ai.onnx.ml"),
        metadata: dict[str, str] | None = None,
        functions: tuple[onnx.FunctionProto, ...] = (),
    ) -> Path:
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(name, *each) for name, each in inputs.items()],
            [helper.make_tensor_value_info(name, *each) for name, each in outputs.items()],
            [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()],
        )
        versions = {"": 17, "ai.onnx.ml": 3}
        imports = [helper.make_opsetid(domain, versions.get(domain, 1)) for domain in domains]
        model = helper.make_model(graph, opset_imports=imports, ir_version=9, functions=list(functions))
        for key, value in (metadata or {}).items():
            model.metadata_props.add(key=key, value=value)
        path = tmp_path / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return saved


@pytest.fixture
def linear(save: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function that saves sigmoid(X @ weights + intercept), its columns named in the file."""

    def saved(weights: list[float], intercept: float = 0.0, *, rows: Any = "n", **options: Any) -> Path:
        named = json.dumps(["age", "income", "flag", "job", "sex"][: len(weights)])
        options.setdefault("metadata", {"columns": named})
        return save(
            [
                helper.make_node("Gemm", ["X", "w", "b"], ["logit"]),
                helper.make_node("Sigmoid", ["logit"], ["p"]),
            ],
            {"X": (TensorProto.FLOAT, [rows, len(weights)])},
            {"p": (TensorProto.FLOAT, [rows, 1])},
            {"w": np.array(weights, np.float32)[:, None], "b": np.array([intercept], np.float32)},
            **options,
        )

    return saved
