"""Speed and memory of our own ways beside a peer's, or beside the obvious way, in one process.

    python -m benchmarks.speed [NAME ...]        all: a quarter of an hour, 5 GB

A line is one work: its seconds by the clock (best of some tries), seconds of the processor, peak memory, and
how long the peer took. Peers are given what they need ready made (`ot.emd` its finished matrix, pandas what
the file is); ours counts everything. On a machine that is shared, the ratio is what counts.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from threadpoolctl import threadpool_limits

from audits.data import (
    DataSpec,
    FeatureSpace,
    build_data,
    data_spec,
    load_data,
    public_section,
    read_table,
)
from audits.models import Subject, make_subject, model_spec

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
Points = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Taken:
    """What a work took: seconds by the clock and of the processor, peak memory in GB; and its result."""

    seconds: float
    processor: float
    gigabytes: float
    result: Any


def taken(work: Callable[[], object], times: int = 1) -> Taken:
    """Return the fastest of some tries; the peak is the process's, reset before each."""
    found = []
    for _ in range(times):
        Path("/proc/self/clear_refs").write_text("5")
        began, busy = time.perf_counter(), time.process_time()
        result = work()
        spent = time.perf_counter() - began, time.process_time() - busy
        peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
        found.append(Taken(*spent, int(peak) / 2**20, result))
    return min(found, key=lambda each: each.seconds)


def line(what: str, ours: Taken, peer: Taken | None = None, note: str = "") -> str:
    """Word one line of the table."""
    told = f"{what:52} {ours.seconds:9.4f} s {ours.processor:8.2f} s {ours.gigabytes:6.2f} GB"
    if peer is not None:
        clock, busy = ours.seconds / peer.seconds, ours.processor / max(peer.processor, 1e-9)
        told += f" | {peer.seconds:9.4f} s {peer.processor:8.2f} s {peer.gigabytes:6.2f} GB"
        told += f", ratio {clock:.3f} by the clock, {busy:.3f}"
    return f"{told}  {note}"


def gaussian(n: int, m: int | None = None, d: int = 8) -> Points:
    """Two clouds, half a deviation apart in each of d features."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m or n, d)) + 0.5


def clusters(n: int) -> Points:
    """Twelve far clusters of six features, not equally full on both sides."""
    rng = np.random.default_rng(0)
    centers = 20 * rng.normal(size=(12, 6))
    x, y = (centers[rng.integers(12, size=n)] + 0.3 * rng.normal(size=(n, 6)) for _ in range(2))
    return x, y


def heavy_tails(n: int) -> Points:
    """Two clouds of Student's t with one and a half degrees of freedom."""
    rng = np.random.default_rng(0)
    return rng.standard_t(1.5, size=(n, 8)), rng.standard_t(1.5, size=(n, 8))


def adult(n: int) -> Points:
    """Women and men of Adult, drawn at random: five z-scored numbers, the rest one-hot, d about 100."""
    data = load_data(data_spec(public_section("adult", SHARED)))
    names = [name for name in data.features if name not in {"sex", "fnlwgt"}]
    points = FeatureSpace.fit(data, names).encode(data.frame)
    rng = np.random.default_rng(0)
    women, men = (np.flatnonzero(data.members({"sex": sex})) for sex in ("Female", "Male"))
    return points[rng.permutation(women)[:n]], points[rng.permutation(men)[:n]]


