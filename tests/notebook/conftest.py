"""People and fitted models as a notebook has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


@pytest.fixture(scope="package")
def crowd() -> tuple[pd.DataFrame, np.ndarray]:
    """A frame of every usual type, and who was hired."""
    rng, n = np.random.default_rng(5), 400
    sex, age = rng.choice(["f", "m"], n), rng.integers(18, 70, n).astype("int32")
    income, job = rng.normal(size=n) + 0.8 * (sex == "m"), rng.choice(["cook", "judge", "nurse"], n)
    frame = pd.DataFrame({"age": age, "income": income, "member": rng.random(n) < 0.5, "sex": sex})
    frame.insert(2, "job", pd.Categorical(job, categories=["nurse", "judge", "cook"]))
    return frame, (income + 0.02 * age + rng.normal(size=n) > 1.3).astype(int)


@pytest.fixture(scope="package")
def pipeline(crowd):
    """A logistic regression behind scaling and one-hot columns; it does not read sex."""
    frame, hired = crowd
    steps = make_column_transformer(
        (StandardScaler(), ["age", "income"]), (OneHotEncoder(), ["job"]), ("passthrough", ["member"])
    )
    return make_pipeline(steps, LogisticRegression()).fit(frame.drop(columns="sex"), hired)
