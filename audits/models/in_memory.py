"""Models that are objects of this process: estimators, networks and functions, asked as they are.

What an object gives is read by what it is: `predict_proba` as probabilities of its classes,
`decision_function` as a score, `predict` as labels or as a number, a torch network as probabilities or
logits, a function of a table as whatever its answers are. An audit asks it as a black box, unless it is a
torch network, or a linear model or network of scikit-learn behind steps that treat each column by itself:
then its logits are put together again and compared with what it says of the people audited.

The digest of such a model is one of its kind, its parameters as it prints them, and the scores that the
people audited get; two models that agree on all of these are told apart by nothing.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.adapters import GivenTable, Reader
from audits.data.frames import with_columns
from audits.errors import InputError, beginning
from audits.models.labels import number_matrix
from audits.models.networks.exact import is_network
from audits.models.outputs import OnSource, Regressor, classifier, named_by_data, number_sign
from audits.models.protocol import Model, check_scores, class_text, label_values, need_columns

if TYPE_CHECKING:
    from audits.data import AuditData

_TRIED_FIRST = 1000
_DIGITS = 1e-9

Output = Literal["probabilities", "logits", "scores", "labels"]
"""What a model gives: of every class or of the second one; or any number, higher being better."""


@dataclass(frozen=True, eq=False)
class ColumnRequest:
    """An object that is asked about people: a source of answers.

    Attributes
    ----------
    call : callable
        From a table in the form it was given in to the object's own answers, (n,) or (n, k).
    reader : Reader
        From the audit's rows to such a table.
    origin : object
        The object itself, for its gradient.
    output : {"probabilities", "logits", "scores", "labels"}
        What the answers are.
    last : bool
        Whether only the last of several probabilities counts.
    sha256 : str
    """

    name: str
    columns: tuple[str, ...]
    call: Callable[[Any], Any]
    reader: Reader
    origin: Any
    output: Output = "scores"
    last: bool = False
    sha256: str = ""

    def call_on(self, frame: pd.DataFrame) -> Any:
        """Return the object's answers as it gives them; its own failure is told with what it said."""
        need_columns(frame, self.columns, self.name)
        try:
            return self.call(self.reader(frame))
        except Exception as error:  # whatever a stranger's model raises
            said = f"{type(error).__name__}: {beginning(error)}"
            advice = "try calling it with X; columns=[…] names what it reads, in its order"
            if frame[list(self.columns)].isna().to_numpy().any():
                advice = "fill in what is missing as in training, or leave these rows out"
            if type(error).__name__ == "NotFittedError":
                said, advice = "it is not fitted", "fit it first"
            raise InputError(
                "model", f"must score the people of X, but {self.name} fails on them ({said})", advice=advice
            ) from error

    def ask(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the object's answers as an array (n, …)."""
        return self.as_array(self.call_on(frame), len(frame))

    def as_array(self, said: Any, n: int) -> np.ndarray:
        """Return answers for `n` people as an array (n, …); raise `InputError` if they are none."""
        for part in ("detach", "cpu", "numpy", "to_numpy"):  # tensors, frames and series of any library
            if not isinstance(said, np.ndarray) and callable(getattr(said, part, None)):
                said = getattr(said, part)()
        found = np.asarray(said)
        if found.ndim not in {1, 2} or len(found) != n:
            advice = "if it predicts several outcomes, pass a function that gives one"
            if len(found) == len(self.columns):  # a vectorizer goes through a frame column by column
                call = getattr(self.call, "__name__", "predict")
                advice = f"if it reads texts, pass lambda X: pipeline.{call}(X[{self.columns[0]!r}])"
            raise InputError(
                "model", f"must give one answer for each of {n:,} people",
                f"{self.name} gives an array of shape {found.shape}", advice,
            )  # fmt: skip
        if found.ndim == 2 and (self.last or found.shape[1] == 1):
            found = found[:, -1]
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreModel(OnSource):
    """A model of scores that are no probabilities, higher better once they have their `sign`.

    Attributes
    ----------
    zero : bool
        Whether they are decided at 0 unless a threshold is given: those of a decision function are.
    """

    sign: float
    zero: bool

    classes = None

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the scores (n,), higher better for the person."""
        answers = self.source.ask(frame) if len(frame) else np.empty(0)
        return self.sign * check_scores(answers, frame, self.name)


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


def model_columns(
    model: Any, given: GivenTable, apart: Sequence[str], groups: Sequence[str]
) -> tuple[str, ...]:
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
        advice=f"name them in the model's order: columns={every[:1]!r}"[:-1] + ", …]",
    )


def says_what_it_reads(model: Any) -> bool:
    """Whether the model itself names or counts the columns that it reads; a function does not."""
    return _names_known(model) is not None or _inputs_known(model) is not None


def ignored_columns(model: Model, data: AuditData, names: Sequence[str]) -> list[str]:
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
    given: GivenTable,
    data: AuditData,
    columns: Sequence[str],
    *,
    classes: Sequence[object] | None = None,
    output: Output | None = None,
    higher_is: str = "favorable",
) -> Any:
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
    name, stated = name_of(model), _classes_of(model)
    ask, known = _way_to_ask(model, "scores" if data.number is not None else output)
    if data.number is not None and hasattr(model, "predict"):
        ask = model.predict
    source = ColumnRequest(name, tuple(columns), ask, Reader(given, tuple(columns), data.frame), model)
    made = _model(source, data, classes, stated, known, higher_is)
    digest = _digest(model, made.score(data.frame))
    notes = (*made.notes, *_steadiness(made, data))
    return replace(made, source=replace(made.source, sha256=digest), notes=notes)


def _model(
    source: ColumnRequest,
    data: AuditData,
    classes: Sequence[object] | None,
    stated: tuple[object, ...] | None,
    known: Output | None,
    higher_is: str,
) -> Any:
    """Return the model that reads a source's answers, which are what is `known` or what they look like."""
    if data.number is not None:
        return Regressor(source=source, sign=number_sign(data))
    model, name = source.origin, source.name
    sample = data.frame.iloc[:_TRIED_FIRST]
    said = source.call_on(sample)
    stated, first = stated or _columns_said(said, data), source.as_array(said, len(sample))
    kind, notes = (known, []) if known is not None else _kind_of(first, data, model, name)
    source = replace(source, output=kind)
    if kind == "scores":
        sign = _direction(model, stated, data, higher_is, notes)
        if first.ndim != 1:
            raise InputError(name, "must give one score a person", f"an array of shape {first.shape}")
        return ScoreModel(source=source, notes=tuple(notes), sign=sign, zero=known is not None)
    if kind == "labels":
        stated = stated or _values(first, data, name)
    elif data.label is None and classes is None and stated is None:
        source = replace(source, last=True)
        first = first[:, -1] if first.ndim == 2 and first.shape[1] == 2 else first
    return classifier(source, data, first, classes=classes, stated=stated, labels=kind == "labels",
                      logits=kind == "logits", notes=notes)  # fmt: skip


def _way_to_ask(model: Any, output: Output | None) -> tuple[Callable[[Any], Any], Output | None]:
    """Return what is called with a table, and what it gives where that is known."""
    if inspect.isclass(model):
        raise InputError(
            "model", "must be a fitted model, not its class", model.__name__,
            f"fit it: {model.__name__}().fit(X, y)",
        )  # fmt: skip
    if isinstance(model, str):
        raise InputError(
            "model", "must be the model itself or the path of its file", model,
            "pass the object; of stored predictions: evenhand.audit(None, X, y, predictions=…)",
        )  # fmt: skip
    if is_network(model):
        return _network_call(model), output
    if type(model).__module__ == "xgboost.core" and type(model).__name__ == "Booster":
        return _booster_call(model), output
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
        "wrap it: evenhand.audit(lambda table: …, X, y, …)",
    )


