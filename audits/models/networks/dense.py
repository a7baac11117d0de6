"""Small networks of linear layers with bends between them as arrays: outputs and gradients in NumPy.

What a service needs to score people and to say how a score would move, without loading torch. The input
gradient is one forward and one backward pass over the rows, whatever the number of features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy.special import expit

from audits.errors import InputError

if TYPE_CHECKING:
    import torch

_ON_A_LEVEL = 1e-9

Bend = Literal["relu", "tanh", "sigmoid"]
BENDS: tuple[Bend, ...] = get_args(Bend)


@dataclass(frozen=True, eq=False)
class Ramps:
    """Extra inputs ``clip(z[:, columns] * scales + shifts, lows, highs)``, (r,) each: ranks that bend."""

    columns: np.ndarray
    scales: np.ndarray
    shifts: np.ndarray
    lows: np.ndarray
    highs: np.ndarray

    def append(self, z: np.ndarray) -> np.ndarray:
        """Return the points with the ramps appended, (n, d) -> (n, d + r)."""
        along = z[:, self.columns] * self.scales + self.shifts
        return np.concatenate([z, np.clip(along, self.lows, self.highs)], axis=1, dtype=z.dtype)

    def fold(self, gradient: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the gradient by the points alone, (n, d + r) -> (n, d).

        On a level, where two ramps meet, each counts half: the slope of the central difference.
        """
        d = z.shape[1]
        along = z[:, self.columns] * self.scales + self.shifts
        below, above = along - self.lows, self.highs - along
        inside = np.where((below > _ON_A_LEVEL) & (above > _ON_A_LEVEL), 1.0, 0.5)
        inside[(below < -_ON_A_LEVEL) | (above < -_ON_A_LEVEL)] = 0.0
        found = gradient[:, :d].copy()
        for place, column in enumerate(self.columns):
            found[:, column] += gradient[:, d + place] * inside[:, place] * self.scales[place]
        return found


