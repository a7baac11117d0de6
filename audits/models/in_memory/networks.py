"""Objects of this process with a gradient: torch modules, linear models and networks of scikit-learn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, softmax

from audits.data.space import FeatureSpace
from audits.errors import InputError
from audits.models.in_memory.answers import InMemoryModel, InMemoryNetwork
from audits.models.labels import number_matrix
from audits.models.networks.exact import FAILURES, TOLERANCE, estimator_networks, log_odds
from audits.models.protocol import favorable_columns, label_values

if TYPE_CHECKING:
    import torch

    from audits.data import AuditData

__all__ = ["is_network", "network_call", "with_gradient"]

_TRIED_FIRST = 1000


def is_network(model: Any) -> bool:
    """Whether an object is a torch module, told without torch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def network_call(network: Any) -> Callable[[Any], np.ndarray]:
    """Return what asks a torch module as in use: no training, no gradients, its own type and device."""

    def ask(rows: Any) -> np.ndarray:
        import torch

        like = next(network.parameters(), torch.zeros(1))
        training = network.training
        network.eval()
        try:
            with torch.inference_mode():
                given = torch.from_numpy(number_matrix(rows)).to(dtype=like.dtype, device=like.device)
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
        layers = list(log_odds(torch.nn.Sequential(*layers), -1.0 if favorable == 0 else 1.0))
    found = InMemoryNetwork(
        **kept, asked=asked, favorable=favorable, made=made, layers=torch.nn.Sequential(*layers)
    )
    return found if _agrees(found, data) else None


def _agrees(model: InMemoryNetwork, data: AuditData) -> bool:
    """Whether the network says what the model says of the first people of `data`."""
    import torch

    from audits.models.networks.gradients import logits_over

    tried = data.frame.iloc[:_TRIED_FIRST]
    said = model.score(tried)
    try:
        space = FeatureSpace.fit(data)
        with torch.inference_mode():
            logits = logits_over(model, space, tried)(torch.from_numpy(space.encode(tried))).numpy()
    except Exception:  # noqa: BLE001  (steps that cannot be taken apart: the black box remains)
        return False
    own = softmax(logits, axis=1) if said.ndim == 2 else expit(logits).reshape(len(logits), -1)[:, 0]
    return own.shape == said.shape and bool(np.allclose(own, said, rtol=0, atol=TOLERANCE))


def _torch_layers(network: Any, asked: InMemoryModel) -> tuple[Callable[[Any], np.ndarray], list[Any]]:
    """Return a torch module's input, and float64 layers that end in logits."""
    import torch

    layers = _flat(copy.deepcopy(network).eval().cpu().double())
    if asked.output == "logits":
        return number_matrix, layers
    if isinstance(layers[-1], (torch.nn.Sigmoid, torch.nn.Softmax)):
        return number_matrix, layers[:-1]

    class Logits(torch.nn.Module):
        """Probabilities, one or of each class, as logits."""

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            given = given.reshape(len(given), -1)
            return torch.logit(given) if given.shape[1] == 1 else torch.log(given)

    return number_matrix, [*layers, Logits()]


def _flat(network: Any) -> list[Any]:
    import torch

    if not isinstance(network, torch.nn.Sequential):
        return [network]
    return [layer for part in network for layer in _flat(part)]


def _sklearn_layers(model: Any) -> tuple[Callable[[Any], np.ndarray], list[Any]] | None:
    """Return steps and layers of a linear model or network of scikit-learn; None for other models."""
    for steps, made in estimator_networks(model, lambda rows: rows):
        with suppress(*FAILURES):
            return steps, list(made())
    return None
