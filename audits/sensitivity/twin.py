"""The unbiased twin of a model by counterfactual augmentation (section 6), and a twin that is mere chance.

The training rows are copied once for every other value of the protected attribute, label unchanged, and
the same kind of model is trained on all of them. Features that go together with the attribute keep their
values, so the twin can still use them: the paper's own limitation.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.frames import with_columns
from audits.models.mlp import Network, train_mlp
from audits.models.protocol import Model
from audits.models.subject import Subject
from audits.progress import Progress, part, silent

__all__ = ["Twins", "augmented", "train_twins"]

_MOST_COPIES = 12


@dataclass(frozen=True, eq=False)
class Twins:
    """Decisions (n,) of the twin, and of a model trained anew on the data as they are."""

    decisions: np.ndarray
    by_chance: np.ndarray
    words: str


def train_twins(
    subject: Subject, attributes: tuple[str, ...], seed: int, progress: Progress = silent
) -> Twins | str:
    """Train both, or say in a sentence why that cannot be done."""
    kind = _kind(subject.model)
    if subject.training is None:
        return (
            "The twin needs a model that is trained here; a model that was brought cannot be trained again."
        )
    if kind is None:
        return (
            f"The twin is a model of the same kind, trained again; of the {subject.model.name} there is none."
        )
    read = tuple(name for name in attributes if name in subject.model.columns)
    if not read:
        return (
            "The model does not read the protected attribute, so a copy of a person with another value is "
            "the "
            "same row: the twin would be the same model."
        )
    copies = 1
    for name in read:
        if subject.data.bins.get(name):
            return f"{name!r} was cut into bins; copies need an attribute with a few values of its own."
        copies *= subject.training.frame[name].nunique()
    if copies > _MOST_COPIES:
        return f"The attributes have {copies} combinations where at most {_MOST_COPIES} are copied."
    found = []
    for place, training in enumerate((augmented(subject.training, read), subject.training)):
        stretch = part(progress, place / 2, place / 2 + 0.5)
        stretch(0.0, "training the twin" if place == 0 else "training the model anew")
        model = _train(training, kind, seed, stretch)
        found.append(dataclasses.replace(subject, model=model).decisions)
    words = (
        f"{subject.model.name} trained on {copies} copies of each person that differ in {' and '.join(read)}"
    )
    return Twins(found[0], found[1], words)


def augmented(data: AuditData, attributes: tuple[str, ...]) -> AuditData:
    """Return `data` with a copy of each row for every other known value of the attributes, label unchanged.

    Rows whose value is missing stay as they are.
    """
    for name in attributes:
        values = data.frame[name].dropna().unique()
        texts = dict(zip(data.frame[name], data.groups[name], strict=True))
        known = np.flatnonzero(data.frame[name].notna().to_numpy())
        parts, groups, rows = [data.frame], [data.groups], [np.arange(data.n)]
        for value in values:
            others = known[(data.frame[name].iloc[known] != value).to_numpy()]
            column = pd.Series(value, index=data.frame.index[others]).astype(data.frame[name].dtype)
            parts.append(with_columns(data.frame.iloc[others], {name: column.to_numpy()}))
            groups.append(with_columns(data.groups.iloc[others], {name: texts[value]}))
            rows.append(others)
        order = np.concatenate(rows)
        mark = hashlib.sha256(f"{data.digest} copied by {name}".encode()).hexdigest()
        data = dataclasses.replace(
            data,
            frame=pd.concat(parts).astype(data.frame.dtypes.to_dict()),
            groups=pd.concat(groups),
            y=None if data.y is None else data.y[order],
            weights=None if data.weights is None else data.weights[order],
            digest=mark,
        )
    return data


def _kind(model: Model) -> str | None:
    from audits.models.baselines import NAMES, Baseline  # pages read results without scikit-learn

    if isinstance(model, Network):
        return "mlp" if model.name == "neural network" else None
    if isinstance(model, Baseline):
        return {name: kind for kind, name in NAMES.items()}.get(model.name)
    return None


def _train(training: AuditData, kind: str, seed: int, progress: Progress) -> Model:
    if kind == "mlp":
        return train_mlp(training, seed=seed, progress=progress)
    from audits.models.baselines import train_baseline

    return train_baseline(training, kind, seed=seed)  # type: ignore[arg-type]
