"""Entropic, unbalanced and partial couplings: what they leave out, and what they say about it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import QUICK, A, B, flows_of, three_classes
from tests.refused import refused


@pytest.mark.parametrize("matching", ["entropic", "unbalanced", "partial"])
def test_blurred_couplings_have_intervals(matching):
    asked = {"source": A, "target": B, "matching": matching, "share": 0.7, "permutations": 0}
    result = flows_of(scored(crowd(60, seed=6)), draws=15, **asked)
    means = [row.mean for row in result.bias if row.level != "subgroup"]
    assert result.wasserstein.low <= result.wasserstein.value <= result.wasserstein.high
    assert all(each.low < each.value < each.high for each in means)
    assert matching in result.wasserstein.method


def test_a_blurred_bias_counts_people_as_far_as_they_are_matched():
    """Half of the mass stays unmatched: the mean goes by what is matched, as flows and decomposition do."""
    frame = crowd(60, seed=3)
    result = flows_of(scored(frame), source=A, target=B, matching="partial", share=0.5, **QUICK)
    people = result.people
    kept = people[people["matched"] > 0]
    mean = np.average(kept["bias"], weights=kept["matched"] * kept["people"])
    assert people["matched"].mean() == pytest.approx(0.5, abs=0.02)
    assert result.bias[0].mean.value == pytest.approx(mean)
    bias = {row.group: row for row in result.bias}
    for name, amounts in zip(result.decomposition.rows, result.decomposition.amount, strict=True):
        if sum(amounts):
            assert sum(amounts) == pytest.approx(bias[name].mean.value)


def test_many_outcome_vectors_are_coupled_with_a_blur(monkeypatch):
    import audits.outcome_transport.audit as module

    monkeypatch.setattr(module, "_MAX_VECTORS", 20)
    monkeypatch.setattr(module, "_MAX_BLURRED", 30)
    frame, subject = three_classes()
    result = flows_of(subject, source=A, target=B, **QUICK)
    assert result.options["matching"] == "entropic"
    assert result.certificate.method.startswith("entropic")
    assert result.rows["used"] == 60
    assert result.rows["left_out"]["not drawn into the subsample"] == len(frame) - 60


def test_a_price_that_leaves_everybody_unmatched():
    frame = crowd(40, seed=6)
    frame["score"] = np.where(frame["group"] == "a", 0.0, 1.0)
    with refused("outcome_transport.price"):
        flows_of(scored(frame), source=A, target=B, matching="unbalanced", price=1e-5, **QUICK)
