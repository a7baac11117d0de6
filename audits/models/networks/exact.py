"""Exact gradients of models that were brought along, compared with the model itself before they are trusted.

An ONNX graph of standard layers, a linear model or network of scikit-learn, or a torch module becomes a torch
network behind the encoding that the model does itself. It is used for a subject only if, over the points of
the subject's feature space, it gives everyone audited the model's own score to `TOLERANCE`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.errors import is_installed
from audits.models.labels import number_matrix
from audits.models.networks.gradients import linear_layer, logits_over
from audits.models.outputs import OnSource

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from audits.data.encoder import FeatureSpace

TOLERANCE = 1e-5
"""Largest difference between a network's score and the model's own: float32 keeps seven digits."""

_ROWS_AT_ONCE = 8192

_Network = tuple[Callable[["pd.DataFrame"], np.ndarray], Callable[[], "torch.nn.Module"]]
"""What encodes rows, and what makes the network that reads that."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Exact(OnSource):
    """A model as a `Differentiable` one; of a number, what gives `design` and `regression`.

    Attributes
    ----------
    source : Model
        What scores people.
    encode : callable
        From raw rows to what the network reads.
    made : callable
        Gives a float64 network: logits (m, k), of two classes the log-odds (m, 1) of the second, or numbers
        (m, 1).
    favorable : (k,) bool or None
        Which classes are favorable; None of a number.
    """

    encode: Callable[[pd.DataFrame], np.ndarray] = field(repr=False)
    made: Callable[[], torch.nn.Module] = field(repr=False)
    favorable: np.ndarray | None = None

    @property
    def classes(self) -> tuple[object, ...] | None:
        """Label values in the order of the logits; None for the log-odds of the favorable of two."""
        return None if self.favorable is None or len(self.favorable) == 2 else self.source.classes

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the model's own scores, of the favorable class where `classes` is None."""
        scores = self.source.score(frame)
        return scores[:, self.favorable].sum(axis=1) if self.classes is None and scores.ndim == 2 else scores

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the numbers (n, k) that the network reads."""
        return self.encode(frame)

    def network(self) -> torch.nn.Module:
        """Return a float64 copy of the network."""
        network = self.made()
        if self.favorable is None or self.classes is not None:
            return network
        return _log_odds(network, 1.0 if self.favorable[1] else -1.0)

    def regression(self) -> torch.nn.Module:
        """Return a float64 copy of the network of a model of a number."""
        return self.network()


def exact(
    model: Any, favorable: np.ndarray | None, scores: np.ndarray, frame: pd.DataFrame, space: FeatureSpace
) -> Exact | None:
    """Return a model that was brought along with its gradient, None where none holds for everyone audited.

    Parameters
    ----------
    model : Model
        With no gradient of its own.
    favorable : (k,) bool, optional
        Which classes are favorable; None of a model of a number.
    scores : (n,) float
        The model's favorable scores of the people audited, or its numbers: those of the network must be the
        same, to `TOLERANCE` or to that of their spread.
    frame : DataFrame (n, columns)
        These people.
    space : FeatureSpace
        Over whose points the network must give the scores.
    """
    if not is_installed("torch") or any(column not in space.columns for column in model.columns):
        return None
    readings = (
        Exact(source=model, encode=encode, made=made, favorable=favorable)
        for encode, made in _networks(model, frame, number=favorable is None)
    )
    return next((each for each in readings if _holds(each, scores, frame, space)), None)


def _networks(model: Any, frame: pd.DataFrame, *, number: bool) -> Iterator[_Network]:
    source: Any = getattr(model, "source", None)
    origin = getattr(source, "origin", None)
    if getattr(model, "labels", None) is not None:
        return
    if hasattr(source, "front"):
        if len(source.outputs) == 1:
            yield from _onnx_networks(source, source.outputs[0], frame, number=number)
    elif hasattr(source, "opened"):
        yield from _estimator_networks(source.opened.model, source.given)
    elif origin is not None and (number or source.output in {"probabilities", "logits"}):
        if not is_network(origin):
            yield from _estimator_networks(origin, source.reader)
        elif not number:
            yield _torch_network(source)


def is_network(model: Any) -> bool:
    """Whether an object is a torch module, told without torch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def _torch_network(source: Any) -> _Network:
    """Return what encodes rows for a torch module, and its layers up to the logits."""
    import torch

    class Logits(torch.nn.Module):
        """Probabilities, one or of each class, as logits."""

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            given = given.reshape(len(given), -1)
            return torch.logit(given) if given.shape[1] == 1 else torch.log(given)

    def made() -> torch.nn.Module:
        layers = _flat(copy.deepcopy(source.origin).eval().cpu().double())
        if source.output != "logits":
            ends = isinstance(layers[-1], (torch.nn.Sigmoid, torch.nn.Softmax))
            layers = layers[:-1] if ends else [*layers, Logits()]
        return torch.nn.Sequential(*layers)

    return lambda frame: number_matrix(source.reader(frame)), made


