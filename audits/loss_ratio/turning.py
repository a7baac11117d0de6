"""How far the test rests on the metric: T_n where it is turned by some degrees (Figure 1, Theorem A.1).

Figure 1 turns the one free direction of two features towards the other. For any model and any metric the
plane of two directions is turned, and all that the metric says of them with it; what lies outside stays.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from audits.errors import InputError
from audits.loss_ratio.metrics import FairMetric, Metrics, direction_of
from audits.loss_ratio.moving import move_people
from audits.loss_ratio.options import LossRatioOptions, Misspecified
from audits.loss_ratio.result import TurnedRatio
from audits.loss_ratio.testing import run_tests
from audits.models import Subject
from audits.progress import Progress, part, silent

__all__ = ["turned_metrics", "turned_ratios"]

_NOTHING = 1e-6  # length of what is left of a direction, of 1
_WHERE = "loss_ratio.misspecified"


def turned_ratios(
    subject: Subject,
    metrics: Metrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[TurnedRatio, ...]:
    """Move and test everybody again under the metric turned by each angle; empty unless asked for.

    Raises
    ------
    InputError
        If a direction names no encoded feature, the first is not one in which people may move freely, or the
        second is.
    """
    asked = options.misspecified
    if asked is None or not metrics.dimensions:  # where nothing may move, nothing can be turned
        return ()
    found = []
    for place, degrees in enumerate(asked.angles):
        stretch = part(progress, place / len(asked.angles), (place + 1) / len(asked.angles))
        turned = turned_metrics(metrics, asked, degrees, subject.space.names)
        moved = move_people(subject, turned, options, rng, stretch)
        loss = run_tests(subject.data.take(moved.used), moved, options).loss
        found.append(
            TurnedRatio(float(degrees), loss.interval(options.level), loss.lower_bound(options.level))
        )
    return tuple(found)


def turned_metrics(metrics: Metrics, asked: Misspecified, degrees: float, names: tuple[str, ...]) -> Metrics:
    """Return the metrics with the plane of both directions turned by `degrees`, first towards second."""
    towards = direction_of(asked.towards, names, where=f"{_WHERE}.towards")
    first = (
        metrics.typical[:, 0]
        if asked.turn is None
        else direction_of(asked.turn, names, where=f"{_WHERE}.turn")
    )
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
