"""The table of group metrics: each a function of labels and decisions, evaluated for all groups at once.

Labels and decisions are two-valued, so a group is four numbers of people, and a metric is what its function
says of four kinds of people, each standing for so many. Others may be added, as in Fairlearn's MetricFrame.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import stdtrit

from audits.checks import one_of
from audits.errors import InputError
from audits.plugins import load_plugin
from audits.stats import Estimate, weighted_sum, wilson
from audits.stats.design import Design, design_share
from audits.stats.intervals import percent_level
from audits.stats.means import MIN

GROUP = "evenhand.metrics"
"""Entry points of installed packages that name a `Metric`."""

# labels and decisions of the four kinds of people: true and false positives, true and false negatives
_LABELS = np.array([True, False, False, True])
_DECISIONS = np.array([True, True, False, False])


@dataclass(frozen=True, eq=False)
class Labels:
    """Whose label is favorable, and whose is known at all, bool arrays (n,)."""

    favorable: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, eq=False)
class Rows:
    """People by row: their group, and what a metric is told of them.

    Attributes
    ----------
    group : int array (n,)
        From 0 to k - 1.
    decision, score, sizes : array (n,)
        Favorable decision, score (higher is better), people the row stands for.
    labels : Labels or None
    design : Design or None
        Where rows are not one independent person each.
    """

    group: np.ndarray
    decision: np.ndarray
    score: np.ndarray
    sizes: np.ndarray
    labels: Labels | None
    design: Design | None = None


Share = Callable[[Any, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure of a group. Exactly one of `share`, `function`, `measure` and `mean_of` says what it is.

    Attributes
    ----------
    name : str
        As results.json has it: ``"selection_rate"``.
    words : str
        As a reader sees it: ``"selection rate"``.
    share : callable
        ``share(labels, decisions)`` returns who is counted and of whom, bool arrays: intervals are Wilson's.
    function : callable
        ``function(labels, decisions, people)`` returns a number, as scikit-learn's metrics do when `people`
        is passed as ``sample_weight``: intervals are by the jackknife.
    measure : callable
        ``measure(labels, decisions, scores)`` returns a number of people, one entry each: bool arrays and
        scores that are higher for the better. It may leave out scores (one whose second argument is called
        ``y_score`` or alike is handed these instead of decisions) and take ``sample_weight``. Intervals are
        by the bootstrap.
    limit : float or None
        Smallest difference that matters, in the metric's unit; the audit's `material` where it is None.
    mean_of : tuple of str
        Two other metrics whose mean it is.
    needs_label : bool
        Whether there is nothing to tell of data without labels.
    judged : bool
        Whether verdicts look at its differences between groups; only shares can be judged.
    about : str
        Whom it is about, after "people": ``" with a favorable label"``.
    """

    name: str
    words: str
    share: Share | None = None
    function: Callable[[np.ndarray, np.ndarray, np.ndarray], float] | None = None
    measure: Callable[..., float] | None = None
    limit: float | None = None
    mean_of: tuple[str, ...] = ()
    needs_label: bool = True
    judged: bool = False
    about: str = ""

    def __post_init__(self) -> None:
        told = (self.share, self.function, self.measure, self.mean_of or None)
        if sum(each is not None for each in told) != 1:
            rule = "must be a share, a function, a measure or a mean of others"
            raise InputError(f"metric {self.name!r}", rule)
        if self.judged and self.share is None:
            raise InputError(f"metric {self.name!r}", "must be a share for verdicts to look at it")

    @property
    def beside(self) -> bool:
        """Whether its differences have a verdict each, beside that of the audit."""
        return self.function is not None or self.measure is not None


def _everyone(decisions: np.ndarray) -> np.ndarray:
    return np.ones_like(decisions, dtype=bool)


_OURS = (
    Metric(
        name="selection_rate",
        words="selection rate",
        share=lambda _, d: (d, _everyone(d)),
        needs_label=False,
        judged=True,
    ),
    Metric(
        name="true_positive_rate",
        words="true positive rate",
        share=lambda y, d: (y & d, y),
        judged=True,
        about=" with a favorable label",
    ),
    Metric(
        name="false_positive_rate",
        words="false positive rate",
        share=lambda y, d: (~y & d, ~y),
        judged=True,
        about=" with an unfavorable label",
    ),
    Metric(name="true_negative_rate", words="true negative rate", share=lambda y, d: (~y & ~d, ~y)),
    Metric(name="false_negative_rate", words="false negative rate", share=lambda y, d: (y & ~d, y)),
    Metric(name="precision", words="precision", share=lambda y, d: (y & d, d)),
    Metric(name="accuracy", words="accuracy", share=lambda y, d: (y == d, _everyone(d))),
    Metric(
        name="balanced_accuracy",
        words="balanced accuracy",
        mean_of=("true_positive_rate", "true_negative_rate"),
    ),
    Metric(name="base_rate", words="base rate", share=lambda y, d: (y, _everyone(d))),
)


