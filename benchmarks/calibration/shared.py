"""What several audits share: shares of rows that are not one person each, and verdicts across a run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd

from audits.runs.multiple_testing import counted_together
from audits.stats import EVIDENCE, Estimate, judge, wilson
from audits.stats.design import design_share, make_design
from audits.stats.group_means import group_means
from audits.stats.intervals import cautious_difference
from audits.stats.sequential import DriftTest
from benchmarks.calibration.harness import (
    LEVEL,
    SLOW,
    Found,
    alarm,
    audited,
    covers,
    decided,
    inside,
    simulation,
)

_PERSONS = "five rows a person, intra-class correlation .6"
_CLUSTERS = "clusters of ten with both groups"
_KINDS = (_PERSONS, _CLUSTERS, "weights of CV 1", f"two strata, {_CLUSTERS}")
_SESSION = "eight audits of a run, p-values as claimed"


def _drawn(kind: str, n: int, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Rows with group and decision, 0 or 1, and what is known of how they were sampled."""
    if kind.startswith("weights"):
        weights = rng.lognormal(0, np.sqrt(np.log(2)), n)  # coefficient of variation 1
        member, event, sampled = rng.random(n) < 0.5, rng.random(n) < share, {"weights": weights}
    elif kind.startswith("two strata"):  # rates a half above and below, each stratum half of the clusters
        own = np.repeat(np.arange(n // 10), 10)
        mean = share * np.where(np.arange(n // 10) % 2 == 0, 1.5, 0.5)
        chance = rng.beta(mean * 2.0, (1 - mean) * 2.0)[own]
        member, event = rng.random(len(own)) < 0.5, rng.random(len(own)) < chance
        sampled = {"cluster": own, "strata": own % 2}
    else:
        size, concentration = (5, 2 / 3) if kind == _PERSONS else (10, 2.0)
        own = np.repeat(np.arange(n // size), size)
        chance = rng.beta(share * concentration, (1 - share) * concentration, n // size)[own]
        member = (own % 2 == 0) if size == 5 else rng.random(len(own)) < 0.5
        event, sampled = rng.random(len(own)) < chance, {"cluster": own}
    return pd.DataFrame({"group": member.astype(int), "decision": event.astype(int), **sampled})


def _designed(kind: str, n: int, share: float, number: int) -> Iterator[Found]:
    frame = _drawn(kind, n, share, np.random.default_rng([number, n, round(100 * share)]))
    told = {name: frame[name].to_numpy() for name in ("cluster", "strata", "weights") if name in frame}
    member, event = (frame[name].to_numpy() == 1 for name in ("group", "decision"))
    one = design_share(make_design(len(frame), **told), member, event, level=LEVEL).estimate
    yield covers("interval of a share", inside(one, share))


def _compared(kind: str, n: int, share: float, number: int) -> Iterator[Found]:
    """Two groups alike in the overview; labels say nothing of decisions."""
    rng = np.random.default_rng([number, n, round(100 * share)])
    frame = _drawn(kind, n, share, rng)
    frame["label"] = rng.integers(0, 2, len(frame))
    section: dict[str, object] = {"label": "label", "favorable": 1, "protected": ["group"]}
    if kind == _PERSONS:
        section["person"] = "cluster"
    else:
        column = "weights" if "weights" in frame else "ones"
        named = {name: name for name in ("strata", "cluster") if name in frame}
        section["weights"] = {"column": column, "kind": "sampling", **named}
    people = decided(frame.assign(ones=1.0), "decision", **section)
    told = audited("groups", people, number, bootstrap=0)
    yield alarm("evidence of a difference", told.verdict == EVIDENCE)


def _shares(n: int, share: float, number: int) -> Iterator[Found]:
    """A share, and differences from another group's of as many people."""
    a, b = np.random.default_rng([number, n, round(100 * share), 1]).binomial(n, share, 2)
    yield covers("share of people", inside(wilson(float(a), float(n), level=LEVEL), share))
    gap = cautious_difference(float(a), float(n), float(b), float(n), level=LEVEL)
    yield alarm("difference of two shares", not inside(gap, 0))


def _means(n: int, skewed: bool, number: int) -> Iterator[Found]:
    """Means of groups against everybody else's, as recourse and outcome_transport compare them."""
    rng = np.random.default_rng([number, n, 2])
    values = rng.exponential(size=(4 * n)) if skewed else rng.normal(size=4 * n)
    of = np.arange(4 * n) // n // 3
    tested = group_means(values, np.ones(4 * n), of, level=LEVEL, permutations=199, rng=rng)
    yield alarm("means of groups", tested is not None and tested.p_value <= LEVEL)


def _drift(shape: str, number: int) -> Iterator[Found]:
    """A monitor without drift, looked at after each of 100 batches of 20 people."""

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        if shape == "normal":
            return np.asarray(rng.normal(size=n))
        return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n))

    rng = np.random.default_rng([number, 9])
    test = DriftTest(draw(500, rng), seed=number)
    for _ in range(100):
        test.update(draw(20, rng))
    yield alarm("drift of a monitor", test.p_value <= LEVEL)  # the smallest so far


def _session(number: int) -> Iterator[Found]:
    results = []
    for p in np.random.default_rng([number, 8]).uniform(size=8):
        judged = judge(Estimate(0.2, 0.1, 0.3, 400, "drawn"), immaterial=(-0.1, 0.1), p_value=p)
        results.append(SimpleNamespace(judged=judged, verdict=judged.verdict))
    wrong = EVIDENCE in [each.verdict for each in counted_together(results, [{"level": LEVEL}] * 8)]
    yield alarm("any evidence in a run, after Holm over it", wrong)


SETTINGS = [
    *(
        simulation(audit, f"{kind}, {n:,} rows, share {share:g}", draw, kind, n, share, part=part)
        for kind, n, share in product(_KINDS, (100, 400, 2000), (0.5, 0.1))
        for audit, draw, part in (("all", _designed, 1.0), ("groups", _compared, SLOW))
    ),
    *(
        simulation("all", f"{n:,} people, share {share:g}", _shares, n, share)
        for n, share in product((20, 100, 1000), (0.5, 0.1, 0.02))
    ),
    *(
        simulation("all", f"groups of {n:,} and {3 * n:,}, {words} values, equal means", _means, n, skewed)
        for n in (100, 1000)
        for skewed, words in ((False, "normal"), (True, "skewed"))
    ),
    simulation("all", _SESSION, _session),
    *(
        simulation("all", f"100 looks at 20 people each, reference of 500, {shape}", _drift, shape)
        for shape in ("normal", "six of ten exactly 0")
    ),
]
