"""Do the loss ratio's intervals and verdicts hold? Means of skewed ratios, ratios of errors, whole audits.

Worlds in which the protected attributes are independent of everything are `loss_ratio_worlds`: how often some
attribute counts as told by the features, without which there is no evidence, and the verdicts of whole
audits. At the true ratio the test must reject in at most 5%.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from audits.data import DataSpec, FeatureSpace, build_data
from audits.loss_ratio.metrics.crossfit import learn_metric
from audits.models.subspaces import category_units
from audits.stats.means import MeanMethod, mean_test
from audits.stats.paired_ratio import PairedMethod, PairedRatio
from audits.stats.verdicts import EVIDENCE
from benchmarks.calibration.harness import (
    LEVEL,
    SLOW,
    Found,
    alarm,
    audited,
    covers,
    found,
    inside,
    simulation,
)
from benchmarks.loss_ratio_worlds import WORLDS, people, subject_of, tied

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
# share wrong before, share wrong after only, share wrong before only
RATIOS = ((0.05, 0.03, 0.0), (0.1, 0.05, 0.01), (0.2, 0.1, 0.02), (0.15, 0.04, 0.005), (0.3, 0.3, 0.0))
SIZES = (100, 400, 2000)
_TAILS = "“in simulations of such tails 95% intervals missed the true mean ratio in about one sample in ten”"
_TIES = (
    (0.25, "x5", "logistic"),
    (0.35, "x5", "logistic"),
    (0.5, "x5", "logistic"),
    (0.35, "x5", "mlp"),
    (1.0, "x0", "logistic"),
)


def _told(world: str, number: int) -> Iterator[Found]:
    """Whether some attribute counts as told: no more of them can be evidence."""
    n, features, told = (WORLDS[world][name] for name in ("n", "features", "attributes"))
    rng = np.random.default_rng(number)
    frame = people(n // 2, features, told, rng)
    names = tuple(name for name in frame if name not in {*told, "label"})
    spec = DataSpec(label="label", favorable="yes", protected=tuple(told), features=names)
    data = build_data(frame, spec)
    space = FeatureSpace.fit(data)
    x = space.encode(data.frame) * category_units(space)
    metrics = learn_metric(data, space, x, tuple(told), "learned", rng, level=LEVEL)
    yield alarm("an attribute counts as told by the features", any(each.told for each in metrics.told))


def _verdicts(world: str, model: str, number: int) -> Iterator[Found]:
    n, features, told = (WORLDS[world][name] for name in ("n", "features", "attributes"))
    frame = people(n, features, told, np.random.default_rng(number))
    result = audited("loss_ratio", subject_of(frame, told, model, number), number, steps=100)
    yield alarm("evidence of a difference", result.verdict == EVIDENCE)


def _tied(tie: float, column: str, model: str, number: int) -> Iterator[Found]:
    """A real tie that the model uses or not: evidence, and the true direction's ratio."""
    subject = tied(tie, column, np.random.default_rng([number, 31]), model=model)
    told = audited("loss_ratio", subject, number, steps=200)
    truth = audited("loss_ratio", subject, 0, metric="expert", directions=[{column: 1.0}], steps=200)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=column != "x0")
    yield covers("ratio of the true direction", inside(told.judged.interval, truth.statistic.value))


def _means(name: str, n: int, method: MeanMethod, number: int) -> Iterator[Found]:
    draw, truth = MEANS[name]
    test = mean_test(draw(np.random.default_rng([number, n, 5]), n), method=method)
    yield covers("mean ratio", inside(test.interval(LEVEL), truth), said=_TAILS)
    bound = test.lower_bound(LEVEL)
    wrong = bound is not None and bound > truth
    yield alarm("lower bound of the mean ratio above the truth", wrong, said=_TAILS)


def _bootstrap_t(name: str, n: int, number: int) -> Iterator[Found]:
    """Efron and Tibshirani (1993), section 12.5: what else there is; it covers no more under heavy tails."""
    draw, truth = MEANS[name]
    rng = np.random.default_rng([number, n, 5])
    values = draw(rng, n)
    drawn = values[rng.integers(0, n, (499, n))]
    t = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
    error = values.std(ddof=1) / np.sqrt(n)
    far, near, one_sided = values.mean() - error * np.quantile(t, [0.975, 0.025, 0.95])
    yield covers("mean ratio", bool(far <= truth <= near))
    yield alarm("lower bound of the mean ratio above the truth", bool(one_sided > truth))


def _ratios(
    wrong: float, new: float, gone: float, n: int, method: PairedMethod, number: int
) -> Iterator[Found]:
    """An interval of ratios holds what its test does not reject: no end need be searched for."""
    rng = np.random.default_rng([number, n, 6])
    counts = rng.multinomial(n, [wrong - gone, new, gone, 1 - wrong - new]).astype(float)
    p = PairedRatio(*counts, method=method).p_value((wrong - gone + new) / wrong)
    yield covers("ratio of error rates", p is None or 0.025 <= p <= 0.975)
    yield alarm("lower bound of the ratio of error rates above the truth", p is not None and p < LEVEL)


SETTINGS = [
    *(simulation("loss_ratio", f"independent, {world}", _told, world, part=SLOW) for world in WORLDS),
    *(
        simulation("loss_ratio", f"independent, {world}, {model}", _verdicts, world, model, part=SLOW)
        for world, model in product(WORLDS, ("logistic", "mlp"))
    ),
    *(
        simulation(
            "loss_ratio",
            f"a tie of {tie:g} deviations that a {model} model {use}, 2,000 rows",
            *(_tied, tie, column, model),
            part=SLOW,
        )
        for tie, column, model in _TIES
        for use in ("uses" if column == "x0" else "does not use",)
    ),
    *(
        simulation("loss_ratio", f"{name}, {n:,} people", _means, name, n, "skewness")
        for name, n in product(MEANS, SIZES)
    ),
    *(
        simulation(
            "loss_ratio",
            f"{100 * wrong:.0f}% wrong, true ratio {(wrong - gone + new) / wrong:.2f}, {n:,} people",
            *(_ratios, wrong, new, gone, n, "score"),
        )
        for (wrong, new, gone), n in product(RATIOS, SIZES)
    ),
]
MORE = [
    *(
        simulation("loss_ratio", f"{name}, {n:,} people, the paper's formula", _means, name, n, "normal")
        for name, n in product(MEANS, (30, 100, 400, 2000))
    ),
    *(simulation("loss_ratio", f"{name}, 30 people", _means, name, 30, "skewness") for name in MEANS),
    *(
        simulation("loss_ratio", f"{name}, {n} people, a bootstrap-t", _bootstrap_t, name, n)
        for name, n in product(MEANS, (30, 100))
    ),
    *(
        simulation(
            "loss_ratio",
            f"ratio {(wrong - gone + new) / wrong:.2f} of {100 * wrong:.0f}%, {n:,} people, delta method",
            *(_ratios, wrong, new, gone, n, "delta"),
        )
        for (wrong, new, gone), n in product(RATIOS, SIZES)
    ),
]
