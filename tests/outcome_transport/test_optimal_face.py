"""The range over all optimal couplings, against linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from audits.outcome_transport.bias.groups import group_list, measure, tie_ranges
from audits.outcome_transport.comparison.sides import Side
from audits.outcome_transport.matching.optimal_face import flow_extremes, optimal_face
from audits.outcome_transport.matching.outcomes import match_outcomes
from tests.outcome_transport.conftest import lp_range


class Pair:
    """Two sides of people with outcomes, features, groups and weights, and all that is measured on them."""

    def __init__(self, p, q, x, y, group, others, ground, a=None, b=None):
        p, q = (np.asarray(v, dtype=float).reshape(len(v), -1) for v in (p, q))
        self.p, self.q, self.x, self.y, self.ground = p, q, x, y, ground
        self.a = np.ones(len(p)) if a is None else np.asarray(a, dtype=float)
        self.b = np.ones(len(q)) if b is None else np.asarray(b, dtype=float)
        names = tuple(f"g{k}" for k in range(3))
        self.source = Side("s", np.arange(len(p)), self.a, p, group, names, group, names)
        self.target = Side("t", np.arange(len(q)), self.b, q, others, names, others, names)
        self.matched = match_outcomes(p, q, a=self.a, b=self.b, ground=ground)
        self.face = optimal_face(self.matched)
        self.measured = measure(self, self.matched, x, y, distance="l2", face=self.face)
        self.groups = group_list(self.source)

    def ranges(self):
        return tie_ranges(self.matched, self.measured, self.groups, distance="l2", face=self.face)

    def cells(self):
        members, others = (
            np.array([np.bincount(atoms.of, w * (side.group == k), len(atoms.first)) for k in range(3)]).T
            for side, atoms, w in (
                (self.source, self.matched.source, self.a),
                (self.target, self.matched.target, self.b),
            )
        )
        return flow_extremes(self.matched, members, others)

    @property
    def costs(self):
        return cdist(self.p, self.q) if self.ground == "euclidean" else cdist(self.p, self.q, "sqeuclidean")


def draw(seed, n, m, levels, ground, weights=False, c=1):
    rng = np.random.default_rng(seed)

    def outcome(size):
        if not levels:  # all different, and far enough apart for a linear program's tolerance
            return rng.permutation(64)[: size * c].reshape(size, c) / 8.0
        return rng.integers(0, levels, (size, c)) / 2.0

    return Pair(
        outcome(n),
        outcome(m),
        rng.integers(0, 3, (n, 2)).astype(float),
        rng.normal(size=(m, 2)),
        rng.integers(0, 3, n),
        rng.integers(0, 3, m),
        ground,
        rng.integers(1, 4, n) * 2 if weights else None,
        rng.integers(1, 4, m) * 0.5 if weights else None,
    )


def check(pair: Pair) -> None:
    """Every range of bias and flow equals the linear program's, and holds the even coupling."""
    far = cdist(pair.x, pair.y)
    for name, members, found in zip(pair.groups.names, pair.groups.members, pair.ranges(), strict=True):
        mass = (pair.a * members).sum() / pair.a.sum()
        if mass == 0:
            assert found is None
            continue
        cost, *ends = lp_range(pair.costs, far * members[:, None], pair.a, pair.b)
        assert pair.matched.cost == pytest.approx(cost, abs=1e-9)
        *found_ends, exact = found
        assert exact, name
        # the solver's own tolerance: constraints hold to 1e-7 there
        assert found_ends == pytest.approx([end / mass for end in ends], abs=1e-5), name
        even = np.average(pair.measured.value[members], weights=pair.a[members])
        assert found_ends[0] - 1e-9 <= even <= found_ends[1] + 1e-9
    if pair.p.shape[1] > 1:
        return  # flows of outcome vectors have no range
    inside = np.outer(pair.source.group == 0, pair.target.group == 1).astype(float)
    ends = lp_range(pair.costs, inside, pair.a, pair.b)[1:]
    assert [each[0, 1] for each in pair.cells()] == pytest.approx(ends, abs=1e-6)


def test_without_room_for_the_programs_the_range_is_an_outer_bound(monkeypatch):
    import audits.outcome_transport.bias.groups as module

    pair = draw(5, 30, 30, 4, "euclidean")
    exact = pair.ranges()
    monkeypatch.setattr(module, "_MAX_PAIRS", 10)
    for tight, loose in zip(exact, pair.ranges(), strict=True):
        assert not loose[2]
        assert loose[0] <= tight[0] + 1e-12
        assert loose[1] >= tight[1] - 1e-12


# the group and the rest, rounded on their own, put a gap that nothing may cross out of balance
@example(314, 9, 6, 0, "euclidean", True)
@settings(max_examples=6)
@given(
    st.integers(0, 10**6),
    st.integers(2, 9),
    st.integers(2, 9),
    st.sampled_from([0, 2, 4]),
    st.sampled_from(["euclidean", "squared_euclidean"]),
    st.booleans(),
)
def test_ranges_are_the_linear_programs(seed, n, m, levels, ground, weights):
    check(draw(seed, n, m, levels, ground, weights))


def test_ranges_of_outcome_vectors():
    check(draw(1, 7, 6, 3, "euclidean", c=3))
