"""One huge cell: a training or a matching by standard deviations that it would blind is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

PAIR = {"source": {"g": "a"}, "target": {"g": "b"}, "permutations": 0}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("heavy")
    rng = np.random.default_rng(1)
    x, group = rng.normal(size=240), rng.choice(["a", "b"], 240)
    frame = pd.DataFrame({"g": group, "x": x, "y": (x + rng.normal(size=240) > 0).astype(int)})
    frame.loc[6, "x"] = -1e25
    frame.to_csv(folder / "people.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("model", "audit", "told"),
    [
        ({"train": "logistic"}, "groups", ("'x'", "-1e+25")),
        ({"train": "sensr"}, "groups", ("'x'", "-1e+25")),
        ({"predictions": {"label": "y"}}, {"flipset": PAIR}, ()),
    ],
)
def test_nobody_is_scaled_or_matched_by_it(base: Path, model: dict[str, Any], audit: Any, told: Any) -> None:
    data = {"path": "people.csv", "label": "y", "favorable": 1, "protected": ["g"], "features": ["x"]}
    with refused("data.features", *told):
        execute(parse_spec({"data": data, "model": model, "audits": [audit]}, base))
