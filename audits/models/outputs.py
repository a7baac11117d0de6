"""What a model's answers mean, whatever gives them: probabilities, labels, or a number.

A source (a file, an address, an object) gives answers; a `Classifier` or `Regressor` reads them.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.checks import choices
from audits.errors import InputError
from audits.models.labels import cut_rule, label_numbers
from audits.models.protocol import check_scores, class_text, label_values, need_columns, row_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from audits.data import AuditData

_SUM_TOLERANCE = 1e-3  # float32 softmax over many classes
_SIDES = {"-1", "0", "1"}  # of a label of two of these everyone takes the larger for the second
_REFUSING = {"-1", "0", "no"}  # values that are hardly the one whose probability a model gives
_RANGE_TOLERANCE = 1e-5  # float32 rounding of a probability


class Numbers:
    """A model of one number a person: `sign` turns it into a score, higher better."""

    name: str
    columns: tuple[str, ...]
    sign: float

    classes = None

    def answers(self, frame: pd.DataFrame) -> Any:
        """Return what the source gives for rows, at least one."""
        raise NotImplementedError

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        need_columns(frame, self.columns, self.name)
        return one_number(self.answers(frame), frame, self.name) if len(frame) else np.empty(0)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number, its sign turned where lower is better for the person, (n,) float64."""
        return self.sign * self.number(frame)


@dataclass(frozen=True, eq=False, kw_only=True)
class OnSource:
    """A model that reads what a source answers.

    Attributes
    ----------
    source : object
        Has `name`, `columns`, `sha256` and ``ask(frame)``, which gives the answers for rows, at least one.
        A file that can be opened again has its ``content`` and ``feeding()`` too.
    notes : tuple of str
        How inputs and answers were read, in sentences.
    """

    source: Any
    notes: tuple[str, ...] = ()

    invents = True

    @property
    def name(self) -> str:
        """The model in words."""
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that it reads."""
        return self.source.columns

    @property
    def sha256(self) -> str:
        """Digest of the file, or of what a service is and answered."""
        return self.source.sha256


@dataclass(frozen=True, eq=False, kw_only=True)
class Classifier(OnSource):
    """A model of probabilities or labels.

    Attributes
    ----------
    classes : tuple or None
        Label values in the order of `score`'s columns; None where `score` is one probability, of the
        favorable outcome.
    labels : mapping, optional
        The column of each label by its text, where the source gives labels: its scores are 0 or 1.
    logits : bool
        Whether the source gives log-odds.
    assumed : bool
        Whether nobody said which of two values comes first: scores that rank people the wrong way round then
        show that it is the other. Of 0 and 1, and of -1 and 1, it is the smaller one.
    """

    classes: tuple[object, ...] | None
    labels: Mapping[str, int] | None = None
    logits: bool = False
    assumed: bool = False

    @property
    def content(self) -> bytes:
        """The file; nothing where it cannot be opened again."""
        return getattr(self.source, "content", b"")

    def feeding(self) -> dict[str, Any]:
        """Return as plain data how columns feed the file and what it answers: see `restored_classifier`."""
        labels = None if self.labels is None else dict(self.labels)
        own = {"classes": len(self.classes or ()), "labels": labels, "logits": self.logits}
        return {**self.source.feeding(), **own}

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k) in [0, 1], rows summing to 1; (n,) without classes.

        Raises
        ------
        InputError
            If a column is missing or of the wrong type, the source fails, or what it answers is not finite,
            no probabilities, or no known label.
        """
        need_columns(frame, self.columns, self.name)
        width = 1 if self.classes is None else len(self.classes)
        if frame.empty:
            return np.empty((0, width)) if width > 1 else np.empty(0)
        return self.read(self.source.ask(frame), frame)

    def read(self, answers: Any, frame: pd.DataFrame) -> np.ndarray:
        """Return what the source answered for the rows of `frame` as `score` does.

        Parameters
        ----------
        answers : array (n,), (n, 1), (n, k), or list of n dictionaries
        """
        width = 1 if self.classes is None else len(self.classes)
        if self.labels is not None:
            return one_hot(answers, self.labels, width, self.name)
        if self.logits:
            answers = probabilities_of(answers, self.name)
        scores = read_probabilities(answers, frame, self.name)
        if scores.ndim == 1:
            return scores if width == 1 else np.column_stack([1.0 - scores, scores])
        if scores.shape[1] != width:
            raise InputError(self.name, f"must give {width} probabilities a person", scores.shape[1])
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Regressor(OnSource, Numbers):  # type: ignore[override]  # names of a source are not set
    """A model of one number a person."""

    sign: float

    def answers(self, frame: pd.DataFrame) -> Any:
        """Return what the source answers for rows, at least one."""
        return self.source.ask(frame)


