"""The protected-status model A of Definition 3.1: who is in which group, told from the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.data import AuditData, FeatureSpace
from audits.errors import InputError
from audits.models.networks.dense import Dense
from audits.models.networks.training import Training, fit_dense
from audits.models.quality import area_under_curve
from audits.progress import Progress, silent
from audits.sensitivity.measurement.gradients import Status
from audits.stats import Estimate, wilson
from audits.stats.quantiles import quantile
from audits.threads import one_thread

_MIN = 10
CHANCE, WEAK = 0.5, 0.6
"""Area of a model that predicts nothing."""

_BINS = 10
_WIDTHS = (64, 64)


@dataclass(frozen=True)
class GroupArea:
    """How well A tells one group from the rest: area under the curve, 0.5 is not at all."""

    group: str
    n: float
    auc: Estimate


@dataclass(frozen=True)
class CalibrationBin:
    """People of similar stated probability: what A says on average, and the share that is so."""

    stated: float
    observed: Estimate


@dataclass(frozen=True)
class StatusQuality:
    """A protected-status model on people it has not seen.

    Attributes
    ----------
    attribute : str
    kind : str
        What it is, in words.
    reads : tuple of str
        Raw columns that it reads.
    given_protected : bool
        Whether the protected column itself is among them.
    trained_on : int
        People it learned from, or bundles of them.
    groups : tuple of GroupArea
        One a group; of two groups the second stands for both.
    calibration : tuple of CalibrationBin
        Of the second group's probability; with more groups, of the likeliest one's.
    calibration_error : float
        Mean distance of stated and observed over the bins, weighted by people.
    """

    attribute: str
    kind: str
    reads: tuple[str, ...]
    given_protected: bool
    trained_on: int
    groups: tuple[GroupArea, ...]
    calibration: tuple[CalibrationBin, ...]
    calibration_error: float

    @property
    def auc(self) -> Estimate:
        """The area of the largest group; of two groups both have the same."""
        return max(self.groups, key=lambda group: group.n).auc

    @property
    def at_chance(self) -> bool:
        """Whether no group is told from the rest beyond chance: slopes of such a model are noise."""
        return all(each.auc.low is None or each.auc.low <= CHANCE for each in self.groups)

    @property
    def hidden(self) -> bool:
        """Whether every group is known to be told from the rest hardly better than by chance."""
        highs = [each.auc.high for each in self.groups]
        return self.at_chance and all(high is not None and high < WEAK for high in highs)


def train_status(
    training: AuditData,
    space: FeatureSpace,
    attribute: str,
    hidden: tuple[int, ...],
    *,
    unseen: tuple[str, ...],
    fewest: int = _MIN,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Status:
    """Train A for one attribute on the rows of `training`, over the points of `space`.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers; none makes it a (ridge-penalized) logistic regression.
    unseen : tuple of str
        Raw columns that it must not read: its weights there are 0.
    fewest : int
        Rows of a group from which it is a class.

    Raises
    ------
    InputError
        If fewer than two groups have `fewest` rows, or nothing is left to read.
    """
    names, target = np.unique(training.groups[attribute].to_numpy(dtype=str), return_inverse=True)
    sizes = np.bincount(target)
    if np.count_nonzero(sizes >= fewest) < 2:
        raise InputError(
            "protected",
            f"must have two groups of at least {fewest} people to learn from, but {attribute!r} has "
            + ", ".join(f"{name}: {size:,}" for name, size in zip(names, sizes, strict=True)),
            advice="bring more rows, or recode it to fewer groups",
        )
    large = np.flatnonzero(sizes >= fewest)  # groups too small to learn are no class
    rows = np.isin(target, large)
    place = np.searchsorted(large, target[rows])
    readable = np.ones(len(space.names), dtype=bool)
    for column in unseen:
        if column in space.blocks:
            readable[space.blocks[column]] = False
    if not readable.any():
        raise InputError(
            "protected",
            "leaves the protected-status model no feature to read",
            attribute,
            "set give_protected",
        )
    x = space.encode(training.frame, unknown="zero")[rows][:, readable]
    weights = training.row_weights[rows]
    with one_thread():
        if hidden:
            net = fit_dense(
                x, place, len(large), rng, training=Training(hidden), weights=weights, progress=progress
            )
        else:
            net = _logistic(x, place, weights)
    first = np.zeros((len(readable), net.weights[0].shape[1]))
    first[readable] = net.weights[0]
    return Status(attribute, tuple(names[large].tolist()), Dense((first, *net.weights[1:]), net.biases))


def _logistic(x: np.ndarray, target: np.ndarray, weights: np.ndarray) -> Dense:
    from sklearn.linear_model import LogisticRegression  # pages read results without it

    model = LogisticRegression(max_iter=1000, tol=1e-6).fit(x, target, sample_weight=weights)
    return Dense((np.ascontiguousarray(model.coef_.T),), (model.intercept_.copy(),))


def judge_status(
    status: Status,
    data: AuditData,
    z: np.ndarray,
    *,
    unseen: tuple[str, ...],
    columns: tuple[str, ...],
    trained_on: int,
    level: float,
) -> StatusQuality:
    """Hold A against the groups of people it has not seen, `data` at points `z` (n, d)."""
    p = status.probabilities(z)
    group = data.groups[status.attribute].to_numpy(dtype=str)
    known = np.isin(group, status.groups)
    p, group, weights = p[known], group[known], data.row_weights[known]
    two = len(status.groups) == 2
    areas = []
    for place in (1,) if two else range(len(status.groups)):
        inside = group == status.groups[place]
        auc = area_under_curve(p[:, place], inside, weights, level=level / (1 if two else len(status.groups)))
        areas.append(GroupArea(status.groups[place], float(weights[inside].sum()), auc))
    likeliest = np.ones(len(p), dtype=int) if two else p.argmax(axis=1)
    stated = p[np.arange(len(p)), likeliest]
    right = group == np.array(status.groups)[likeliest]
    bins = calibration_bins(stated, right, weights, level)
    size = sum(each.observed.n for each in bins) or 1.0
    error = sum(each.observed.n * abs(each.stated - (each.observed.value or 0.0)) for each in bins) / size
    reads = tuple(column for column in columns if column not in unseen)
    hidden = status.network.hidden
    kind = f"network of {' and '.join(map(str, hidden))} ReLU units" if hidden else "logistic regression"
    return StatusQuality(
        status.attribute, kind, reads, status.attribute in reads, trained_on, tuple(areas), bins, error
    )


def calibration_bins(
    stated: np.ndarray, right: np.ndarray, weights: np.ndarray, level: float
) -> tuple[CalibrationBin, ...]:
    """At most ten bins of about equally many people; people of the same probability stay together."""
    if not len(stated):
        return ()
    shares = np.linspace(0, 1, _BINS + 1)[1:-1]
    edges = np.unique([float(quantile(stated, share, weights).value or 0.0) for share in shares])
    place = np.searchsorted(edges, stated, side="left")
    found = []
    for each in np.unique(place):
        rows = place == each
        n = float(weights[rows].sum())
        share = wilson(float(weights[rows] @ right[rows]), n, level=level)
        found.append(CalibrationBin(float(weights[rows] @ stated[rows] / n), share))
    return tuple(found)


def hidden_widths(choice: str, audited: Dense | None) -> tuple[int, ...]:
    """Return the hidden widths of A: those of the audited network where it has any, none for logistic.

    Like a logistic regression is a network too: of two logistic regressions the sensitivity is p(1 - p) times
    a constant, which says who is close to one half and nothing else.
    """
    if choice == "logistic":
        return ()
    return audited.hidden if audited is not None and audited.hidden else _WIDTHS
