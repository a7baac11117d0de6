"""A small spec on real files, and the extra audits in the registry of this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.runs.documents import load_document
from audits.runs.registry import AUDITS
from audits.runs.spec import Spec, parse_spec
from tests.runs.extra_audits import EXTRA, register

PEOPLE = 400


@pytest.fixture(autouse=True)
def _extra_audits():
    register()
    yield
    for name in EXTRA:
        AUDITS.remove(name)


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "home"))


@pytest.fixture
def base(tmp_path) -> Path:
    """A folder with people.csv: 400 people of two groups, with a label and a stored score."""
    folder = tmp_path / "project"
    folder.mkdir()
    write_people(folder / "people.csv")
    return folder


def read_spec(path: Path) -> Spec:
    return parse_spec(load_document(path), path.absolute().parent)


def write_people(path: Path, seed: int = 0, n: int = PEOPLE) -> None:
    rng = np.random.default_rng(seed)
    group = rng.choice(["north", "south"], n)
    skill = rng.normal(0, 1, n) + (group == "north")
    frame = pd.DataFrame({"group": group, "skill": skill.round(3), "hours": rng.integers(1, 60, n)})
    frame["paid"] = (skill + rng.normal(0, 1, n) > 0.5).astype(int)
    frame["score"] = (1 / (1 + np.exp(-skill))).round(4)
    frame.to_csv(path, index=False)


def make_spec(*audits: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a spec on people.csv with the audits given."""
    data = {"path": "people.csv", "label": "paid", "favorable": 1, "protected": ["group"]}
    spec = {
        "data": data | {"features": ["skill", "hours"]},
        "model": {"predictions": {"score": "score"}},
        "threshold": 0.5,
        "seed": 0,
        "audits": list(audits) or [{"rates": {"by": "group"}}],
    }
    return {**spec, **changes}