def _flat(network: Any) -> list[Any]:
    import torch

    if not isinstance(network, torch.nn.Sequential):
        return [network]
    return [layer for part in network for layer in _flat(part)]


def _onnx_networks(graph: Any, output: str, frame: pd.DataFrame, *, number: bool) -> Iterator[_Network]:
    """Yield what encodes rows for a graph, and its network behind that."""
    from audits.models.onnx.file import parse_onnx
    from audits.models.onnx.layers import layers_of

    proto = parse_onnx(graph.content, graph.name)
    for layers in layers_of(proto, _tensor_behind(proto, output), number=number):
        front = graph.front(proto, layers.cuts)
        if front is None:
            continue

        def encode(rows: pd.DataFrame, front: Any = front) -> np.ndarray:
            return np.concatenate(front(rows), axis=1)

        def made(layers: Any = layers, front: Any = front) -> torch.nn.Module:
            return layers.network(tuple(part.shape[1] for part in front(frame.iloc[:1])))

        yield encode, made


def _tensor_behind(proto: Any, output: str) -> str:
    """Return the tensor of chances that a ZipMap names."""
    made_by = {name: node for node in proto.graph.node for name in node.output}
    node = made_by.get(output)
    while node is not None and node.op_type == "ZipMap":
        output = node.input[0]
        node = made_by.get(output)
    return output


def _estimator_networks(
    estimator: Any, given: Callable[[pd.DataFrame], Any]
) -> Iterator[tuple[Callable[[pd.DataFrame], np.ndarray], Callable[[], torch.nn.Sequential]]]:
    """Yield what encodes rows for a linear model or network of scikit-learn, or a pipeline ending in one."""
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
    """Return what makes the network of logits, or of a number, of a fitted estimator, told by its arrays.

    Whether something else follows is compared with the model itself.
    """
    if hasattr(last, "coefs_"):
        return lambda: _sequence(last.coefs_, last.intercepts_, last.activation)
    if not hasattr(last, "coef_") or not hasattr(last, "intercept_"):
        return None
    return lambda: _sequence([np.atleast_2d(last.coef_).T], [np.atleast_1d(last.intercept_)], "identity")


def _sequence(weights: Any, biases: Any, activation: str) -> torch.nn.Sequential:
    from torch import nn

    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "logistic": nn.Sigmoid}.get(activation)
    layers: list[nn.Module] = []
    for weight, bias in zip(weights, biases, strict=True):
        layers += [linear_layer(weight.T, bias), *([bend()] if bend else [])]
    return nn.Sequential(*(layers[:-1] if bend else layers))


def _log_odds(network: torch.nn.Module, sign: float) -> torch.nn.Sequential:
    """Return the log-odds (m, 1) of the favorable of two classes.

    `sign` is -1 where that is the first class. The network gives logits (m, 2), or log-odds (m, 1) or (m,)
    of the second.
    """
    from torch import nn

    layers = list(network) if isinstance(network, nn.Sequential) else [network]
    last = layers[-1]
    if isinstance(last, nn.Linear):
        weight = last.weight.detach().double()
        bias = weight.new_zeros(len(weight)) if last.bias is None else last.bias.detach().double()
        if len(bias) == 2:
            weight, bias = weight[1:] - weight[:1], bias[1:] - bias[:1]
        return nn.Sequential(*layers[:-1], linear_layer((sign * weight).numpy(), (sign * bias).numpy()))

    class Odds(nn.Module):
        """Logits (m, 2), or log-odds of the second class, to those of the favorable one, (m, 1)."""

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            z = given.reshape(len(given), -1)
            return sign * (z if z.shape[1] == 1 else z[:, 1:] - z[:, :1])

    return nn.Sequential(*layers, Odds())


def _holds(exact: Exact, scores: np.ndarray, frame: pd.DataFrame, space: FeatureSpace) -> bool:
    """Whether the network over the feature space gives everyone audited the model's own scores."""
    import torch

    # steps that cannot be taken apart fail in any way: the model is then asked for scores only
    with suppress(Exception), torch.inference_mode():
        network = logits_over(exact, space, frame)
        z = space.encode(frame)
        parts = [
            network(torch.from_numpy(z[start : start + _ROWS_AT_ONCE]))
            for start in range(0, len(z), _ROWS_AT_ONCE)
        ]
        outputs = torch.cat(parts)
        width = 1 if exact.classes is None else len(exact.classes)
        if outputs.shape != (len(scores), width):
            return False
        unit = 1.0
        if exact.favorable is None:
            own, unit = outputs[:, 0], max(1.0, float(np.std(scores)))
        elif exact.classes is None:
            own = torch.sigmoid(outputs)[:, 0]
        else:
            own = torch.softmax(outputs, dim=1)[:, torch.from_numpy(exact.favorable)].sum(dim=1)
        return bool(np.abs(own.numpy() - scores).max(initial=0.0) <= TOLERANCE * unit)
    return False
