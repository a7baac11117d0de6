"""The loss-ratio audit: check, choose the metric, move everyone, test, pack."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from audits.checks import build, generator
from audits.data import AuditData
from audits.errors import InputError
from audits.loss_ratio.choosing import choose_metric
from audits.loss_ratio.comparison import compare_models
from audits.loss_ratio.judging import stand
from audits.loss_ratio.metrics import FairMetric
from audits.loss_ratio.moving import Moved, move_people
from audits.loss_ratio.options import Compared, LossRatioOptions
from audits.loss_ratio.result import FeatureMove, LossRatioResult
from audits.loss_ratio.simulation import heat_map_of
from audits.loss_ratio.tables import histogram_of, moves_table, people_table
from audits.loss_ratio.testing import Tests, run_tests
from audits.loss_ratio.words import warnings_for, words_of
from audits.models import Subject
from audits.models.labels import NumberModel
from audits.models.subspaces import category_units
from audits.progress import Progress, part, silent
from audits.stats.words import people

__all__ = ["check_labels", "loss_ratio", "loss_ratio_audit"]


def loss_ratio(
    subject: Subject,
    *,
    sensitive: Sequence[str] | None = None,
    metric: Literal["learned", "expert", "factor", "explore"] = "learned",
    free_features: Sequence[str] = (),
    directions: Sequence[Mapping[str, float]] = (),
    matrix: Sequence[Sequence[float]] | None = None,
    comparable: str | None = None,
    factors: int = 2,
    loss: Literal["cross_entropy", "logistic", "squared"] | None = None,
    regularizer: float = 50.0,
    steps: int | None = None,
    step_size: float = 0.01,
    schedule: Literal["constant", "decreasing"] = "constant",
    within_range: bool = False,
    tolerance: float = 1.25,
    level: float = 0.05,
    inference: Literal["robust", "paper"] = "robust",
    material: float = 1.25,
    loss_floor: float | None = None,
    worst: int = 50,
    max_people: int | None = None,
    compare: Sequence[Compared] = (),
    splits: int = 5,
    odds_slack: float = 0.03,
    device: Literal["cpu", "cuda"] = "cpu",
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> LossRatioResult:
    """Is a person's loss multiplied when the person is moved only in directions that should not matter?

    Parameters
    ----------
    subject : Subject
        Data with labels, and a model that can score people who do not exist.
    rng : Generator, int or None
        Draws of a sample, of pairs and of splits; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Other parameters are those of `LossRatioOptions`.

    Returns
    -------
    LossRatioResult
        A mean ratio of 1 says that moving people along the sensitive directions changes no loss;
        `reject` says that the ratio lies above the tolerance beyond chance.

    Raises
    ------
    InputError
        Labels or one of their outcomes are missing, the model cannot score invented people or gives no
        probabilities, the metric ignores nothing or everything, the steps diverge.
    """
    options = {
        "sensitive": None if sensitive is None else tuple(sensitive),
        "metric": metric,
        "free_features": tuple(free_features),
        "directions": tuple(dict(each) for each in directions),
        "matrix": None if matrix is None else tuple(tuple(row) for row in matrix),
        "comparable": comparable,
        "factors": factors,
        "loss": loss,
        "regularizer": regularizer,
        "steps": steps,
        "step_size": step_size,
        "schedule": schedule,
        "within_range": within_range,
        "tolerance": tolerance,
        "level": level,
        "inference": inference,
        "material": material,
        "loss_floor": loss_floor,
        "worst": worst,
        "max_people": max_people,
        "compare": tuple(compare),
        "splits": splits,
        "odds_slack": odds_slack,
        "device": device,
    }
    return loss_ratio_audit(
        subject, build(LossRatioOptions, options, "loss_ratio"), rng=rng, progress=progress
    )


def loss_ratio_audit(
    subject: Subject,
    options: LossRatioOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> LossRatioResult:
    """Run `loss_ratio` with checked options: what a spec's run calls."""
    rng = generator(rng)
    check_subject(subject)
    progress(0.0, "Choosing the fair metric")
    x = subject.space.encode(subject.data.frame) * category_units(subject.space)
    metric = choose_metric(subject.data, subject.space, x, options, rng)
    share = 0.4 if options.compare else 0.95
    moved = move_people(subject, metric, options, rng, part(progress, 0.05, share))
    progress(share, "Testing")
    tests = run_tests(subject.data.take(moved.used), moved, options)
    comparison = compare_models(subject, options, rng, part(progress, share, 0.97)) if options.compare else ()
    progress(0.97, "Writing the people's table")
    return _pack(subject, metric, moved, tests, comparison, options)


