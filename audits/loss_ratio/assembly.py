"""From what was moved and tested to the result and its tables."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from audits.data import AuditData, FeatureSpace
from audits.data.encoder_blocks import NumberBlock
from audits.loss_ratio.attack.people import Moves
from audits.loss_ratio.inference import stand
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.loss_ratio.options import LossRatioOptions
from audits.loss_ratio.ratio_tests import RatioTests
from audits.loss_ratio.result import (
    FeatureMove,
    Histogram,
    LossRatioResult,
    MetricFacts,
    RatioBar,
    RotatedMetricRatio,
    SearchReach,
)
from audits.loss_ratio.text import grounds_of, outside_of, warnings_for
from audits.models import Subject
from audits.models.protocol import class_text


def pack(
    subject: Subject,
    metric: FairMetrics,
    moved: Moves,
    tests: RatioTests,
    comparison: tuple[dict[str, Any], ...],
    turned: tuple[RotatedMetricRatio, ...],
    options: LossRatioOptions,
) -> LossRatioResult:
    """Hold both ratios against the tolerance, and put everything into the result."""
    data = moved.data
    grounds = grounds_of(subject, metric, tests, options)
    standing = stand(
        (tests.loss, *tests.loss_ends),
        (tests.errors, *tests.error_ends),
        grounds,
        tests.groups,
        tolerance=options.tolerance,
        level=options.level,
        material=options.material,
    )
    order = np.argsort(-tests.ratios, kind="stable")[: options.worst]
    return LossRatioResult(
        options={**dataclasses.asdict(options), "loss": moved.target.loss, "steps": moved.steps},
        judged=standing.judged,
        finding=standing.finding,
        warnings=warnings_for(subject, metric, moved, tests, options),
        rows={"audited": subject.data.n, "used": data.n, "left_out": moved.left_out},
        **vars(standing.loss),
        error_ratio=standing.errors,
        paper=tests.paper,
        floored=tests.floored,
        loss_test=tests.loss,
        error_test=tests.errors,
        loss_ends=tests.loss_ends,
        error_ends=tests.error_ends,
        words=grounds,
        method=moved.method,
        metric=MetricFacts(metric.source, metric.dimensions, len(subject.space.names), metric.told),
        features=_features(subject, metric, moved, data.weights),
        curve=tests.curve,
        groups=tests.groups,
        histogram=histogram_of(tests.ratios, data.weights),
        worst=tuple(data.frame.index[order].tolist()),
        comparison=comparison,
        people=people_table(data, moved, tests.ratios),
        moves=moves_table(subject.space, data, moved, order),
        search=None
        if moved.searched is None or tests.shorter is None
        else SearchReach(
            moved.searched.steps,
            options.within_range,
            outside_of(subject, moved),
            tests.shorter,
            tests.loss.mean,
        ),
        misspecified=turned,
    )


def _features(
    subject: Subject, metric: FairMetrics, moved: Moves, weights: np.ndarray | None
) -> tuple[FeatureMove, ...]:
    shift = moved.flow.positions - moved.start
    mean = np.average(shift, axis=0, weights=weights)
    absolute = np.average(np.abs(shift), axis=0, weights=weights)
    loadings = metric.loadings()
    column = {
        at: name for name, block in subject.space.blocks.items() for at in range(block.start, block.stop)
    }
    found = [
        FeatureMove(name, column[k], float(loadings[k]), float(mean[k]), float(absolute[k]))
        for k, name in enumerate(subject.space.names)
    ]
    # the two columns of a category of two values have the same, but for rounding
    found.sort(key=lambda item: (-round(item.loading, 9), -round(item.mean_absolute_move, 9)))
    return tuple(found)


_BARS = 30


def people_table(data: AuditData, moved: Moves, ratios: np.ndarray) -> pd.DataFrame:
    """One row per person moved, keyed by the user's row number; losses in nats (or squared).

    Where rows stand for several people, ``people`` says how many: means weigh by it.

    Where the model predicts the label itself, the label and what is predicted stand beside the scores.
    """
    before, after, target = moved.before, moved.after, moved.target
    predicted = {}
    if before.predicted is not None and after.predicted is not None:
        own = target.y * target.unit + target.center
        if target.kind == "classes":
            own = np.array([class_text(value) for value in target.classes], dtype=object)[target.y]
        predicted = {"label": own, "predicted": before.predicted, "predicted after": after.predicted}
    counts = {} if data.weights is None else {"people": data.weights}
    return pd.DataFrame(
        {
            "favorable label": np.asarray(data.y),
            **predicted,
            "score": before.scores,
            "score after": after.scores,
            "loss": moved.flow.before,
            "loss after": moved.flow.after,
            "ratio": ratios,
            "wrong": before.wrong,
            "wrong after": after.wrong,
            "squared fair distance": moved.flow.distance,
            **counts,
        },
        index=data.frame.index,
    )


def moves_table(space: FeatureSpace, data: AuditData, moved: Moves, order: np.ndarray) -> pd.DataFrame:
    """Each encoded feature of the people at `order` before and after, and how far it moved.

    Numbers are in their own units (dates in days since 1970); categories as shares, 1 for the person's own.
    """
    units, shifts = np.ones(len(space.names)), np.zeros(len(space.names))
    for part in space.parts:
        if isinstance(part, NumberBlock):
            at = space.blocks[part.column].start
            units[at], shifts[at] = part.sd, part.mean
    before, after = moved.start[order], moved.flow.positions[order]
    d = len(space.names)
    return pd.DataFrame(
        {
            "row": np.repeat(data.frame.index[order].to_numpy(), d),
            "feature": np.tile(np.array(space.names, dtype=object), len(order)),
            "before": (before * units + shifts).ravel(),
            "after": (after * units + shifts).ravel(),
            "move": (after - before).ravel(),
        }
    )


def histogram_of(ratios: np.ndarray, weights: np.ndarray | None) -> Histogram:
    """People by ratio, in bars of equal width on the log scale; one bar where all ratios are equal."""
    logs = np.log(ratios)
    low, high = float(logs.min()), float(logs.max())
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    counts, edges = np.histogram(logs, bins=_BARS, range=(low, high), weights=weights)
    ends = np.exp(edges)
    return tuple(
        RatioBar(float(a), float(b), float(people))
        for a, b, people in zip(ends[:-1], ends[1:], counts, strict=True)
    )
