"""Metrics of your own: functions of labels, decisions and scores, by group, with intervals by the bootstrap.

People are drawn again with replacement within each group; where rows are not one independent person each,
whole clusters within their strata, one fewer than there are (Rao, Wu 1988). An interval reaches Student's
quantile times the standard deviation over the draws, so few draws do at any level that a correction asks for,
where percentiles of a thousand do not reach; what so few leave open of the deviation is in the freedom. The
side to which the draws are skewed reaches further, by Hall's transformation. Below 200 people a group is
taken to vary at least as much as everyone does, for few people have seen little of a long tail.

References
----------
Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 13. Rao, Wu (1988), Journal of the
American Statistical Association 83:231-241. Hall (1992), Journal of the Royal Statistical Society B
54:221-228.
"""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtrit

from audits.errors import InputError
from audits.groups.metrics import Labels, Metric, Rows
from audits.stats import Estimate
from audits.stats.design import Design
from audits.stats.intervals import percent_level
from audits.stats.means import hall_quantile

MIN_PEOPLE = 10
"""People (or clusters) of a group from which an interval is stated."""

MIN_SEEN = 200
"""People below which a group's own spread is not used alone."""

MAX_DRAWS = 200
"""Draws at most: functions are called once a group and draw, and a deviation needs no more."""

_NAME = re.compile(r"\w[\w -]*")
_DEFINED = 0.9  # share of the draws that must have a value
_SCORES = ("score", "scores", "y_score", "y_scores", "y_prob", "y_proba", "y_pred_proba")
_UNDEFINED = (ValueError, ZeroDivisionError, FloatingPointError)

Function = Callable[[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray], float]


@dataclass(frozen=True, eq=False)
class MetricDraws:
    """A metric of a group: its value, and its values over the draws.

    Attributes
    ----------
    value : float or None
        None where the metric is not defined.
    people : float
    freedom : float
        People less one, or clusters.
    drawn : array (draws,)
        NaN where a draw has no value.
    unseen : float
        Variance on top of theirs: what few people have not shown.
    """

    value: float | None
    people: float
    freedom: float
    drawn: np.ndarray
    unseen: float = 0.0

    def minus(self, other: MetricDraws) -> MetricDraws:
        """Return this group's metric minus another's, drawn together."""
        value = None if self.value is None or other.value is None else self.value - other.value
        freedom, unseen = min(self.freedom, other.freedom), self.unseen + other.unseen
        return MetricDraws(value, self.people, freedom, self.drawn - other.drawn, unseen)

    def at_least_as_spread(self, everybody: MetricDraws) -> MetricDraws:
        """Return these few people varying at least as everyone does, as they would if groups were alike."""
        if self.freedom + 1 >= MIN_SEEN or not np.isfinite(self.drawn).any():
            return self
        share = (everybody.freedom + 1) / max(self.freedom + 1, 1.0)
        spread = share * float(np.nanvar(everybody.drawn)) - float(np.nanvar(self.drawn))
        return replace(self, unseen=max(spread, 0.0) if math.isfinite(spread) else 0.0)

    def estimate(self, level: float) -> Estimate:
        """Return the value with its interval; without ends where none can be had, and why."""
        known = self.drawn[np.isfinite(self.drawn)]
        why = ""
        if self.value is None:
            why = "not defined for these people"
        elif not len(self.drawn):
            why = "no interval without a bootstrap"
        elif self.freedom + 1 < MIN_PEOPLE:
            why = f"no interval below {MIN_PEOPLE} people"
        elif len(known) < _DEFINED * len(self.drawn):
            why = "no interval: many draws of these people have no value"
        elif np.ptp(known) <= 1e-12 * max(1.0, abs(self.value)):
            why = "no interval: all draws of these people agree"
        if why or self.value is None:
            return Estimate(self.value, None, None, self.people, why)
        freedom = 1 / (1 / self.freedom + 1 / (len(known) - 1))
        reach, drawn = -float(stdtrit(freedom, level / 2)), float(known.std(ddof=1))
        error = math.hypot(drawn, math.sqrt(self.unseen))
        seen = float(np.mean(((known - known.mean()) / drawn) ** 3))
        skewness = math.copysign(max(abs(seen) - math.sqrt(6 / len(known)), 0.0), seen)  # less its own error
        skewness *= (drawn / error) ** 3
        below = max(reach, hall_quantile(reach, skewness))
        above = max(reach, -hall_quantile(-reach, skewness))
        method = f"bootstrap t (Hall) {percent_level(level)}, {len(self.drawn):,} draws"
        low, high = self.value - error * below, self.value + error * above
        return Estimate(self.value, low, high, self.people, method)


