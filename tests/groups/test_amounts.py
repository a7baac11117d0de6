"""Groups compared by a number: against statsmodels, invariants, refusals, and the spec that asks for it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.groups import GroupsOptions, groups
from audits.groups.amounts.inference import worse_first
from audits.groups.amounts.text import amount_headline
from audits.models import make_subject, model_spec
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.refused import refused


def wages(n: int = 900, gap: float = 0.2, seed: int = 5) -> pd.DataFrame:
    """Wages of which women get less on a logarithmic scale, and of which schooling pays."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], n, p=[0.4, 0.6])
    schooling = rng.integers(8, 19, n)
    wage = np.exp(1.8 + 0.06 * schooling - gap * (sex == "female") + rng.normal(0, 0.3, n))
    return pd.DataFrame({"sex": sex, "schooling": schooling, "wage": wage})


def result_of(table: pd.DataFrame, limit=None, model=None, reference="male", **section):
    given = {"label": "wage", "outcome": "numeric", "protected": ["sex"], **section}
    subject = make_subject(
        build_data(table, data_spec(given)), model_spec(model or {"predictions": {"score": "wage"}})
    )
    limited = {} if limit is None else {"material_amount": limit}
    return groups(subject, GroupsOptions(reference=reference and {"sex": reference}, **limited), rng=0)


def women(result):
    return next(row for row in result.amounts.table if row.group == "female")


def test_means_and_quantiles_are_those_of_statsmodels():
    regressions = pytest.importorskip("statsmodels.formula.api")
    table = wages().assign(woman=lambda each: (each.sex == "female").astype(float))
    row = women(result_of(table))
    line = regressions.ols("wage ~ woman", table).fit(cov_type="HC3")
    gap = row.differences["mean"].estimate
    assert gap.value == pytest.approx(line.params["woman"])
    # corrected for four measures; Hall's transformation moves both ends, its length hardly
    low, high = line.conf_int(alpha=0.05 / 4).loc["woman"]
    assert gap.high - gap.low == pytest.approx(high - low, rel=0.05)
    for name, share, near in (("q10", 0.1, 0.05), ("median", 0.5, 0.05), ("q90", 0.9, 0.3)):
        found = regressions.quantreg("wage ~ woman", table).fit(q=share).params["woman"]
        assert row.differences[name].estimate.value == pytest.approx(found, abs=near)


def test_sampling_weights_are_those_of_statsmodels_and_rows_of_a_person_one_person():
    regressions = pytest.importorskip("statsmodels.api")
    table = wages().assign(w=np.random.default_rng(1).uniform(0.5, 3, 900))
    x = regressions.add_constant((table.sex == "female").to_numpy(dtype=float))
    line = regressions.WLS(table.wage.to_numpy(), x, weights=table.w.to_numpy()).fit(cov_type="HC1")
    weighted = women(result_of(table, weights={"column": "w", "kind": "sampling"}))
    gap = weighted.differences["mean"].estimate
    assert gap.value == pytest.approx(line.params[1])
    low, high = line.conf_int(alpha=0.05 / 4)[1]
    assert gap.high - gap.low == pytest.approx(high - low, rel=0.05)

    thrice = table.loc[table.index.repeat(3)].reset_index(drop=True).assign(who=np.arange(900).repeat(3))
    alone, repeated = women(result_of(table)), women(result_of(thrice, person="who"))
    for name, gap in alone.differences.items():
        again = repeated.differences[name].estimate
        assert again.value == pytest.approx(gap.estimate.value)
        assert again.high - again.low > 0.9 * (gap.estimate.high - gap.estimate.low)


def test_counts_are_people():
    table = wages(400).round({"wage": 0})
    counted = table.groupby(["sex", "schooling", "wage"]).size().reset_index(name="n")
    rows = women(result_of(table))
    cells = women(result_of(counted, weights={"column": "n", "kind": "counts"}))
    for name, gap in rows.differences.items():
        assert cells.differences[name].estimate.low == pytest.approx(gap.estimate.low, rel=1e-6)


