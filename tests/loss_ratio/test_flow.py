"""The flow against the plain loop and the paper's simulation, and when it diverges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import brentq
from scipy.special import expit

from audits.loss_ratio.attack.flow import gradient_flow, step_sizes
from audits.loss_ratio.attack.losses import loss_ratios
from audits.loss_ratio.metrics.distances import projection_metric
from tests.refused import refused

AXIS = projection_metric(np.array([[1.0, 0.0]]), "the first axis")


def line(weights: list[float], intercept: float = 0.0) -> torch.nn.Linear:
    layer = torch.nn.Linear(len(weights), 1).double()
    layer.weight.data = torch.tensor([weights], dtype=torch.float64)
    layer.bias.data[:] = intercept
    return layer


def network(d: int = 5, k: int = 1, seed: int = 0) -> torch.nn.Sequential:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(d, 8), torch.nn.ReLU(), torch.nn.Linear(8, k)).double()


def slow_flow(net, x, y, matrix, regularizer, sizes, loss) -> np.ndarray:
    """One person, one step at a time, in float64, the penalty through autograd."""
    moved, functional = [], torch.nn.functional
    for start, label in zip(torch.tensor(x), y, strict=True):
        at, truth = start.clone(), torch.tensor(float(label), dtype=torch.float64)
        for size in sizes:
            at = at.detach().requires_grad_(True)
            output = net(at[None])
            if loss == "squared":
                value = (output.squeeze() - truth) ** 2
            elif output.shape[1] > 1:
                value = functional.cross_entropy(output, truth.long()[None])
            else:
                value = functional.binary_cross_entropy_with_logits(output.squeeze(), truth)
            apart = at - start
            (gradient,) = torch.autograd.grad(value - regularizer * apart @ torch.tensor(matrix) @ apart, at)
            at = at + size * gradient
        moved.append(at.detach().numpy())
    return np.array(moved)


@pytest.mark.parametrize(
    ("k", "loss", "schedule"),
    [(1, "cross_entropy", "constant"), (3, "cross_entropy", "decreasing"), (1, "squared", "constant")],
)
def test_many_at_once_equal_one_by_one(k, loss, schedule):
    rng = np.random.default_rng(1)
    x, net = rng.normal(size=(7, 5)), network(k=k)
    y = rng.integers(0, max(k, 2), 7) if loss != "squared" else rng.normal(size=7)
    metric = projection_metric(rng.normal(size=(2, 5)), "random")
    asked = {"loss": loss, "regularizer": 5, "steps": 60, "step_size": 0.02, "schedule": schedule}
    flow = gradient_flow(net, x, y, metric, chunk=3, **asked)
    slow = slow_flow(net, x, y, metric.matrix, 5, step_sizes(60, 0.02, schedule), loss)
    # the fast one moves in float32
    np.testing.assert_allclose(flow.positions, slow, atol=2e-5)


def test_the_penalised_loss_rises_and_ratios_are_at_least_one():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    flow = gradient_flow(network(), x, y, projection_metric(rng.normal(size=(1, 5)), "random"))
    assert flow.fell == 0
    # Eq. 3.1; float32 positions
    assert (flow.after - 50 * flow.distance >= flow.before * (1 - 1e-5)).all()


def test_the_curve_is_the_flow_stopped_earlier():
    rng = np.random.default_rng(2)
    x, y, net = rng.normal(size=(30, 5)), rng.integers(0, 2, 30), network()
    metric = projection_metric(rng.normal(size=(1, 5)), "random")
    flow = gradient_flow(net, x, y, metric, steps=80, curve=(10, 40, 80, 200))
    assert list(flow.curve) == [10, 40, 80]
    for steps in (10, 40):
        stopped = gradient_flow(net, x, y, metric, steps=steps)
        np.testing.assert_allclose(flow.curve[steps], stopped.after, rtol=1e-5)
    np.testing.assert_array_equal(flow.curve[80], flow.after)


def test_a_constant_step_of_twice_the_limit_is_refused_with_one_that_works():
    x, y, asked = np.zeros((3, 2)), np.array([0, 1, 1]), {"regularizer": 100, "steps": 400}
    with refused("step_size", "0.02", "0.005"):
        gradient_flow(line([1.0, 1.0]), x, y, AXIS, step_size=0.02, **asked)
    good = gradient_flow(line([1.0, 1.0]), x, y, AXIS, step_size=0.005, **asked)
    assert np.isfinite(good.positions).all()
    # the paper's own simulation starts with the same step and shortens it in time
    gradient_flow(line([1.0, 1.0]), x, y, AXIS, step_size=0.02, schedule="decreasing", **asked)
    # a flow that ends at infinity names a step that was tried
    far, label, asked = np.array([[1.0, 0.0]]), np.zeros(1), {"loss": "squared", "regularizer": 1e-6}
    with refused("step_size") as caught:
        gradient_flow(line([3.0, 0.0]), far, label, AXIS, step_size=0.1, steps=400, **asked)
    named = float(str(caught.value).split("a step size of ")[1].split(" ")[0])
    found = gradient_flow(line([3.0, 0.0]), far, label, AXIS, step_size=named, steps=400, **asked)
    assert np.isfinite(found.after).all()


@pytest.mark.shared
@pytest.mark.parametrize(
    ("theta", "slip", "right"),
    [((4.0, 4.0), 1.670564, 5.316432), ((1.6, 0.0), 1.279618, 1.432787), ((0.0, 4.0), 1.025366, 1.025518)],
)
def test_the_simulation_through_the_general_flow(shared_data, theta, slip, right):
    """Figure 1: the public script adds the intercept once for each coordinate, by a slip of broadcasting."""
    people = pd.read_csv(shared_data / "loss_ratio_simulation.csv")
    x, y = people[["x1", "x2"]].to_numpy(), people["y"].to_numpy()
    intercept = brentq(lambda b: (expit(x @ theta + b) - y).sum(), -60, 60, xtol=1e-13)  # Appendix E.2
    asked = {"regularizer": 100, "steps": 400, "step_size": 0.02, "schedule": "decreasing"}
    for times, expected in ((2, slip), (1, right)):
        flow = gradient_flow(line(list(theta), times * intercept), x, y, AXIS, **asked)
        ratios = loss_ratios(flow.before, flow.after)
        # float32 positions
        assert ratios.mean() - 1.645 * ratios.std() / 20 == pytest.approx(expected, abs=3e-6)
