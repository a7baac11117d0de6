"""What audits share: shares and a model's quality, of rows that are no person each, and verdicts of a run."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd

from audits.models.quality import accuracy, area_under_curve, by_design, log_loss
from audits.runs.multiple_testing import counted_together
from audits.stats import EVIDENCE, Estimate, judge, wilson
from audits.stats.design import design_share, make_design
from audits.stats.group_means import group_means
from audits.stats.intervals import cautious_difference
from audits.stats.sequential import DriftTest
from benchmarks.calibration import LEVEL, Facts, alarm, audited, covers, decided, inside

_PERSONS = "five rows a person, intra-class correlation .6"


def _drawn(kind: str, n: int, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Rows with group and decision, 0 or 1, and what is known of how they were sampled."""
    if kind.startswith("weights"):
        weights = rng.lognormal(0, np.sqrt(np.log(2)), n)  # coefficient of variation 1
        member, event, sampled = rng.random(n) < 0.5, rng.random(n) < share, {"weights": weights}
    else:
        (size, concentration), strata = (5, 2 / 3) if kind == _PERSONS else (10, 2.0), "strata" in kind
        own, mean = np.repeat(np.arange(n // size), size), share
        if strata:  # rates a half above and below, each stratum half of the clusters
            mean = share * np.where(np.arange(n // size) % 2 == 0, 1.5, 0.5)
        chance = rng.beta(mean * concentration, (1 - mean) * concentration, n // size)[own]
        member = (own % 2 == 0) if size == 5 else rng.random(len(own)) < 0.5
        event, sampled = rng.random(len(own)) < chance, {"cluster": own}
        if strata:
            sampled["strata"] = own % 2
    return pd.DataFrame({"group": member.astype(int), "decision": event.astype(int), **sampled})


def _designed(kind: str, n: int, share: float, number: int) -> Facts:
    frame = _drawn(kind, n, share, np.random.default_rng([number, n, round(100 * share)]))
    told = {name: frame[name].to_numpy() for name in ("cluster", "strata", "weights") if name in frame}
    member, event = (frame[name].to_numpy() == 1 for name in ("group", "decision"))
    one = design_share(make_design(len(frame), **told), member, event, level=LEVEL).estimate
    yield covers("interval of a share", one, share)


def _compared(kind: str, n: int, share: float, number: int) -> Facts:
    """Two groups alike in the overview; labels say nothing of decisions."""
    rng = np.random.default_rng([number, n, round(100 * share)])
    frame = _drawn(kind, n, share, rng)
    frame["label"] = rng.integers(0, 2, len(frame))
    column = "weights" if "weights" in frame else "ones"
    named = {name: name for name in ("strata", "cluster") if name in frame}
    sampling = {"weights": {"column": column, "kind": "sampling", **named}}
    design = {"person": "cluster"} if kind == _PERSONS else sampling
    people = frame.assign(ones=1.0)
    people = decided(people, "decision", label="label", favorable=1, protected=["group"], **design)
    told = audited("groups", people, number, bootstrap=0)
    yield alarm("evidence of a difference", told.verdict == EVIDENCE)


def _shares(n: int, share: float, number: int) -> Facts:
    """A share, and differences from another group's of as many people."""
    a, b = np.random.default_rng([number, n, round(100 * share), 1]).binomial(n, share, 2)
    yield covers("share of people", wilson(float(a), float(n), level=LEVEL), share)
    gap = cautious_difference(float(a), float(n), float(b), float(n), level=LEVEL)
    yield alarm("difference of two shares", not inside(gap, 0))


def _means(n: int, skewed: bool, number: int) -> Facts:
    """Means of groups against everybody else's, as recourse and outcome_transport compare them."""
    rng = np.random.default_rng([number, n, 2])
    values = rng.exponential(size=(4 * n)) if skewed else rng.normal(size=4 * n)
    of = np.arange(4 * n) // n // 3
    tested = group_means(values, np.ones(4 * n), of, level=LEVEL, permutations=199, rng=rng)
    yield alarm("means of groups", tested is not None and tested.p_value <= LEVEL)


def _drift(mixed: bool, number: int) -> Facts:
    """A monitor without drift, looked at after each of 100 batches of 20 people."""
    rng = np.random.default_rng([number, 9])

    def draw(n: int) -> np.ndarray:
        return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)) if mixed else rng.normal(size=n)

    test = DriftTest(draw(500), seed=number)
    for _ in range(100):
        test.update(draw(20))
    yield alarm("drift of a monitor", test.p_value <= LEVEL)  # the smallest so far


def _session(number: int) -> Facts:
    results = []
    for p in np.random.default_rng([number, 8]).uniform(size=8):
        judged = judge(Estimate(0.2, 0.1, 0.3, 400, "drawn"), immaterial=(-0.1, 0.1), p_value=p)
        results.append(SimpleNamespace(judged=judged, verdict=judged.verdict))
    wrong = EVIDENCE in [each.verdict for each in counted_together(results, [{"level": LEVEL}] * 8)]
    yield alarm("any evidence in a run, after Holm over it", wrong)


_ALIKE = 0.6  # of the variance is a person's own, the rest a row's


def _scored(rng: np.random.Generator, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,), and scores (n,) in [0, 1] that tell some of them; `who` each row is of (n,)."""

    def drawn() -> np.ndarray:
        own, other = rng.normal(size=who.max() + 1)[who], rng.normal(size=len(who))
        return np.sqrt(_ALIKE) * own + np.sqrt(1 - _ALIKE) * other

    true = drawn()
    return true > 0.2, 1 / (1 + np.exp(-(0.96 * true + 0.72 * drawn())))


def _stated(
    rng: np.random.Generator, who: np.ndarray, y: np.ndarray, scores: np.ndarray, *, weighted: bool = False
) -> tuple[Estimate, Estimate, Estimate]:
    """Accuracy, area under the curve and log loss as stated of these rows."""
    if weighted or who.max() + 1 < len(who):
        weights = np.exp(np.sqrt(np.log(2)) * rng.normal(size=who.max() + 1))[who] if weighted else None
        return by_design(make_design(len(y), weights=weights, cluster=who), scores, scores >= 0.5, y)
    one = np.ones(len(y))
    return accuracy(scores >= 0.5, y, one), area_under_curve(scores, y, one), log_loss(scores, y, one)


@cache
def _qualities() -> tuple[Estimate, Estimate, Estimate]:
    """What holds of everybody, from 800,000 rows: it depends neither on weights nor on rows a person."""
    rng, who = np.random.default_rng(7), np.arange(800_000)
    return _stated(rng, who, *_scored(rng, who))


def _quality(rows: int, each: int, weighted: bool, number: int) -> Facts:
    rng, who = np.random.default_rng([number, rows // each]), np.repeat(np.arange(rows // each), each)
    told = _stated(rng, who, *_scored(rng, who), weighted=weighted)
    names = "accuracy", "area under the curve", "log loss"
    for name, one, true in zip(names, told, _qualities(), strict=True):
        held = one.low is not None and one.high is not None and inside(one, true.value)
        yield covers(f"{name} of a model", held)


def _nearly_certain(rows: int, each: int, weighted: bool, number: int) -> Facts:
    """Scores of 2 and 98%, as often wrong as they say: of few people nobody may be."""
    people = rows // each
    rng = np.random.default_rng([number, people, 3])
    who, stated = np.repeat(np.arange(people), each), np.where(rng.random(people) < 0.5, 0.02, 0.98)
    y, scores = (rng.random(people) < stated)[who], (stated + rng.uniform(-1e-3, 1e-3, people))[who]
    told = _stated(rng, who, y, scores, weighted=weighted)[2]
    true = -0.02 * np.log(0.02) - 0.98 * np.log(0.98)
    yield covers("log loss of a model", told.low is None or inside(told, true))
