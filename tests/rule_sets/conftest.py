"""Small real subjects for rule-set tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec


def subject_of(frame: pd.DataFrame, protected: tuple[str, ...], **data: object) -> Subject:
    """Return a subject whose model is the column ``decision`` (1 is favorable)."""
    features = data.pop(
        "features", tuple(n for n in frame.columns if n not in {*protected, "decision", "weight"})
    )
    spec = DataSpec(
        label="decision", favorable=1, protected=protected, features=features or (protected[0],), **data
    )
    return make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))


def crowd(n: int, *, seed: int = 0, effect: float = 0.0, missing: float = 0.0) -> pd.DataFrame:
    """Random people of 2 x 4 groups and an age; `effect` is taken from young women of group d."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["f", "m"], n), rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1])
    age, income = rng.integers(18, 78, n).astype(float), rng.normal(size=n)
    frame = pd.DataFrame({"sex": sex, "race": race, "age": age, "income": income})
    harmed = (frame["sex"] == "f") & (frame["race"] == "d") & (frame["age"] < 48)
    frame["decision"] = (rng.random(n) < 0.5 - effect * harmed).astype(int)
    frame.loc[[0, 1], "decision"] = [0, 1]
    frame.loc[rng.random(n) < missing, "age"] = np.nan
    return frame
