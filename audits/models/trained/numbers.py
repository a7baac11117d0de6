"""Models that predict a number, trained here by least squares.

The label of the data is a cut of that number (``{column: gpa, at_least: 3}``): a person's decision is
favorable where the number predicted lies on the favorable side of the same cut. The score is the number,
its sign turned where lower is better for the person.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn

from audits.data import FeatureSpace
from audits.errors import InputError
from audits.models.labels import label_numbers
from audits.models.networks.gradients import linear_layer
from audits.models.outputs import Numbers, number_sign
from audits.models.protocol import need_columns
from audits.models.trained.baselines import NAMES, fit_pipeline
from audits.models.trained.mlp import HIDDEN, network_outputs, train_layers
from audits.models.trained.pipelines import OnPipeline
from audits.models.trained.training import OnSpace, training_digest
from audits.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from audits.data import AuditData


@dataclass(frozen=True, eq=False)
class PipelineNumbers(OnPipeline, Numbers):
    """A pipeline of scikit-learn's regressors."""

    sign: float

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty(0)
        return self.value(frame)


class LinearNumbers(PipelineNumbers):
    """Linear regression, which has a gradient."""

    def regression(self) -> torch.nn.Module:
        """Return the regression as a torch layer, (n, m) to numbers (n, 1), float64."""
        line = self.pipeline[-1]
        return linear_layer(line.coef_[None], np.atleast_1d(line.intercept_))


@dataclass(frozen=True, eq=False)
class NetworkNumbers(OnSpace, Numbers):  # type: ignore[override]  # its columns are those of its space
    """A network that predicts (number - `center`) / `unit`."""

    sign: float
    layers: Any  # a torch.nn.Sequential
    center: float
    unit: float

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        return self.center + self.unit * network_outputs(self.layers, self.design(frame))[:, 0]

    def regression(self) -> torch.nn.Module:
        """Return a float64 copy of the network: points (n, d) to numbers (n, 1)."""
        import torch

        layers = copy.deepcopy(self.layers).double()
        last = layers[-1]
        last.bias.data = last.bias.data * self.unit + self.center
        last.weight.data = last.weight.data * self.unit
        return torch.nn.Sequential(*layers)


def train_number(
    data: AuditData, kind: str, *, seed: int = 0, progress: Progress = silent
) -> PipelineNumbers | NetworkNumbers:
    """Train a model of the number behind the label of `data`, by least squares.

    Parameters
    ----------
    kind : {"logistic", "mlp", "forest", "boosting"}
        "logistic" stands for its kin, ridge-penalized linear regression; the others are the regressions
        that go with the classifiers of `train_baseline` and `train_mlp`.

    Raises
    ------
    InputError
        If the label is no cut of a number, or all people have the same number.
    """
    target = label_numbers(data)
    counts = data.row_weights
    center = float(np.average(target, weights=counts))
    unit = float(np.sqrt(np.average(np.square(target - center), weights=counts)))
    if unit == 0:
        raise InputError("data.label", f"must vary, but everyone trained on has {center:g}")
    sign = number_sign(data)
    if kind == "mlp":
        import torch

        space = FeatureSpace.fit(data)
        x, y = space.encode(data.frame), (target - center) / unit
        layers = train_layers(x, y, data.weights, seed=seed, learns="number", progress=progress)
        digest = training_digest(data, ["mlp number", *HIDDEN, seed, torch.__version__])
        return NetworkNumbers("neural network", digest, space, sign, layers, center, unit)
    pipeline, numbers, levels = fit_pipeline(data, kind, target, seed=seed, number=True)
    digest = training_digest(data, [f"{kind} number", repr(pipeline[-1]), seed, sklearn.__version__])
    made = LinearNumbers if kind == "logistic" else PipelineNumbers
    name = "linear regression" if kind == "logistic" else NAMES[kind]
    return made(name, tuple(data.features), digest, pipeline, numbers, levels, sign)
