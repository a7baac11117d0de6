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
    job = (rng.random(n) < np.where(woman, 0.3, 0.6)).astype(int)
    pay = 4 + 0.9 * schooling + 2.0 * job - own * woman + rng.normal(0, 2, n)
    sex = np.where(woman, "female", "male")
    return pd.DataFrame({"sex": sex, "schooling": schooling, "job": job, "wage": pay})


def result_of(table: pd.DataFrame, explainers, section=None, **options):
    given = {"label": "wage", "outcome": "numeric", "protected": ["sex"], **(section or {})}
    data = build_data(table, data_spec(given))
    subject = make_subject(data, model_spec({"predictions": {"score": "wage"}}))
    return explain(subject, ExplainOptions(**SIDES, explainers=explainers, **options), rng=0)


def test_what_is_left_is_the_unexplained_part_of_oaxaca_and_blinder():
    regressions = pytest.importorskip("statsmodels.api")
    table = wages()
    women, reasons = table.sex == "female", regressions.add_constant(table[["schooling", "job"]])
    men = regressions.OLS(table.wage[~women], reasons[~women]).fit()
    left = table.wage[women].mean() - men.predict(reasons[women]).mean()
    result = result_of(table, ("schooling", "job"))
    parts, own = result.together, result.together.unexplained
    assert own.low < left < own.high
    assert own.value == pytest.approx(left, abs=0.15)
    assert own.low < -1.5 < own.high, "the truth"
    assert result.gap.value == pytest.approx(table.wage[women].mean() - table.wage[~women].mean())
    assert parts.explained.value + own.value + parts.unsupported.value == pytest.approx(result.gap.value)
    assert result.verdict == EVIDENCE


def test_no_difference_like_for_like_is_cleared_within_a_limit_in_the_unit():
    result = result_of(wages(4000, own=0.0), ("schooling", "job"), material_amount=1.0)
    assert result.verdict == NO_MATERIAL
    assert result.amount.limit == 1.0
    assert result.gap.high < 0


def test_a_gap_of_few_people_is_as_wide_as_students_t():
    few = wages(400).groupby("sex").head(8)
    error, gap = np.sqrt(few.groupby("sex").wage.var().sum() / 8), result_of(few, ("job",)).gap
    assert gap.high - gap.low > 4.4 * error, "3.92 held in 92% of samples of 12"


def test_a_column_that_is_the_pay_explains_nothing_unless_named():
    table = wages(600).assign(yearly=lambda each: 2000 * each.wage)
    assert "yearly" not in result_of(table, None).together.columns


def test_pay_that_is_missing_for_low_paid_women_is_not_explained():
    table = wages()
    low = (table.sex == "female") & (table.wage < table.wage[table.sex == "female"].quantile(0.4))
    result = result_of(table.assign(wage=table.wage.mask(low)), ("schooling", "job"))
    assert result.judged.badge == "no verdict"
    assert any("60.0% of female people" in each for each in result.warnings)


def test_pay_that_is_one_number_clears_nobody():
    """A man in fifty may have a bonus that none of these few has."""
    for n in (60, 600):
        result = result_of(wages(n).assign(wage=5.0), ("schooling",))
        assert (result.judged.badge, result.judged.interval.low) == ("no verdict", None)
        assert result.to_json()["levels"]
