"""What several audits share: shares of rows that are not one person each, and verdicts across a run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd

from audits.data import build_data, data_spec
from audits.groups import GroupsOptions, groups
from audits.models import make_subject, model_spec
from audits.runs.multiple_testing import verdicts_across
from audits.stats import EVIDENCE, Estimate, judge, wilson
from audits.stats.design import design_share, make_design
from audits.stats.group_means import group_means
from audits.stats.intervals import cautious_difference
from audits.stats.sequential import DriftTest
from benchmarks.calibration import SLOW, Row, Simulation

LEVEL = 0.05
_PERSONS = "five rows a person, intra-class correlation .6"
_KINDS = (
    _PERSONS,
    "clusters of ten with both groups",
    "weights of CV 1",
    "two strata, clusters of ten with both groups",
)


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for kind in _KINDS:
        for n in (100, 400, 2000):
            for share in (0.5, 0.1):
                setting = f"{kind}, {n:,} rows, share {share:g}"
                found.append(Simulation("all", setting, partial(_designed, kind, n, share, setting)))
                found.append(Simulation("groups", setting, partial(_compared, kind, n, share, setting), SLOW))
    for n in (20, 100, 1000):
        for share in (0.5, 0.1, 0.02):
            setting = f"{n:,} people, share {share:g}"
            found.append(Simulation("all", setting, partial(_shares, n, share, setting)))
    for n in (100, 1000):
        for skewed in (False, True):
            setting = f"groups of {n:,} and {3 * n:,}, {'skewed' if skewed else 'normal'} values, equal means"
            found.append(Simulation("all", setting, partial(_means, n, skewed, setting)))
    found.append(Simulation("all", _SESSION, _session))
    for shape in ("normal", "six of ten exactly 0"):
        setting = f"100 looks at 20 people each, reference of 500, {shape}"
        found.append(Simulation("all", setting, partial(_drift, shape, setting)))
    return found


def _designed(kind: str, n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    covered = 0
    for number in numbers:
        frame = _drawn(kind, n, share, np.random.default_rng([number, n, round(100 * share)]))
        told = {name: frame[name].to_numpy() for name in ("cluster", "strata", "weights") if name in frame}
        member, event = (frame[name].to_numpy() == 1 for name in ("group", "decision"))
        one = design_share(make_design(len(frame), **told), member, event, level=LEVEL).estimate
        covered += bool((one.low or 0.0) <= share <= (one.high or 1.0))
    yield Row("all", "interval of a share", setting, "coverage", 1 - LEVEL, covered, len(numbers))


def _compared(kind: str, n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    """Two groups alike in the overview; labels say nothing of decisions."""
    alarms = 0
    for number in numbers:
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
        data = build_data(frame.assign(ones=1.0), data_spec(section))
        people = make_subject(data, model_spec({"predictions": {"label": "decision"}}))
        alarms += groups(people, GroupsOptions(bootstrap=0), rng=number).verdict == EVIDENCE
    yield Row("groups", "evidence of a difference", setting, "false alarms", LEVEL, alarms, len(numbers))


def _shares(n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    """A share, and differences from another group's of as many people."""
    covered = alarms = 0
    for number in numbers:
        a, b = np.random.default_rng([number, n, round(100 * share), 1]).binomial(n, share, 2)
        one = wilson(float(a), float(n), level=LEVEL)
        covered += bool((one.low or 0.0) <= share <= (one.high or 1.0))
        gap = cautious_difference(float(a), float(n), float(b), float(n), level=LEVEL)
        alarms += not (gap.low or -1.0) <= 0 <= (gap.high or 1.0)
    worlds = len(numbers)
    yield Row("all", "share of people", setting, "coverage", 1 - LEVEL, covered, worlds)
    yield Row("all", "difference of two shares", setting, "false alarms", LEVEL, alarms, worlds)


def _means(n: int, skewed: bool, setting: str, numbers: range) -> Iterator[Row]:
    """Means of groups against everybody else's, as recourse and outcome_transport compare them."""
    alarms = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 2])
        values = np.concatenate([rng.exponential(size=(4 * n)) if skewed else rng.normal(size=4 * n)])
        tested = group_means(
            values, np.ones(4 * n), np.arange(4 * n) // n // 3, level=LEVEL, permutations=199, rng=rng
        )
        alarms += tested is not None and tested.p_value <= LEVEL
    yield Row("all", "means of groups", setting, "false alarms", LEVEL, alarms, len(numbers))


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


def _drift(shape: str, setting: str, numbers: range) -> Iterator[Row]:
    """A monitor without drift, looked at after each of 100 batches of 20 people."""

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        if shape == "normal":
            return np.asarray(rng.normal(size=n))
        return np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n))

    alarms = 0
    for number in numbers:
        rng = np.random.default_rng([number, 9])
        test = DriftTest(draw(500, rng), seed=number)
        for _ in range(100):
            test.update(draw(20, rng))
        alarms += test.p_value <= LEVEL  # the smallest so far
    yield Row("all", "drift of a monitor", setting, "false alarms", LEVEL, alarms, len(numbers))


_SESSION = "eight audits of a run, p-values as claimed"


def _session(numbers: range) -> Iterator[Row]:
    alarms = 0
    for number in numbers:
        results = []
        for p in np.random.default_rng([number, 8]).uniform(size=8):
            judged = judge(Estimate(0.2, 0.1, 0.3, 400, "drawn"), immaterial=(-0.1, 0.1), p_value=p)
            results.append(SimpleNamespace(judged=judged, verdict=judged.verdict))
        alarms += EVIDENCE in verdicts_across(results, [LEVEL] * 8)
    shown = "any evidence in a run, after Holm over it"
    yield Row("all", shown, _SESSION, "false alarms", LEVEL, alarms, len(numbers))
