"""Models that are objects of this process: estimators, networks and functions, asked as they are.

What an object gives is read by what it is: `predict_proba` as probabilities of its classes,
`decision_function` as a score, `predict` as labels or as a number, a torch network as probabilities or
logits, a function of a table as whatever its answers are. An audit asks it as a black box, unless it is a
torch network, or a linear model or network of scikit-learn behind steps that treat each column by itself:
then its logits are put together anew and held against what it says of the people audited.

The digest of such a model is one of its kind, its parameters as it prints them, and the scores that the
people audited get; two models that agree on all of these are told apart by nothing.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.checks import choices
from audits.data.frames import with_columns
from audits.data.given import Given, Reader
from audits.data.space import FeatureSpace
from audits.errors import InputError
from audits.models.labels import cut_rule, number_column
from audits.models.onnx_outputs import name_classes, named_by_data, one_hot, read_probabilities
from audits.models.protocol import (
    check_scores,
    class_text,
    favorable_columns,
    label_values,
    need_columns,
)

if TYPE_CHECKING:
    import torch

    from audits.data import AuditData

__all__ = [
    "InMemoryModel",
    "InMemoryNumber",
    "Output",
    "ignored_columns",
    "in_memory_model",
    "model_columns",
    "name_of",
    "says_what_it_reads",
]

Output = Literal["probabilities", "logits", "scores", "labels"]
"""What a model gives: of every class or of the second one; or any number, higher being better."""

_TRIED_FIRST = 1000
_AGREES = 1e-5
_DIGITS = 1e-9


@dataclass(frozen=True, eq=False)
class InMemoryModel:
    """An object that scores people.

    Attributes
    ----------
    ask : callable
        From a table in the form it was given in to the object's own answers, (n,) or (n, k).
    reader : Reader
        From the audit's rows to such a table.
    output : {"probabilities", "logits", "scores", "labels"}
        What the answers are.
    sign : float
        -1 where a lower score is better for the person.
    """

    name: str
    columns: tuple[str, ...]
    classes: tuple[object, ...] | None
    ask: Callable[[Any], Any]
    reader: Reader
    output: Output
    sha256: str = ""
    notes: tuple[str, ...] = ()
    sign: float = 1.0
    invents: bool = True

    def answers(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the object says of the rows of `frame`, as an array with one entry a row."""
        need_columns(frame, self.columns, self.name)
        return _answers(self.ask, self.reader(frame), len(frame), self.name)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return probabilities (n, k) of the classes; scores (n,), higher better, where there are none."""
        if frame.empty:
            return np.empty(0) if self.classes is None else np.empty((0, len(self.classes)))
        return _scores(self.answers(frame), frame, self)


@dataclass(frozen=True, eq=False)
class InMemoryNetwork(InMemoryModel):
    """One whose logits are known as a torch network of a design: a `Differentiable` model.

    Of two classes `score` gives the probability of the favourable one, in column `favorable` of what is
    asked, and has no classes.
    """

    asked: InMemoryModel | None = None
    favorable: int | None = None
    made: Callable[[Any], np.ndarray] = np.asarray
    layers: Any = None

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favourable outcome (n,), or of each class (n, k)."""
        assert self.asked is not None  # noqa: S101  (always given)
        scores = self.asked.score(frame)
        return scores if self.favorable is None else scores[:, self.favorable]

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the network reads, (n, m)."""
        need_columns(frame, self.columns, self.name)
        return self.made(self.reader(frame))

    def network(self) -> torch.nn.Module:
        """Return a float64 copy of the network, (n, m) to logits (n, k)."""
        return copy.deepcopy(self.layers).double()


@dataclass(frozen=True, eq=False)
class InMemoryNumber(InMemoryModel):
    """An object that predicts the number which the label cuts."""

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        return self.sign * self.score(frame)


def name_of(model: Any) -> str:
    """Return the model in words: the name of its class, the last step's of a pipeline.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> name_of(LogisticRegression()), name_of(name_of)
    ('LogisticRegression', 'function name_of')
    """
    if inspect.isroutine(model):
        name = getattr(model, "__name__", "")
        return "function" if name == "<lambda>" else f"function {name}"
    last = getattr(model, "steps", None)
    inside = type(last[-1][1]).__name__ if last else ""
    return f"{type(model).__name__} with {inside}" if inside else type(model).__name__


def model_columns(model: Any, given: Given, apart: Sequence[str], groups: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the table that the model reads, in its order.

    Those that it was fitted on by name; else, where it knows how many it reads, all columns `apart` from
    label and weights if they are so many, or those without the protected ones if these are; else all of them.

    Raises
    ------
    InputError
        If the table lacks one, or no such choice gives as many as it reads.
    """
    frame = given.frame
    names = _names_known(model)
    if names is not None and given.form != "numpy":
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise InputError(
                "X", f"must hold the columns that the model was fitted on, but lacks {choices(missing)}",
                advice=f"it holds {choices(frame.columns)}: pass the table as it was given to fit",
            )  # fmt: skip
        return tuple(names)
    every = [name for name in frame.columns if name not in apart]
    wanted = _inputs_known(model)
    for offered in (every, [name for name in every if name not in groups], list(frame.columns)):
        if wanted is None or len(offered) == wanted:
            return tuple(offered)
    raise InputError(
        "columns",
        f"is needed: the model reads {wanted} columns, and X has {len(every)} beside the label",
        advice=f"name them in the model's order: columns={[*every][:3]!r}"[:-1] + ", …]",
    )