def transport() -> Iterator[str]:
    """Exact couplings, the plan written out person by person, against dense `ot.emd`."""
    from audits.transport import estimated_bytes, estimated_seconds, exact_coupling, pairwise_cost
    from audits.transport.simplex import _pot
    from tests.transport.published import lipton_hiring

    cases: dict[str, tuple[Callable[[], Points], bool, Any]] = {
        "line 6,172": (partial(gaussian, 6_172, d=1), True, "l1_squared"),
        "gaussian 5,000": (partial(gaussian, 5_000), True, "l1_squared"),
        "gaussian 10,000": (partial(gaussian, 10_000), True, "l1_squared"),
        "gaussian 20,000": (partial(gaussian, 20_000), False, "l1_squared"),
        "gaussian 200 x 20,000": (partial(gaussian, 200, 20_000), True, "l1_squared"),
        "hiring 10,000": (partial(lipton_hiring, 10_000), True, "l1_squared"),
        "hiring 10,000 l1": (partial(lipton_hiring, 10_000), True, "l1"),
        "clusters 5,000": (partial(clusters, 5_000), True, "l1_squared"),
        "heavy tails 5,000": (partial(heavy_tails, 5_000), True, "l1_squared"),
        "adult 10,000": (partial(adult, 10_000), False, "l1_squared"),
        "adult 5,000": (partial(adult, 5_000), True, "l1_squared"),
    }
    for name, (make, dense, cost) in cases.items():
        if name.startswith("adult") and not SHARED.is_dir():
            continue
        x, y = make()

        def written_out(x: np.ndarray = x, y: np.ndarray = y, cost: Any = cost) -> Any:
            coupling = exact_coupling(x, y, cost=cost)
            _ = coupling.plan
            return coupling

        ours = taken(written_out, 20 if x.shape[1] == 1 else 2)
        sizes, found = (len(x), len(y), x.shape[1]), ours.result
        note = f"expected {estimated_seconds(*sizes):.3g} s, {estimated_bytes(*sizes) / 2**30:.1f} GB more; "
        note += f"cost {found.cost:.9g}, proved to {found.slack / (found.cost or 1.0):.0e}"
        costs = pairwise_cost(x, y, cost) if dense else None
        emd = partial(_pot().emd, [], [], costs, numItermax=10**9)
        yield line(name, ours, taken(emd) if dense else None, note)


