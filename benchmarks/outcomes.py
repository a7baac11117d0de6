"""Speed and memory of outcome transport and recourse against POT, in one process, printed as ratios.

python -m benchmarks.outcomes [compas|binary|slider|coverage|german ...]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from audits.data import DataSpec, FeatureSpace, build_data, load_data
from audits.data.public import public_section
from audits.data.spec import data_spec
from audits.figures import recourse as figures
from audits.models import Subject, make_subject, model_spec
from audits.models.baselines import train_baseline
from audits.outcomes import outcome_transport, recourse
from audits.outcomes.comparison import Comparison, Side
from audits.outcomes.matching import Matched, match_outcomes
from audits.outcomes.measuring import Measured, group_list, measure, measure_flows, tie_ranges
from audits.outcomes.ties import optimal_face

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def compas_policies() -> tuple[Comparison, np.ndarray, np.ndarray]:
    """Section 4.2: the same 6,172 people under two logistic policies, of what happened and of the prediction.

    High risk, as published, is a decile score above 4. Outcomes are the chance of the good end.
    """
    section = public_section("compas", SHARED) | {"protected": ["race"]}
    data = load_data(data_spec(section))
    said = data.frame["decile_score"].to_numpy() <= 4
    truth = train_baseline(data, "logistic").score(data.frame)
    predicted = train_baseline(_relabelled(data, said), "logistic").score(data.frame)
    names, race = np.unique(data.groups["race"].to_numpy(dtype=str), return_inverse=True)
    sides = []
    for name, score in (("truth", truth), ("prediction", predicted)):
        outcome = _favorable(score)
        high = (outcome < 0.5).astype(int)
        labels = tuple(f"{one}, {end}" for one in names for end in ("low risk", "high risk"))
        sides.append(
            Side(
                name,
                np.arange(data.n),
                outcome[:, None] * np.sqrt(2),
                race,
                tuple(names),
                race * 2 + high,
                labels,
            )
        )
    z = FeatureSpace.fit(data).encode(data.frame)
    comparison = Comparison(sides[0], sides[1], True, "probability", float(np.sqrt(2)), {}, ())
    return comparison, z, said


def _relabelled(data, favorable):  # type: ignore[no-untyped-def]
    import dataclasses

    return dataclasses.replace(data, y=favorable)


def _favorable(score: np.ndarray) -> np.ndarray:
    return score if score.ndim == 1 else score[:, -1]


def bench_compas() -> None:
    """Coupling, biases and flows of 6,172 people; the range over all optimal couplings; what solvers
    return."""
    import ot

    comparison, z, _ = compas_policies()
    n = len(z)

    def work() -> tuple[Matched, Measured, object]:
        matched = match_outcomes(comparison.source.outcomes, comparison.target.outcomes)
        face = optimal_face(matched)
        return (
            matched,
            measure(comparison, matched, z, z, distance="l2", face=face),
            measure_flows(comparison, matched),
        )

    seconds, (matched, measured, cells) = _timed(work)  # type: ignore[misc]
    outcomes = len(matched.x), len(matched.y)
    print(
        f"{n:,} x {n:,}: coupling, biases and flows with their range {seconds:.2f} s; {outcomes} "
        f"different outcomes"
    )
    groups = group_list(comparison.source)
    face = optimal_face(matched)
    seconds, ranges = _timed(lambda: tie_ranges(matched, measured, groups, distance="l2", face=face))
    exact = sum(found[2] for found in ranges if found)
    print(f"range of {len(ranges)} groups' bias over all optimal couplings {seconds:.1f} s ({exact} exact)")

    p, q = comparison.source.outcomes[:, 0], comparison.target.outcomes[:, 0]
    line, _ = _timed(lambda: ot.emd_1d(p, q, metric="euclidean", dense=False))
    ours, _ = _timed(lambda: match_outcomes(comparison.source.outcomes, comparison.target.outcomes))
    costs = np.abs(p[:, None] - q)
    dense, full = _timed(lambda: ot.emd([], [], costs, numItermax=10**9))
    print(
        f"coupling alone {1000 * ours:.1f} ms; ot.emd_1d {1000 * line:.1f} ms; ot.emd {dense:.1f} s: "
        f"{dense / ours:,.0f} times"
    )
    sparse_1d = ot.emd_1d(p, q, metric="euclidean", dense=False).tocsr()
    order = np.random.default_rng(0).permutation(n)
    shuffled = ot.emd_1d(p[order], q, metric="euclidean", dense=False).tocsr()
    back = np.empty(n, dtype=int)
    back[order] = np.arange(n)
    plans = {"ot.emd": full, "ot.emd_1d": sparse_1d.toarray(), "shuffled": shuffled[back].toarray()}
    far = cdist(z, z)
    names = comparison.source.subgroups
    for name, plan in plans.items():
        inside = True
        for found, members in zip(ranges, groups.members, strict=True):
            value = (plan[members] * far[members]).sum() / plan[members].sum()
            inside &= found is None or found[0] - 1e-7 <= value <= found[1] + 1e-7
        rows = np.eye(len(names))[comparison.source.subgroup]
        columns = np.eye(len(names))[comparison.target.subgroup]
        mass = rows.T @ plan @ columns
        inside &= bool((mass >= cells.low - 1e-9).all() and (mass <= cells.high + 1e-9).all())
        print(
            f"{name}: cost {(plan * costs).sum():.8f} (ours {matched.cost:.8f}), within every range: {inside}"
        )
        _published(mass / mass.sum(axis=1, keepdims=True), names)
    print("even coupling:")
    _published(cells.mass / cells.mass.sum(axis=1, keepdims=True), names)
    share = cells.mass.sum(axis=1, keepdims=True)
    print("least and most over all optimal couplings:")
    _published(cells.low / share, names)
    _published(cells.high / share, names)
    for k, name in enumerate(groups.names):
        if name.startswith(("African-American, ", "Caucasian, ")) and ranges[k]:
            mean = measured.value[groups.members[k]].mean()
            print(
                f"  bias of {name}: {mean:.3f}, {ranges[k][0]:.3f} to {ranges[k][1]:.3f} over all "
                f"optimal couplings"
            )


def _published(share: np.ndarray, names: tuple[str, ...]) -> None:
    """The two shares of section 4.2 beside ours."""
    pairs = (
        ("Caucasian, low risk", "African-American, high risk", 43.8),
        ("African-American, high risk", "Caucasian, low risk", 48.3),
    )
    print(
        "  "
        + "; ".join(
            f"{a} to {b} {100 * share[names.index(a), names.index(b)]:.1f} % (paper {c} %)"
            for a, b, c in pairs
        )
    )


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
    comparison = Comparison(sides[0], sides[1], False, "decision", float(np.sqrt(2)), {}, ())
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
    seconds, result = _timed(lambda: recourse(subject, max_people=n, steps=tuple(np.linspace(0, 1, 21))))
    figures.reclassified(result)  # type: ignore[arg-type]  # the first figure of a process loads plotly's validators
    redraw, _ = _timed(lambda: (figures.score_distribution(result, 0.35), figures.reclassified(result)))  # type: ignore[arg-type]
    print(
        f"recourse of {len(result.people):,} people at {len(result.grid)} α {seconds:.1f} s; redraw at "
        f"another α {1000 * redraw:.0f} ms"
    )


def bench_coverage(runs: int = 60) -> None:
    """How often the interval of everybody's mean bias, and of the distance, holds the population's value."""
    from tests.outcomes.conftest import crowd, scored

    a, b = {"group": "a"}, {"group": "b"}
    for ties in (True, False):
        everyone = crowd(8000, seed=11, ties=ties)
        everyone.loc[everyone["group"] == "a", "score"] *= 0.8
        whole = outcome_transport(scored(everyone), source=a, target=b, permutations=0, draws=0)
        unit = scored(everyone).space.scale
        inside = np.zeros(2)
        for k in range(runs):
            sample = everyone.sample(200, random_state=k).reset_index(drop=True)
            subject = scored(sample)
            result = outcome_transport(
                subject, source=a, target=b, draws=100, permutations=0, rng=k, by=("group",)
            )
            ratio = np.mean([subject.space.scale[name][1] / unit[name][1] for name in ("x", "z")])
            inside += [
                result.bias[0].low <= whole.bias[0].mean / ratio <= result.bias[0].high,
                result.wasserstein.low <= whole.wasserstein.value <= result.wasserstein.high,
            ]
        print(
            f"{'tied' if ties else 'continuous'} outcomes, 200 people, {runs} samples: bias "
            f"{inside[0] / runs:.3f}, distance {inside[1] / runs:.3f} covered"
        )


def bench_german() -> None:
    """Section 4.3: who is mapped to men of 25 and more with good credit."""
    section = public_section("german", SHARED) | {"protected": ["sex", "age"], "bins": {"age": [18, 25, 76]}}
    data = load_data(data_spec(section))
    model = train_baseline(data, "logistic")
    subject = Subject(data, model, 0.5, FeatureSpace.fit(data), score_kind="probability")
    result = outcome_transport(subject, source="rejected", target="accepted", permutations=0, draws=0)
    paper = {"male & age [18, 25)": 69.85, "female & age [18, 25)": 66.0, "female & age [25, 76]": 63.21}
    flows = result.flows
    for r, row in enumerate(flows.rows):
        for c, column in enumerate(flows.columns):
            name = row.split(", unfav")[0]
            if column.startswith("male & age [25"):
                print(
                    f"{row} ({flows.row_people[r]:.0f}): {100 * flows.share[r][c]:.1f} % to {column} "
                    f"({100 * flows.low[r][c]:.1f} to {100 * flows.high[r][c]:.1f}), paper "
                    f"{paper.get(name, '-')}"
                )


BENCHES = {
    "compas": bench_compas,
    "binary": bench_binary,
    "slider": bench_slider,
    "german": bench_german,
    "coverage": bench_coverage,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()