def classifier(
    source: Any,
    data: AuditData,
    answers: Any,
    *,
    classes: Sequence[object] | None,
    stated: tuple[object, ...] | None,
    labels: bool,
    logits: bool,
    notes: Sequence[str] = (),
) -> Classifier:
    """Match what a source answered for the first people of `data` to the label.

    Parameters
    ----------
    classes : sequence, optional
        Label values in the order of the outputs, as the user gave them; for a single output the "negative"
        value first, the one whose probability it gives second.
    stated : tuple, optional
        Those that the source itself names.
    labels, logits : bool
        Whether it answers labels, or log-odds; probabilities otherwise.

    Raises
    ------
    InputError
        If the answers are no probabilities or labels, or the classes cannot be named.
    """
    notes, codes = list(notes), None
    found: tuple[object, ...] | None
    if labels:
        notes.append("The model gives labels only: its scores are 0 or 1.")
        found = tuple(classes) if classes is not None else stated or named_by_data(data, source.name)
        codes = {class_text(value): column for column, value in enumerate(found)}
    else:
        values = probabilities_of(answers, source.name) if logits else answers
        scores = read_probabilities(values, data.frame.iloc[: len(answers)], source.name)
        if scores.ndim == 1 and data.label is None and classes is None and stated is None:
            found = stated = None
            if _REFUSING & {class_text(each).lower() for each in data.favorable}:
                rule = "is missing: without a label, nothing says of which value the number is the chance"
                raise InputError("model.classes", rule, advice="list both label values, that one last")
            notes.append(
                "The data have no label, so the answer is assumed to be the probability of the favorable "
                "outcome."
            )
        else:
            width = 2 if scores.ndim == 1 else scores.shape[1]
            found = name_classes(width, classes, stated, data, source.name)
    assumed = classes is None and found is not stated
    known_order = len(found or ()) > 2 or {*map(class_text, found or ())} <= _SIDES
    if assumed:
        notes.append(
            "The model does not name its classes. They are assumed to be "
            f"{choices(found or ())}, in this order."
        )
    return Classifier(
        source=source,
        notes=tuple(notes),
        classes=found,
        labels=codes,
        logits=logits and not labels,
        assumed=assumed and not labels and not known_order,
    )


def restored_classifier(source: Any, feeding: Mapping[str, Any]) -> Classifier:
    """Return the model that `Classifier.feeding` described, its classes known by number only."""
    labels = None if feeding["labels"] is None else dict(feeding["labels"])
    classes = tuple(range(feeding["classes"]))
    return Classifier(source=source, classes=classes, labels=labels, logits=bool(feeding.get("logits")))


def number_sign(data: AuditData) -> float:
    """Return 1.0 where a higher number is better for the person, -1.0 where a lower one is.

    Raises
    ------
    InputError
        If the outcome is no number.
    """
    if data.numeric is not None:
        return data.numeric.sign
    label_numbers(data)
    return 1.0 if cut_rule(data.cut)[1] == "favorable" else -1.0  # type: ignore[arg-type]