def decided(n: int, d: int = 8) -> Subject:
    """Two Gaussian groups of `n` people in `d` features, decided by a noisy sum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2 * n, d)) + np.repeat([0.0, 0.5], n)[:, None]
    features = tuple(f"x{k}" for k in range(d))
    frame = pd.DataFrame(x, columns=list(features)).assign(group=["a"] * n + ["b"] * n)
    frame["decision"] = (x.sum(1) + rng.normal(size=2 * n) > 0).astype(int)
    spec = DataSpec(label="decision", favorable=1, protected=("group",), features=features)
    return make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))


def flipset() -> Iterator[str]:
    """A whole flipset run, with all that a user gets, against dense `ot.emd` alone."""
    from audits.transport import pairwise_cost
    from audits.transport.simplex import _pot
    from tests.flipset.conftest import audited

    for n in (5_000, 10_000, 20_000):
        subject = decided(n)
        ours = taken(partial(audited, subject, source={"group": "a"}, target={"group": "b"}))
        peer = None
        if n <= 10_000:  # beyond, the matrix needs 16 GB and more
            z, weights = subject.space.encode(subject.data.frame), np.full(n, 1.0 / n)
            costs = pairwise_cost(z[:n], z[n:], "l1_squared")
            peer = taken(partial(_pot().emd, weights, weights, costs, numItermax=2**62))
        told = ours.result
        note = f"flips {told.positive.size:,.0f} and {told.negative.size:,.0f}"
        yield line(f"flipset, {n:,} a group", ours, peer, note)


def reading() -> Iterator[str]:
    """Adult with everything detected against `pandas.read_csv` told everything."""
    files = [SHARED / "adult.data", SHARED / "adult.test"]
    options: dict[str, Any] = {"header": None, "skipinitialspace": True, "na_values": "?"}
    spec = data_spec(public_section("adult", SHARED))
    data = load_data(spec)
    space = FeatureSpace.fit(data)
    points = space.encode(data.frame)

    def with_pandas() -> pd.DataFrame:
        return pd.concat([pd.read_csv(path, skiprows=k, **options) for k, path in enumerate(files)])

    peer = taken(with_pandas, 5)
    for what, work in {
        "read_table, finding everything": partial(read_table, files),
        "load_data (read, recode, groups, digest)": partial(load_data, spec),
        "FeatureSpace.fit": partial(FeatureSpace.fit, data),
        "FeatureSpace.encode": partial(space.encode, data.frame),
        "FeatureSpace.decode": partial(space.decode, points),
    }.items():
        yield line(what, taken(work, 5), peer)


def executor() -> Iterator[str]:
    """What a warm worker adds to a small run; seeds differ, so that nothing is taken from a store."""
    from audits.data.samples import write_samples
    from audits.runs.documents import load_document
    from audits.runs.executors.pool import InlineExecutor, ProcessExecutor

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_samples("hiring", folder)
        people = pd.read_csv(folder / "hiring.csv")
        people[:: len(people) // 400].to_csv(folder / "hiring.csv", index=False)
        document = load_document(folder / "hiring.yaml")
        [audit] = document["audits"]
        small = {"flipset": {**audit["flipset"], "permutations": 9, "bootstrap": 100}}
        seeds = iter(range(1000))

        def run(executor: InlineExecutor | ProcessExecutor) -> object:
            spec = {**document, "seed": next(seeds), "audits": [small]}
            return executor.submit(spec, folder).result()

        with ProcessExecutor(1, base=folder / "home") as warm:
            yield line("warming a worker", taken(warm.wait_warm))
            process, inline = (taken(partial(run, each), 15) for each in (warm, InlineExecutor()))
        yield line("a small run in a warm worker, against this process", process, inline)


def sensitivity() -> Iterator[str]:
    """The pass over very many people against the two networks' forward passes alone, on one thread."""
    from audits.models.networks.dense import Dense
    from audits.sensitivity.measurement.gradients import CHUNK, AuditedModel, Status, measure

    features, width, people = 95, 32, 400_000  # the paper's Adult networks
    rng = np.random.default_rng(0)

    def draw() -> Dense:
        pairs = pairwise((features, width, width, 1))
        weights = tuple(rng.normal(size=pair) / np.sqrt(pair[0]) for pair in pairs)
        return Dense(weights, (np.zeros(width), np.zeros(width), np.zeros(1))).astype(np.float32)

    audited, status = AuditedModel(draw()), Status("sex", ("f", "m"), draw())
    z = rng.normal(size=(people, features)).astype(np.float32)

    def forward() -> None:
        for start in range(0, people, CHUNK):
            audited.network.outputs(z[start : start + CHUNK])
            status.network.outputs(z[start : start + CHUNK])

    with threadpool_limits(1):
        blocks = [slice(k, min(k + 8, features)) for k in range(0, features, 8)]  # a raw column each
        ours, peer = taken(partial(measure, z, audited, [status], blocks), 5), taken(forward, 5)
    yield line(
        f"sensitivity of {people:,} people",
        ours,
        peer,
        f"{people / ours.processor:,.0f} people a second",
    )


_HIDDEN, _STEPS, _PRICE, _SIZE, _CHUNK = 50, 500, 50.0, 0.01, 1024


def products(network: Any, x: Any, matrix: Any) -> None:
    """The five products of a step of a flow and nothing else, in the same chunks."""
    import torch

    first, last = network[0].weight.detach(), network[2].weight.detach()
    with torch.inference_mode():
        for start in range(0, len(x), _CHUNK):
            at = x[start : start + _CHUNK]
            hidden, out = torch.empty(len(at), _HIDDEN), torch.empty(len(at), 1)
            back, gradient, pull = torch.empty_like(hidden), torch.empty_like(at), torch.empty_like(at)
            for _ in range(_STEPS):
                torch.mm(at, first.T, out=hidden)
                torch.mm(hidden, last.T, out=out)
                torch.mm(out, last, out=back)
                torch.mm(back, first, out=gradient)
                torch.mm(at, matrix, out=pull)


