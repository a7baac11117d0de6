"""Exact gradients of models that were brought along, held against the model itself before they are trusted.

An ONNX graph of standard layers, a linear model or a network of scikit-learn becomes a torch network behind
the encoding that the model does itself. It is used for a subject only if, over the points of the subject's
feature space, it gives everyone audited the model's own score to `TOLERANCE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.errors import InputError
from audits.models.labels import number_matrix
from audits.models.networks.gradients import logits_over

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from audits.data.space import FeatureSpace
    from audits.models.protocol import Model

__all__ = [
    "FAILURES",
    "TOLERANCE",
    "Exact",
    "ExactNumber",
    "differentiable",
    "estimator_networks",
    "log_odds",
    "regression_of",
]

TOLERANCE = 1e-5
"""Largest difference between a network's score and the model's own: float32 keeps seven digits."""

_ROWS_AT_ONCE = 8192
FAILURES = (InputError, ValueError, RuntimeError, TypeError, KeyError, IndexError, AttributeError)
"""What a model that is no network of standard layers fails with: it is then asked for scores only."""

_Network = tuple[Callable[["pd.DataFrame"], np.ndarray], Callable[[], "torch.nn.Module"]]
"""What encodes rows, and what makes the network that reads that."""


@dataclass(frozen=True, eq=False)
class Exact:
    """A model as a `Differentiable` one.

    Attributes
    ----------
    model : Model
        What scores people.
    encode : callable
        From raw rows to what the network reads.
    made : callable
        Gives a float64 network: logits (m, k), or of two classes the log-odds (m, 1) of the second.
    favorable : (k,) bool
        Which classes are favourable.
    """

    model: Any
    encode: Callable[[pd.DataFrame], np.ndarray] = field(repr=False)
    made: Callable[[], torch.nn.Module] = field(repr=False)
    favorable: np.ndarray

    @property
    def name(self) -> str:
        """The model in words."""
        return self.model.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that it reads."""
        return self.model.columns

    @property
    def classes(self) -> tuple[object, ...] | None:
        """Label values in the order of the logits; None for the log-odds of the favourable of two."""
        return None if len(self.model.classes) == 2 else self.model.classes

    @property
    def invents(self) -> bool:
        """Whether it can score people who do not exist."""
        return self.model.invents

    @property
    def sha256(self) -> str:
        """Digest of what decides the scores."""
        return self.model.sha256

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the model's own scores, of the favourable class where `classes` is None."""
        scores = self.model.score(frame)
        return scores[:, self.favorable].sum(axis=1) if self.classes is None else scores

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the numbers (n, k) that the network reads."""
        return self.encode(frame)

    def network(self) -> torch.nn.Module:
        """Return a float64 copy of the network."""
        network = self.made()
        return log_odds(network, 1.0 if self.favorable[1] else -1.0) if self.classes is None else network


@dataclass(frozen=True, eq=False)
class ExactNumber:
    """A model of a number with its gradient: `regression()` of `design(frame)` are its numbers (n, 1)."""

    model: Any
    encode: Callable[[pd.DataFrame], np.ndarray] = field(repr=False)
    made: Callable[[], torch.nn.Module] = field(repr=False)

    @property
    def name(self) -> str:
        """The model in words."""
        return self.model.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that it reads."""
        return self.model.columns

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the numbers (n, k) that the network reads."""
        return self.encode(frame)

    def network(self) -> torch.nn.Module:
        """Return a float64 copy of the network, (n, k) to numbers (n, 1)."""
        return self.made()

    regression = network


def regression_of(model: Any, frame: pd.DataFrame, space: FeatureSpace) -> ExactNumber | None:
    """Return a model of a number that was brought along with its gradient.

    None where no network gives everyone in `frame` the model's own number, to `TOLERANCE` of their spread.
    """
    if any(column not in space.columns for column in model.columns):
        return None
    numbers = model.number(frame)
    unit = max(1.0, float(np.std(numbers)))
    return next((each for each in _number_readings(model) if _gives(each, numbers, unit, frame, space)), None)


def _number_readings(model: Any) -> Iterator[ExactNumber]:
    graph, opened = getattr(model, "graph", None), getattr(model, "opened", None)
    owner = getattr(getattr(model, "ask", None), "__self__", None)
    if graph is not None:
        if len(model.outputs) == 1:
            for encode, made in _onnx_networks(graph, model.outputs[0], number=True):
                yield ExactNumber(model, encode, made)
    elif opened is not None or owner is not None:
        given = model.given if opened is not None else model.reader
        for encode, made in estimator_networks(opened.model if opened is not None else owner, given):
            yield ExactNumber(model, encode, made)


def _gives(
    exact: ExactNumber, numbers: np.ndarray, unit: float, frame: pd.DataFrame, space: FeatureSpace
) -> bool:
    import torch

    try:
        network = logits_over(exact, space, frame)  # type: ignore[arg-type]
        with torch.inference_mode():
            own = network(torch.from_numpy(space.encode(frame))).numpy()
    except FAILURES:
        return False
    return own.shape == (len(numbers), 1) and bool(np.abs(own[:, 0] - numbers).max() <= TOLERANCE * unit)


def differentiable(
    model: Model, favorable: np.ndarray, scores: np.ndarray, frame: pd.DataFrame, space: FeatureSpace
) -> Exact | None:
    """Return a model that was brought along with its gradient, None where none holds for everyone audited.

    Parameters
    ----------
    model : Model
        With classes, and no gradient of its own.
    favorable : (k,) bool
        Which classes are favourable.
    scores : (n,) float
        The model's favourable scores of the people audited.
    frame : DataFrame (n, columns)
        These people.
    space : FeatureSpace
        Over whose points the network must give the scores.
    """
    if hasattr(model, "number") or any(column not in space.columns for column in model.columns):
        return None
    return next((each for each in _readings(model, favorable) if _holds(each, scores, frame, space)), None)


def _readings(model: Any, favorable: np.ndarray) -> Iterator[Exact]:
    graph = getattr(model, "graph", None)
    if graph is not None and model.labels is None and len(model.outputs) == 1:
        yield from _onnx_readings(model, favorable)
    opened = getattr(model, "opened", None)
    if opened is not None and opened.model is not None and model.labels is None:
        for encode, made in estimator_networks(opened.model, model.given):
            yield Exact(model, encode, made, favorable)


def _onnx_readings(model: Any, favorable: np.ndarray) -> Iterator[Exact]:
    for encode, made in _onnx_networks(model.graph, model.outputs[0]):
        yield Exact(model, encode, made, favorable)


def _onnx_networks(graph: Any, output: str, *, number: bool = False) -> Iterator[_Network]:
    """Yield what encodes rows for a graph, and its network behind that."""
    from audits.models.onnx.file import parse_onnx
    from audits.models.onnx.layers import layers_of

    proto = parse_onnx(graph.content, graph.name)
    for layers in layers_of(proto, _tensor_behind(proto, output), number=number):
        front = graph.front(proto, layers.cuts)
        if front is None:
            continue

        def encode(frame: pd.DataFrame, front: Any = front) -> np.ndarray:
            return np.concatenate(front(frame), axis=1)

        def made(layers: Any = layers, front: Any = front) -> torch.nn.Module:
            return layers.network(front.widths)

        yield encode, made


def _tensor_behind(proto: Any, output: str) -> str:
    """Return the tensor of chances that a ZipMap names."""
    made_by = {name: node for node in proto.graph.node for name in node.output}
    node = made_by.get(output)
    while node is not None and node.op_type == "ZipMap":
        output = node.input[0]
        node = made_by.get(output)
    return output


def estimator_networks(
    estimator: Any, given: Callable[[pd.DataFrame], Any]
) -> Iterator[tuple[Callable[[pd.DataFrame], np.ndarray], Callable[[], torch.nn.Sequential]]]:
    """Yield what encodes rows for a fitted scikit-learn estimator and the network behind it, if it is one.

    Parameters
    ----------
    estimator : object
        A linear model or network of scikit-learn, or a pipeline that ends in one.
    given : callable
        From raw rows to what the estimator takes.
    """
    parts = getattr(estimator, "steps", None)
    steps, last = None, estimator
    if isinstance(parts, list):  # any object may have an attribute of this name
        steps, last = estimator[:-1] if len(parts) > 1 else None, estimator[-1]
    made = _sklearn_layers(last)
    if made is None:
        return

    def encode(frame: pd.DataFrame) -> np.ndarray:
        x = given(frame)
        x = x if steps is None else steps.transform(x)
        return number_matrix(x.toarray() if hasattr(x, "toarray") else x)

    yield encode, made


def _sklearn_layers(last: Any) -> Callable[[], torch.nn.Sequential] | None:
    """Return what makes the network of logits of a fitted estimator, told by its name and arrays."""
    kinds = {kind.__name__ for kind in type(last).__mro__}
    if kinds & {"LogisticRegression", "SGDClassifier"} and hasattr(last, "coef_"):
        if "SGDClassifier" in kinds and getattr(last, "loss", "") != "log_loss":
            return None
        return lambda: _sequence([last.coef_.T], [last.intercept_], "identity")
    if "MLPClassifier" in kinds and last.out_activation_ in {"logistic", "softmax"}:
        return lambda: _sequence(last.coefs_, last.intercepts_, last.activation)
    if "MLPRegressor" in kinds and last.out_activation_ == "identity":
        return lambda: _sequence(last.coefs_, last.intercepts_, last.activation)
    coefficients = getattr(last, "coef_", None)
    if not hasattr(last, "classes_") and coefficients is not None and np.ndim(coefficients) in {1, 2}:
        rows = np.atleast_2d(coefficients)  # of one number; whether nothing follows is held against the model
        return lambda: _sequence([rows.T], [np.atleast_1d(last.intercept_)], "identity")
    return None


def _sequence(weights: Any, biases: Any, activation: str) -> torch.nn.Sequential:
    import torch
    from torch import nn

    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "logistic": nn.Sigmoid, "identity": nn.Identity}[activation]
    layers: list[nn.Module] = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = nn.Linear(weight.shape[0], weight.shape[1], dtype=torch.float64)
        layer.weight.data = torch.tensor(np.asarray(weight, dtype=np.float64).T.copy())
        layer.bias.data = torch.tensor(np.asarray(bias, dtype=np.float64).copy())
        layers += [layer, bend()]
    kept = (
        layers[:-1] if activation != "identity" else [each for each in layers if isinstance(each, nn.Linear)]
    )
    return nn.Sequential(*kept)


def log_odds(network: torch.nn.Module, sign: float) -> torch.nn.Sequential:
    """Return the log-odds (m, 1) of the favourable of two classes.

    `sign` is -1 where that is the first class. The network gives logits (m, 2), or log-odds (m, 1) or (m,)
    of the second.
    """
    import torch
    from torch import nn

    layers = list(network) if isinstance(network, nn.Sequential) else [network]
    last = layers[-1]
    if isinstance(last, nn.Linear):
        weight = last.weight.data.double()
        bias = weight.new_zeros(len(weight)) if last.bias is None else last.bias.data.double()
        if len(bias) == 2:
            weight, bias = weight[1:] - weight[:1], bias[1:] - bias[:1]
        made = nn.Linear(last.in_features, len(bias), dtype=torch.float64)
        made.weight.data, made.bias.data = sign * weight, sign * bias
        return nn.Sequential(*layers[:-1], made)

    class Odds(nn.Module):
        """Logits (m, 2), or log-odds of the second class, to those of the favourable one, (m, 1)."""

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            z = given.reshape(len(given), -1)
            return sign * (z if z.shape[1] == 1 else z[:, 1:] - z[:, :1])

    return nn.Sequential(*layers, Odds())


def _holds(exact: Exact, scores: np.ndarray, frame: pd.DataFrame, space: FeatureSpace) -> bool:
    """Whether the network over the feature space gives everyone audited the model's own probabilities."""
    import torch

    try:
        network = logits_over(exact, space, frame)
        z = space.encode(frame)
        found = []
        with torch.inference_mode():
            for start in range(0, len(z), _ROWS_AT_ONCE):
                logits = network(torch.from_numpy(z[start : start + _ROWS_AT_ONCE]))
                two = exact.classes is None
                found.append((torch.sigmoid(logits) if two else torch.softmax(logits, dim=1)).numpy())
        chances = np.concatenate(found)
    except FAILURES:
        return False
    if chances.shape[1] != (1 if exact.classes is None else len(exact.favorable)):
        return False
    own = chances[:, 0] if exact.classes is None else chances[:, exact.favorable].sum(axis=1)
    return bool(np.abs(own - scores).max(initial=0.0) <= TOLERANCE)