@pytest.mark.parametrize("favorable", ["high", "low"])
@pytest.mark.parametrize("reference", ["male", "female"])
def test_who_is_worse_off_is_named_first_whichever_group_is_the_reference(favorable, reference):
    result = result_of(wages(), reference=reference, favorable=favorable)
    first, other, measure, value = worse_first(result.amounts)
    assert first.group == ("female" if favorable == "high" else "male") != other.group
    assert value == pytest.approx(first.measure(measure).value - other.measure(measure).value)
    assert abs(value) == pytest.approx(abs(result.judged.interval.value))
    deciding = next(row for row in (first, other) if not row.is_reference)
    assert deciding.differences[measure].estimate == result.judged.interval, "one interval"
    said = amount_headline(result).casefold()
    assert said.index(first.group) < said.index(f"{other.group}", said.index("than"))


@pytest.mark.parametrize("favorable", ["high", "low"])
def test_of_equally_large_groups_the_best_off_is_the_reference_whatever_they_are_called(favorable):
    table = wages().sort_values("wage", ascending=favorable == "low")
    for names in itertools.permutations("abc"):
        named = table.assign(sex=np.repeat(names, 300))
        first, *rest = result_of(named, reference=None, favorable=favorable).amounts.table
        assert (first.group, first.is_reference) == (names[0], True)
        assert [row.differences["mean"].verdict for row in rest] == [EVIDENCE] * 2


def test_limits_in_the_unit_and_in_per_cent():
    table, below = wages(2000, gap=0.03), wages(400).assign(wage=lambda each: each.wage - 100)
    mean = table.wage[table.sex == "male"].mean()
    assert women(result_of(table, "20%")).differences["mean"].limit == pytest.approx(0.2 * mean)
    assert women(result_of(table, 2)).differences["mean"].limit == 2.0
    for wrong in ("5 per cent", "-1", "0%", "nan"):
        with refused("groups.material_amount"):
            result_of(table, wrong)
    for found, limit, badge in (
        (wages(6000, gap=0.0), "25%", "no material difference"),
        (wages(20_000, gap=0.05), "20%", "small difference"),
        # per cent of a mean that is not above zero is no limit
        (wages(400, gap=0.0).assign(wage=lambda each: each.wage - 100), None, "no verdict"),
        (below, None, "difference"),
    ):
        assert result_of(found, limit).judged.badge == badge


def test_few_people_and_equal_numbers_are_never_cleared():
    other = pd.DataFrame({"sex": ["other"] * 5, "schooling": 9, "wage": 9.0})
    result = result_of(pd.concat([wages(300), other], ignore_index=True))
    row = next(each for each in result.amounts.table if each.group == "other")
    assert row.differences["mean"].estimate.low is None
    assert {gap.verdict for gap in row.differences.values()} == {INSUFFICIENT}
    for equal in ((np.arange(300) == 0).astype(float), 5.0):  # hardly a spread is seen
        assert result_of(wages(300).assign(wage=equal)).verdict == INSUFFICIENT


@pytest.mark.parametrize(("shop", "varies"), [(None, 1.0), ("shop", 0.0)])
def test_a_gap_of_small_groups_is_never_surer_than_one_of_their_means(shop, varies):
    place, man = np.tile(np.arange(40), 2), np.repeat([0, 1], 40)
    wage = 10 + place % 20 * np.where(man, 1.0, varies) + 3 * man
    table = pd.DataFrame({"wage": wage, "sex": np.where(man, "male", "female"), "shop": place, "people": 1})
    weights = {"column": "people", "kind": "sampling", "cluster": "shop"} if shop else None
    gap = women(result_of(table, weights=weights)).differences["mean"].estimate
    assert gap.high - gap.low > 2 * 1.96 * (wage[man == 1].std(ddof=1) / np.sqrt(40))


def test_a_huge_value_moves_no_median_and_is_named():
    table = wages(400)
    before = women(result_of(table)).differences["median"].estimate.value
    result = result_of(table.assign(wage=table.wage.where(table.index != 7, 1e9)))
    assert women(result).differences["median"].estimate.value == pytest.approx(before, abs=0.5)
    assert women(result).differences["mean"].verdict == INSUFFICIENT
    assert any("row 7" in each for each in result.warnings)


@pytest.mark.parametrize(
    ("pay", "change", "where"),
    [
        (9.0, {"label": {"column": "wage", "at_least": 9}}, "data.label"),
        (9.0, {"favorable": 1}, "data.favorable"),
        (9.0, {"label": "sex", "protected": ["schooling"]}, "data.label"),
        (np.inf, {}, "column 'wage', row 3"),
    ],
)
def test_contradictions_and_infinite_pay_are_refused_and_missing_pay_counted(pay, change, where):
    table = wages(50)
    table.loc[3, "wage"] = pay
    with refused(where):
        result_of(table, **change)
    table.loc[3, "wage"] = np.nan
    assert sum(row.n for row in result_of(table).amounts.table) == 49