@dataclass(frozen=True, eq=False)
class Dense:
    """A network: linear layers with ReLUs, or tanh or sigmoid units, between them.

    Attributes
    ----------
    weights : tuple of arrays (inputs, outputs)
    biases : tuple of arrays (outputs,)
    bends : tuple of {"relu", "tanh", "sigmoid"}
        Of each hidden layer; empty: ReLUs everywhere.
    ramps : Ramps, optional
        Extra inputs of the first layer.

    Examples
    --------
    >>> net = Dense((np.array([[2.0], [-1.0]]),), (np.array([0.5]),))
    >>> net.outputs(np.array([[1.0, 1.0]])).tolist()
    [[1.5]]
    >>> outputs, hidden = net.forward(np.array([[1.0, 1.0]]))
    >>> net.backward(np.ones((1, 1)), hidden).tolist()
    [[2.0, -1.0]]
    """

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    ramps: Ramps | None = None
    bends: tuple[Bend, ...] = ()

    @property
    def inputs(self) -> int:
        """Width of the points (d) that it reads."""
        extra = 0 if self.ramps is None else len(self.ramps.columns)
        return len(self.weights[0]) - extra

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return tuple(weight.shape[1] for weight in self.weights[:-1])

    def astype(self, dtype: type[np.floating]) -> Dense:
        """Return the same network with arrays of another precision."""
        made = replace(
            self,
            weights=tuple(np.ascontiguousarray(weight, dtype=dtype) for weight in self.weights),
            biases=tuple(bias.astype(dtype) for bias in self.biases),
        )
        if self.ramps is not None:
            parts = {
                name: getattr(self.ramps, name).astype(dtype)
                for name in ("scales", "shifts", "lows", "highs")
            }
            made = replace(made, ramps=replace(self.ramps, **parts))
        return made

    def _bend_of(self, layer: int) -> Bend:
        return self.bends[layer] if self.bends else "relu"

    def outputs(self, z: np.ndarray) -> np.ndarray:
        """Return the outputs (n, k) at points (n, d)."""
        return self.forward(z)[0]

    def forward(self, z: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Return the outputs (n, k), and what `backward` needs: the points and the hidden values."""
        x = z if self.ramps is None else self.ramps.append(z)
        hidden = [z]
        for layer, (weight, bias) in enumerate(zip(self.weights[:-1], self.biases[:-1], strict=True)):
            x = x @ weight
            x += bias
            _bend(x, self._bend_of(layer))
            hidden.append(x)
        return x @ self.weights[-1] + self.biases[-1], tuple(hidden)

    def backward(self, seed: np.ndarray, hidden: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return ``sum_k seed[:, k] * d outputs[:, k] / d z``, (n, d).

        Parameters
        ----------
        seed : (n, k)
            Derivative of what is asked about by each output.
        hidden : tuple of arrays
            From `forward`.
        """
        gradient = seed
        for layer in range(len(self.weights) - 1, -1, -1):
            weight = self.weights[layer]
            # with one output an outer product; a product of matrices that thin would be slower
            gradient = gradient * weight.T if gradient.shape[1] == 1 else gradient @ weight.T
            if layer:
                gradient *= _slope(hidden[layer], self._bend_of(layer - 1))
        return gradient if self.ramps is None else self.ramps.fold(gradient, hidden[0])

    def parameter_slopes(self, seed: np.ndarray, hidden: tuple[np.ndarray, ...], into: Dense) -> None:
        """Write the slopes by weights and biases of a network of ReLUs into the arrays of `into`.

        `seed` and `hidden` are those of `backward`.
        """
        gradient = seed
        for layer in range(len(self.weights) - 1, -1, -1):
            np.matmul(hidden[layer].T, gradient, out=into.weights[layer])
            np.dot(np.ones(len(gradient), gradient.dtype), gradient, out=into.biases[layer])
            if layer:
                weight = self.weights[layer]
                gradient = gradient * weight.T if gradient.shape[1] == 1 else gradient @ weight.T
                gradient *= hidden[layer] > 0


def in_one(net: Dense) -> tuple[Dense, np.ndarray]:
    """Return a copy of a network whose arrays are parts of one vector, and that one."""
    arrays = [*net.weights, *net.biases]
    whole = np.concatenate([each.ravel() for each in arrays])
    ends = np.cumsum([each.size for each in arrays])[:-1]
    parts = [part.reshape(each.shape) for part, each in zip(np.split(whole, ends), arrays, strict=True)]
    half = len(net.weights)
    return Dense(tuple(parts[:half]), tuple(parts[half:])), whole


def _bend(x: np.ndarray, bend: Bend) -> None:
    """Bend the values of a layer in place."""
    if bend == "relu":
        np.maximum(x, 0, out=x)
    elif bend == "tanh":
        np.tanh(x, out=x)
    else:
        expit(x, out=x)


def _slope(bent: np.ndarray, bend: Bend) -> np.ndarray:
    """Return the slope of a bend, from the values that it gave."""
    if bend == "relu":
        return bent > 0
    return 1.0 - bent * bent if bend == "tanh" else bent * (1.0 - bent)


def dense_of(module: torch.nn.Module) -> Dense:
    """Return a torch network (as `logits_over` gives it) as arrays in float64.

    Raises
    ------
    InputError
        If it holds anything but linear layers, ReLUs, tanh or sigmoid units between them, and ramps in front.
    """
    from torch import nn

    layers = list(module) if isinstance(module, nn.Sequential) else [module]
    ramps: Any = getattr(layers[0], "ramps", None) if layers else None
    if ramps is not None:
        del layers[0]
    weights: list[np.ndarray] = []
    biases: list[np.ndarray] = []
    bends: list[Bend] = []
    known: dict[type, Bend] = {nn.ReLU: "relu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid"}
    bent = True  # whether a bend lies between this layer and the last linear one
    for layer in layers:
        if isinstance(layer, nn.Linear):
            weight = layer.weight.detach().cpu().double().numpy().T
            bias = np.zeros(layer.out_features)
            if layer.bias is not None:
                bias = layer.bias.detach().cpu().double().numpy().copy()
            if bent:
                weights.append(np.ascontiguousarray(weight))
                biases.append(bias)
            else:  # two linear layers in a row are one
                weights[-1], biases[-1] = weights[-1] @ weight, biases[-1] @ weight + bias
            bent = False
        elif type(layer) in known and not bent:
            bends.append(known[type(layer)])
            bent = True
        else:
            bent = True
            break
    if bent:
        raise InputError(
            "model",
            "must be linear layers with ReLU, tanh or sigmoid units between them",
            [type(each).__name__ for each in layers],
        )
    plain = all(each == "relu" for each in bends)
    return Dense(tuple(weights), tuple(biases), ramps, () if plain else tuple(bends))