def infairness(
    network: Any, x: np.ndarray, y: np.ndarray, basis: np.ndarray
) -> Callable[[], np.ndarray] | None:
    """InFairness's auditor on the same work, or None where it is not there.

    inFairness 0.2.3 is no requirement: unpack it somewhere of its own, and name the folder as INFAIRNESS. Its
    step is on the mean over the batch, so its learning rate is ours times the number of people.
    """
    import torch

    if os.environ.get("INFAIRNESS"):
        sys.path.append(os.environ["INFAIRNESS"])
    try:
        from inFairness.auditor import SenSRAuditor
        from inFairness.distances import SensitiveSubspaceDistance
    except ImportError as error:
        print(f"inFairness is not here ({error}); its time is left out.")
        return None
    distance = SensitiveSubspaceDistance()
    distance.fit(torch.tensor(basis, dtype=torch.float32))
    loss = torch.nn.BCEWithLogitsLoss(reduction="none")
    auditor = SenSRAuditor(loss, distance, _STEPS, _SIZE * len(x), max_noise=0.0, min_noise=0.0)
    points = torch.tensor(x, dtype=torch.float32)
    labels = torch.tensor(y, dtype=torch.float32)[:, None]

    def work() -> np.ndarray:
        return auditor.generate_worst_case_examples(
            network, points, labels, torch.tensor(_PRICE), torch.optim.SGD
        ).numpy()

    return work


