"""People with a trace of their group, for loss-ratio audits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec


def people(n: int = 700, *, seed: int = 0, bias: float = 1.0) -> pd.DataFrame:
    """`hair` traces the group, `skill` is merit; the label follows skill, and hair as far as `bias`."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    frame = pd.DataFrame({"hair": 2.0 * sex + rng.normal(size=n), "skill": rng.normal(size=n)})
    frame["job"] = rng.choice(["cook", "judge"], n)
    frame["sex"] = np.where(sex == 1, "f", "m")
    chance = 1.5 * frame["skill"] - bias * (frame["hair"] - 1) + rng.normal(size=n)
    frame["hired"] = np.where(chance > 0, "yes", "no")
    return frame.set_index(pd.RangeIndex(1, n + 1, name="row"))


def subject_of(frame: pd.DataFrame, model: dict[str, object] | None = None, **data: object) -> Subject:
    spec = {"label": "hired", "favorable": "yes", "protected": ("sex",), **data}
    return make_subject(
        build_data(frame, DataSpec(**spec)), model_spec(model or {"train": "logistic"}), test_size=0.5
    )


@pytest.fixture(scope="session")
def biased() -> Subject:
    return subject_of(people())