def says_what_it_reads(model: Any) -> bool:
    """Whether the model itself names or counts the columns that it reads; a function does not."""
    return _names_known(model) is not None or _inputs_known(model) is not None


def ignored_columns(model: InMemoryModel, data: AuditData, names: Sequence[str]) -> list[str]:
    """Return those of `names` whose values, swapped between the first 1,000 people, change no score."""
    tried = data.frame.iloc[:_TRIED_FIRST]
    before = model.score(tried)
    order = np.random.default_rng(0).permutation(len(tried))
    found = []
    for name in names:
        swapped = tried[name].iloc[order].set_axis(tried.index)
        if np.array_equal(before, model.score(with_columns(tried, {name: swapped}))):
            found.append(name)
    return found


def in_memory_model(
    model: Any,
    given: Given,
    data: AuditData,
    columns: Sequence[str],
    *,
    classes: Sequence[object] | None = None,
    output: Output | None = None,
    higher_is: str = "favorable",
) -> InMemoryModel:
    """Make an object a model of the people of `data`.

    Parameters
    ----------
    model : object
        Has predict_proba, decision_function or predict, is a torch module, or a function of a table.
    given : Given
        The table that `data` was made from.
    columns : sequence of str
        What the model reads, in its order.
    classes : sequence, optional
        Label values in the order of its outputs, where it does not say; a single output is the second's.
    output : {"probabilities", "logits", "scores", "labels"}, optional
        What it gives; told from what it is, and for networks and functions from what they give, if left out.
    higher_is : {"favorable", "unfavorable"}
        Direction of scores that are no probabilities.

    Raises
    ------
    InputError
        If it is no model, fails on the people of `data`, or gives what cannot be read.
    """
    name = name_of(model)
    reader = given.reader(columns, data.frame)
    stated = _classes_of(model)
    if data.cut is not None:
        return _number(model, name, reader, data)
    ask, known = _way_to_ask(model, name, output)
    tried = data.frame.iloc[:_TRIED_FIRST]
    first = _answers(ask, reader(tried), len(tried), name)
    kind, notes = (known, []) if known is not None else _kind_of(first, data, model, name)
    found: tuple[object, ...] | None = None
    sign = 1.0
    if kind == "labels":
        found = tuple(classes) if classes is not None else stated or _values(first, data, name)
        notes.append("The model gives labels only: its scores are 0 or 1.")
    elif kind == "scores":
        sign = _direction(model, stated, data, higher_is, notes)
        if first.ndim != 1:
            raise InputError(name, "must give one score a person", f"an array of shape {first.shape}")
    else:
        width = 2 if first.ndim == 1 or first.shape[1] == 1 else first.shape[1]
        if width == 2 and classes is None and stated is None and data.label is None:
            notes.append(
                "There is no y: what the model gives is taken as the probability of the favorable outcome."
            )
        else:
            found = name_classes(width, classes, stated, data, name)
        if found is not None and classes is None and stated is None:
            what = f"the probability of {found[1]!r}" if first.ndim == 1 else f"those of {choices(found)}"
            notes.append(f"The model does not name its classes: what it gives was taken as {what}.")
    made = InMemoryModel(name, tuple(columns), found, ask, reader, kind, notes=tuple(notes), sign=sign)
    made = replace(
        made, sha256=_digest(model, made.score(data.frame)), notes=(*notes, *_steadiness(made, data))
    )
    return _with_gradient(model, made, data) or made


