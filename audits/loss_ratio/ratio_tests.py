"""The tests on the people moved: loss ratio, error-rate ratio, by group and along the flow (Eq. 3.4-3.13).

And how far they rest on the metric: T_n where it is turned by some degrees (Figure 1, Theorem A.1). Figure 1
turns the one free direction of two features towards the other. For any model and any metric the plane of two
directions is turned, and all that the metric says of them with it; what lies outside stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.data import AuditData
from audits.errors import InputError
from audits.loss_ratio.attack.flow import Flow
from audits.loss_ratio.attack.losses import MIN_LOSS, loss_ratios
from audits.loss_ratio.attack.people import Moves, move_people
from audits.loss_ratio.attack.targets import Target
from audits.loss_ratio.inference import spanning
from audits.loss_ratio.metrics.distances import FairMetric, FairMetrics, direction_of
from audits.loss_ratio.options import LossRatioOptions, MisspecifiedMetric
from audits.loss_ratio.result import CurvePoint, FlooredRatio, GroupRatio, PaperBounds, RotatedMetricRatio
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.stats.means import MeanMethod, MeanTest, mean_test
from audits.stats.paired_ratio import PairedMethod, PairedRatio, paired_ratio

ROBUST_FLOOR = 0.01
"""The least that a loss counts as, where ratios use careful losses."""


@dataclass(frozen=True, eq=False)
class RatioTests:
    """Ratios (n,), the least loss counted, and all that is tested on them.

    Of a search without gradient `shorter` is the mean ratio that its first way had found, `reached` the lower
    bound of the mean ratio by the model's own answers about rows that could be written down. `loss_ends` and
    `error_ends` are tests by the metrics at the ends of what the data allow, where directions are learned.
    """

    ratios: np.ndarray
    floor: float
    loss: MeanTest
    errors: PairedRatio
    paper: PaperBounds
    floored: FlooredRatio
    curve: tuple[CurvePoint, ...]
    groups: tuple[GroupRatio, ...]
    shorter: float | None = None
    reached: float | None = None
    loss_ends: tuple[MeanTest, ...] = ()
    error_ends: tuple[PairedRatio, ...] = ()


def run_tests(moved: Moves, options: LossRatioOptions) -> RatioTests:
    """Test the ratios of the people moved."""
    floor = floor_of(options, moved.target, exact=moved.exact)
    data, flow, weights = moved.data, moved.flow, moved.data.weights
    how: MeanMethod = "skewness" if options.inference == "robust" else "normal"
    pairs: PairedMethod = "score" if options.inference == "robust" else "delta"
    ratios = loss_ratios(flow.before, flow.after, floor)
    loss = mean_test(ratios, weights, method=how)
    errors = paired_ratio(moved.after.wrong, moved.before.wrong, weights, method=pairs)
    shorter = reached = rows = None
    if moved.searched is not None:
        shorter = mean_test(loss_ratios(flow.before, moved.searched.shorter, floor), weights).mean
        rows = loss_ratios(flow.before, moved.searched.reached, floor)
        reached = mean_test(rows, weights, method=how).lower_bound(options.level) or 0.0
    careful = mean_test(loss_ratios(flow.before, flow.after, max(floor, ROBUST_FLOOR)), weights, method=how)
    return RatioTests(
        ratios,
        max(floor, MIN_LOSS),
        loss,
        errors,
        PaperBounds(
            dataclasses.replace(loss, method="normal").lower_bound(options.level),
            dataclasses.replace(errors, method="delta").lower_bound(options.level),
        ),
        FlooredRatio(max(floor, ROBUST_FLOOR), careful.mean, careful.lower_bound(options.level)),
        _curve(flow, weights, floor, how, options.level),
        _groups(data, ratios, rows, how, options.level),
        shorter,
        reached,
    )


def with_ends(tests: RatioTests, ends: Sequence[RatioTests]) -> RatioTests:
    """Add what the metrics at the ends of what the data allow give for the same people."""
    reached = [each.reached for each in (tests, *ends) if each.reached is not None]
    groups = tests.groups
    if ends:
        by_group = zip(groups, *(each.groups for each in ends), strict=True)
        groups = tuple(_group_with_ends(first, others) for first, *others in by_group)
    return dataclasses.replace(
        tests,
        groups=groups,
        reached=min(reached, default=None),
        loss_ends=tuple(each.loss for each in ends),
        error_ends=tuple(each.errors for each in ends),
    )


def floor_of(options: LossRatioOptions, target: Target, *, exact: bool) -> float:
    """Return the least loss counted: as asked for, or by whether a gradient moved people to a chance."""
    if options.loss_floor is not None:
        return options.loss_floor
    return 0.0 if exact and target.kind != "number" else ROBUST_FLOOR


def _curve(
    flow: Flow, weights: np.ndarray | None, floor: float, how: MeanMethod, level: float
) -> tuple[CurvePoint, ...]:
    points = []
    for steps, after in flow.curve.items():
        test = mean_test(loss_ratios(flow.before, after, floor), weights, method=how)
        points.append(CurvePoint(steps, test.mean, test.lower_bound(level)))
    return tuple(points)


def _groups(
    data: AuditData, ratios: np.ndarray, rows: np.ndarray | None, how: MeanMethod, level: float
) -> tuple[GroupRatio, ...]:
    """Ratios by group of every protected attribute; Bonferroni over those with people enough.

    `rows` are those of rows that could be written down, where a search moved people.
    """
    members = [
        (attribute, value, (data.groups[attribute] == value).to_numpy())
        for attribute in data.protected
        for value in sorted(data.groups[attribute].unique())
    ]
    weights = data.row_weights
    tests = [mean_test(ratios[mask], weights[mask], method=how) for _, _, mask in members]
    looks = max(1, sum(test.enough for test in tests))
    found = []
    for (attribute, value, mask), test in zip(members, tests, strict=True):
        estimate = test.interval(level / looks)
        method = test.interval(level).method
        if looks > 1 and test.enough:
            method += f", all {looks} groups together (Bonferroni)"
        reached = None
        if rows is not None:
            low = mean_test(rows[mask], weights[mask], method=how).interval(level / looks).low
            reached = 0.0 if low is None else low
        found.append(GroupRatio(attribute, value, dataclasses.replace(estimate, method=method), reached))
    return tuple(found)


def _group_with_ends(group: GroupRatio, ends: Sequence[GroupRatio]) -> GroupRatio:
    """Return a group's ratio with an interval that holds those by all metrics."""
    reached = [each.reached for each in (group, *ends) if each.reached is not None]
    statistic = spanning([each.statistic for each in (group, *ends)])
    return dataclasses.replace(group, statistic=statistic, reached=min(reached, default=None))