def check_labels(data: AuditData) -> None:
    """Raise `InputError` unless both outcomes are known to have happened."""
    if data.y is None:
        raise InputError(
            "data.label",
            "is missing: a loss compares the model with the true outcome",
            advice="name the label",
        )
    if data.y.all() or not data.y.any():
        raise InputError(
            "data.label",
            f"must take both outcomes among the {people(data.n)} audited, but takes one",
            advice="check data.label, data.favorable and data.keep",
        )


def check_subject(subject: Subject) -> None:
    """Raise `InputError` unless there are losses to compare."""
    check_labels(subject.data)
    if not subject.model.invents:
        raise InputError(
            "model",
            "must be able to score people who do not exist, and a column of predictions cannot",
            advice="bring the model itself, or train one",
        )
    if not subject.space.names:
        raise InputError(
            "data.features",
            "must hold a number or a category along which people can be moved, not text alone",
        )
    if subject.score_kind != "probability" and not isinstance(subject.model, NumberModel):
        raise InputError(
            "model",
            "must give probabilities, from which a loss is computed, but gives only labels or scores",
            advice="export it with its probabilities; where it predicts the number that data.label cuts, set "
            "model.predict: label",
        )


def _pack(
    subject: Subject,
    metric: FairMetric,
    moved: Moved,
    tests: Tests,
    comparison: tuple[dict[str, Any], ...],
    options: LossRatioOptions,
) -> LossRatioResult:
    data = subject.data.take(moved.used)
    words = words_of(subject, metric, options)
    standing = stand(
        tests.loss,
        tests.errors,
        words,
        tolerance=options.tolerance,
        level=options.level,
        material=options.material,
    )
    heat_map, weights = heat_map_of(subject, data, metric, options, moved.target.kind)
    order = np.argsort(-tests.ratios, kind="stable")[: options.worst]
    return LossRatioResult(
        options={**dataclasses.asdict(options), "loss": moved.target.loss, "steps": moved.steps},
        verdict=standing.verdict,
        finding=standing.finding,
        warnings=warnings_for(subject, metric, moved, tests, options),
        rows={"audited": subject.data.n, "used": data.n, "left_out": moved.left_out},
        **vars(standing.loss),
        error_ratio=standing.errors,
        people_needed=standing.people_needed,
        paper=tests.paper,
        floored=tests.floored,
        loss_test=tests.loss,
        error_test=tests.errors,
        words=words,
        method=moved.method,
        metric={
            "source": metric.source,
            "dimensions": metric.basis.shape[1],
            "encoded": len(subject.space.names),
            "weights": weights,
        },
        features=_features(subject, metric, moved, data.weights),
        curve=tests.curve,
        groups=tests.groups,
        histogram=histogram_of(tests.ratios, data.weights),
        worst=tuple(data.frame.index[order].tolist()),
        comparison=comparison,
        heat_map=heat_map,
        people=people_table(data, moved, tests.ratios),
        moves=moves_table(subject.space, data, moved, order),
    )


def _features(
    subject: Subject, metric: FairMetric, moved: Moved, weights: np.ndarray | None
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
    return tuple(sorted(found, key=lambda item: (-item.loading, -item.mean_absolute_move)))
