"""The hiring set: Lipton et al.'s distributions, FlipTest's people and model."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import ot
import pandas as pd
import pytest

from audits.data.samples.catalog import FOLDER
from benchmarks.samples import hiring


@pytest.mark.parametrize(("n", "women", "men"), [(10_000, 3_049, 2_662), (1_000, 281, 260)])
def test_the_published_models_hire_the_published_numbers(n: int, women: int, men: int) -> None:
    people = hiring.generate(n)
    hired = hiring.linear_model(people, hiring.PUBLISHED[n]) > 0
    assert people["gender"].tolist() == ["male"] * n + ["female"] * n
    assert (hired[n:].sum(), hired[:n].sum()) == (women, men)


@pytest.mark.parametrize("rounded", [False, True])
def test_exact_transport_at_1000_finds_the_published_people(rounded: bool) -> None:
    n = 1_000
    people = hiring.generate(n)
    if rounded:  # as the bundled file has them
        people = pd.read_csv(FOLDER / "hiring.csv")
    z = hiring.standardise(people)[["work_years", "hair_length"]].to_numpy()
    hired = hiring.linear_model(people, hiring.PUBLISHED[n]) > 0
    cost = ot.dist(z[n:], z[:n], metric="cityblock") ** 2
    plan = ot.emd(np.full(n, 1 / n), np.full(n, 1 / n), cost)
    counterpart = plan.argmax(axis=1)  # equal sizes: the optimum is a permutation
    assert len(set(counterpart)) == n
    forward = hired[n:] & ~hired[:n][counterpart]
    backward = ~hired[n:] & hired[:n][counterpart]
    difference = z[n:] - z[:n][counterpart]
    assert (forward.sum(), backward.sum()) == (157, 136)
    # the published figures are printed to 6 and 4 decimals
    assert (plan * cost).sum() == pytest.approx(4.860449, abs=5e-7)
    assert difference[forward].mean(axis=0) == pytest.approx([-0.3518, 1.9419], abs=5e-5)
    assert difference[backward].mean(axis=0) == pytest.approx([-1.7308, 0.3458], abs=5e-5)


@pytest.mark.parametrize("n", [1_000, 10_000])
def test_the_onnx_file_decides_as_the_linear_model(n: int) -> None:
    people = hiring.generate(n)
    session = ort.InferenceSession(hiring.onnx_model(people, hiring.PUBLISHED[n]))
    feed = {c: people[[c]].to_numpy(np.float32) for c in ("work_years", "hair_length")}
    chance = session.run(["chance_of_hiring"], feed)[0].ravel()
    logit = hiring.linear_model(people, hiring.PUBLISHED[n])
    # float32 in an input near 20 is off by 1e-6, the logit by less, the chance by a quarter of that
    assert chance == pytest.approx(1 / (1 + np.exp(-logit)), abs=2e-6)
    assert ((chance >= 0.5) == (logit > 0)).all()