def one_number(answers: Any, frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return answers as one number a person, (n,); raise `InputError` if they are anything else."""
    if isinstance(answers, list) or answers.dtype == object or answers.size != len(frame):
        advice = "for a model that says yes or no, choose a label of few values, or none"
        raise InputError(
            name, "must give one number a person", answers[0] if len(answers) else "nothing", advice
        )
    return check_scores(answers.reshape(-1), frame, name)


def probabilities_of(values: np.ndarray | list[dict[Any, float]], name: str) -> np.ndarray:
    """Return probabilities from logits: (n,) or (n, 1) by the logistic function, (n, k) by softmax; float64.

    Raises
    ------
    InputError
        If they are no numbers.
    """
    if isinstance(values, list):
        values = np.array([list(row.values()) for row in values])
    if values.dtype == object or values.ndim > 2:
        raise InputError(name, "must give logits, as model.output says", values[0])
    logits = values.astype(np.float64)
    if logits.ndim == 2 and logits.shape[1] > 1:
        return softmax(logits, axis=1)
    return expit(logits.reshape(len(logits)))


def zipmap_keys(values: Any) -> tuple[object, ...] | None:
    """Return the class labels that a ZipMap puts beside each probability; None for an array."""
    return tuple(values[0]) if isinstance(values, list) else None


def read_probabilities(
    values: np.ndarray | list[dict[Any, float]], frame: pd.DataFrame, name: str
) -> np.ndarray:
    """Return probabilities, (n,) for a single output or (n, k), float64 in [0, 1].

    Parameters
    ----------
    values : array (n,), (n, 1), (n, k), or list of n dictionaries
        What the runtime gave.
    frame : DataFrame (n, ...)
        The rows scored, for messages.
    name : str
        The model, for messages.

    Raises
    ------
    InputError
        If any is not finite or not in [0, 1], or the k of a person do not sum to 1.
    """
    if isinstance(values, list):
        keys = list(values[0])
        values = np.array([[row[key] for key in keys] for row in values], dtype=np.float32)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim > 2:
        raise InputError(name, "must give one row of probabilities a person", values.shape)
    check_scores(values, frame, name)
    # text of a float32 is the shortest decimal that rounds to it
    scores = values.astype("U").astype(np.float64) if values.dtype.itemsize < 8 else values.astype(np.float64)
    outside = (scores < -_RANGE_TOLERANCE) | (scores > 1 + _RANGE_TOLERANCE)
    rows = np.array(outside.any(axis=1) if outside.ndim == 2 else outside)
    if rows.any():
        raise InputError(
            name,
            f"must give probabilities in [0, 1], but {int(rows.sum()):,} of {len(rows):,} people get "
            f"another number ({row_words(frame, rows)}; from {scores.min():.4g} to {scores.max():.4g})",
            advice="if these are log-odds, write output: logits under model; else export probabilities",
        )
    if scores.ndim == 2:
        off = np.abs(scores.sum(axis=1) - 1.0) > _SUM_TOLERANCE
        if off.any():
            raise InputError(
                name,
                f"must give probabilities that sum to 1, but they do not for {int(off.sum()):,} of "
                f"{len(off):,} people ({row_words(frame, off)}, sum {scores.sum(axis=1)[off][0]:.4g})",
                advice="export a single output of class probabilities",
            )
    return scores.clip(0.0, 1.0)


def one_hot(values: Any, columns: Mapping[str, int], width: int, name: str) -> np.ndarray:
    """Return 1.0 in the column of each person's label, (n, width)."""
    codes, levels = pd.factorize(_flat(values))
    without = int((codes < 0).sum())
    if without:
        raise InputError(name, f"must give everyone a label, but {without:,} of {len(codes):,} get none")
    unknown = [level for level in levels if class_text(level) not in columns]
    if unknown:
        raise InputError(
            name,
            f"gives the labels {choices(sorted(unknown, key=str))}, which are none of its classes "
            f"{choices(columns)}",
            advice="give model.classes, or label values that the data also uses",
        )
    return np.eye(width)[np.array([columns[class_text(level)] for level in levels])[codes]]


def _flat(labels: Any) -> np.ndarray:
    """Return labels, (n,) or (n, 1), as (n,) plain values."""
    return np.array(np.asarray(labels).reshape(len(labels), -1)[:, 0].tolist(), dtype=object)


def named_by_data(data: AuditData, name: str) -> tuple[object, ...]:
    """Return the sorted label values of the data, for a model that names no classes itself.

    Raises
    ------
    InputError
        If the data has no label.
    """
    values = label_values(data)
    if not values:
        raise InputError(
            "model.classes", f"is needed: neither {name} nor the data (which have no label) name the classes"
        )
    return values


def name_classes(
    width: int, given: Sequence[object] | None, stated: tuple[object, ...] | None, data: AuditData, name: str
) -> tuple[object, ...]:
    """Return the label values in the order of `width` probabilities.

    Those `given` by the user win over those `stated` by the file, and these over the data's: two in order (of
    a single output the one stated last), or numbers. More than two words are numbered for a model in an order
    that nobody but its maker knows.

    Raises
    ------
    InputError
        If there are not exactly `width` of them, or their order is not known.
    """
    if given is not None:
        if len(given) != width or len({class_text(value) for value in given}) != width:
            raise InputError(
                "model.classes",
                f"must name {width} different label values, as {name} tells {width} apart",
                given,
            )
        return tuple(given)
    if stated is not None and len(stated) == width:
        return stated
    values = named_by_data(data, name)
    if stated is not None and len(stated) == 1 and width == len(values) == 2:  # the one that it is of
        values = tuple(sorted(values, key=lambda value: class_text(value) == class_text(stated[0])))
    if len(values) != width:
        raise InputError(
            name,
            f"gives {width} probabilities a person, but the label takes {len(values)} values: "
            f"{choices(values)}",
            advice="give model.classes: the label values in the order of the model's outputs",
        )
    if width > 2 and not all(isinstance(value, numbers.Real) for value in values):
        raise InputError(
            "model.classes",
            f"is needed, as {name} does not say which of its {width} probabilities is of which label value: "
            f"{choices(values)}",
            advice="name them in the order of the model's outputs",
        )
    return values


def check_labels(labels: Any, probabilities: np.ndarray, classes: tuple[object, ...], name: str) -> None:
    """Raise `InputError` if the model's own labels mostly contradict the classes read into its columns.

    A few contradictions are legitimate (ties, a classifier with its own cut), most are not.
    """
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1.0 - probabilities, probabilities])
    likely = probabilities.argmax(axis=1)
    own = np.array([class_text(value) for value in _flat(labels)])
    agree = own == np.array([class_text(value) for value in classes])[likely]
    if agree.mean() < 0.5:
        row = int(np.argmin(agree))
        raise InputError(
            name,
            f"was read as giving probabilities of {choices(classes)} in this order, but its own label output "
            f"contradicts that for {int((~agree).sum()):,} of {len(agree):,} people (it says {own[row]!r} "
            f"where the largest probability would mean {class_text(classes[likely[row]])!r})",
            advice="give model.classes: the label values in the order of the model's outputs",
        )
