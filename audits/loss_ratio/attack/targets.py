"""What a person's loss compares: the model's answer with the label, whichever of three kinds that is.

*favorable*: the probability of the favorable outcome against whether the label is favorable. *classes*:
the probabilities of all values of the label against the person's own (k > 2); the favorable ones then
matter for groups of people only. *number*: the number predicted against the one that the label is cut from,
both in standard deviations of the label, so that its loss has no unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, logit, softmax

from audits.checks import finite
from audits.data import AuditData
from audits.errors import InputError
from audits.loss_ratio.attack.losses import MIN_LOSS, Loss, probability_losses
from audits.models import Subject
from audits.models.labels import NumberModel, class_codes, label_numbers
from audits.models.protocol import class_text

if TYPE_CHECKING:
    import torch

Kind = Literal["favorable", "classes", "number"]


@dataclass(frozen=True, eq=False)
class Answers:
    """What the model says of people (n,): favorable scores, what it predicts, and whether that is wrong.

    `predicted` is the class of the largest probability, or the number; None where the score says it all.
    """

    scores: np.ndarray
    predicted: np.ndarray | None
    wrong: np.ndarray


@dataclass(frozen=True, eq=False)
class Target:
    """The label as losses need it, for the people of `data`.

    Attributes
    ----------
    kind : {"favorable", "classes", "number"}
    y : array (n,)
        Bool, class numbers, or numbers in standard deviations.
    loss : {"cross_entropy", "logistic", "squared"}
    classes : tuple
        Values of the label, for "classes".
    center, unit : float
        Mean and standard deviation of the label's number, for "number".
    """

    subject: Subject
    data: AuditData
    kind: Kind
    y: np.ndarray
    loss: Loss
    classes: tuple[object, ...] = ()
    center: float = 0.0
    unit: float = 1.0

    def raw(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the model gives: favorable scores (n,), probabilities (n, k) or numbers (n,)."""
        if self.kind == "favorable":
            return self.subject.favorable_score(frame)
        if self.kind == "classes":
            return finite("scores of the model", self.subject.model.score(frame))
        return finite("numbers of the model", self.subject.model.number(frame))  # type: ignore[attr-defined]

    def odds(self, raw: np.ndarray) -> np.ndarray:
        """Return what `raw` gave as log-odds (n, 1), logarithms of chances (n, k), or numbers (n, 1)."""
        if self.kind == "number":
            return raw[:, None]
        if self.kind == "classes":
            return np.log(np.clip(raw, MIN_LOSS, 1.0))
        return logit(np.clip(raw, MIN_LOSS, 1.0 - MIN_LOSS))[:, None]

    def of_odds(self, odds: np.ndarray) -> np.ndarray:
        """Return what `raw` gives from what `odds` made of it."""
        if self.kind == "number":
            return odds[:, 0]
        return softmax(odds, axis=1) if self.kind == "classes" else expit(odds[:, 0])

    def losses(self, raw: np.ndarray) -> np.ndarray:
        """Return the losses (n,) of what `raw` gave."""
        if self.kind == "number":
            return np.square((raw - self.center) / self.unit - self.y)
        if self.kind == "favorable":
            right = np.where(self.y, raw, 1.0 - raw)
            return probability_losses(right, self.loss)
        if self.loss == "squared":
            return np.square(raw - np.eye(len(self.classes))[self.y]).sum(axis=1)
        return probability_losses(raw[np.arange(len(raw)), self.y], self.loss)

    def answers(self, raw: np.ndarray) -> Answers:
        """Return scores, predictions and mistakes of what `raw` gave."""
        subject, data = self.subject, self.data
        if self.kind == "classes":
            best = raw.argmax(axis=1)
            names = np.array([class_text(value) for value in self.classes], dtype=object)
            scores = np.clip(raw[:, subject.favorable_classes].sum(axis=1), 0.0, 1.0)
            return Answers(scores, names[best], best != self.y)
        scores = raw
        if self.kind == "number" and subject.higher_is == "unfavorable":
            scores = -raw
        wrong = subject.decide(scores, data.groups) != np.asarray(data.y)
        return Answers(scores, raw if self.kind == "number" else None, wrong)

    def flowing(self, network: torch.nn.Module) -> torch.nn.Module:
        """Return the network whose outputs the flow's loss takes: logits, probabilities or unit numbers."""
        from torch import nn

        if self.kind == "number":
            scale = nn.Linear(1, 1).double()
            scale.weight.data.fill_(1.0 / self.unit)
            scale.bias.data.fill_(-self.center / self.unit)
            return nn.Sequential(network, scale)
        if self.loss != "squared":
            return network
        return nn.Sequential(network, nn.Sigmoid() if self.kind == "favorable" else nn.Softmax(dim=1))

    def read(self, outputs: torch.Tensor) -> np.ndarray:
        """Return from a network's own outputs (m, k) what `raw` gives from rows."""
        import torch

        if self.kind == "classes":
            return torch.softmax(outputs, dim=1).numpy()
        return (torch.sigmoid(outputs) if self.kind == "favorable" else outputs).squeeze(1).numpy()


def target_of(subject: Subject, data: AuditData, loss: Loss | None) -> Target:
    """Return what losses compare for the people of `data`, a part of the subject's.

    Parameters
    ----------
    loss : str, optional
        By default squared for a number, else cross-entropy.

    Raises
    ------
    InputError
        If the loss does not suit what the model predicts, or a person's label is none of its classes.
    """
    model = subject.model
    if isinstance(model, NumberModel):
        if loss not in {None, "squared"}:
            raise InputError("loss", f"must be 'squared', as the {model.name} predicts a number", loss)
        everyone = label_numbers(subject.data)
        center = float(np.average(everyone, weights=subject.data.weights))
        unit = float(np.sqrt(np.average(np.square(everyone - center), weights=subject.data.weights)))
        if unit == 0:
            raise InputError("data.label", f"must vary, but everyone audited has {center:g}")
        y = (label_numbers(data) - center) / unit
        return Target(subject, data, "number", y, "squared", (), center, unit)
    chosen: Loss = loss or "cross_entropy"
    classes: Any = model.classes
    if classes is None or len(classes) <= 2:
        return Target(subject, data, "favorable", np.asarray(data.y), chosen)
    codes = class_codes(data, classes)
    if (codes < 0).any():
        raise InputError(
            "model.classes", f"must hold every label of the people audited, but {model.name} lacks some"
        )
    return Target(subject, data, "classes", codes, chosen, classes)
