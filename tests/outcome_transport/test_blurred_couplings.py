"""Entropic, unbalanced and partial couplings: what they leave out, and what they say about it."""

from __future__ import annotations

import numpy as np
import pytest

from audits.outcome_transport.matching.outcomes import match_outcomes
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import QUICK, A, B, flows_of, three_classes
from tests.refused import refused


@pytest.mark.parametrize("matching", ["entropic", "unbalanced", "partial"])
def test_blurred_couplings_have_intervals(matching):
    frame = crowd(60, seed=6)
    kw = {"source": A, "target": B, "matching": matching, "share": 0.7, "permutations": 0}
    result = flows_of(scored(frame), draws=15, **kw)
    distance = result.wasserstein
    assert distance.low <= distance.value <= distance.high
    assert matching in distance.method
    assert all(
        row.mean.low < row.mean.value < row.mean.high for row in result.bias if row.level != "subgroup"
    )


def test_the_share_of_all_has_the_interval_of_so_few_people():
    """Draws move it by the tail of the blur only: 100% of some twenty people would be 99.7 to 100%."""
    _, subject = three_classes()
    kw = {"matching": "partial", "share": 0.5, "permutations": 0, "draws": 20}
    flows = flows_of(subject, source=A, target=B, **kw).flows
    r, c = next(
        (r, c) for r, row in enumerate(flows.share) for c, share in enumerate(row) if share > 1 - 1e-6
    )
    people = flows.row_people[r]
    assert 15 < people < 30
    assert flows.sampling_low[r][c] < 1 - 3 / people  # nobody of so many: at most about 3 in them
    assert flows.sampling_high[r][c] == 1.0


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


def test_an_entropic_plan_never_costs_less_than_the_least():
    """Sinkhorn that stopped early misses the marginals; the rest is matched in order."""
    rng = np.random.default_rng(1)
    p, q = rng.integers(0, 5, (900, 1)) / 4.0, rng.integers(0, 5, (800, 1)) / 4.0
    exact, blurred = match_outcomes(p, q), match_outcomes(p, q, matching="entropic", epsilon=0.001)
    assert blurred.cost >= exact.cost - 1e-12
    for side, axis in ((blurred.source, 1), (blurred.target, 0)):
        assert blurred.flow.sum(axis=axis) == pytest.approx(side.weights / side.weights.sum(), abs=1e-12)
    vectors = rng.dirichlet(np.ones(3), 50), rng.dirichlet(np.ones(3) * 2, 40)
    assert match_outcomes(*vectors, matching="entropic").cost >= match_outcomes(*vectors).cost - 1e-12


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
