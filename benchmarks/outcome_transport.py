"""Speed and memory of outcome transport and recourse in one process.

python -m benchmarks.outcome_transport [binary|audit|slider|coverage ...]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.outcome_transport import outcome_transport
from audits.outcome_transport.bias.groups import group_list, measure, measure_flows, tie_ranges
from audits.outcome_transport.comparison.sides import ComparedSides, Side
from audits.outcome_transport.matching.optimal_face import optimal_face
from audits.outcome_transport.matching.outcomes import match_outcomes
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.recourse import RecourseOptions, recourse
from audits.recourse.figures import people as figures

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def bench_binary(n: int = 50_000) -> None:
    """50,000 x 50,000 binary outcomes, everybody different."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
    group = rng.integers(0, 4, n)
    names = tuple("abcd")
    sides = [
        Side(name, np.arange(n), (rng.random((n, 1)) < rate) * np.sqrt(2), group, names, group, names)
        for name, rate in (("source", 0.4), ("target", 0.5))
    ]
    comparison = ComparedSides(sides[0], sides[1], False, "decision", float(np.sqrt(2)), {}, ())
    before = _peak()

    def work() -> object:
        matched = match_outcomes(sides[0].outcomes, sides[1].outcomes)
        face = optimal_face(matched)
        measured = measure(comparison, matched, x, y, distance="l2", face=face)
        ranges = tie_ranges(matched, measured, group_list(sides[0]), distance="l2", face=face)
        return measure_flows(comparison, matched), ranges

    busy = time.process_time()
    seconds, _ = _timed(work)
    busy = time.process_time() - busy
    print(
        f"{n:,} x {n:,} binary outcomes, 6 features: {seconds:.1f} s ({busy:.1f} s of processor time), "
        f"peak {_peak():.2f} GB ({before:.2f} GB before)"
    )


def bench_slider(n: int = 1000) -> None:
    """Redrawing recourse at another α for 1,000 rejected people of a logistic model."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4 * n, 8)), columns=[f"x{k}" for k in range(8)])
    frame["group"] = rng.choice(list("ab"), len(frame))
    frame["label"] = (frame[["x0", "x1", "x2"]].sum(axis=1) + rng.normal(size=len(frame)) > 0.0).astype(int)
    features = tuple(f"x{k}" for k in range(8))
    spec = DataSpec(
        label="label",
        favorable=1,
        protected=("group",),
        features=features,
        roles={"actionable": features[:4], "mutable": (), "immutable": ()},
    )
    subject = make_subject(build_data(frame, spec), model_spec({"train": "logistic"}), test_size=0.6)
    seconds, result = _timed(
        lambda: recourse(subject, RecourseOptions(max_people=n, steps=tuple(np.linspace(0, 1, 21))))
    )
    figures.changes(result)  # type: ignore[arg-type]  # the first figure of a process loads plotly's validators
    whole, _ = _timed(lambda: figures.sliding(result))  # type: ignore[arg-type]
    print(
        f"recourse of {len(result.people):,} people at {len(result.grid)} α {seconds:.1f} s; figure with all "
        f"steps of the slider {1000 * whole:.0f} ms"
    )


def bench_audit(n: int = 50_000) -> None:
    """A whole audit of n people on each side with binary outcomes: roles, intervals, permutations, flows."""
    from tests.outcome_transport.conftest import crowd, scored

    frame = crowd(2 * n, seed=3, ties=False)
    rng = np.random.default_rng(1)
    for k in range(4):
        frame[f"more{k}"] = rng.normal(size=len(frame))
    frame["group"] = np.repeat(["a", "b"], n)
    roles = {"actionable": ("x", "z"), "mutable": ("more0", "more1"), "immutable": ("more2", "more3")}
    subject = scored(frame, roles=roles)
    busy = time.process_time()
    seconds, _ = _timed(
        lambda: outcome_transport(
            subject,
            OutcomeTransportOptions(source={"group": "a"}, target={"group": "b"}, outcome="decision"),
        )
    )
    busy = time.process_time() - busy
    print(
        f"whole audit of {n:,} x {n:,} binary outcomes, 6 features, 3 roles: {seconds:.1f} s "
        f"({busy:.1f} s of processor time), peak {_peak():.2f} GB"
    )


def bench_coverage(runs: int = 200, people: int = 200) -> None:
    """How often the intervals of everybody's bias, the distance and all shares hold the population's."""
    from tests.outcome_transport.conftest import crowd, scored

    a, b = {"group": "a"}, {"group": "b"}
    for ties in (True, False):
        everyone = crowd(8000, seed=11, ties=ties)
        everyone.loc[everyone["group"] == "a", "score"] *= 0.8
        exactly = OutcomeTransportOptions(source=a, target=b, permutations=0, draws=0)
        whole = outcome_transport(scored(everyone), exactly)
        unit = scored(everyone).space.scale
        inside = np.zeros(3)
        for k in range(runs):
            sample = everyone.sample(people, random_state=10_000 + k).reset_index(drop=True)
            subject = scored(sample)
            asked = OutcomeTransportOptions(source=a, target=b, draws=100, permutations=0, by=("group",))
            result = outcome_transport(subject, asked, rng=k)
            ratio = np.mean([subject.space.scale[name][1] / unit[name][1] for name in ("x", "z")])
            truth, flows = np.array(whole.flows.share), result.flows
            low, high = np.array(flows.sampling_low), np.array(flows.sampling_high)
            inside += [
                result.bias[0].mean.low <= whole.bias[0].mean.value / ratio <= result.bias[0].mean.high,
                result.wasserstein.low <= whole.wasserstein.value <= result.wasserstein.high,
                bool(((low <= truth) & (truth <= high)).all()),
            ]
        print(
            f"{'tied' if ties else 'continuous'} outcomes, {people} people, {runs} samples: bias "
            f"{inside[0] / runs:.3f}, distance {inside[1] / runs:.3f}, all shares "
            f"{inside[2] / runs:.3f} covered"
        )


BENCHES = {
    "binary": bench_binary,
    "audit": bench_audit,
    "slider": bench_slider,
    "coverage": bench_coverage,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()  # each within four minutes on a quiet machine
