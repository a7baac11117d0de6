"""The Blue College set: equal rates, the flipsets and the distance known by theory."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.samples import admissions


@given(
    n=st.integers(1, 80),
    years=st.integers(1, 4),
    rule=st.integers(0, 100).map(lambda percent: percent / 100),
    seed=st.integers(0, 2**32 - 1),
)
def test_school_b_is_cut_by_grade_in_every_year(n: int, years: int, rule: float, seed: int) -> None:
    table = admissions.generate(n, years=years, rule=rule, rng=seed)
    assert len(table) == 2 * n * years
    assert table["gpa"].between(0, 4).all()
    assert (table.loc[table["school"] == "A", "chance"] == rule).all()
    for _, year in table[table["school"] == "B"].groupby("year"):
        taken, refused = (year.loc[year["admitted"] == k, "gpa"] for k in (1, 0))
        assert len(taken) == round(rule * 100) * n // 100
        assert taken.empty or refused.empty or taken.min() >= refused.max()
        assert (year["chance"] == year["admitted"]).all()


def test_rates_agree_over_the_years_and_differ_within_one() -> None:
    table = admissions.generate(200, years=400, rng=1)
    by_year = table.pivot_table(index="year", columns="school", values="admitted")
    impact = by_year["B"] / by_year["A"]
    assert (by_year["B"] == 0.25).all()
    assert by_year["A"].mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / (200 * 400)))
    # E[1/x] exceeds 1/E[x] by var/mean² = .015; 400 years of spread .12 give a standard error of .006
    assert impact.mean() == pytest.approx(1 + 0.75 / (0.25 * 200), abs=0.03)
    assert (impact < 0.85).any()
    assert (impact > 1.15).any()


@pytest.mark.parametrize("rule", [0.1, 0.25, 0.5])
def test_pairs_of_equal_rank_flip_as_often_as_the_theory_says(rule: float) -> None:
    n = 100_000
    table = admissions.generate(n, years=1, rule=rule, rng=4).sort_values("gpa", kind="stable")
    own, other = (table.loc[table["school"] == name, "admitted"].to_numpy() for name in "AB")
    expected = admissions.flips(rule)
    tolerance = 5 * np.sqrt(expected * (1 - expected) / n)
    assert ((own == 1) & (other == 0)).mean() == pytest.approx(expected, abs=tolerance)
    assert ((own == 0) & (other == 1)).mean() == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("rule", [0.1, 0.25, 0.5])
def test_wasserstein_equals_a_general_solver(rule: float) -> None:
    n = 40
    table = admissions.generate(n, years=1, rule=rule)
    vectors = np.column_stack([table["chance"], 1 - table["chance"]])
    cost = ot.dist(vectors[:n], vectors[n:], metric="euclidean")
    mass = np.full(n, 1 / n)
    assert (ot.emd(mass, mass, cost) * cost).sum() == pytest.approx(admissions.wasserstein(rule), abs=1e-12)
