"""People made up for the tests of models, and ONNX graphs written as text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pandas as pd
import pytest
from onnx import numpy_helper

from audits.data import AuditData, DataSpec, build_data


def make_people(n: int = 400, *, seed: int = 0) -> pd.DataFrame:
    """Return people with numbers, a category, a flag, a group and a label that depends on them."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n), rng.normal(50.0, 10.0, n).round(2)
    job, flag = rng.choice(["cook", "judge", "nurse"], n), rng.integers(0, 2, n)
    columns = {"age": age, "income": income, "job": job, "flag": flag, "sex": rng.choice(["f", "m"], n)}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(1, n + 1, name="row"))
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
    """Return a function that saves a graph, given in ONNX's text form, and gives its path."""

    def saved(graph: str, *, metadata: dict[str, str] | None = None, functions: str = "") -> Path:
        opsets = '"": 17, "ai.onnx.ml": 3, "local": 1, "com.microsoft": 1'
        text = f"<ir_version: 9, opset_import: [{opsets}]> g {graph} {functions}"
        model = onnx.parser.parse_model(text)
        for each in model.graph.initializer:  # as exporters write numbers
            each.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(each), each.name))
        for key, value in (metadata or {}).items():
            model.metadata_props.add(key=key, value=value)
        path = tmp_path / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return saved


@pytest.fixture
def linear(save: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function that saves sigmoid(X @ weights + intercept), its columns named in the file."""

    def saved(weights: list[float], intercept: float = 0.0, *, rows: Any = "n", metadata: Any = None) -> Path:
        width = len(weights)
        named = {"columns": json.dumps(["age", "income", "flag", "job", "sex"][:width])}
        return save(
            f"""(float[{rows},{width}] X) => (float[{rows},1] p)
            <float[{width},1] w = {{{", ".join(map(str, weights))}}}, float[1] b = {{{intercept}}}>
            {{ logit = Gemm(X, w, b) p = Sigmoid(logit) }}""",
            metadata=named if metadata is None else metadata,
        )

    return saved
