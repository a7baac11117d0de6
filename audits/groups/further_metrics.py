"""What is compared beside the rates that verdicts of groups rest on: custom metrics, and classes.

Each has its differences from the reference group, corrected together with all others of the audit, and a
verdict of its own against its own limit. The audit's verdict stays that of the rates; but it does not clear
where one of these has evidence of a difference.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.values import as_text
from audits.errors import InputError
from audits.groups.inference import GroupLimit, judge_difference
from audits.groups.measures import MetricDraws, measure_groups
from audits.groups.metrics import METRICS, Counts, Labels, Metric, by_jackknife, share_by_design
from audits.groups.options import GroupsOptions
from audits.groups.people import LABEL_CLASS, PREDICTED_CLASS, PeopleByGroup
from audits.groups.result import Difference, GroupRow
from audits.models.protocol import check_scores, class_text
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, Estimate, Judgment, judge, weighted_sum, wilson

if TYPE_CHECKING:
    from audits.models import Subject

_NO_ROWS = "Metrics of single people are left out ({}), because people were counted and no row was kept."

Gaps = list[dict[str, Difference]]


@dataclass(frozen=True, eq=False)
class FurtherMetrics:
    """Metrics and classes to compare beside the rates.

    Attributes
    ----------
    metrics : tuple of Metric
        Functions of counts, and of people.
    judged : tuple of str
        Those that have differences: none that needs a label where labels are withheld.
    classes : tuple of str
        That occur among predictions or labels.
    seed : int
        Of the draws: each attribute begins again, so that its numbers depend on no other one.
    warnings : tuple of str
    """

    metrics: tuple[Metric, ...]
    judged: tuple[str, ...]
    classes: tuple[str, ...]
    seed: int
    warnings: tuple[str, ...] = ()

    @classmethod
    def asked(
        cls,
        people: pd.DataFrame,
        labels: Labels | None,
        why: str,
        seed: int,
    ) -> FurtherMetrics:
        """Return what can be stated of these people, and compared where no labels are withheld (`why`)."""
        known = [each for each in METRICS if each.beside]
        wanted = [each for each in known if not each.needs_label or labels is not None]
        warnings = []
        if "squares" in people and (gone := [each for each in wanted if each.measure is not None]):
            wanted = [each for each in wanted if each.measure is None]
            warnings.append(_NO_ROWS.format(", ".join(each.words for each in gone)))
        if "cluster" in people:  # counts of clusters are not counts of people
            wanted = [each for each in wanted if each.measure is not None]
        classes: list[str] = []
        if PREDICTED_CLASS in people:
            classes = sorted(set(pd.unique(people[[PREDICTED_CLASS, LABEL_CLASS]].to_numpy().ravel())) - {""})
        judged = tuple(each.name for each in wanted if not (why and each.needs_label))
        return cls(tuple(wanted), judged, tuple(classes), seed, tuple(warnings))

    @property
    def looks(self) -> int:
        """Comparisons of one group with its reference."""
        return len(self.judged) + 2 * len(self.classes)

    def of(
        self, item: PeopleByGroup, reference: int, options: GroupsOptions, level: float
    ) -> tuple[list[dict[str, Estimate]], Gaps]:
        """Return estimates and differences of each group of one attribute, by metric.

        Parameters
        ----------
        reference : int
            Place of the reference group.
        level : float
            Error rate of each difference.
        """
        k = len(item.names)
        values: list[dict[str, Estimate]] = [{} for _ in range(k)]
        gaps: Gaps = [{} for _ in range(k)]
        measured = measure_groups(
            [each for each in self.metrics if each.measure is not None],
            item,
            k,
            np.random.default_rng([self.seed, 3]),
            draws=options.bootstrap,
        )
        for metric in self.metrics:
            limit = options.limits.get(metric.name, metric.limit or options.material)
            of = _by_draws(measured[metric.name]) if metric.measure else _by_counts(metric, item.counts)
            for j in range(k):
                values[j][metric.name] = of(j, None, options.level)
                if j != reference and metric.name in self.judged:
                    gap = of(j, reference, level)
                    gaps[j][metric.name] = _judged(gap, limit, level, values[j][metric.name].n)
        own = GroupLimit(difference=options.material)
        for name, (part, whole) in self._class_shares(item, k, options.level).items():
            for j in range(k):
                values[j][name] = wilson(float(part[j]), float(whole[j]), level=options.level)
                if j != reference:
                    here, there = ((float(part[each]), float(whole[each])) for each in (j, reference))
                    gaps[j][name] = judge_difference(
                        here, there, float(item.counts.n[j]), limit=own, level=level
                    )
        return values, gaps

    def _class_shares(
        self, item: PeopleByGroup, k: int, level: float
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return how often each class is predicted, and how often where it is the label: both in people."""
        if item.classes is None:
            return {}
        found = {}
        predicted, label = (item.classes[name].to_numpy(dtype=object) for name in item.classes)
        for name in self.classes:
            event = predicted == name
            for words, among in (
                (f"predicted {name}", np.ones(len(event), bool)),
                (f"recall of {name}", label == name),
            ):
                if item.design is not None:
                    found[words] = share_by_design(item.design, item.group, event, among, k, level=level)
                else:
                    part, whole = (
                        np.bincount(item.group, item.sizes * who, k) for who in (event & among, among)
                    )
                    found[words] = part, whole
        return found


