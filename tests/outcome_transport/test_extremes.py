"""Smallest and largest means over flows on given pairs: which pairs to start with, progress, stopping."""

from __future__ import annotations

import numpy as np
import pytest

import audits.outcome_transport.matching.ties as module
from audits.outcome_transport.matching.ties import extreme


@pytest.mark.parametrize("at_a_time", [1 << 18, 40])
@pytest.mark.parametrize("levels", [2, 10**6])
@pytest.mark.parametrize("shortest", [1, 20])
def test_the_cheapest_of_each_line_are_those_of_a_sort(at_a_time, levels, shortest, monkeypatch):
    """Few levels: mostly ties, of which the first ones count, whatever is ranked together."""
    rng = np.random.default_rng(levels + shortest)
    length = rng.integers(shortest, shortest + 30, 17)
    start = np.cumsum(length) - length
    costs = rng.integers(0, levels, length.sum()).astype(float)
    monkeypatch.setattr(module, "_AT_A_TIME", at_a_time)
    wanted = [
        begin + np.sort(np.argsort(costs[begin : begin + size], kind="stable")[: module._CHEAP])
        for begin, size in zip(start, length, strict=True)
    ]
    assert module._cheapest(costs, start).tolist() == np.concatenate(wanted).tolist()


def _problem(n: int = 60) -> tuple[np.ndarray, ...]:
    i, j = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    return np.ones(n), np.ones(n), i, j, np.random.default_rng(0).random(n * n)


def test_progress_is_told_between_pieces_of_work_and_never_runs_back(monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 10)
    monkeypatch.setattr(module, "_CHEAP", 1)
    solved, told = [], []
    solve = module.solve_pairs
    monkeypatch.setattr(module, "solve_pairs", lambda *args: solved.append(1) or solve(*args))
    found = extreme(*_problem(), start=np.arange(60), progress=lambda done, _: told.append(done))
    assert found is not None
    assert found.exact
    assert len(solved) > 2, "one round each way is no long step"
    assert len(told) > len(solved)  # both ways are a step further each time
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] <= 1.0


def test_work_stops_where_progress_raises(monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 10)
    solved = []
    solve = module.solve_pairs
    monkeypatch.setattr(module, "solve_pairs", lambda *args: solved.append(1) or solve(*args))

    def stop(done: float, _: str) -> None:
        if solved:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extreme(*_problem(), start=np.arange(60), progress=stop)
    assert len(solved) <= 2  # one each way, side by side
