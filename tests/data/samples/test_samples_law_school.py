"""The law school set: Kusner et al.'s causal model and its counterfactuals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.samples import law_school
from benchmarks.samples.law_school import FYA, GPA, GPA_DEVIATION, LSAT

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = ["lsat", "gpa", "fya"]


def _with_other_race(causes: pd.DataFrame) -> pd.DataFrame:
    return causes.assign(race=causes["race"].map({"black": "white", "white": "black"}))


@settings(max_examples=30)
@given(n=st.integers(1, 50), seed=st.integers(0, 2**32 - 1))
def test_a_counterfactual_keeps_everything_but_race(n: int, seed: int) -> None:
    drawn = law_school.generate(n, rng=seed)
    # keeping the race changes nothing; changing it twice neither
    pd.testing.assert_frame_equal(law_school.outcomes(drawn.causes), drawn.applicants)
    there_and_back = law_school.outcomes(_with_other_race(_with_other_race(drawn.causes)))
    assert there_and_back[NUMBERS].equals(drawn.applicants[NUMBERS])
    other = drawn.counterfactuals
    assert other["knowledge"].equals(drawn.causes["knowledge"])
    sign = np.where(drawn.applicants["race"] == "black", 1, -1)  # from black to white, or back
    gains = {c: sign * (other[f"{c}_other_race"] - drawn.applicants[c]) for c in NUMBERS}
    assert gains["gpa"].to_numpy() == pytest.approx(np.full(n, -GPA.black), abs=1e-12)
    assert gains["fya"].to_numpy() == pytest.approx(np.full(n, -FYA.black), abs=1e-12)
    assert (gains["lsat"] >= 0).all()  # the same quantile of a larger Poisson


def test_one_applicant_by_hand() -> None:
    causes = pd.DataFrame(
        {
            "race": ["black"],
            "sex": ["female"],
            "knowledge": [0.5],
            "gpa_noise": [-1.0],
            "lsat_quantile": [0.5],
            "fya_noise": [0.2],
        }
    )
    row = law_school.outcomes(causes).iloc[0]
    assert row["gpa"] == pytest.approx(3.20 + 0.14 * 0.5 - 0.39 + 0.13 - 0.37, abs=1e-12)
    assert row["fya"] == pytest.approx(0.22 + 0.33 * 0.5 - 1.04 - 0.016 + 0.2, abs=1e-12)
    rate = np.exp(
        3.63 + 0.068 * 0.5 - 0.24 - 0.014
    )  # 30.265: its median is the count where the sum passes 1/2
    mass, total, count = np.exp(-rate), np.exp(-rate), 0
    while total < 0.5:
        count += 1
        mass *= rate / count
        total += mass
    assert row["lsat"] == count == 30


@pytest.mark.shared
def test_the_weights_are_fits_to_the_public_data(shared_data: Path) -> None:
    table = pd.read_csv(shared_data / "law_school.csv")
    table = table[table["race"].isin(["White", "Black"])]
    design = np.column_stack([np.ones(len(table)), table["race"] == "Black", table["sex"] == 1]).astype(float)
    residuals = {}
    rounding = 0.006  # the weights are rounded to two decimals, LSAT's to two digits
    for column, weights in (("UGPA", GPA), ("ZFYA", FYA)):
        fit = np.linalg.lstsq(design, table[column], rcond=None)[0]
        assert fit == pytest.approx([weights.base, weights.black, weights.female], abs=rounding)
        residuals[column] = table[column] - design @ fit
    fit = np.array([np.log(table["LSAT"].mean()), 0, 0])
    for _ in range(20):  # Newton's steps of a Poisson regression
        rate = np.exp(design @ fit)
        fit = fit + np.linalg.solve(design.T @ (design * rate[:, None]), design.T @ (table["LSAT"] - rate))
    assert fit == pytest.approx([LSAT.base, LSAT.black, LSAT.female], abs=rounding)
    residuals["LSAT"] = table["LSAT"] - np.exp(design @ fit)
    covariance = pd.DataFrame(residuals).cov()

    def loading(own: str, one: str, two: str) -> float:  # one common cause: cov(a, b) = l_a l_b
        return np.sqrt(covariance.loc[own, one] * covariance.loc[own, two] / covariance.loc[one, two])

    gpa, fya = loading("UGPA", "LSAT", "ZFYA"), loading("ZFYA", "LSAT", "UGPA")
    lsat = loading("LSAT", "UGPA", "ZFYA") / table["LSAT"].mean()
    assert [gpa, lsat, fya] == pytest.approx([GPA.knowledge, LSAT.knowledge, FYA.knowledge], abs=rounding)
    remaining = np.sqrt(covariance.loc["UGPA", "UGPA"] - gpa**2)
    assert remaining == pytest.approx(GPA_DEVIATION, abs=rounding)