_ALSO: ContextVar[Mapping[str, Metric]] = ContextVar("metrics of one call", default=MappingProxyType({}))


class Metrics:
    """The metrics that a comparison states, in the order they are shown; `add` makes it state one more.

    Examples
    --------
    >>> from sklearn.metrics import f1_score
    >>> METRICS.add(Metric(name="f1", words="F1", function=lambda y, d, n: f1_score(y, d, sample_weight=n)))
    >>> METRICS["f1"].words
    'F1'
    >>> METRICS.remove("f1")
    """

    def __init__(self) -> None:
        self._added: dict[str, Metric] = {}

    def __iter__(self) -> Iterator[Metric]:
        yield from _OURS
        yield from {**_plugin_metrics(), **self._added, **_ALSO.get()}.values()

    def __getitem__(self, name: str) -> Metric:
        found = {metric.name: metric for metric in self}
        return found[one_of("metric", name, found, what="the name of a metric")]

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the further metrics that this call asks for."""
        return tuple(_ALSO.get())

    def words(self, name: str) -> str:
        """Return a metric as a reader sees it, of a result of whatever process."""
        found = {metric.name: metric.words for metric in self}
        return found.get(name, name.replace("_", " "))

    @contextlib.contextmanager
    def also(self, metrics: Iterable[Metric]) -> Iterator[None]:
        """Have comparisons in this context state further metrics.

        Raises
        ------
        InputError
            If a name is taken.
        """
        more: dict[str, Metric] = {}
        for metric in metrics:
            if metric.name in more or any(metric.name == each.name for each in self):
                raise InputError("metrics", "must have a name of its own", metric.name, "choose another")
            more[metric.name] = metric
        token = _ALSO.set({**_ALSO.get(), **more})
        try:
            yield
        finally:
            _ALSO.reset(token)

    def judged(self, *, labels: bool) -> tuple[Metric, ...]:
        """Return those whose differences verdicts look at, with or without labels in the data."""
        return tuple(metric for metric in self if metric.judged and (labels or not metric.needs_label))

    def own(self, name: str) -> bool:
        """Whether a metric is ours: results have a field of their own for it."""
        return any(metric.name == name for metric in _OURS)

    def add(self, metric: Metric) -> None:
        """Have this process state one more metric.

        Raises
        ------
        InputError
            If the name is taken.
        """
        if any(metric.name == each.name for each in self):
            raise InputError("metric", "must have a name of its own", metric.name)
        self._added[metric.name] = metric

    def remove(self, name: str) -> None:
        """Forget a metric that `add` added."""
        del self._added[name]


@cache
def _plugin_metrics() -> dict[str, Metric]:
    ours = {metric.name for metric in _OURS}
    found = (load_plugin(entry, Metric, ours) for entry in entry_points(group=GROUP))
    return {metric.name: metric for metric in found}


METRICS = Metrics()


def scikit_metric(name: str) -> Metric:
    """Return a metric of scikit-learn by its name."""
    import sklearn.metrics

    return Metric(name=name, words=name.replace("_", " "), measure=getattr(sklearn.metrics, name))


@dataclass(frozen=True, eq=False)
class Counts:
    """People per group (k,) by decision and label; where a label is missing only `selected` and `n` count.

    Attributes
    ----------
    n, selected : arrays (k,)
        People, and those decided favorably.
    true_positive, false_positive, true_negative, false_negative : arrays (k,) or None
        Of people whose label is known. Positive is favorable: label and decision of a true positive are.
    """

    n: np.ndarray
    selected: np.ndarray
    true_positive: np.ndarray | None
    false_positive: np.ndarray | None
    true_negative: np.ndarray | None
    false_negative: np.ndarray | None

    @property
    def cells(self) -> np.ndarray:
        """People of the four kinds, (k, 4); without labels favorably decided and others, (k, 2)."""
        parts = (self.true_positive, self.false_positive, self.true_negative, self.false_negative)
        known = [part for part in parts if part is not None]
        return np.stack(known if known else [self.selected, self.n - self.selected], 1)


def confusion_counts(
    group: np.ndarray, decision: np.ndarray, labels: Labels | None, sizes: np.ndarray, k: int
) -> Counts:
    """Count people per group, decision and label.

    Parameters
    ----------
    group : int array (n,)
        Group of each row, 0 to `k` - 1.
    decision : bool array (n,)
        Favorable decision.
    labels : Labels, optional
    sizes : array (n,)
        People each row stands for.
    """
    n, selected = np.bincount(group, sizes, k), np.bincount(group, sizes * decision, k)
    if labels is None:
        return Counts(n, selected, None, None, None, None)
    codes = 4 * group + 2 * labels.favorable + decision
    cells = np.bincount(codes, sizes * labels.known, 4 * k).reshape(k, 2, 2)  # label, decision
    return Counts(
        n=n,
        selected=selected,
        true_positive=cells[:, 1, 1],
        false_positive=cells[:, 0, 1],
        true_negative=cells[:, 0, 0],
        false_negative=cells[:, 1, 0],
    )


def rates(counts: Counts) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return each share's numerator and denominator (k,), both in people; 0 / 0 stays undefined.

    What needs a label is of the people whose label is known, everything else of all.
    """
    decided = np.stack([counts.selected, counts.n - counts.selected], 1)
    found = {}
    for metric in METRICS:
        if metric.share is not None and not metric.needs_label:
            part, whole = metric.share(None, np.array([True, False]))
            found[metric.name] = decided @ part, decided @ whole
        elif metric.share is not None and counts.true_positive is not None:
            part, whole = metric.share(_LABELS, _DECISIONS)
            found[metric.name] = counts.cells @ part, counts.cells @ whole
    return found


