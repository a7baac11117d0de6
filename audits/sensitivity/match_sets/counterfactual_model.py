"""What people are matched by: an unbiased twin of the model, or their own true counterfactuals.

The twin is trained by counterfactual augmentation (section 6): the training rows are copied once for every
other value of the protected attribute, label unchanged, and the same kind of model is trained on all of
them. Features that go together with the attribute keep their values, so the twin can still use them: the
paper's own limitation. A twin that is mere chance stands beside it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.frames import with_columns
from audits.data.preprocessing.counterfactuals import check_counterfactuals, counterfactual_frame
from audits.data.preprocessing.groups import cut
from audits.data.values import MISSING, as_text
from audits.errors import InputError
from audits.models import Subject
from audits.models.factory import train_model
from audits.models.protocol import Model
from audits.models.trained.mlp import Network
from audits.progress import Progress, part, silent
from audits.sensitivity.options import SensitivityOptions
from audits.stats import Estimate
from audits.stats.intervals import largest_gap

_MAX_COPIES = 12


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
        return "This check needs a model trained in Evenhand; uploaded models can't be retrained."
    if kind is None:
        return f"The twin is a retrained model of the same kind; there is none for the {subject.model.name}."
    read = tuple(name for name in attributes if name in subject.model.columns)
    if not read:
        return (
            "The model does not read the protected attribute, so a copy of a person with another value is "
            "the "
            "same row, and the twin would be the same model."
        )
    copies = 1
    for name in read:
        if subject.data.bins.get(name):
            return f"{name!r} was cut into bins; copies need an attribute with a few values."
        copies *= subject.training.frame[name].nunique()
    if copies > _MAX_COPIES:
        return f"The attributes have {copies} combinations; at most {_MAX_COPIES} are copied."
    found = []
    for place, training in enumerate((augment(subject.training, read), subject.training)):
        stretch = part(progress, place / 2, place / 2 + 0.5)
        stretch(0.0, "training the twin" if place == 0 else "training the model anew")
        model = train_model(training, kind, seed, stretch)  # type: ignore[arg-type]
        found.append(dataclasses.replace(subject, model=model).decisions)
    words = (
        f"{subject.model.name} trained on {copies} copies of each person that differ in {' and '.join(read)}"
    )
    return Twins(found[0], found[1], words)


def augment(data: AuditData, attributes: tuple[str, ...]) -> AuditData:
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
            design=None,  # copies are learned from, and nothing is inferred of them
            digest=mark,
        )
    return data


def _kind(model: Model) -> str | None:
    from audits.models.trained.baselines import (  # pages read results without scikit-learn
        NAMES,
        BaselinePipeline,
    )

    if model.classes is not None:
        return None
    if isinstance(model, Network):
        return "mlp" if model.name == "neural network" else None
    if isinstance(model, BaselinePipeline):
        return {name: kind for kind, name in NAMES.items()}.get(model.name)
    return None


_WHERE = "sensitivity.counterfactuals"


def check_known(subject: Subject, attributes: tuple[str, ...], options: SensitivityOptions) -> None:
    """Check the columns that hold counterfactual features, where the options name any.

    Raises
    ------
    InputError
        Several protected attributes, no match set asked for, columns that cannot be used (see
        `check_counterfactuals`), or a protected attribute that the model reads and of which nobody says
        what it would have been: it has no column, and more than two groups or bins.
    """
    columns = options.counterfactuals
    if not columns:
        return
    if options.match_set == "off":
        raise InputError(
            _WHERE, "make a match set, which match_set: off leaves out", advice="drop one of the two"
        )
    if len(attributes) > 1:
        raise InputError(
            _WHERE,
            "belong to one protected attribute",
            attributes,
            "set protected to the attribute that they change",
        )
    could = dict.fromkeys((*subject.space.columns, *attributes))
    check_counterfactuals(_WHERE, columns, subject.data, could, what="a feature", known=_known(subject))
    if attributes[0] not in columns and depends(subject, attributes[0]):
        _other_value(subject, attributes[0])


def decided_otherwise(subject: Subject, attribute: str, columns: Mapping[str, str]) -> tuple[np.ndarray, str]:
    """Return whom the model decides otherwise than their counterfactuals (n,), and how these were made.

    A counterfactual has the features that `columns` give and the other value of the protected attribute;
    every other feature stays the person's own. The same model decides, by the other group's threshold.
    """
    data = subject.data
    frame = counterfactual_frame(data, columns, known=_known(subject))
    groups = {name: _groups_of(frame[name], name, data) for name in data.protected if name in columns}
    if attribute not in columns and depends(subject, attribute):
        values, texts = _other_value(subject, attribute)
        own = data.groups[attribute].to_numpy(dtype=str)
        at = (own == texts[0]).astype(int)  # the place of the other one
        frame[attribute] = values.array.take(at)
        groups[attribute] = texts[at]
    decided = subject.decide(subject.favorable_score(frame), with_columns(data.groups, groups))
    named = ", ".join(columns.values())
    return decided != subject.decisions, f"true counterfactuals with another {attribute} ({named})"


def _known(subject: Subject) -> pd.DataFrame:
    """Everyone there is, to know all values of categories."""
    parts = [subject.data.frame, *([] if subject.training is None else [subject.training.frame])]
    return pd.concat(parts)


def depends(subject: Subject, attribute: str) -> bool:
    """Whether decisions can depend on the attribute itself: as a feature, or by thresholds of its groups."""
    by_group = isinstance(subject.threshold, Mapping) and attribute in subject.threshold
    return attribute in subject.model.columns or by_group


def _groups_of(values: pd.Series, name: str, data: AuditData) -> np.ndarray:
    edges = data.bins.get(name)
    texts = as_text(values) if edges is None else cut(values, edges)
    return texts.fillna(MISSING).to_numpy(dtype=str)


def _other_value(subject: Subject, attribute: str) -> tuple[pd.Series, np.ndarray]:
    """Return the two values of an attribute, (2,) raw and as text."""
    data = subject.data
    values = _known(subject)[attribute].drop_duplicates().reset_index(drop=True)
    if len(values) != 2 or values.isna().any() or data.bins.get(attribute):
        raise InputError(
            f"{_WHERE}.{attribute}",
            "must name a column of what it would have been, because the model reads it (or thresholds "
            "depend on it) and it does not have exactly two values known for everyone",
            advice="add the column to the data, or recode the attribute to two groups",
        )
    return values, as_text(values).to_numpy(dtype=str)


@dataclass(frozen=True)
class TwinMetric:
    """Largest difference of a rate between groups of an attribute, by the decisions of one model (Figure 5).

    Attributes
    ----------
    model : {"audited", "augmented", "trained anew"}
    metric : {"selection rate", "true positive rate", "false positive rate"}
    difference : Estimate
        Largest minus smallest rate among the groups; 0 says that all have the same.
    """

    attribute: str
    metric: str
    model: str
    difference: Estimate


def metrics_of(
    data: AuditData,
    attributes: tuple[str, ...],
    decisions: dict[str, np.ndarray],
    weights: np.ndarray,
    level: float,
) -> tuple[TwinMetric, ...]:
    """Group metrics of the decisions (n,) of several models on the same people, by model.

    Rates that need a label are left out where the data have none.
    """
    everybody = np.ones(data.n, dtype=bool)
    among = {"selection rate": everybody}
    if data.y is not None:
        y = np.asarray(data.y, dtype=bool)
        among |= {"true positive rate": y, "false positive rate": ~y}
    found = []
    for attribute in attributes:
        code = np.unique(data.groups[attribute].to_numpy(dtype=str), return_inverse=True)[1]
        for metric, people in among.items():
            size = np.bincount(code[people], weights[people], code.max() + 1)
            for model, decided in decisions.items():
                favorable = np.bincount(code[people], (weights * decided)[people], code.max() + 1)
                gap = largest_gap(favorable, size, level=level)
                found.append(TwinMetric(attribute, metric, model, gap))
    return tuple(found)