def _number(model: Any, name: str, reader: Reader, data: AuditData) -> InMemoryNumber:
    assert data.cut is not None  # noqa: S101  (the caller looked)
    ask = model.predict if hasattr(model, "predict") else _way_to_ask(model, name, "scores")[0]
    sign = 1.0 if cut_rule(data.cut)[1] == "favorable" else -1.0
    made = InMemoryNumber(name, reader.columns, None, ask, reader, "scores", sign=sign)
    digest = _digest(model, made.score(data.frame))
    return replace(made, sha256=digest, notes=tuple(_steadiness(made, data)))


def _way_to_ask(model: Any, name: str, output: Output | None) -> tuple[Callable[[Any], Any], Output | None]:
    """Return what is called with a table, and what it gives where that is known."""
    if inspect.isclass(model):
        raise InputError(
            "model", "must be a fitted model, not its class", name, f"fit it: {name}().fit(X, y)"
        )
    if isinstance(model, str):
        raise InputError(
            "model", "must be the model itself", model,
            "pass the object; for a file, write a spec with model: {path: …}; of stored predictions: "
            "audits.audit(None, X, y, predictions=…)",
        )  # fmt: skip
    if _is_network(model):
        return _network_call(model), output
    if hasattr(model, "predict_proba") and output in {None, "probabilities"}:
        return model.predict_proba, "probabilities"
    two = len(_classes_of(model) or (0, 0)) == 2
    if hasattr(model, "decision_function") and two and output in {None, "scores"}:
        return model.decision_function, "scores"
    if hasattr(model, "predict"):
        labels = _classes_of(model) is not None and output is None
        return model.predict, "labels" if labels else output
    if callable(model):
        return model, output
    raise InputError(
        "model",
        "must have predict_proba, decision_function or predict, be a torch module, or a function of a table",
        type(model).__name__,
        "wrap it: audits.audit(lambda table: …, X, y, …)",
    )


def _kind_of(answers: np.ndarray, data: AuditData, model: Any, name: str) -> tuple[Output, list[str]]:
    """Return what answers are, by what they look like, and a note where that is a guess."""
    if answers.dtype.kind in "OUSb":
        return "labels", []
    known = {class_text(value) for value in label_values(data)}
    levels = np.unique(answers)
    if answers.ndim == 1 and len(levels) <= len(known) and {class_text(each) for each in levels} <= known:
        return "labels", []
    low, high = float(answers.min()), float(answers.max())
    sums = answers.sum(axis=1) if answers.ndim == 2 and answers.shape[1] > 1 else np.ones(1)
    if low >= -_DIGITS and high <= 1 + _DIGITS and np.allclose(sums, 1.0, atol=1e-4):
        return "probabilities", []
    span = f"its answers run from {low:.4g} to {high:.4g}"
    if _is_network(model) or (answers.ndim == 2 and answers.shape[1] > 1):
        return "logits", [f"{name} gives no probabilities ({span}): they were taken as logits."]
    return "scores", [f"{name} gives no probabilities ({span}): they were taken as scores."]


def _values(answers: np.ndarray, data: AuditData, name: str) -> tuple[object, ...]:
    if data.label is not None:
        return named_by_data(data, name)
    return tuple(sorted(set(answers.tolist()), key=str))


def _direction(
    model: Any, stated: tuple[object, ...] | None, data: AuditData, higher_is: str, notes: list[str]
) -> float:
    """Return -1 where a higher score is worse for the person."""
    if stated is not None and len(stated) == 2 and hasattr(model, "decision_function"):
        good = {class_text(value) for value in data.favorable}
        notes.append(f"The model's decision function is its score, which speaks for {stated[1]!r}.")
        return 1.0 if class_text(stated[1]) in good else -1.0
    return -1.0 if higher_is == "unfavorable" else 1.0