def rates_by_design(
    design: Design, rows: Rows, k: int, *, level: float
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return what `rates` does where rows are not one independent person each: in effective people.

    Intervals and tests for counts hold for these; what clusters with people of two groups share is not
    counted, which makes differences between groups no surer than they are where a cluster's people are alike.
    """
    return {
        name: share_by_design(design, rows.group, part, whole, k, level=level)
        for name, part, whole in _shares_of_rows(rows)
    }


def rows_by_design(design: Design, rows: Rows, k: int) -> dict[str, list[tuple[int, int]]]:
    """Return how many of how many rows each rate is of in k groups; none where they are weighted."""
    if np.ptp(design.weights) > 0:
        return {}
    found = {}
    for name, part, whole in _shares_of_rows(rows):
        some, of = (np.bincount(rows.group, each, k).astype(int).tolist() for each in (whole & part, whole))
        found[name] = list(zip(some, of, strict=True))
    return found


def _shares_of_rows(rows: Rows) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield each share that these data allow: who has what it counts, and whom it is about (n,)."""
    labels = rows.labels
    y = np.zeros(len(rows.group), dtype=bool) if labels is None else labels.favorable
    for metric in METRICS:
        if metric.share is not None and not (labels is None and metric.needs_label):
            part, whole = metric.share(y, rows.decision)
            yield metric.name, part, whole & labels.known if metric.needs_label and labels else whole


def share_by_design(
    design: Design, group: np.ndarray, part: np.ndarray, whole: np.ndarray, k: int, *, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a share's numerator and denominator in k groups (k,), in effective people."""
    shares = [design_share(design, whole & (group == j), part, level=level) for j in range(k)]
    people = np.array([share.people for share in shares])
    return np.array([share.estimate.value or 0.0 for share in shares]) * people, people


def estimates(shares: dict[str, tuple[np.ndarray, np.ndarray]], *, level: float) -> dict[str, list[Estimate]]:
    """Return every share that these data allow, and means of these, by name, for each of k groups.

    Parameters
    ----------
    shares : dict
        What `rates` gives, or `rates_by_design`.
    """
    found = {
        name: [wilson(float(a), float(b), level=level) for a, b in zip(*pair, strict=True)]
        for name, pair in shares.items()
    }
    for metric in METRICS:
        if metric.mean_of and all(name in found for name in metric.mean_of):
            weights = [1 / len(metric.mean_of)] * len(metric.mean_of)
            parts = zip(*(found[name] for name in metric.mean_of), strict=True)
            found[metric.name] = [weighted_sum(list(part), weights) for part in parts]
    return found


def by_jackknife(metric: Metric, cells: np.ndarray, level: float) -> Estimate:
    """Value and jackknife interval: people of one kind are alike, so one of each is left out.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 11.
    """
    kinds = (_LABELS, _DECISIONS) if len(cells) == 4 else (np.zeros(2, bool), np.array([True, False]))

    def value(people: np.ndarray) -> float:
        return float(metric.function(*kinds, people))  # type: ignore[misc]

    n = float(cells.sum())
    method = f"jackknife {percent_level(level)}"
    here = value(cells)
    if not math.isfinite(here):
        return Estimate(None, None, None, n, method)
    there = np.flatnonzero(cells >= 1)
    if n < MIN:
        return Estimate(here, None, None, n, f"no interval below {MIN} people")
    without = np.array([value(cells - (np.arange(len(cells)) == kind)) for kind in there])
    if not np.isfinite(without).all():
        return Estimate(here, None, None, n, "no interval: without one person it has no value")
    times = cells[there]
    mean = float(times @ without / times.sum())
    spread = math.sqrt((n - 1) / n * float(times @ (without - mean) ** 2))
    if spread <= 1e-12 * max(1.0, abs(here)):
        return Estimate(here, None, None, n, "no interval: there is no spread")
    reach = -float(stdtrit(n - 1, level / 2)) * spread
    return Estimate(here, here - reach, here + reach, n, method)
