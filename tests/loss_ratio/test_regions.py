"""Regions of straight logits: the steps are those one by one, whatever the network, metric and sizes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from audits.loss_ratio.attack import flow as flowing
from audits.loss_ratio.attack import regions
from audits.loss_ratio.attack.flow import gradient_flow, layers_of, step_sizes
from audits.loss_ratio.attack.regions import RegionFlow, pull_of
from audits.loss_ratio.metrics.distances import matrix_metric, projection_metric


def network(d: int, hidden: tuple[int, ...]) -> torch.nn.Sequential:
    torch.manual_seed(3)
    parts: list[torch.nn.Module] = []
    for before, after in itertools.pairwise((d, *hidden, 1)):
        parts += [torch.nn.Linear(before, after).double(), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def moved_both_ways(net, x, y, metric, monkeypatch, **options):
    slow = gradient_flow(net, x, y, metric, curve=(10, 50), **options)
    monkeypatch.setattr(flowing, "_MANY", 1)
    monkeypatch.setattr(flowing, "_MAX_LEFT", 1.0)
    monkeypatch.setattr(flowing, "_by_chunks", None)  # nobody may go step by step
    return slow, gradient_flow(net, x, y, metric, curve=(10, 50), **options)


@pytest.mark.parametrize("hidden", [(), (12,), (8, 6)])
@pytest.mark.parametrize(
    ("free", "regularizer", "size", "schedule"),
    [(1, 50, 0.01, "constant"), (3, 20, 0.02, "decreasing"), (2, 30, 0.03, "constant")],
)  # the penalty takes back a step at once, by and by, and by more than it was
def test_the_steps_are_those_one_by_one(monkeypatch, hidden, free, regularizer, size, schedule):
    monkeypatch.setattr(regions, "_POOL", 50)  # places are taken again
    rng = np.random.default_rng(2)
    x, y = 2 * rng.normal(size=(160, 6)), rng.integers(0, 2, 160)
    metric = projection_metric(rng.normal(size=(free, 6)), "random")
    slow, fast = moved_both_ways(
        network(6, hidden), x, y, metric, monkeypatch,
        regularizer=regularizer, step_size=size, schedule=schedule, steps=100,
    )  # fmt: skip
    apart = np.abs(fast.positions - slow.positions).max(axis=1)
    # rounding of float32 paths; along a kink another rounding can be a step's length
    assert np.quantile(apart, 0.95) < 2e-6
    assert apart.max() < size
    assert np.abs(slow.positions - x).max() > 0.01
    assert fast.after.mean() == pytest.approx(slow.after.mean(), rel=1e-6)
    for step in (10, 50):
        assert np.quantile(np.abs(fast.curve[step] / slow.curve[step] - 1), 0.95) < 1e-5
        assert fast.curve[step].mean() == pytest.approx(slow.curve[step].mean(), rel=1e-5)


def test_who_leaves_a_region_is_noticed_at_the_very_step(monkeypatch):
    # one feature, logit = 2 relu(x) + relu(x - 1): a person of label 0 climbs past 1, and then faster
    net = network(2, (2,))
    first, last = net[0], net[2]
    first.weight.data = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    first.bias.data = torch.tensor([0.0, -1.0], dtype=torch.float64)
    last.weight.data, last.bias.data = (
        torch.tensor([[2.0, 1.0]], dtype=torch.float64),
        torch.zeros(1).double(),
    )
    metric = projection_metric(np.array([[1.0, 0.0]]), "the first axis")
    at, slopes = 0.9, []
    for _ in range(40):
        logit = 2 * at + max(at - 1, 0)
        slopes.append(2 + (at > 1))
        at += 0.01 * slopes[-1] / (1 + np.exp(-logit))
    assert slopes[0] == 2
    assert slopes[-1] == 3
    _, fast = moved_both_ways(
        net, np.array([[0.9, 0.0]]), np.array([0]), metric, monkeypatch, steps=40, step_size=0.01
    )
    assert fast.positions[0, 0] == pytest.approx(at, rel=1e-6)
    assert fast.positions[0, 1] == 0
    flow = RegionFlow(layers_of(net), *pull_of(metric, 50.0), step_sizes(40, 0.01), ())
    assert flow.left(np.array([[0.9, 0.0]]), np.array([0])) == 1 / 40


def test_metrics_of_several_weights_go_step_by_step():
    assert pull_of(matrix_metric(np.diag([0.0, 1.0, 2.0]), "told"), 50.0) is None
    pull, across = pull_of(matrix_metric(np.diag([0.0, 3.0, 3.0]), "told"), 5.0)
    assert pull == pytest.approx(30.0)
    np.testing.assert_allclose(across, np.diag([0.0, 1.0, 1.0]), atol=1e-12)
    assert pull_of(projection_metric(np.eye(3)[:1], "told"), 0.0) == (0.0, pytest.approx(np.zeros((3, 3))))
