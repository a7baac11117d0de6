"""Objects of this process with a gradient: torch modules, linear models and networks of scikit-learn."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.data.space import FeatureSpace
from audits.errors import InputError
from audits.models.in_memory_models import InMemoryModel, InMemoryNetwork
from audits.models.labels import number_column
from audits.models.protocol import favorable_columns, label_values

if TYPE_CHECKING:
    import torch

    from audits.data import AuditData

__all__ = ["is_network", "network_call", "with_gradient"]

_TRIED_FIRST = 1000
_AGREES = 1e-5


def is_network(model: Any) -> bool:
    """Whether an object is a torch module, told without torch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def _matrix(rows: Any) -> np.ndarray:
    """Return a table of numbers, in whatever form, as a matrix of float64."""
    if isinstance(rows, np.ndarray):
        return rows.astype(np.float64)
    frame = rows if isinstance(rows, pd.DataFrame) else rows.to_pandas()
    return np.column_stack([number_column(frame.iloc[:, place]) for place in range(frame.shape[1])])


def network_call(network: Any) -> Callable[[Any], np.ndarray]:
    """Return what asks a torch module as in use: no training, no gradients, its own type and device."""

    def ask(rows: Any) -> np.ndarray:
        import torch

        like = next(network.parameters(), torch.zeros(1))
        training = network.training
        network.eval()
        try:
            with torch.inference_mode():
                given = torch.from_numpy(_matrix(rows)).to(dtype=like.dtype, device=like.device)
                return np.asarray(network(given).cpu().numpy())
        finally:
            network.train(training)

    return ask


def with_gradient(model: Any, asked: InMemoryModel, data: AuditData) -> InMemoryNetwork | None:
    """Return the model with its logits as a network, if that says the same of the people of `data`.

    Without torch, of which a plain installation has none, every model is a black box.
    """
    try:
        import torch
    except ModuleNotFoundError:
        return None
    if asked.output not in {"probabilities", "logits"} or not set(asked.columns) <= set(data.features):
        return None
    if any(data.kinds[name] in {"text", "identifier"} for name in data.features):
        return None
    taken = _torch_layers(model, asked) if is_network(model) else _sklearn_layers(model)
    if taken is None:
        return None
    made, layers = taken
    kept: dict[str, Any] = {name: getattr(asked, name) for name in InMemoryModel.__dataclass_fields__}
    favorable = None
    if asked.classes is not None and len(asked.classes) == 2:
        try:
            chosen = favorable_columns(asked.classes, data.favorable, label_values(data), asked.name)
        except InputError:  # said where scores are asked for
            return None
        favorable, kept["classes"] = int(np.flatnonzero(chosen)[0]), None
    if kept["classes"] is None:
        layers = _one_logit(layers, favorable)
    found = InMemoryNetwork(
        **kept, asked=asked, favorable=favorable, made=made, layers=torch.nn.Sequential(*layers)
    )
    return found if _agrees(found, data) else None


def _agrees(model: InMemoryNetwork, data: AuditData) -> bool:
    """Whether the network says what the model says of the first people of `data`."""
    import torch

    from audits.models.gradients import logits_over

    tried = data.frame.iloc[:_TRIED_FIRST]
    said = model.score(tried)
    try:
        space = FeatureSpace.fit(data)
        with torch.inference_mode():
            logits = logits_over(model, space, tried)(torch.from_numpy(space.encode(tried))).numpy()
    except Exception:  # noqa: BLE001  (steps that cannot be taken apart: the black box remains)
        return False
    own = softmax(logits, axis=1) if said.ndim == 2 else expit(logits).reshape(len(logits), -1)[:, 0]
    return own.shape == said.shape and bool(np.allclose(own, said, rtol=0, atol=_AGREES))


def _torch_layers(network: Any, asked: InMemoryModel) -> tuple[Callable[[Any], np.ndarray], list[Any]]:
    """Return a torch module's input, and float64 layers that end in logits."""
    import torch

    layers = _flat(copy.deepcopy(network).eval().cpu().double())
    if asked.output == "logits":
        return _matrix, layers
    if isinstance(layers[-1], (torch.nn.Sigmoid, torch.nn.Softmax)):
        return _matrix, layers[:-1]

    class Logits(torch.nn.Module):
        """Probabilities, one or of each class, as logits."""

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            given = given.reshape(len(given), -1)
            return torch.logit(given) if given.shape[1] == 1 else torch.log(given)

    return _matrix, [*layers, Logits()]


def _flat(network: Any) -> list[Any]:
    import torch

    if not isinstance(network, torch.nn.Sequential):
        return [network]
    return [layer for part in network for layer in _flat(part)]


def _sklearn_layers(model: Any) -> tuple[Callable[[Any], np.ndarray], list[Any]] | None:
    """Return steps and layers of a logistic regression or network of scikit-learn; None for other models."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import Pipeline

    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, (LogisticRegression, MLPClassifier)):
        return None
    steps = model[:-1].transform if isinstance(model, Pipeline) and len(model) > 1 else None

    def made(rows: Any) -> np.ndarray:
        found = rows if steps is None else steps(rows)
        found = found.toarray() if hasattr(found, "toarray") else found
        return found.astype(np.float64) if isinstance(found, np.ndarray) else _matrix(found)

    if isinstance(last, LogisticRegression):
        return made, _layers([last.coef_.T], [last.intercept_], "identity")
    return made, _layers(last.coefs_, last.intercepts_, last.activation)


def _layers(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], activation: str) -> list[Any]:
    import torch

    between = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh, "logistic": torch.nn.Sigmoid}.get(
        activation, torch.nn.Identity
    )
    layers: list[Any] = []
    for weight, bias in zip(weights, biases, strict=True):
        layers += [_linear(np.asarray(weight).T, np.asarray(bias)), between()]
    return layers[:-1]


def _one_logit(layers: Sequence[Any], favorable: int | None) -> list[Any]:
    """Return layers that end in the log-odds (n, 1) of the favourable outcome.

    `favorable` is its place among two classes; None where the last output speaks for it. What the layers
    give is one number for the second class, or one for each.
    """
    import torch

    *before, last = layers
    sign = -1.0 if favorable == 0 else 1.0
    if not isinstance(last, torch.nn.Linear):

        class Favorable(torch.nn.Module):
            """One logit of what may be two."""

            def forward(self, given: torch.Tensor) -> torch.Tensor:
                z = given.reshape(len(given), -1)
                return sign * (z[:, -1:] - (z[:, :1] if z.shape[1] > 1 else 0.0))

        return [*layers, Favorable()]
    weight = last.weight.detach().double().numpy()
    bias = np.zeros(len(weight)) if last.bias is None else last.bias.detach().double().numpy()
    if len(weight) == 2:
        weight, bias = weight[1:] - weight[:1], bias[1:] - bias[:1]
    return [*before, _linear(sign * weight, sign * bias)]


def _linear(weight: np.ndarray, bias: np.ndarray) -> Any:
    """Return a float64 layer with these weights (outputs, inputs)."""
    import torch

    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
    layer.weight.data = torch.from_numpy(np.array(weight, dtype=np.float64))
    layer.bias.data = torch.from_numpy(np.array(bias, dtype=np.float64))
    return layer
