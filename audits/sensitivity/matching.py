"""Match sets (sections 5 and 6): does sensitivity find the people whom an unbiased twin decides otherwise?

The match set holds everybody whom the audited model and its twin decide alike, or whom the audited model
decides as their true counterfactual where the data hold that; sensitivity is meant to be high outside. Two
rivals that know nothing of groups are always held beside it, |grad F| and closeness to the decision
threshold, because a person near the threshold is decided otherwise by almost any second model.

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
from typing import Literal

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.building.counterfactuals import check_counterfactuals, counterfactual_frame
from audits.data.building.groups import cut
from audits.data.frames import with_columns
from audits.data.values import MISSING, as_text
from audits.errors import InputError
from audits.models import Subject
from audits.models.protocol import Model
from audits.models.quality import area_under_curve
from audits.models.trained.mlp import Network, train_mlp
from audits.progress import Progress, part, silent
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.sides import Side, TwinMetric, sides_of
from audits.stats import Estimate, wilson
from audits.stats.curves import area_equally_far, area_within, roc_curves
from audits.stats.words import count, number, percent_interval

__all__ = [
    "Band",
    "Curve",
    "MatchSet",
    "Twins",
    "augmented",
    "check_known",
    "decided_otherwise",
    "match_set",
    "train_twins",
]


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
    from audits.models.trained.baselines import NAMES, Baseline  # pages read results without scikit-learn

    if isinstance(model, Network):
        return "mlp" if model.name == "neural network" else None
    if isinstance(model, Baseline):
        return {name: kind for kind, name in NAMES.items()}.get(model.name)
    return None


def _train(training: AuditData, kind: str, seed: int, progress: Progress) -> Model:
    if kind == "mlp":
        return train_mlp(training, seed=seed, progress=progress)
    from audits.models.trained.baselines import train_baseline

    return train_baseline(training, kind, seed=seed)  # type: ignore[arg-type]


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
    if attributes[0] not in columns and _depends(subject, attributes[0]):
        _other_value(subject, attributes[0])


def decided_otherwise(subject: Subject, attribute: str, columns: Mapping[str, str]) -> tuple[np.ndarray, str]:
    """Return whom the model decides otherwise than their counterfactuals (n,), and how these were made.

    A counterfactual has the features that `columns` give and the other value of the protected attribute;
    every other feature stays the person's own. The same model decides, by the other group's threshold.
    """
    data = subject.data
    frame = counterfactual_frame(data, columns, known=_known(subject))
    groups = {name: _groups_of(frame[name], name, data) for name in data.protected if name in columns}
    if attribute not in columns and _depends(subject, attribute):
        values, texts = _other_value(subject, attribute)
        own = data.groups[attribute].to_numpy(dtype=str)
        at = (own == texts[0]).astype(int)  # the place of the other one
        frame[attribute] = values.array.take(at)
        groups[attribute] = texts[at]
    decided = subject.decide(subject.favorable_score(frame), with_columns(data.groups, groups))
    named = ", ".join(columns.values())
    return decided != subject.decisions, f"true counterfactuals with another {attribute} ({named})"


def _known(subject: Subject) -> pd.DataFrame:
    """Everybody there is, to know all values of categories."""
    parts = [subject.data.frame, *([] if subject.training is None else [subject.training.frame])]
    return pd.concat(parts)


def _depends(subject: Subject, attribute: str) -> bool:
    """Whether decisions depend on the attribute itself: as a feature, or by thresholds of its groups."""
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
            "must name a column of what it would have been: the model reads it (or thresholds depend on "
            "it), and it is not one of two values, known for everybody",
            advice="add the column to the data, or recode the attribute to two groups",
        )
    return values, as_text(values).to_numpy(dtype=str)


FEWEST = 10
"""Non-members below which no curve is drawn."""

Source = Literal["twin", "counterfactuals"]

NAMES = ("sensitivity", "gradient", "boundary")


@dataclass(frozen=True)
class Curve:
    """The ROC curve of one score for telling non-members from members, with its band and area."""

    name: str
    auc: Estimate
    false_positive: tuple[float, ...]
    true_positive: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Band:
    """People about equally far from the decision threshold: |p - threshold| from `low` to `high`."""

    low: float
    high: float
    n: float
    mismatched: float
    auc: Estimate


@dataclass(frozen=True)
class MatchSet:
    """Sensitivity held against the decisions of an unbiased twin, or on true counterfactuals.

    Attributes
    ----------
    twin : str
        How the twin, or the counterfactuals, were made.
    mismatched : Estimate
        Share of people decided otherwise: the non-members.
    by_chance : Estimate or None
        Share that a model trained anew on the same data decides otherwise: what is not about groups.
    auc : Estimate
        Area under the curve of sensitivity; 0.5 says that it finds nothing.
    curves : tuple of Curve
        Sensitivity, |grad F| ("gradient"), closeness to the threshold ("boundary"); empty for too few.
    against : dict of str to Estimate
        Area of sensitivity minus the rival's.
    bands : tuple of Band
    within_bands : Estimate
        Area among pairs of the same band. Within a band the distance still differs, so a score that is
        nothing but the distance lies above 0.5 here.
    equally_far : Estimate
        Area beside people just nearer and just farther: what sensitivity adds to the distance.
    adds : bool or None
        Whether the interval of `equally_far` lies above 0.5; None for too few people.
    sentence : str
    source : {"twin", "counterfactuals"}
    sides : tuple of Side
        Sensitivity of those decided alike and of those decided otherwise (Figures 4a and 6).
    metrics : tuple of TwinMetric
        Group metrics of the audited model, of its twin and of a model trained anew (Figure 5); none of
        counterfactuals.
    """

    twin: str
    n: float
    mismatched: Estimate
    by_chance: Estimate | None
    auc: Estimate
    curves: tuple[Curve, ...]
    against: dict[str, Estimate]
    bands: tuple[Band, ...]
    within_bands: Estimate
    equally_far: Estimate
    adds: bool | None
    sentence: str
    source: Source = "twin"
    sides: tuple[Side, ...] = ()
    metrics: tuple[TwinMetric, ...] = ()

    @property
    def question(self) -> str:
        """What the curves answer."""
        if self.source == "twin":
            return "Does it find the people whom an unbiased twin decides otherwise?"
        return "Does it find the people whose true counterfactuals are decided otherwise?"


def match_set(
    sensitivity: np.ndarray,
    influence: np.ndarray,
    distance: np.ndarray,
    mismatched: np.ndarray,
    *,
    twin: str,
    source: Source = "twin",
    by_chance: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    bands: int = 5,
    draws: int = 300,
    level: float = 0.05,
    rng: np.random.Generator,
) -> MatchSet:
    """Hold sensitivity (n,) and its two rivals against `mismatched` (n,) bool.

    Parameters
    ----------
    influence, distance : (n,)
        |grad F|, and |p - threshold|.
    mismatched, by_chance : (n,) bool
        Whom the twin, and a model merely trained anew, decide otherwise; or whose true counterfactuals the
        model itself decides otherwise.
    bands : int
        Bands of `distance`, with about equally many mismatched people each.
    """
    size = np.ones(len(sensitivity)) if weights is None else weights
    n, missed = float(size.sum()), float(size @ mismatched)
    scores = np.array([sensitivity, influence, -distance])
    areas = [area_under_curve(score, mismatched, size, level=level) for score in scores]
    sides = sides_of(sensitivity, np.asarray(mismatched, dtype=bool), size, level)
    share = wilson(missed, n, level=level)
    chance = None if by_chance is None else wilson(float(size @ by_chance), n, level=level)
    if min(np.count_nonzero(mismatched), np.count_nonzero(~mismatched)) < FEWEST:
        nothing = Estimate(None, None, None, n, "too few people")
        text = (
            f"{_missed(source, missed, n, share)} That is too few on one side to say whether sensitivity "
            "finds them."
        )
        none: tuple[Curve, ...] = ()
        return MatchSet(
            twin, n, share, chance, areas[0], none, {}, (), nothing, nothing, None, text, source, sides
        )
    curves = roc_curves(scores, mismatched, rng, weights=weights, draws=draws, level=level)
    shown = tuple(
        Curve(
            name,
            areas[k],
            tuple(curves.grid.tolist()),
            *(tuple(each[k].tolist()) for each in (curves.rate, curves.low, curves.high)),
        )
        for k, name in enumerate(NAMES)
    )
    against = {NAMES[k]: curves.difference(0, k, n, level=level) for k in (1, 2)}
    place, edges = _bands(distance, mismatched, bands)
    within = area_within(sensitivity, mismatched, place, rng, weights=weights, draws=draws, level=level)
    parts = []
    for each in range(len(edges) - 1):
        rows = place == each
        auc = area_under_curve(sensitivity[rows], mismatched[rows], size[rows], level=level)
        here = float(size[rows].sum())
        parts.append(
            Band(float(edges[each]), float(edges[each + 1]), here, float(size[rows] @ mismatched[rows]), auc)
        )
    beside = area_equally_far(
        sensitivity, mismatched, distance, rng, weights=weights, draws=draws, level=level
    )
    adds = beside.low is not None and beside.low > 0.5
    text = f"{_missed(source, missed, n, share)} {_sentence(areas, beside, adds, against)}"
    return MatchSet(
        twin,
        n,
        share,
        chance,
        areas[0],
        shown,
        against,
        tuple(parts),
        within,
        beside,
        adds,
        text,
        source,
        sides,
    )


def _missed(source: Source, missed: float, n: float, share: Estimate) -> str:
    """Say how many people are no members."""
    many = f"{count(missed)} of {count(n)} people ({percent_interval(share)})"
    if source == "twin":
        return f"The twin decides {many} otherwise."
    return f"The model decides {many} otherwise than their true counterfactuals."


def _bands(distance: np.ndarray, mismatched: np.ndarray, bands: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each person's band (n,), -1 beyond the furthest mismatched one, and the bands' edges."""
    inner = np.quantile(distance[mismatched], np.linspace(0, 1, bands + 1))
    inner[0] = 0.0
    edges = np.unique(inner)
    if len(edges) == 1:
        edges = np.array([0.0, max(float(edges[0]), 1e-12)])
    place = np.clip(np.searchsorted(edges, distance, side="left") - 1, 0, len(edges) - 2)
    return np.where(distance > edges[-1], -1, place), edges


def _sentence(
    areas: list[Estimate],
    equally_far: Estimate,
    adds: bool,
    against: dict[str, Estimate],
) -> str:
    """Say plainly whether sensitivity adds anything here."""
    rest = f"AUC {number(equally_far.value)}, {number(equally_far.low)}–{number(equally_far.high)}"
    judged = (
        f"Sensitivity adds to it: among people equally far from the threshold it still tells the "
        f"two apart ({rest})."
        if adds
        else "Sensitivity adds nothing to distance from the threshold here: among people about equally "
        "far from it, "
        f"it does not tell the two apart ({rest})."
    )
    gap = against["gradient"]
    low, high = gap.low or 0.0, gap.high or 0.0
    beside = "better than" if low > 0 else "worse than" if high < 0 else "no better than"
    side = "below" if areas[0].high is not None and areas[0].high < 0.5 else "above"
    return (
        f"Sensitivity ranks them {side} the rest with an AUC of {number(areas[0].value)}, {beside} the plain "
        f"gradient |∇F| ({number(areas[1].value)}); closeness to the decision threshold alone has "
        f"{number(areas[2].value)}. {judged}"
    )
