"""Worlds without a difference for the verdict of the loss ratio, drawn by `benchmarks.calibration`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import Subject, make_subject, model_spec

Told = dict[str, float]

WORLDS: dict[str, dict[str, Any]] = {
    "10 features, one attribute": {"n": 1000, "features": 10, "attributes": {"sex": 0.5}},
    "10 features, one group of 5%": {"n": 1000, "features": 10, "attributes": {"sex": 0.05}},
    "10 features, two attributes": {"n": 1000, "features": 10, "attributes": {"sex": 0.5, "race": 0.3}},
    "10 features, one attribute, 10,000 rows": {"n": 10_000, "features": 10, "attributes": {"sex": 0.5}},
    "40 features, 300 rows": {"n": 300, "features": 40, "attributes": {"sex": 0.5}},
    "attribute of five groups": {"n": 1000, "features": 10, "attributes": {"town": 5.0}},
}
"""Features and label hang together; the attributes are independent of everything."""


def people(
    n: int, features: int, attributes: Told, rng: np.random.Generator, trace: float = 0.0
) -> pd.DataFrame:
    """Draw people; `trace` moves the first feature of those in the first attribute's second group."""
    x = rng.normal(size=(n, features))
    groups = {
        name: rng.choice([f"t{k}" for k in range(int(share))], n) if share > 1 else rng.random(n) < share
        for name, share in attributes.items()
    }
    first = next(iter(groups.values()))
    if first.dtype == bool:
        x[:, 0] += trace * first
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(features)])
    for name, values in groups.items():
        frame[name] = np.where(values, "a", "b") if values.dtype == bool else values
    score = x @ np.r_[1.0, -1.0, 0.7, np.full(features - 3, 0.3)]
    frame["label"] = np.where(score + rng.logistic(size=n) > 0, "yes", "no")
    return frame.rename_axis("row")


def subject_of(frame: pd.DataFrame, attributes: Told, model: str, seed: int) -> Subject:
    """Train a model on half of the people."""
    features = tuple(name for name in frame if name not in {*attributes, "label"})
    spec = DataSpec(label="label", favorable="yes", protected=tuple(attributes), features=features)
    return make_subject(build_data(frame, spec), model_spec({"train": model}), test_size=0.5, seed=seed)


def tied(
    tie: float, column: str, rng: np.random.Generator, *, model: str = "logistic", n: int = 2000
) -> Subject:
    """People whose group moves one column by `tie` deviations; the label reads x0 to x4, and not x5."""
    told = {"sex": 0.5}
    frame = people(n, 6, told, rng)
    frame[column] += tie * (frame["sex"] == "a")
    score = frame[[f"x{k}" for k in range(5)]].to_numpy() @ np.array([1.0, -1.0, 0.7, 0.3, 0.3])
    frame["label"] = np.where(score + rng.logistic(size=n) > 0, "yes", "no")
    return subject_of(frame, told, model, int(rng.integers(2**31)))


class Unopened:
    """A model that gives its scores only."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.name, self.columns, self.classes = model.name, model.columns, model.classes
        self.invents, self.sha256 = True, model.sha256

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Scores of the model."""
        return self._model.score(frame)


def found_by_search(subject: Subject, **options: Any) -> tuple[float, float]:
    """Return the mean ratio by exact gradients, and by scores of the same model alone."""
    told = LossRatioOptions(loss_floor=0.01, **options)
    exact = loss_ratio(subject, told, rng=0)
    blind = loss_ratio(dataclasses.replace(subject, model=Unopened(subject.model)), told, rng=0)
    return float(exact.statistic.value or 0.0), float(blind.statistic.value or 0.0)
