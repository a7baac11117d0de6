"""Models of a label with more than two values, trained here: one probability for each value."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from scipy.special import softmax

from audits.data import FeatureSpace
from audits.models.labels import class_codes
from audits.models.protocol import label_values, need_columns
from audits.models.trained.baselines import NAMES, fit_pipeline
from audits.models.trained.mlp import HIDDEN, network_outputs, train_layers
from audits.models.trained.pipelines import Logistic, OnPipeline
from audits.models.trained.training import OnSpace, training_digest
from audits.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from sklearn.pipeline import Pipeline

    from audits.data import AuditData

__all__ = ["ClassNetwork", "ClassPipeline", "LogisticClasses", "train_classes"]


@dataclass(frozen=True, eq=False)
class ClassPipeline(OnPipeline):
    """A pipeline trained on `columns`; `score` gives the probability of each of its `classes`, (n, k)."""

    name: str
    columns: tuple[str, ...]
    sha256: str
    classes: tuple[object, ...]
    pipeline: Pipeline
    numbers: tuple[str, ...]
    levels: tuple[str, ...]
    invents: bool = True

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k), rows summing to 1."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty((0, len(self.classes)))
        return self.chances(frame)


class LogisticClasses(Logistic, ClassPipeline):
    """Multinomial logistic regression."""


@dataclass(frozen=True, eq=False)
class ClassNetwork(OnSpace):
    """A network trained on `columns`; `score` gives the probability of each of its `classes`, (n, k)."""

    name: str
    columns: tuple[str, ...]
    sha256: str
    classes: tuple[object, ...]
    space: FeatureSpace
    layers: Any  # a torch.nn.Sequential
    invents: bool = True

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k), rows summing to 1."""
        return softmax(network_outputs(self.layers, self.design(frame)), axis=1)

    def network(self) -> torch.nn.Module:
        """Return a float64 copy of the network: points (n, d) to logits (n, k)."""
        return copy.deepcopy(self.layers).double()


def train_classes(
    data: AuditData, kind: str, *, seed: int = 0, progress: Progress = silent
) -> ClassPipeline | ClassNetwork:
    """Train a model of the values of the label of `data`, the baseline of that `kind` otherwise.

    Parameters
    ----------
    data : AuditData
        Training rows; every value should have a few people.
    kind : {"logistic", "mlp", "forest", "boosting"}
        As `train_baseline` and `train_mlp`; logistic is multinomial.
    """
    classes = label_values(data)
    target = class_codes(data, classes)
    if kind == "mlp":
        import torch

        space = FeatureSpace.fit(data)
        x = space.encode(data.frame)
        layers, _ = train_layers(x, target, data.weights, seed=seed, learns="classes", progress=progress)
        digest = training_digest(data, ["mlp classes", *HIDDEN, seed, torch.__version__])
        return ClassNetwork("neural network", tuple(space.columns), digest, classes, space, layers)
    pipeline, numbers, levels = fit_pipeline(data, kind, target, seed=seed)
    digest = training_digest(data, [f"{kind} classes", repr(pipeline[-1]), seed, sklearn.__version__])
    made = LogisticClasses if kind == "logistic" else ClassPipeline
    return made(NAMES[kind], tuple(data.features), digest, classes, pipeline, numbers, levels)