def in_float64(network: Any, x: np.ndarray, y: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The same flow in float64, its gradient written out."""
    first, offset, last = (
        part.detach().double().numpy() for part in (*network[0].parameters(), network[2].weight)
    )
    sign, shift = np.where(y == 1, -1.0, 1.0), np.zeros_like(x)
    for _ in range(_STEPS):
        hidden = (x + shift) @ first.T + offset
        on = hidden > 0
        logits = (hidden * on) @ last[0] + network[2].bias.item()
        gradient = ((sign * expit(sign * logits))[:, None] * on * last[0]) @ first
        shift += _SIZE * (gradient - 2 * _PRICE * shift @ matrix)
    return x + shift


def loss_ratio() -> Iterator[str]:
    """The gradient flow of 9,045 people against its bare products and against inFairness's auditor."""
    import torch

    from audits.loss_ratio import gradient_flow, projection_metric

    torch.set_num_threads(1)
    torch.manual_seed(0)
    people, features = 9045, 41
    layers = torch.nn.Linear(features, _HIDDEN), torch.nn.ReLU(), torch.nn.Linear(_HIDDEN, 1)
    network, rng = torch.nn.Sequential(*layers), np.random.default_rng(0)
    x, y = rng.normal(size=(people, features)), rng.integers(0, 2, people)
    metric = projection_metric(rng.normal(size=(4, features)), "random")

    def ours(curve: tuple[int, ...] = (), steps: int = _STEPS) -> np.ndarray:
        options: dict[str, Any] = {"regularizer": _PRICE, "steps": steps, "step_size": _SIZE, "chunk": _CHUNK}
        return gradient_flow(network, x, y, metric, curve=curve, **options).positions

    short, flow = taken(partial(ours, steps=50)), taken(ours, 5)
    points, matrix = (torch.tensor(each, dtype=torch.float32) for each in (x, metric.matrix))
    note = f"memory grows by {1024 * (flow.gigabytes - short.gigabytes):.1f} MB from 50 steps"
    yield line(
        "flow of 500 steps, against the products",
        flow,
        taken(partial(products, network, points, matrix), 5),
        note,
    )
    yield line("the same with its curve", taken(partial(ours, tuple(10 * 2**k for k in range(6))), 5), flow)
    rival = infairness(network, x, y, metric.basis)
    if rival is not None:
        their = taken(rival, 5)
        apart, exact = (
            np.abs(their.result - flow.result).max(axis=1),
            in_float64(network, x, y, metric.matrix),
        )
        off = [int((np.abs(each.result - exact).max(axis=1) > 1e-5).sum()) for each in (flow, their)]
        note = f"{100 * (apart <= 1e-5).mean():.2f}% of rows equal to 1e-5; {off} off in float64"
        yield line("the same against inFairness", flow, their, note)


def outcomes() -> Iterator[str]:
    """Outcome transport of 50,000 x 50,000 binary outcomes: coupling and flows alone, and a whole audit."""
    from audits.outcome_transport import OutcomeTransportOptions, outcome_transport
    from audits.outcome_transport.bias.groups import group_list, measure, measure_flows, tie_ranges
    from audits.outcome_transport.comparison.sides import Side, TwoSides
    from audits.outcome_transport.matching.optimal_face import optimal_face
    from audits.outcome_transport.matching.outcomes import match_outcomes
    from tests.outcome_transport.conftest import crowd, scored

    n, names = 50_000, tuple("abcd")
    rng = np.random.default_rng(0)
    x, y, group = rng.normal(size=(n, 6)), rng.normal(size=(n, 6)), rng.integers(0, 4, n)
    sides = [
        Side(name, np.arange(n), (rng.random((n, 1)) < rate) * np.sqrt(2), group, names, group, names)
        for name, rate in (("source", 0.4), ("target", 0.5))
    ]
    comparison = TwoSides(sides[0], sides[1], False, "decision", float(np.sqrt(2)), {}, ())

    def parts() -> object:
        matched = match_outcomes(sides[0].outcomes, sides[1].outcomes)
        face = optimal_face(matched)
        measured = measure(comparison, matched, x, y, distance="l2", face=face)
        ranges = tie_ranges(matched, measured, group_list(sides[0]), distance="l2", face=face)
        return measure_flows(comparison, matched), ranges

    yield line(f"{n:,} x {n:,} binary outcomes, 6 features", taken(parts))
    frame = crowd(2 * n, seed=3, ties=False)
    for k in range(4):
        frame[f"more{k}"] = np.random.default_rng([1, k]).normal(size=len(frame))
    frame["group"] = np.repeat(["a", "b"], n)
    roles = {"actionable": ("x", "z"), "mutable": ("more0", "more1"), "immutable": ("more2", "more3")}
    asked = OutcomeTransportOptions(source={"group": "a"}, target={"group": "b"}, outcome="decision")
    whole = taken(partial(outcome_transport, scored(frame, roles=roles), asked))
    yield line("the same as a whole audit, 3 roles", whole)


def slider() -> Iterator[str]:
    """Recourse of 1,000 rejected people at every step, and the figure that holds them all."""
    from audits.recourse import RecourseOptions, recourse
    from audits.recourse.figures import people as figures

    n, features = 1000, tuple(f"x{k}" for k in range(8))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4 * n, 8)), columns=list(features))
    frame["group"] = rng.choice(list("ab"), len(frame))
    frame["label"] = (frame[["x0", "x1", "x2"]].sum(axis=1) + rng.normal(size=len(frame)) > 0.0).astype(int)
    roles = {"actionable": features[:4], "mutable": (), "immutable": ()}
    spec = DataSpec(label="label", favorable=1, protected=("group",), features=features, roles=roles)
    subject = make_subject(build_data(frame, spec), model_spec({"train": "logistic"}), test_size=0.6)
    options = RecourseOptions(max_people=n, steps=tuple(np.linspace(0, 1, 21)))
    ours = taken(partial(recourse, subject, options))
    yield line(f"recourse of {n:,} people", ours)
    figures.changes(ours.result)  # the first figure of a process loads plotly's validators
    yield line("its figure with all steps of the slider", taken(partial(figures.sliding, ours.result)))


WORKS: dict[str, Callable[[], Iterator[str]]] = {
    each.__name__: each
    for each in (transport, flipset, reading, executor, sensitivity, loss_ratio, outcomes, slider)
}

if __name__ == "__main__":
    print(f"{'':52} {'by the clock':>11} {'processor':>10} {'memory':>9} | the peer")
    for chosen in sys.argv[1:] or WORKS:
        for each in WORKS[chosen]():
            print(each, flush=True)