def _network_call(network: Any) -> Callable[[Any], np.ndarray]:
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


def _booster_call(booster: Any) -> Callable[[Any], np.ndarray]:
    """Return what asks a booster of XGBoost's own, which takes tables in its own form only."""

    def ask(rows: Any) -> np.ndarray:
        import xgboost

        return np.asarray(booster.predict(xgboost.DMatrix(rows, enable_categorical=True, nthread=1)))

    return ask


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
    if is_network(model) or (answers.ndim == 2 and answers.shape[1] > 1):
        return "logits", [f"{name} gives no probabilities ({span}): they were taken as logits."]
    return "scores", [f"{name} gives no probabilities ({span}): they were taken as scores."]


def _columns_said(answers: Any, data: AuditData) -> tuple[object, ...] | None:
    """Return the classes that the columns of a frame of answers are named after; None where they are not."""
    names = tuple(getattr(answers, "columns", ()))
    known = {class_text(name) for name in names}
    wanted = {class_text(value) for value in (*label_values(data), *data.favorable)}
    return names if len(names) == len(known) > 1 and wanted <= known else None


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
        notes.append(f"The model's decision function is its score, in favor of {stated[1]!r}.")
        return 1.0 if class_text(stated[1]) in good else -1.0
    return -1.0 if higher_is == "unfavorable" else 1.0


def _steadiness(model: Model, data: AuditData) -> list[str]:
    """Return a note if the model says something else of the same people in another order."""
    tried = data.frame.iloc[:_TRIED_FIRST]
    if np.allclose(model.score(tried), model.score(tried.iloc[::-1])[::-1], rtol=1e-6, atol=1e-6):
        return []
    return [
        "Asked twice about the same people, the model gave different scores, by chance or because they "
        "depend on who else is in the batch. Differences between people are partly noise."
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
    if wanted is None and is_network(model):
        wanted = next((part.in_features for part in model.modules() if hasattr(part, "in_features")), None)
    return None if wanted is None else int(wanted)