def _by_draws(groups: Sequence[MetricDraws]) -> Any:
    def of(j: int, reference: int | None, level: float) -> Estimate:
        return (groups[j] if reference is None else groups[j].minus(groups[reference])).estimate(level)

    return of


def _by_counts(metric: Metric, counts: Counts) -> Any:
    def of(j: int, reference: int | None, level: float) -> Estimate:
        own = by_jackknife(metric, counts.cells[j], level)
        if reference is None:
            return own
        return weighted_sum([own, by_jackknife(metric, counts.cells[reference], level)], [1.0, -1.0])

    return of


def _judged(gap: Estimate, limit: float, level: float, people: float) -> Difference:
    """Judge a difference by its own limit; `people` of the group as many times settle it as are needed."""
    known = gap.low is not None and gap.high is not None
    judged = judge(gap, immaterial=(-limit, limit), level=level, reason="" if known else gap.method)
    needed = None
    if judged.verdict == INSUFFICIENT and gap.low is not None and gap.high is not None:
        needed = math.ceil(people * max(((gap.high - gap.low) / limit) ** 2, 1.0))
    return Difference(gap, judged.verdict, needed, judged.material, judged.reason)


def check_limits(options: GroupsOptions) -> None:
    """Raise `InputError` for a limit of a metric that is not stated."""
    known = [*(each.name for each in METRICS if each.beside), *options.metrics]
    for name in options.limits:
        if name not in known:
            there = f"there is {', '.join(known)}" if known else "name it in metrics first"
            raise InputError("groups.limits", "must name a further metric", name, there)


def class_columns(subject: Subject) -> dict[str, np.ndarray]:
    """Return the columns of predicted and true classes of everyone, as text.

    Raises
    ------
    InputError
        If the model does not tell more than two classes apart.
    """
    data, column = subject.data, getattr(subject.model, "column", None)
    if subject.score_kind == "label" and not subject.model.invents and column is not None:
        predicted = (
            as_text(data.frame[column]).map(class_text, na_action="ignore").fillna("").to_numpy(object)
        )
    elif len(subject.model.classes or ()) > 2:
        classes = np.array([class_text(each) for each in subject.model.classes or ()], dtype=object)
        scores = check_scores(subject.model.score(data.frame), data.frame, subject.model.name)
        predicted = classes[scores.argmax(axis=1)]
    else:
        raise InputError(
            "groups.classes", "needs a model with more than two classes", subject.model.name,
            "leave it out",
        )  # fmt: skip
    label = np.full(data.n, "", dtype=object)
    if data.label is not None:
        label = data.frame[data.label].map(class_text, na_action="ignore").fillna("").to_numpy(dtype=object)
    return {PREDICTED_CLASS: predicted, LABEL_CLASS: label}


def not_cleared(judged: Judgment, table: Sequence[GroupRow]) -> tuple[Judgment, list[str]]:
    """Return the verdict, which does not clear beside evidence in a further metric, and what to say of it."""
    said, rates = [], {metric.name for metric in METRICS if metric.judged}
    for row in table:
        for name, gap in row.differences.items():
            if name not in rates and gap.verdict == EVIDENCE:
                said.append(f"{METRICS.words(name)} of {row.attribute} {row.group}")
    if not said:
        return judged, []
    some = f"{', '.join(said[:4])}{' …' if len(said) > 4 else ''}"
    warning = f"Further metrics differ from the reference group's by more than chance: {some}."
    if judged.verdict == NO_MATERIAL:
        reason = "the rates are close, but a further metric differs by more than chance"
        judged = dataclasses.replace(judged, verdict=INSUFFICIENT, reason=reason, people_needed=None)
    return judged, [warning]
