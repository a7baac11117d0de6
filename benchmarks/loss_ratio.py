"""The flow against inFairness's SenSR auditor and against the bare matrix products, in one process.

    INFAIRNESS=/path/to/site-packages python benchmarks/loss_ratio.py

9,045 people × 41 features × 500 steps, a network of 50 hidden units, one thread. inFairness 0.2.3 is not a
requirement: unpack it somewhere of its own and name the folder. Its step is taken on the mean over the
batch, so its learning rate is ours times the number of people.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.special import expit

from audits.loss_ratio import gradient_flow, projection_metric

PEOPLE, FEATURES, HIDDEN, STEPS, PRICE, SIZE, CHUNK = 9045, 41, 50, 500, 50.0, 0.01, 1024


def in_turns(works: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Shortest of a few runs of each in seconds, taken in turns: others may share the machine."""
    seconds = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def bare(network: torch.nn.Sequential, x: torch.Tensor, matrix: torch.Tensor) -> None:
    """The five products of a step and nothing else, in the same chunks."""
    first, last = network[0].weight.detach(), network[2].weight.detach()
    with torch.inference_mode():
        for start in range(0, len(x), CHUNK):
            at = x[start : start + CHUNK]
            hidden, out = torch.empty(len(at), HIDDEN), torch.empty(len(at), 1)
            back, gradient, pull = torch.empty_like(hidden), torch.empty_like(at), torch.empty_like(at)
            for _ in range(STEPS):
                torch.mm(at, first.T, out=hidden)
                torch.mm(hidden, last.T, out=out)
                torch.mm(out, last, out=back)
                torch.mm(back, first, out=gradient)
                torch.mm(at, matrix, out=pull)


def peer(
    network: torch.nn.Sequential, x: np.ndarray, y: np.ndarray, basis: np.ndarray
) -> Callable[[], np.ndarray] | None:
    """InFairness's auditor on the same work, or None where it is not there."""
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
    auditor = SenSRAuditor(loss, distance, STEPS, SIZE * len(x), max_noise=0.0, min_noise=0.0)
    points = torch.tensor(x, dtype=torch.float32)
    labels = torch.tensor(y, dtype=torch.float32)[:, None]

    def work() -> np.ndarray:
        return auditor.generate_worst_case_examples(
            network, points, labels, torch.tensor(PRICE), torch.optim.SGD
        ).numpy()

    return work


def in_float64(network: torch.nn.Sequential, x: np.ndarray, y: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The same flow in float64, its gradient written out."""
    first, offset, last = (
        part.detach().double().numpy() for part in (*network[0].parameters(), network[2].weight)
    )
    sign, shift = np.where(y == 1, -1.0, 1.0), np.zeros_like(x)
    for _ in range(STEPS):
        hidden = (x + shift) @ first.T + offset
        on = hidden > 0
        logits = (hidden * on) @ last[0] + network[2].bias.item()
        gradient = ((sign * expit(sign * logits))[:, None] * on * last[0]) @ first
        shift += SIZE * (gradient - 2 * PRICE * shift @ matrix)
    return x + shift


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1)
    )
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(PEOPLE, FEATURES)), rng.integers(0, 2, PEOPLE)
    metric = projection_metric(rng.normal(size=(4, FEATURES)), "random")

    def ours(curve: tuple[int, ...] = (), steps: int = STEPS) -> np.ndarray:
        return gradient_flow(
            network, x, y, metric, regularizer=PRICE, steps=steps, step_size=SIZE, curve=curve, chunk=CHUNK
        ).positions

    ours(steps=50)
    memory = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]
    moved = ours()
    memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(f"peak memory grows by {(memory[1] - memory[0]) / 1024:.1f} MB from 50 to {STEPS} steps")
    points = torch.tensor(x, dtype=torch.float32)
    matrix = torch.tensor(metric.matrix, dtype=torch.float32)
    works: dict[str, Callable[[], object]] = {
        "flow": ours,
        "products": lambda: bare(network, points, matrix),
        "curve": lambda: ours(tuple(10 * 2**k for k in range(6))),
    }
    rival = peer(network, x, y, metric.basis)
    if rival is not None:
        theirs = rival()
        works["inFairness"] = rival
    seconds = in_turns(works)
    for name, taken in seconds.items():
        print(f"{name} {taken:.2f} s, {taken / seconds['flow']:.2f} times the flow")
    if rival is not None:
        apart, exact = np.abs(theirs - moved).max(axis=1), in_float64(network, x, y, metric.matrix)
        print(f"rows equal to 1e-5: {100 * (apart <= 1e-5).mean():.2f}%, median {np.median(apart):.1e}")
        for name, rows in (("ours", moved), ("inFairness", theirs)):
            off = int((np.abs(rows - exact).max(axis=1) > 1e-5).sum())
            print(f"from the flow in float64, {name}: {off} rows beyond 1e-5 (at a kink of ReLU)")


if __name__ == "__main__":
    main()