def metrics_of(given: Mapping[str, Callable[..., float] | Metric]) -> list[Metric]:
    """Return the metrics that a call from Python names.

    Raises
    ------
    InputError
        If one is no function, or has no name.
    """
    if not isinstance(given, Mapping):
        rule = "must be a mapping of names to functions"
        raise InputError("metrics", rule, given, "write metrics={'NAME': FUNCTION}")
    found = []
    for name, each in given.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            rule = "must have names of letters, digits, spaces, _ and -"
            raise InputError("metrics", rule, name, "write metrics={'NAME': FUNCTION}")
        if isinstance(each, Metric):
            found.append(each)
        elif callable(each):
            found.append(Metric(name=name, words=name.replace("_", " "), measure=each))
        else:
            raise InputError(f"metrics[{name!r}]", "must be a function of labels, decisions and scores", each)
    return found


def measure_groups(
    metrics: Sequence[Metric], rows: Rows, k: int, rng: np.random.Generator, *, draws: int
) -> dict[str, list[MetricDraws]]:
    """Return each metric of k groups, by its name.

    Raises
    ------
    InputError
        If a metric fails on all people, gives no number, or does not take the ``sample_weight`` it needs.
    """
    rows = _ordered(rows)
    called = {metric.name: _called(metric, rows) for metric in metrics}
    draws = min(draws, MAX_DRAWS)
    inside = {metric.name: _inside(metric, rows, k) for metric in metrics}
    drawn = {name: np.full((draws, k + 1), np.nan) for name in called}
    values: dict[str, list[float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of draws without a value, thousands
        for name, function in called.items():
            values[name] = [_value(function, rows, each, rows.sizes) for each in inside[name]]
        for place, weights in enumerate(_draws(rows, k, rng, draws) if called else ()):
            for name, function in called.items():
                drawn[name][place] = [_value(function, rows, each, weights) for each in inside[name]]
    found = {}
    for name in called:
        *groups, everybody = map(partial(_drawn, rows), inside[name], values[name], drawn[name].T)
        found[name] = [each.at_least_as_spread(everybody) for each in groups]
    return found


def _drawn(rows: Rows, inside: np.ndarray, value: float, drawn: np.ndarray) -> MetricDraws:
    people, freedom = float(rows.sizes[inside].sum()), _units(rows, inside) - 1.0
    return MetricDraws(value if math.isfinite(value) else None, people, freedom, drawn)


def _ordered(rows: Rows) -> Rows:
    """Return the same people in the order of what they are; without a design those who are alike as one row.

    So the draws depend neither on the order of the table nor on its form (counts, or a row a person).
    """
    known = () if rows.labels is None else (rows.labels.favorable, rows.labels.known)
    columns = (rows.score, rows.decision, *known, rows.group)
    design = rows.design
    if design is not None and design.clustered:
        return rows  # clusters are drawn, in the order of their names
    order = np.lexsort(columns if design is None else (design.weights, design.stratum, *columns))
    labels = None if rows.labels is None else Labels(*(each[order] for each in known))
    found = Rows(rows.group[order], rows.decision[order], rows.score[order], rows.sizes[order], labels)
    if design is not None:
        stratum = design.stratum[design.cluster[order]]
        own = replace(design, weights=design.weights[order], stratum=stratum, cluster=np.arange(len(order)))
        return replace(found, design=own)
    new = np.any([each[order][1:] != each[order][:-1] for each in columns], axis=0)
    first = np.flatnonzero(np.concatenate([[True], new]))
    return Rows(
        found.group[first],
        found.decision[first],
        found.score[first],
        np.add.reduceat(found.sizes, first),
        None if labels is None else Labels(labels.favorable[first], labels.known[first]),
    )


def _inside(metric: Metric, rows: Rows, k: int) -> list[np.ndarray]:
    """Return the rows of each group that a metric is about, and at last all of them."""
    known = _known(metric, rows)
    return [*(np.flatnonzero(known & (rows.group == j)) for j in range(k)), np.flatnonzero(known)]


def _known(metric: Metric, rows: Rows) -> np.ndarray:
    """Whom a metric is about: those whose label is known, where it needs one (n,)."""
    if metric.needs_label and rows.labels is not None:
        return rows.labels.known
    return np.ones(len(rows.group), dtype=bool)


def _units(rows: Rows, inside: np.ndarray) -> float:
    if rows.design is None:
        return float(rows.sizes[inside].sum())
    return float(len(np.unique(rows.design.cluster[inside])))


def _value(function: Function, rows: Rows, inside: np.ndarray, weights: np.ndarray) -> float:
    """Return a metric of some rows; NaN where it is not defined."""
    inside = inside[weights[inside] > 0]
    if not len(inside):
        return math.nan
    labels = None if rows.labels is None else rows.labels.favorable[inside]
    try:
        return float(function(labels, rows.decision[inside], rows.score[inside], weights[inside]))
    except _UNDEFINED:
        return math.nan


def _draws(rows: Rows, k: int, rng: np.random.Generator, draws: int) -> Iterator[np.ndarray]:
    """Yield what each row weighs in one draw of the people, (n,)."""
    if rows.design is not None:
        yield from _cluster_draws(rows.design, rows.sizes, rng, draws)
        return
    groups = [np.flatnonzero(rows.group == j) for j in range(k)]
    whole = [round(float(rows.sizes[each].sum())) for each in groups]
    for _ in range(draws):
        weights = np.zeros(len(rows.group))
        for each, n in zip(groups, whole, strict=True):
            weights[each] = rng.multinomial(max(n - 1, 1), rows.sizes[each] / rows.sizes[each].sum())
        yield weights


def _cluster_draws(
    design: Design, sizes: np.ndarray, rng: np.random.Generator, draws: int
) -> Iterator[np.ndarray]:
    strata = [np.flatnonzero(design.stratum == h) for h in range(design.n_strata)]
    for _ in range(draws):
        times = np.ones(design.n_clusters)
        for each in strata:
            n = len(each)
            if n > 1:  # one cluster alone says nothing of others
                times[each] = rng.multinomial(n - 1, np.full(n, 1 / n)) * (n / (n - 1))
        yield sizes * times[design.cluster]


def _called(metric: Metric, rows: Rows) -> Function:
    """Return how a metric is called, tried on everyone.

    Raises
    ------
    InputError
        As `measure_groups`.
    """
    assert metric.measure is not None  # noqa: S101 - the caller has looked
    where = f"metrics[{metric.name!r}]"
    function = _bound(metric.measure, where, _equal(rows))
    everyone = _known(metric, rows)
    labels = None if rows.labels is None else rows.labels.favorable[everyone]
    told = (rows.decision[everyone], rows.score[everyone], rows.sizes[everyone])
    try:
        value = function(labels, *told)
    except InputError:
        raise
    except Exception as error:  # someone else's code: any failure is told as theirs
        said = f"{type(error).__name__}: {error}"
        raise InputError(where, f"failed on all {len(told[0]):,} people ({said})") from error
    if not isinstance(value, (bool, int, float, np.number, np.bool_)) or not math.isfinite(float(value)):
        given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else value
        raise InputError(where, "must give one finite number for all people", given)
    return function


def _equal(rows: Rows) -> bool:
    """Whether rows weigh the same but for how often they are drawn, or stand for whole people."""
    if rows.design is None:
        return True
    weights = rows.design.weights
    return rows.design.n_strata == 1 and bool(np.ptp(weights) <= 1e-9 * weights.max())


def _bound(function: Callable[..., float], where: str, equal: bool) -> Function:
    """Return a function of labels, decisions, scores and weights, whatever of these it takes.

    One that takes no ``sample_weight`` is handed people as often as they count.
    """
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built in: it says nothing of itself
        known = inspect.signature(_three).parameters
    named = [
        each for each in known.values() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    any_number = any(each.kind == each.VAR_POSITIONAL for each in known.values())
    needed = [each.name for each in named if each.name != "sample_weight"]
    wanted = [each for each in named if each.default is each.empty and each.name != "sample_weight"]
    if len(wanted) > 3 or (len(needed) < 2 and not any_number):
        raise InputError(
            where, "must take labels and decisions, or labels, decisions and scores", list(known),
            "write def metric(labels, decisions, scores, sample_weight): …",
        )  # fmt: skip
    takes = "sample_weight" in known
    if not takes and not equal:
        raise InputError(
            where, "must take sample_weight: rows are weighted here", list(known),
            "write def metric(labels, decisions, scores, sample_weight): …",
        )  # fmt: skip
    three = any_number or len(wanted) == 3
    scored = not three and len(needed) > 1 and needed[1] in _SCORES

    def call(
        labels: np.ndarray | None, decisions: np.ndarray, scores: np.ndarray, weights: np.ndarray
    ) -> float:
        told: tuple[Any, ...] = (
            (labels, decisions, scores) if three else (labels, scores if scored else decisions)
        )
        if takes:
            return function(*told, sample_weight=weights)
        if not (weights == 1).all():
            place = np.repeat(np.arange(len(weights)), np.rint(weights / _unit(weights)).astype(np.int64))
            told = tuple(None if each is None else each[place] for each in told)
        return function(*told)

    return call


def _three(labels: Any, decisions: Any, scores: Any) -> float:
    """What is taken for a function that says nothing of itself."""
    raise NotImplementedError


def _unit(weights: np.ndarray) -> float:
    """Return what one person weighs: clusters drawn again are scaled alike."""
    whole = np.rint(weights)
    if (weights == whole).all() or np.allclose(weights, whole):
        return 1.0
    least = float(weights.min())
    return least if least > 0 else 1.0
