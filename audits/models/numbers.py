"""Models that predict a number: trained here by least squares, or asked over HTTP.

The label of the data is a cut of that number (``{column: gpa, at_least: 3}``): a person's decision is
favourable where the number predicted lies on the favourable side of the same cut. The score is the number,
its sign turned where lower is better for the person.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn

from audits.data import FeatureSpace
from audits.errors import InputError
from audits.models.baselines import NAMES, fit_pipeline, prepare
from audits.models.labels import cut_rule, label_numbers
from audits.models.mlp import HIDDEN, network_outputs, train_layers
from audits.models.protocol import check_scores, need_columns
from audits.models.training import training_digest
from audits.progress import Progress, silent
from audits.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from sklearn.pipeline import Pipeline

    from audits.data import AuditData
    from audits.models.spec import Endpoint

__all__ = ["load_endpoint_number", "train_number"]


@dataclass(frozen=True, eq=False)
class _Numbers:
    """What all of them share: `sign` turns the number into a score, higher better for the person."""

    name: str
    columns: tuple[str, ...]
    sha256: str
    sign: float

    classes = None
    invents = True

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        raise NotImplementedError

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number, its sign turned where lower is better for the person, (n,) float64."""
        return self.sign * self.number(frame)


@dataclass(frozen=True, eq=False)
class PipelineNumbers(_Numbers):
    """A pipeline of scikit-learn's regressors."""

    pipeline: Pipeline
    numbers: tuple[str, ...]
    levels: tuple[str, ...]

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty(0)
        with one_thread():
            return self.pipeline.predict(prepare(frame, self.numbers, self.levels))


class LinearNumbers(PipelineNumbers):
    """Linear regression, which has a gradient."""

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the regression reads, (n, m)."""
        need_columns(frame, self.columns, self.name)
        with one_thread():
            return np.asarray(self.pipeline[:-1].transform(prepare(frame, self.numbers, self.levels)))

    def regression(self) -> torch.nn.Module:
        """Return the regression as a torch layer, (n, m) to numbers (n, 1), float64."""
        import torch

        line = self.pipeline[-1]
        layer = torch.nn.Linear(len(line.coef_), 1, dtype=torch.float64)
        layer.weight.data = torch.from_numpy(np.array(line.coef_)[None])
        layer.bias.data = torch.tensor([float(line.intercept_)], dtype=torch.float64)
        return layer


@dataclass(frozen=True, eq=False)
class NetworkNumbers(_Numbers):
    """A network that predicts (number - `centre`) / `unit`."""

    space: FeatureSpace
    layers: Any  # a torch.nn.Sequential
    centre: float
    unit: float

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        return self.centre + self.unit * network_outputs(self.layers, self.design(frame))[:, 0]

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the points (n, d) that the network reads."""
        need_columns(frame, self.columns, self.name)
        return self.space.encode(frame, unknown="zero")

    def regression(self) -> torch.nn.Module:
        """Return a float64 copy of the network: points (n, d) to numbers (n, 1)."""
        import torch

        layers = copy.deepcopy(self.layers).double()
        last = layers[-1]
        last.bias.data = last.bias.data * self.unit + self.centre
        last.weight.data = last.weight.data * self.unit
        return torch.nn.Sequential(*layers)


@dataclass(frozen=True, eq=False)
class EndpointNumbers(_Numbers):
    """A service with one number a person as its answer."""

    service: Any  # an audits.models.endpoint.Service
    notes: tuple[str, ...]

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        return _answered(self.service.ask(frame), frame, self.name) if len(frame) else np.empty(0)


def train_number(
    data: AuditData, kind: str, *, seed: int = 0, progress: Progress = silent
) -> PipelineNumbers | NetworkNumbers:
    """Train a model of the number behind the label of `data`, by least squares.

    Parameters
    ----------
    kind : {"logistic", "mlp", "forest", "boosting"}
        "logistic" stands for its kin, ridge-penalised linear regression; the others are the regressions
        that go with the classifiers of `train_baseline` and `train_mlp`.

    Raises
    ------
    InputError
        If the label is no cut of a number, or all people have the same number.
    """
    target = label_numbers(data)
    counts = np.ones(data.n) if data.weights is None else data.weights
    centre = float(np.average(target, weights=counts))
    unit = float(np.sqrt(np.average(np.square(target - centre), weights=counts)))
    if unit == 0:
        raise InputError("data.label", f"must vary, but everyone trained on has {centre:g}")
    sign = 1.0 if cut_rule(data.cut)[1] == "favorable" else -1.0  # type: ignore[arg-type]
    if kind == "mlp":
        import torch

        space = FeatureSpace.fit(data)
        x, y = space.encode(data.frame), (target - centre) / unit
        layers, _ = train_layers(x, y, data.weights, seed=seed, learns="number", progress=progress)
        digest = training_digest(data, ["mlp number", *HIDDEN, seed, torch.__version__])
        columns = tuple(space.columns)
        return NetworkNumbers("neural network", columns, digest, sign, space, layers, centre, unit)
    pipeline, numbers, levels = fit_pipeline(data, kind, target, seed=seed, number=True)
    digest = training_digest(data, [f"{kind} number", repr(pipeline[-1]), seed, sklearn.__version__])
    made = LinearNumbers if kind == "logistic" else PipelineNumbers
    name = "linear regression" if kind == "logistic" else NAMES[kind]
    return made(name, tuple(data.features), digest, sign, pipeline, numbers, levels)


def load_endpoint_number(
    options: Endpoint, data: AuditData, *, columns: Sequence[str] | None = None
) -> EndpointNumbers:
    """Ask a service that gives one number a person, as `load_endpoint` asks a classifier.

    Raises
    ------
    InputError
        If the label is no cut of a number, the service cannot be asked, or it gives anything else.
    """
    from audits.models.endpoint import open_service, service_digest

    label_numbers(data)
    service, answers, notes = open_service(options, data, columns)
    sample = data.frame.iloc[: len(answers)]
    digest = service_digest(options, _answered(answers, sample, service.name))
    sign = 1.0 if cut_rule(data.cut)[1] == "favorable" else -1.0  # type: ignore[arg-type]
    return EndpointNumbers(service.name, service.columns, digest, sign, service, tuple(notes))


def _answered(answers: Any, frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return the answers of a service as numbers (n,)."""
    if isinstance(answers, list) or answers.dtype == object or answers.size != len(frame):
        raise InputError(name, "must give one number a person", answers[0])
    return check_scores(answers.reshape(-1), frame, name)
