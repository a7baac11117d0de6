"""Do the loss ratio's intervals and verdicts hold? Means of skewed ratios, ratios of errors, whole audits.

In `WORLDS` the protected attributes are independent of everything: how often some attribute counts as told by
the features, without which there is no evidence, and the verdicts of whole audits. At the true ratio the test
must reject in at most 5%.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from audits.data import FeatureSpace, build_data, data_spec
from audits.loss_ratio.metrics.crossfit import learn_metric
from audits.models import Subject
from audits.models.subspaces import category_units
from audits.stats.means import MeanMethod, mean_test
from audits.stats.paired_ratio import PairedMethod, PairedRatio
from audits.stats.verdicts import EVIDENCE
from benchmarks.calibration import LEVEL, Facts, alarm, audited, covers, found, trained

Told = dict[str, float]

WORLDS: dict[str, tuple[int, int, Told]] = {
    "10 features, one attribute": (1000, 10, {"sex": 0.5}),
    "10 features, one group of 5%": (1000, 10, {"sex": 0.05}),
    "10 features, two attributes": (1000, 10, {"sex": 0.5, "race": 0.3}),
    "10 features, one attribute, 10,000 rows": (10_000, 10, {"sex": 0.5}),
    "40 features, 300 rows": (300, 40, {"sex": 0.5}),
    "attribute of five groups": (1000, 10, {"town": 5.0}),
}
"""Rows, features, attributes: features and label hang together, attributes are independent of everything."""


def people(n: int, features: int, attributes: Told, rng: np.random.Generator) -> pd.DataFrame:
    """Draw people whose label follows their features; a share above 1 is a number of groups."""
    x = rng.normal(size=(n, features))
    groups = {
        name: rng.choice([f"t{k}" for k in range(int(share))], n) if share > 1 else rng.random(n) < share
        for name, share in attributes.items()
    }
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(features)])
    for name, values in groups.items():
        frame[name] = np.where(values, "a", "b") if values.dtype == bool else values
    score = x @ np.r_[1.0, -1.0, 0.7, np.full(features - 3, 0.3)]
    frame["label"] = np.where(score + rng.logistic(size=n) > 0, "yes", "no")
    return frame.rename_axis("row")


def subject_of(frame: pd.DataFrame, attributes: Told, model: str, seed: int) -> Subject:
    """Train a model on half of the people."""
    return trained(frame, model, seed, **_section(frame, attributes))


def _section(frame: pd.DataFrame, attributes: Told) -> dict[str, Any]:
    features = [name for name in frame if name not in {*attributes, "label"}]
    return {"label": "label", "favorable": "yes", "protected": list(attributes), "features": features}


def tied(
    tie: float, column: str, rng: np.random.Generator, *, model: str = "logistic", n: int = 2000
) -> Subject:
    """People whose group moves one column by `tie` deviations; the label reads x0 to x4, and not x5."""
    told = {"sex": 0.5}
    frame = people(n, 6, told, rng)
    frame[column] += tie * (frame["sex"] == "a")
    score = frame[[f"x{k}" for k in range(5)]].to_numpy() @ np.array([1.0, -1.0, 0.7, 0.3, 0.3])
    frame["label"] = np.where(score + rng.logistic(size=n) > 0, "yes", "no")
    return subject_of(frame, told, model, int(rng.integers(2**31)))


Draw = Callable[[np.random.Generator, int], np.ndarray]
MEANS: dict[str, tuple[Draw, float]] = {
    "lognormal, σ 0.5": (lambda rng, n: np.exp(0.5 * rng.normal(size=n)), float(np.exp(0.125))),
    "lognormal, σ 1": (lambda rng, n: np.exp(rng.normal(size=n)), float(np.exp(0.5))),
    "lognormal, σ 1.5": (lambda rng, n: np.exp(1.5 * rng.normal(size=n)), float(np.exp(1.125))),
    "10% of people far above 1": (
        lambda rng, n: 1 + np.where(rng.random(n) < 0.1, rng.exponential(5, n), 0.02 * rng.random(n)),
        1.509,
    ),
    "Pareto, index 3": (lambda rng, n: 1 + rng.pareto(3, n), 1.5),
}


def _told(world: tuple[int, int, Told], number: int) -> Facts:
    """Whether some attribute counts as told: no more of them can be evidence."""
    n, features, told = world
    rng = np.random.default_rng(number)
    frame = people(n // 2, features, told, rng)
    data = build_data(frame, data_spec(_section(frame, told)))
    space = FeatureSpace.fit(data)
    x = space.encode(data.frame) * category_units(space)
    metrics = learn_metric(data, space, x, tuple(told), "learned", rng, level=LEVEL)
    yield alarm("an attribute counts as told by the features", any(each.told for each in metrics.told))


def _verdicts(world: tuple[int, int, Told], model: str, number: int) -> Facts:
    n, features, told = world
    frame = people(n, features, told, np.random.default_rng(number))
    result = audited("loss_ratio", subject_of(frame, told, model, number), number, steps=100)
    yield alarm("evidence of a difference", result.verdict == EVIDENCE)


def _tied(drawn: tuple[float, str, str], number: int) -> Facts:
    """A real tie that the model uses or not: evidence, and the true direction's ratio."""
    tie, column, model = drawn
    subject = tied(tie, column, np.random.default_rng([number, 31]), model=model)
    told = audited("loss_ratio", subject, number, steps=200)
    truth = audited("loss_ratio", subject, 0, metric="expert", directions=[{column: 1.0}], steps=200)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=column != "x0")
    yield covers("ratio of the true direction", told.judged.interval, truth.statistic.value)


def _means(drawn: tuple[Draw, float], n: int, method: MeanMethod, number: int) -> Facts:
    draw, truth = drawn
    test = mean_test(draw(np.random.default_rng([number, n, 5]), n), method=method)
    yield covers("mean ratio", test.interval(LEVEL), truth)
    bound = test.lower_bound(LEVEL)
    wrong = bound is not None and bound > truth
    yield alarm("lower bound of the mean ratio above the truth", wrong)


def _ratios(drawn: tuple[float, float, float], n: int, method: PairedMethod, number: int) -> Facts:
    """An interval of ratios holds what its test does not reject: no end need be searched for."""
    wrong, new, gone = drawn
    rng = np.random.default_rng([number, n, 6])
    counts = rng.multinomial(n, [wrong - gone, new, gone, 1 - wrong - new]).astype(float)
    p = PairedRatio(*counts, method=method).p_value((wrong - gone + new) / wrong)
    yield covers("ratio of error rates", p is None or 0.025 <= p <= 0.975)
    yield alarm("lower bound of the ratio of error rates above the truth", p is not None and p < LEVEL)
