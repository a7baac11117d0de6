"""Speed and memory of our own ways beside a peer's, or beside the obvious way, in one process.

    python -m benchmarks.speed [NAME ...]        all: ten minutes, 5 GB

A line is one work: its seconds by the clock (best of some tries), seconds of the processor, peak memory, and
how long the peer took. Peers are given what they need ready made (`ot.emd` its finished matrix); ours counts
everything. On a machine that is shared, the ratio is what counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from audits.data import DataSpec, FeatureSpace, build_data
from audits.models import Subject, make_subject, model_spec
from benchmarks.measuring import SHARED, line, public, taken

Points = tuple[np.ndarray, np.ndarray]


def gaussian(n: int, m: int | None = None, d: int = 8) -> Points:
    """Two clouds, half a deviation apart in each of d features."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m or n, d)) + 0.5


def adult(n: int) -> Points:
    """Women and men of Adult, drawn at random: five z-scored numbers, the rest one-hot, d about 100."""
    data = public("adult")
    names = [name for name in data.features if name != "sex"]
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
    note = f"{people / ours.processor:,.0f} people a second"
    yield line(f"sensitivity of {people:,} people", ours, peer, note)


def loss_ratio() -> Iterator[str]:
    """The gradient flow of 9,045 people against inFairness's auditor, 500 steps of a hidden layer of 50.

    inFairness 0.2.3 is no requirement: unpack it somewhere of its own, and name the folder as INFAIRNESS. Its
    step is on the mean over the batch, so its learning rate is ours times the number of people.
    """
    import torch

    from audits.loss_ratio import gradient_flow, projection_metric

    torch.set_num_threads(1)
    torch.manual_seed(0)
    people, features, steps, price, size = 9045, 41, 500, 50.0, 0.01
    layers = torch.nn.Linear(features, 50), torch.nn.ReLU(), torch.nn.Linear(50, 1)
    network, rng = torch.nn.Sequential(*layers), np.random.default_rng(0)
    x, y = rng.normal(size=(people, features)), rng.integers(0, 2, people)
    metric = projection_metric(rng.normal(size=(4, features)), "random")
    options = {"regularizer": price, "steps": steps, "step_size": size, "chunk": 1024}
    ours = taken(partial(gradient_flow, network, x, y, metric, curve=(), **options), 5)
    what = f"flow of {steps} steps"
    if "INFAIRNESS" not in os.environ:
        yield line(what, ours, note="without its peer: INFAIRNESS names no folder")
        return
    sys.path.append(os.environ["INFAIRNESS"])
    from inFairness.auditor import SenSRAuditor
    from inFairness.distances import SensitiveSubspaceDistance

    distance = SensitiveSubspaceDistance()
    distance.fit(torch.tensor(metric.basis, dtype=torch.float32))
    loss = torch.nn.BCEWithLogitsLoss(reduction="none")
    auditor = SenSRAuditor(loss, distance, steps, size * people, max_noise=0.0, min_noise=0.0)
    points, labels = (torch.tensor(each, dtype=torch.float32) for each in (x, y[:, None]))
    given = network, points, labels, torch.tensor(price), torch.optim.SGD
    peer = taken(partial(auditor.generate_worst_case_examples, *given), 5)
    same = np.abs(peer.result.numpy() - ours.result.positions).max(axis=1) <= 1e-5
    yield line(what, ours, peer, f"{100 * same.mean():.2f}% of rows equal to 1e-5")


def outcomes() -> Iterator[str]:
    """Outcome transport of 50,000 x 50,000 binary outcomes, a whole audit."""
    from audits.outcome_transport import OutcomeTransportOptions, outcome_transport
    from tests.outcome_transport.conftest import crowd, scored

    n = 50_000
    frame = crowd(2 * n, seed=3, ties=False)
    for k in range(4):
        frame[f"more{k}"] = np.random.default_rng([1, k]).normal(size=len(frame))
    frame["group"] = np.repeat(["a", "b"], n)
    roles = {"actionable": ("x", "z"), "mutable": ("more0", "more1"), "immutable": ("more2", "more3")}
    asked = OutcomeTransportOptions(source={"group": "a"}, target={"group": "b"}, outcome="decision")
    whole = taken(partial(outcome_transport, scored(frame, roles=roles), asked))
    yield line(f"{n:,} x {n:,} binary outcomes, 6 features in 3 roles", whole)


WORKS: dict[str, Callable[[], Iterator[str]]] = {
    each.__name__: each for each in (transport, flipset, sensitivity, loss_ratio, outcomes)
}

if __name__ == "__main__":
    print(f"{'':52} {'by the clock':>11} {'processor':>10} {'memory':>9} | the peer")
    for chosen in sys.argv[1:] or WORKS:
        for each in WORKS[chosen]():
            print(each, flush=True)
