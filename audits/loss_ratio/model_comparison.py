"""Models compared over repeated splits of the same people, as in the paper's Tables 1, 3 and 4."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.data import AuditData, FeatureSpace
from audits.data.partition import joined
from audits.errors import InputError
from audits.loss_ratio.attack.people import Moves, move_people
from audits.loss_ratio.attack.targets import target_of
from audits.loss_ratio.metrics.selection import choose_metric
from audits.loss_ratio.options import LossRatioOptions
from audits.loss_ratio.ratio_tests import run_tests
from audits.models import Model, Subject
from audits.models.factory import train_model
from audits.models.subspaces import category_units
from audits.models.trained.fair import balance_outcomes
from audits.models.trained.reductions import train_reductions
from audits.models.trained.training import check_parts, check_trainable
from audits.progress import Progress, part

_HELD_OUT = 0.3


def compare_models(
    subject: Subject, options: LossRatioOptions, rng: np.random.Generator, progress: Progress
) -> tuple[dict[str, Any], ...]:
    """Train each model of ``options.compare`` on each split and audit it on the people held out.

    All models are trained with both outcomes weighing the same. The fair metric is chosen again from the
    people held out, as for the audit itself; the threshold is 0.5.

    Returns
    -------
    tuple of dict
        A model each: ``model``, ``splits``; mean and standard deviation (``…_sd``) over the splits of
        ``balanced_accuracy``, ``lower_bound`` (T_n) and ``error_lower_bound``; shares ``rejected`` and
        ``error_rejected``; ``average_odds_difference`` and its ``…_sd`` by attribute.
    """
    if target_of(subject, subject.data, None).kind != "favorable":
        raise InputError(
            "compare",
            "is for models that predict favorable or not, like the fair baselines, but this one predicts "
            "the label itself",
            list(options.compare),
            "leave it out, or leave out model.predict",
        )
    people = subject.data if subject.training is None else joined(subject.training, subject.data)
    check_trainable(people)
    held = subject.data.n / people.n if subject.training is not None else _HELD_OUT
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in options.compare}
    total = options.splits * len(found)
    for split in range(options.splits):
        seed = int(rng.integers(2**31))
        training, rest = people.split(held, seed)
        check_parts(training, rest)
        space = FeatureSpace.fit(rest)
        metric = choose_metric(rest, space, space.encode(rest.frame) * category_units(space), options, rng)
        for place, (name, rows) in enumerate(found.items()):
            done = split * len(found) + place
            stretch = part(progress, done / total, (done + 1) / total)
            model = _train(balance_outcomes(training), name, seed, options, part(stretch, 0.0, 0.6))
            rival = Subject(rest, model, 0.5, space, training, (), "probability", "favorable")
            moved = move_people(rival, metric, options, rng, part(stretch, 0.6, 1.0))
            rows.append(_row(moved, options))
    return tuple(_summary(name, rows) for name, rows in found.items())


def _train(data: AuditData, name: str, seed: int, options: LossRatioOptions, progress: Progress) -> Model:
    if name == "reductions":
        return train_reductions(data, seed=seed, allowed=options.odds_slack, progress=progress)
    return train_model(data, name, seed=seed, progress=progress)  # type: ignore[arg-type]


def balanced_accuracy(right: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Mean over the outcomes of the share decided rightly; both must occur in `y` (n,)."""
    return float(
        np.mean([np.average(right[y == outcome], weights=weights[y == outcome]) for outcome in (True, False)])
    )


def average_odds_difference(
    decisions: np.ndarray, y: np.ndarray, group: np.ndarray, weights: np.ndarray
) -> float | None:
    """Mean over the outcomes of the difference in favorable shares: everyone else minus the largest group.

    Below 0 the others are decided favorably less often than equally deserving people of the largest
    group. None where one side has nobody with an outcome.
    """
    values, codes = np.unique(group, return_inverse=True)
    largest = codes == np.argmax(np.bincount(codes, weights, minlength=len(values)))
    gaps = []
    for outcome in (True, False):
        sides = [(y == outcome) & side for side in (~largest, largest)]
        if not all(side.any() for side in sides):
            return None
        others, most = (np.average(decisions[side], weights=weights[side]) for side in sides)
        gaps.append(others - most)
    return float(np.mean(gaps))


def _row(moved: Moves, options: LossRatioOptions) -> dict[str, Any]:
    held, tests = moved.data, run_tests(moved, options)
    y = np.asarray(held.y)
    weights = np.ones(held.n) if held.weights is None else held.weights
    decisions = moved.before.wrong != y
    bounds = tests.loss.lower_bound(options.level), tests.errors.lower_bound(options.level)
    return {
        "balanced_accuracy": balanced_accuracy(~moved.before.wrong, y, weights),
        "lower_bound": bounds[0],
        "error_lower_bound": bounds[1],
        "rejected": bounds[0] is not None and bounds[0] > options.tolerance,
        "error_rejected": bounds[1] is not None and bounds[1] > options.tolerance,
        "average_odds_difference": {
            name: average_odds_difference(
                decisions, y, held.groups[name].to_numpy(dtype=object).astype(str), weights
            )
            for name in held.protected
        },
    }


def _summary(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    summary: dict[str, Any] = {"model": name, "splits": len(rows)}
    for key in ("balanced_accuracy", "lower_bound", "error_lower_bound"):
        summary[key], summary[f"{key}_sd"] = _spread([row[key] for row in rows])
    for key in ("rejected", "error_rejected"):
        summary[key] = float(np.mean([row[key] for row in rows]))
    odds = [row["average_odds_difference"] for row in rows]
    pairs = {attribute: _spread([each[attribute] for each in odds]) for attribute in odds[0]}
    summary["average_odds_difference"] = {attribute: mean for attribute, (mean, _) in pairs.items()}
    summary["average_odds_difference_sd"] = {attribute: sd for attribute, (_, sd) in pairs.items()}
    return summary


def _spread(values: list[float | None]) -> tuple[float | None, float | None]:
    """Mean and standard deviation (divisor n - 1) of the values that exist."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    return float(np.mean(known)), float(np.std(known, ddof=1)) if len(known) > 1 else None
