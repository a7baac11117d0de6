"""Speed and memory of outcome transport and recourse against POT, in one process, printed as ratios.

python -m benchmarks.outcome_transport [compas|binary|audit|slider|german|coverage ...]
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
from audits.data.parsing import data_spec
from audits.data.public import public_section
from audits.models import Subject, make_subject, model_spec
from audits.models.trained.baselines import train_baseline
from audits.outcome_transport import outcome_transport
from audits.outcome_transport.bias.groups import MeasuredBias, group_list, measure, measure_flows, tie_ranges
from audits.outcome_transport.comparison.sides import ComparedSides, Side, compare
from audits.outcome_transport.matching.outcomes import MatchedOutcomes, match_outcomes
from audits.outcome_transport.matching.ties import optimal_face
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


def compas_policies() -> tuple[ComparedSides, np.ndarray, np.ndarray]:
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
    comparison = ComparedSides(sides[0], sides[1], True, "probability", float(np.sqrt(2)), {}, ())
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

    def work() -> tuple[MatchedOutcomes, MeasuredBias, object]:
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
    names = comparison.source.subgroups
    for name, plan in _solvers(p, q, full).items():
        cost, inside, mass = _inside(comparison, cells, ranges, z, z, plan)
        print(f"{name}: cost {cost:.8f} (ours {matched.cost:.8f}), within every range: {inside}")
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


def _solvers(p: np.ndarray, q: np.ndarray, full: np.ndarray) -> dict[str, np.ndarray]:
    """What POT's solvers return: given the whole matrix, on a line, and on a line with rows shuffled."""
    import ot

    order = np.random.default_rng(0).permutation(len(p))
    back = np.argsort(order)
    line = ot.emd_1d(p, q, metric="euclidean", dense=False).toarray()
    shuffled = ot.emd_1d(p[order], q, metric="euclidean", dense=False).tocsr()[back].toarray()
    return {"ot.emd": full, "ot.emd_1d": line, "shuffled": shuffled}


def _inside(  # type: ignore[no-untyped-def]
    comparison: ComparedSides, cells, ranges, x: np.ndarray, y: np.ndarray, plan: np.ndarray
) -> tuple[float, bool, np.ndarray]:
    """Cost of a plan, whether its shares and biases lie in our ranges, and its masses."""
    far = cdist(x, y)
    inside = True
    for found, members in zip(ranges, group_list(comparison.source).members, strict=True):
        value = (plan[members] * far[members]).sum() / plan[members].sum()
        inside &= found is None or found[0] - 1e-7 <= value <= found[1] + 1e-7
    rows, columns = (np.eye(len(s.subgroups))[s.subgroup] for s in (comparison.source, comparison.target))
    mass = rows.T @ plan @ columns
    inside &= bool((mass >= cells.low - 1e-9).all() and (mass <= cells.high + 1e-9).all())
    costs = np.abs(comparison.source.outcomes[:, :1] - comparison.target.outcomes[:, 0])
    return float((plan * costs).sum()), inside, mass


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
    figures.reclassified(result)  # type: ignore[arg-type]  # the first figure of a process loads plotly's validators
    whole, _ = _timed(lambda: figures.sliding(result))  # type: ignore[arg-type]
    one, _ = _timed(lambda: (figures.score_distribution(result, 0.35), figures.changes(result, 0.35)))  # type: ignore[arg-type]
    print(
        f"recourse of {len(result.people):,} people at {len(result.grid)} α {seconds:.1f} s; figure with all "
        f"steps of the slider {1000 * whole:.0f} ms, one step {1000 * one:.0f} ms"
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


def bench_german() -> None:
    """Section 4.3: who is mapped to men of 25 and more with good credit, by us and by POT's solvers."""
    import ot

    section = public_section("german", SHARED) | {"protected": ["sex", "age"], "bins": {"age": [18, 25, 76]}}
    data = load_data(data_spec(section))
    model = train_baseline(data, "logistic")
    subject = Subject(data, model, 0.5, FeatureSpace.fit(data), score_kind="probability")
    options = OutcomeTransportOptions(source="rejected", target="accepted")
    comparison = compare(subject, options, np.random.default_rng(0))
    matched = match_outcomes(comparison.source.outcomes, comparison.target.outcomes)
    z = FeatureSpace.fit(data).encode(data.frame)
    x, y = z[comparison.source.positions], z[comparison.target.positions]
    face = optimal_face(matched)
    measured = measure(comparison, matched, x, y, distance="l2", face=face)
    ranges = tie_ranges(matched, measured, group_list(comparison.source), distance="l2", face=face)
    cells = measure_flows(comparison, matched)
    p, q = comparison.source.outcomes[:, 0], comparison.target.outcomes[:, 0]
    rows, columns = comparison.source.subgroups, comparison.target.subgroups
    c = next(k for k, name in enumerate(columns) if name.startswith("male & age [25"))
    paper = {"male & age [18, 25)": 69.85, "female & age [18, 25)": 66.0, "female & age [25, 76]": 63.21}
    masses = {"even": cells.mass}
    full = ot.emd([], [], np.abs(p[:, None] - q), numItermax=10**9)
    for name, plan in _solvers(p, q, full).items():
        cost, inside, masses[name] = _inside(comparison, cells, ranges, x, y, plan)
        print(f"{name}: cost {cost:.8f} (ours {matched.cost:.8f}), within every range: {inside}")
    for r, row in enumerate(rows):
        total = cells.mass[r].sum()
        shares = ", ".join(f"{name} {100 * mass[r, c] / mass[r].sum():.1f}" for name, mass in masses.items())
        print(
            f"{row} to {columns[c]}: {shares} % ({100 * cells.low[r, c] / total:.1f} to "
            f"{100 * cells.high[r, c] / total:.1f}), paper {paper.get(row.split(', unfav')[0], '-')}"
        )


BENCHES = {
    "compas": bench_compas,
    "binary": bench_binary,
    "audit": bench_audit,
    "slider": bench_slider,
    "german": bench_german,
    "coverage": bench_coverage,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()  # each within four minutes on a quiet machine