def test_a_model_of_the_number_has_residuals():
    result = result_of(wages(3000), model={"train": "logistic"})
    row, men = women(result), next(each for each in result.amounts.table if each.is_reference)
    # it reads schooling alone: women are predicted too much, men too little
    assert row.residual.high < 0 < men.residual.low
    residual = row.differences["residual"]
    assert residual.verdict == EVIDENCE
    assert residual.estimate.value == pytest.approx(row.residual.value - men.residual.value)
    assert row.actual.value - row.mean.value == pytest.approx(row.residual.value)
    # means are of the predictions, and called so, residuals are of the wage, as all is without a model
    name = result.amounts.name
    assert result.amounts.of_which("mean") not in {name, result.amounts.of_which("residual")}
    assert result_of(wages(60)).amounts.of_which("mean") == name
    assert result.amounts.of_which(result.judged.decided_by) in result.finding


def test_a_run_without_a_model_audits_the_label_and_comes_back(tmp_path: Path):
    wages(600).to_csv(tmp_path / "wages.csv", index=False)
    data = {"path": "wages.csv", "label": "wage", "outcome": "numeric", "protected": ["sex"]}
    data |= {"units": {"wage": "$ an hour"}, "words": {"verb": "earn"}}
    run = execute(parse_spec({"data": data, "audits": ["groups"]}, tmp_path))
    run.save(tmp_path / "out")
    assert type(run).load(tmp_path / "out").to_json() == run.to_json()
    kept = json.loads((tmp_path / "out" / "results.json").read_text())["audits"][0]
    assert kept["interval"] == kept["amounts"]["table"][1]["differences"]["mean"]["estimate"]
    assert "$" in run.audits[0].headline
    tidy = run.tidy().set_index(["measure", "group"])["unit"]
    assert tidy["amounts.table.mean", "female"] == tidy["interval"].iloc[0] == "$ an hour"
    assert tidy["amounts.table.relative", "female"] == "share"
    flips = {"flipset": {"source": {"sex": "female"}, "target": {"sex": "male"}}}
    with refused("audits[0].flipset", "at_least"):
        execute(parse_spec({"data": data, "audits": [flips]}, tmp_path))


def test_people_whose_sex_is_missing_are_a_group_by_their_pay():
    table = wages(6000, gap=0.0)
    table.loc[::5, ["sex", "wage"]] = [None, 2.0]
    result = result_of(table)
    assert (result.verdict, result.judged.material) == (EVIDENCE, True)
    assert worse_first(result.amounts)[0].group == "(missing)"


def _without_low_pay(table: pd.DataFrame) -> pd.DataFrame:
    low = (table.sex == "female") & (table.wage < table.wage[table.sex == "female"].quantile(0.4))
    return table.assign(wage=table.wage.mask(low))


def test_pay_that_is_missing_for_low_paid_women_alone_gets_no_verdict():
    full = wages(3000)
    result = result_of(_without_low_pay(full), "5%")
    assert women(result_of(full, "5%")).verdict == EVIDENCE
    assert {gap.verdict for gap in women(result).differences.values()} == {INSUFFICIENT}
    assert result.judged.badge == "no verdict"
    assert any("60.0% of female people" in each for each in result.warnings)


def test_pay_that_is_missing_at_random_clears_nobody_where_it_is_much():
    table = wages(20_000, gap=0.0)
    gone = np.random.default_rng(2).random(len(table)) < 0.2
    assert result_of(table, "8%").verdict == NO_MATERIAL
    for limit in ("8%", "1%"):  # of one that is open nothing can be cleared either, however many people
        judged = result_of(table.assign(wage=table.wage.mask(gone)), limit).judged
        assert (judged.badge, judged.people_needed) == ("no verdict", None)


def test_predicted_pay_is_everybodys_but_clears_nobody_where_pay_is_missing_unevenly():
    full = wages(3000, gap=0.0).assign(predicted=lambda each: 5.0 + each.schooling / 4)
    model = {"predictions": {"score": "predicted"}}
    assert result_of(full, "10%", model).verdict == NO_MATERIAL
    result = result_of(_without_low_pay(full), "10%", model)
    assert women(result).n == int((full.sex == "female").sum())
    assert "residual" not in women(result).differences
    assert result.verdict == INSUFFICIENT