_NOTHING = 1e-6  # length of what is left of a direction, of 1


_WHERE = "loss_ratio.misspecified"


def turned_ratios(
    subject: Subject,
    metrics: FairMetrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[RotatedMetricRatio, ...]:
    """Move and test everyone again under the metric turned by each angle; empty unless asked for.

    Raises
    ------
    InputError
        If a direction names no encoded feature, the first is not one in which people may move freely, or the
        second is.
    """
    asked = options.misspecified
    if asked is None or not metrics.dimensions:  # where nothing may move, nothing can be turned
        return ()
    found, angles = [], _angles(asked)
    for place, degrees in enumerate(angles):
        stretch = part(progress, place / len(angles), (place + 1) / len(angles))
        turned = turned_metrics(metrics, asked, degrees, subject.space.names)
        moved = move_people(subject, turned, options, rng, stretch)
        loss = run_tests(moved, options).loss
        found.append(
            RotatedMetricRatio(float(degrees), loss.interval(options.level), loss.lower_bound(options.level))
        )
    return tuple(found)


def _angles(asked: MisspecifiedMetric) -> tuple[float, ...]:
    """Angles in order; both ways where no direction is given: the sign of the metric's own says nothing."""
    if asked.turn is not None:
        return asked.angles
    return tuple(sorted({sign * degrees + 0.0 for degrees in asked.angles for sign in (1.0, -1.0)}))


def turned_metrics(
    metrics: FairMetrics, asked: MisspecifiedMetric, degrees: float, names: tuple[str, ...]
) -> FairMetrics:
    """Return the metrics with the plane of both directions turned by `degrees`, first towards second."""
    towards = direction_of(asked.towards, names, where=f"{_WHERE}.towards")
    if asked.turn is None:
        first = metrics.typical[:, 0]
        first = first * np.sign(first[np.argmax(np.abs(first))])  # its largest part counts as upwards
    else:
        first = direction_of(asked.turn, names, where=f"{_WHERE}.turn")
    parts = []
    for one in metrics.parts:
        start = _unit(one.basis @ (one.basis.T @ first), first, f"{_WHERE}.turn", "lie among the free ones")
        end = towards - one.basis @ (one.basis.T @ towards)
        end = _unit(end, towards, f"{_WHERE}.towards", "differ from the free ones")
        plane = np.column_stack([start, end])
        angle = np.deg2rad(degrees)
        spin = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        rotation = np.eye(len(names)) + plane @ (spin - np.eye(2)) @ plane.T
        source = f"{one.source}, turned by {degrees:g} degrees"
        parts.append(FairMetric(one.root @ rotation.T, rotation @ one.basis, source))
    return dataclasses.replace(metrics, parts=tuple(parts))


def _unit(found: np.ndarray, asked: np.ndarray, where: str, rule: str) -> np.ndarray:
    length = float(np.linalg.norm(found))
    if length <= _NOTHING * max(float(np.linalg.norm(asked)), 1e-300):
        raise InputError(where, f"must {rule}, directions in which people may move at no distance")
    return found / length