def _scores(answers: np.ndarray, frame: pd.DataFrame, model: InMemoryModel) -> np.ndarray:
    """Return answers as `Model.score` does."""
    width = 1 if model.classes is None else len(model.classes)
    if model.output == "labels":
        places = {class_text(value): place for place, value in enumerate(model.classes or ())}
        return one_hot(answers, places, width, model.name)
    if answers.ndim == 2 and answers.shape[1] == 1:
        answers = answers[:, 0]
    if model.output == "scores":
        return model.sign * check_scores(answers.astype(np.float64), frame, model.name)
    if model.output == "logits":
        check_scores(answers, frame, model.name)
        answers = answers.astype(np.float64)
        answers = expit(answers) if answers.ndim == 1 else softmax(answers, axis=1)
    scores = read_probabilities(answers, frame, model.name)
    if width == 1:
        return scores if scores.ndim == 1 else scores[:, -1]
    if scores.ndim == 1:
        scores = np.column_stack([1.0 - scores, scores])
    if scores.shape[1] != width:
        raise InputError(model.name, f"must give {width} probabilities a person", scores.shape[1])
    return scores


def _answers(ask: Callable[[Any], Any], rows: Any, n: int, name: str) -> np.ndarray:
    """Return the object's answers as an array (n, …); its own failure is told with what it said."""
    try:
        said = ask(rows)
    except Exception as error:  # whatever a stranger's model raises
        words = " ".join(str(error).split())[:300]
        raise InputError(
            "model",
            f"must score the people of X, but {name} fails on them ({type(error).__name__}: {words})",
            advice="call it with X yourself; columns=[…] names what it reads, in its order",
        ) from error
    for part in ("detach", "cpu", "numpy", "to_numpy"):  # tensors, frames and series of any library
        if not isinstance(said, np.ndarray) and callable(getattr(said, part, None)):
            said = getattr(said, part)()
    found = np.asarray(said)
    if found.ndim not in {1, 2} or len(found) != n:
        raise InputError(
            "model", f"must give one answer for each of {n:,} people",
            f"{name} gives an array of shape {found.shape}",
        )  # fmt: skip
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    return found


def _steadiness(model: InMemoryModel, data: AuditData) -> list[str]:
    """Return a note if the model says something else of the same people in another order."""
    tried = data.frame.iloc[:_TRIED_FIRST]
    if np.allclose(model.score(tried), model.score(tried.iloc[::-1])[::-1], rtol=1e-6, atol=1e-6):
        return []
    return [
        "Asked twice about the same people, the model gave them other scores, by chance or by who else is "
        "asked about: differences between people are partly noise."
    ]


def _digest(model: Any, scores: np.ndarray) -> str:
    kind = type(model)
    said = hashlib.sha256(f"{kind.__module__}.{kind.__qualname__}".encode())
    if hasattr(model, "get_params"):
        said.update(repr(sorted(model.get_params(deep=False))).encode())
    said.update(np.ascontiguousarray(scores, dtype="<f8").tobytes())
    return said.hexdigest()


def _classes_of(model: Any) -> tuple[object, ...] | None:
    found = getattr(model, "classes_", None)
    if not isinstance(found, (np.ndarray, list, tuple)):
        return None
    values = np.asarray(found)
    return tuple(values.tolist()) if values.ndim == 1 else None


def _names_known(model: Any) -> list[str] | None:
    """Return the columns that a model says it was fitted on, as scikit-learn, CatBoost and LightGBM do."""
    for key in ("feature_names_in_", "feature_names_", "feature_name_"):
        found = getattr(model, key, None)
        if isinstance(found, (list, tuple, np.ndarray)):
            return [str(each) for each in found]
    return None


def _inputs_known(model: Any) -> int | None:
    wanted = getattr(model, "n_features_in_", None)
    if wanted is None and _is_network(model):
        wanted = next((part.in_features for part in model.modules() if hasattr(part, "in_features")), None)
    return None if wanted is None else int(wanted)


def _is_network(model: Any) -> bool:
    return any(kind.__module__.startswith("torch.nn") for kind in type(model).__mro__)


def _matrix(rows: Any) -> np.ndarray:
    """Return a table of numbers, in whatever form, as a matrix of float64."""
    if isinstance(rows, np.ndarray):
        return rows.astype(np.float64)
    frame = rows if isinstance(rows, pd.DataFrame) else rows.to_pandas()
    return np.column_stack([number_column(frame.iloc[:, place]) for place in range(frame.shape[1])])


def _network_call(network: Any) -> Callable[[Any], np.ndarray]:
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


def _with_gradient(model: Any, asked: InMemoryModel, data: AuditData) -> InMemoryNetwork | None:
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
    taken = _torch_layers(model, asked) if _is_network(model) else _sklearn_layers(model)
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
