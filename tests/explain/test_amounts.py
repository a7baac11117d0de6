"""What is left of a gap in pay like for like: against statsmodels, and by the two ways of comparing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.explain import ExplainOptions, explain
from audits.models import make_subject, model_spec
from audits.stats import EVIDENCE, NO_MATERIAL

SIDES = {"source": {"sex": "female"}, "target": {"sex": "male"}}


def wages(n: int = 3000, own: float = 1.5, seed: int = 3) -> pd.DataFrame:
    """Pay that is a straight line of schooling; women have less of it, and `own` less than men of as much."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.4
    schooling = rng.normal(13 - 1.0 * woman, 2)
    job = rng.random(n) < np.where(woman, 0.3, 0.6)
    pay = 4 + 0.9 * schooling + 2.0 * job - own * woman + rng.normal(0, 2, n)
    table = {
        "sex": np.where(woman, "female", "male"),
        "schooling": schooling,
        "job": job.astype(int),
        "wage": pay,
    }
    return pd.DataFrame(table)


def result_of(table: pd.DataFrame, explainers, section=None, **options):
    given = {"label": "wage", "outcome": "numeric", "protected": ["sex"], **(section or {})}
    data = build_data(table, data_spec(given))
    subject = make_subject(data, model_spec({"predictions": {"score": "wage"}}))
    return explain(subject, ExplainOptions(**SIDES, explainers=explainers, **options), rng=0)


def test_what_is_left_is_the_unexplained_part_of_oaxaca_and_blinder():
    regressions = pytest.importorskip("statsmodels.api")
    from statsmodels.stats.oaxaca import OaxacaBlinder

    table = wages()
    x = table[["schooling", "job"]].assign(woman=(table.sex == "male").astype(float))
    found = OaxacaBlinder(table.wage, x, "woman", hasconst=False, swap=False)
    women = table.sex == "female"
    men = regressions.OLS(
        table.wage[~women], regressions.add_constant(table.loc[~women, ["schooling", "job"]])
    ).fit()
    left = (
        table.wage[women].mean()
        - men.predict(regressions.add_constant(table.loc[women, ["schooling", "job"]])).mean()
    )
    result = result_of(table, ("schooling", "job"))
    own = result.together.unexplained
    assert own.low < left < own.high
    assert own.value == pytest.approx(left, abs=0.15)
    assert own.low < -1.5 < own.high, "the truth"
    assert result.gap.value == pytest.approx(table.wage[women].mean() - table.wage[~women].mean())
    assert abs(found.two_fold().params[-1]) == pytest.approx(abs(result.gap.value))
    parts = result.together
    assert parts.explained.value + own.value + parts.unsupported.value == pytest.approx(result.gap.value)
    assert result.verdict == EVIDENCE


def test_by_cells_it_is_the_mean_of_cells():
    table = wages().assign(wage=lambda each: each.wage.round(1))
    result = result_of(table, ("job",))
    women, men = table[table.sex == "female"], table[table.sex == "male"]
    expected = men.groupby("job").wage.mean()
    assert result.together.unexplained.value == pytest.approx(
        women.wage.mean() - women.job.map(expected).mean()
    )


def test_no_difference_like_for_like_is_cleared_within_a_limit_in_the_unit():
    result = result_of(wages(4000, own=0.0), ("schooling", "job"), material_amount=1.0)
    assert result.verdict == NO_MATERIAL
    assert result.amount.limit == 1.0
    assert result.gap.high < 0


def test_rows_of_one_person_are_one_and_the_unit_scales():
    table = wages(800)
    twice = table.loc[table.index.repeat(3)].reset_index(drop=True)
    twice["who"] = np.repeat(np.arange(len(table)), 3)
    plain = result_of(table, ("job",)).together.unexplained
    again = result_of(twice, ("job",), {"person": "who"}).together.unexplained
    assert again.value == pytest.approx(plain.value)
    assert again.high - again.low == pytest.approx(plain.high - plain.low, rel=0.05)
    cents = result_of(table.assign(wage=100 * table.wage), ("job",)).together.unexplained
    assert (cents.low, cents.high) == pytest.approx((100 * plain.low, 100 * plain.high))


def test_a_column_that_is_the_pay_explains_nothing_unless_named():
    table = wages(600).assign(yearly=lambda each: 2000 * each.wage)
    assert "yearly" not in result_of(table, None).together.columns


def test_pay_that_is_missing_for_low_paid_women_is_not_explained():
    table = wages()
    low = (table.sex == "female") & (table.wage < table.wage[table.sex == "female"].quantile(0.4))
    result = result_of(table.assign(wage=table.wage.mask(low)), ("schooling", "job"))
    assert result.judged.badge == "no verdict"
    assert any("60.0% of female people" in each for each in result.warnings)


def test_labels_that_are_missing_for_women_are_not_explained():
    table = wages()
    woman = table.sex == "female"
    told = (table.wage > table.wage.median()).map({True: "yes", False: "no"})
    told = told.mask(woman & (table.wage < table.wage[woman].quantile(0.4)))
    data = build_data(
        table.assign(told=told, p=0.5 + table.schooling / 100),
        data_spec({"label": "told", "favorable": "yes", "protected": ["sex"]}),
    )
    subject = make_subject(data, model_spec({"predictions": {"score": "p"}}))
    options = ExplainOptions(**SIDES, explainers=("schooling",), outcome="label")
    assert explain(subject, options, rng=0).judged.badge == "no verdict"


def test_pay_that_is_one_number_clears_nobody():
    """A man in fifty may have a bonus that none of these few has."""
    for n in (60, 600):
        result = result_of(wages(n).assign(wage=5.0), ("schooling",))
        assert (result.judged.badge, result.judged.interval.low) == ("no verdict", None)
        assert result.to_json()["levels"]
