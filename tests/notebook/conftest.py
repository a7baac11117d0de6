"""People and fitted models as a notebook has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

PEOPLE = 400


def people(n: int = PEOPLE) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame of every usual type, and who was hired."""
    rng = np.random.default_rng(5)
    sex = rng.choice(["f", "m"], n)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n).astype("int32"),
            "income": rng.normal(size=n) + 0.8 * (sex == "m"),
            "job": pd.Categorical(
                rng.choice(["cook", "judge", "nurse"], n), categories=["nurse", "judge", "cook"]
            ),
            "member": rng.random(n) < 0.5,
            "sex": sex,
        }
    )
    hired = (frame["income"] + 0.02 * frame["age"] + rng.normal(size=n) > 1.3).to_numpy().astype(int)
    return frame, hired


@pytest.fixture(scope="package")
def crowd() -> tuple[pd.DataFrame, np.ndarray]:
    return people()


@pytest.fixture(scope="package")
def pipeline(crowd):
    """A logistic regression behind scaling and one-hot columns; it does not read sex."""
    frame, hired = crowd
    steps = make_column_transformer(
        (StandardScaler(), ["age", "income"]), (OneHotEncoder(), ["job"]), ("passthrough", ["member"])
    )
    return make_pipeline(steps, LogisticRegression()).fit(frame.drop(columns="sex"), hired)
