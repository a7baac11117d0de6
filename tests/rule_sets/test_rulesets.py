"""The rule-set audit: by hand, published, as properties, the slow way against the fast, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from audits.checks import build
from audits.data import load_data
from audits.data.public import public_section
from audits.data.spec_parser import data_spec
from audits.models import Subject, make_subject, model_spec
from audits.rule_sets import RuleSetsOptions, members, refine, rule_sets
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import count_cells, memberships
from audits.subgroups.scores import margin, people_for_margin
from audits.subgroups.search import Search
from tests.refused import refused
from tests.rule_sets.conftest import crowd, subject_of

FAST = {"permutations": 99, "samples": 0}


def searched(data, decisions, *, support, **options):
    attributes, _ = read_attributes(
        data, build(RuleSetsOptions, {"support": support, **options}, "rule_sets")
    )
    cells = count_cells(attributes, decisions, data.weights)
    search = Search(cells, support=support, depth=options.get("depth"))
    search.run(options.get("max_candidates", 10**7))
    return attributes, cells, search.found()


def brute(attributes, decisions, weights=None):
    """Every rule set by definition, one boolean mask after the other: {rules: (n, favorable)}."""
    weights = np.ones(len(decisions)) if weights is None else weights
    found = {}
    for rules in itertools.product(*(range(-1, len(item.rules)) for item in attributes)):
        if max(rules) < 0:
            continue
        mask = np.ones(len(decisions), dtype=bool)
        for rule, item in zip(rules, attributes, strict=True):
            if rule >= 0:
                mask &= item.rules[rule][item.codes]
        found[rules] = (weights[mask].sum(), (weights * decisions)[mask].sum())
    return found


def test_by_hand():
    """Women of b: 1 of 4; everyone else 9 of 12."""
    frame = pd.DataFrame({"sex": list("fm") * 8, "race": list("aabb") * 4, "decision": 1})
    frame.loc[frame.query("sex == 'f' and race == 'b'").index[:3], "decision"] = 0
    frame.loc[[0, *frame.query("sex == 'm'").index[:2]], "decision"] = 0
    result = rule_sets(subject_of(frame, ("sex", "race")), RuleSetsOptions(support=0.2, **FAST))
    assert (result.n_candidates, result.n_frequent, result.n_distinct) == (8, 8, 8)
    row = result.leaderboard[0]
    assert (row.rule_set, row.direction) == ("sex = f, race = b", "harmed")
    assert (row.n_in, row.n_out, row.support) == (4, 12, 0.25)
    assert (row.favorable_in.value, row.favorable_out.value) == (0.25, 0.75)
    assert (row.score.value, row.difference.value) == pytest.approx((0.5, -0.5))
    # Fisher's exact test, smaller tail doubled: 2 * P(X <= 1), X hypergeometric(16, 10, 4)
    assert row.p_value == pytest.approx(2 * (15 + 10 * 20) / 1820)
    assert result.verdict == "insufficient evidence"
    assert members(result, row.number).sum() == 4


def test_worked_example_of_section_4_2():
    """283 and 91 of 1,000: margins 0.02792 + 0.01783 = 0.04575 < 0.05; a coin each way takes 1,537."""
    assert margin(0.283, 1000, 0.0, 1000, 0.95) == pytest.approx(0.02792, abs=5e-6)
    assert margin(0.0, 1000, 0.091, 1000, 0.95) == pytest.approx(0.01783, abs=5e-6)
    assert margin(0.283, 1000, 0.091, 1000, 0.95) == pytest.approx(0.04575, abs=1e-5)
    assert people_for_margin(np.array(0.5), np.array(0.5), 0.05, 0.95) == 1537


@pytest.mark.shared
def test_adult_counts_by_definition(shared_data):
    """2 genders x 30 race subsets x 54 age intervals give 5,114 candidates, 2,564 frequent at 5%."""
    section = {key: value for key, value in public_section("adult", shared_data).items() if key != "recode"}
    section |= {"path": str(shared_data / "adult.data"), "protected": ["sex", "race", "age"]}
    data = load_data(data_spec({**section, "bins": {"age": list(range(0, 101, 10))}}))
    subject = make_subject(data, model_spec({"predictions": {"label": "income"}}))
    result = rule_sets(subject, RuleSetsOptions(support=0.05, permutations=199))
    assert (result.n, result.n_candidates, result.n_frequent) == (32561, 5114, 2564)
    # a mask a rule set, for the whole leaderboard, to the last digit
    for row in result.leaderboard:
        mask = np.ones(data.n, dtype=bool)
        for rule in row.rules:
            mask &= data.groups[rule["attribute"]].isin(rule["values"]).to_numpy()
        inside, outside = subject.decisions[mask].mean(), subject.decisions[~mask].mean()
        assert row.score.value == pytest.approx(abs(inside - outside), abs=1e-12)
        assert row.n_in == mask.sum()
    # Table 4's pattern in the labels themselves: men in the middle of life, White or Asian-Pac-Islander
    assert result.leaderboard[0].rule_set == "sex = Male, race = Asian-Pac-Islander or White, 40 ≤ age < 60"
    assert result.verdict == "evidence of a difference"
    assert result.leaderboard[0].confirmed


@pytest.mark.shared
def test_compas_counts_by_definition(shared_data):
    """Of 10,394 candidates and all 7,214 rows, 5,818 reach 5% and 2,851 20% (the paper: 1,590 and 0)."""
    section = {
        **public_section("compas", shared_data),
        "keep": [],
        "protected": ["sex", "race", "age"],
        "bins": {"age": list(range(0, 101, 10))},
    }
    data = load_data(data_spec(section))
    for support, frequent in ((0.05, 5818), (0.20, 2851)):
        _, cells, mined = searched(data, np.asarray(data.y), support=support)
        assert cells.total == 7214
        assert (mined.n_candidates, mined.n_frequent) == (10394, frequent)


@settings(max_examples=12)
@given(
    n=st.integers(5, 60),
    seed=st.integers(0, 10**6),
    support=st.sampled_from([0.01, 0.1, 0.3]),
    weighted=st.booleans(),
    intervals=st.sampled_from(["runs", "thresholds", "bins"]),
)
def test_search_equals_one_mask_after_the_other(n, seed, support, weighted, intervals):
    frame = crowd(n, seed=seed, missing=0.3)
    ages = pd.cut(frame["age"], [17, 37, 57, 78]).astype(str)
    assume(all(values.nunique() > 1 for values in (frame["sex"], frame["race"], ages)))
    assume(frame["age"].notna().any())
    data = {"weights": "weight"} if weighted else {}
    if weighted:
        frame["weight"] = np.random.default_rng(seed).integers(1, 5, n)
    subject = subject_of(frame, ("sex", "race", "age"), bins={"age": (18, 38, 58, 78)}, **data)
    audited, decisions = subject.data, subject.decisions
    attributes, cells, mined = searched(audited, decisions, support=support, intervals=intervals)
    slow = brute(attributes, decisions, audited.weights)
    frequent = {rules: sums for rules, sums in slow.items() if sums[0] >= support * audited.size - 1e-9}
    assert (mined.n_candidates, mined.n_frequent) == (len(slow), len(frequent))
    for rules, inside, good in zip(mined.rules, mined.n, mined.favorable, strict=True):
        assert frequent[tuple(rules.tolist())] == pytest.approx((inside, good), abs=1e-9)
    # merged: as many as there are different groups of people with someone outside
    people = {tuple(np.flatnonzero(row)) for row in memberships(cells, np.array(list(frequent), dtype=int))}
    assert len(mined.n) == len({group for group in people if len(group) < len(cells.n)})


def test_a_context_is_not_taken_for_what_a_group_is_in():
    """All are decided alike within departments, but in F rarely; in G women are harmed: G comes first."""
    rng = np.random.default_rng(4)
    sex, place = rng.choice(["f", "m"], 6000), rng.choice(["E", "F", "G"], 6000)
    rate = np.where(place == "F", 0.1, 0.6) - 0.3 * ((place == "G") & (sex == "f"))
    frame = pd.DataFrame({"sex": sex, "place": place, "decision": (rng.random(6000) < rate).astype(int)})
    subject = subject_of(frame, ("sex",), features=("place",))
    options = RuleSetsOptions(context=("place",), categories="values", support=0.05, leftover=0.0, **FAST)
    result = rule_sets(subject, options)
    first = result.leaderboard[0]
    assert first.rule_set in {"sex = f, place = G", "sex = m, place = G"}
    here, inside = frame["place"] == "G", frame["sex"] == first.rule_set[6]
    own, rest = frame["decision"][here & inside], frame["decision"][here & ~inside]
    assert first.within.value == pytest.approx(own.mean() - rest.mean())
    assert first.favorable_context == pytest.approx(rest.mean())
    shared = [row for row in result.leaderboard if "place = F" in row.rule_set]
    assert shared
    for row in shared:
        assert row.score.value < 0.05, "who is in F is decided rarely, women and men alike"
        assert row.within == row.difference
        assert row.within.low <= 0 <= row.within.high
    assert result.judged.interval == first.difference
    # the half that did not pick the first group compares it with the others of its context, as the first did
    second = result.discovery.score_second
    assert second.low < result.discovery.score_first < second.high
    assert second.n == pytest.approx(here.sum() / 2, rel=0.1)
    assert 0 < result.rule_sets["narrowed"].sum() < len(result.rule_sets)  # of sex alone there is no context


def _in_shares(two: bool) -> Subject:
    """100 people a cell with exact shares: women of d are harmed, and the left side where `two`."""
    cells = pd.DataFrame(itertools.product("fm", "abcd", "lr"), columns=["sex", "race", "side"])
    good = np.where((cells["sex"] == "f") & (cells["race"] == "d"), 20, 60)
    good = np.where(two & (cells["side"] == "l"), good // 2, good)
    frame = cells.loc[cells.index.repeat(100)].reset_index(drop=True)
    frame["decision"] = (np.tile(np.arange(100), 16) < good.repeat(100)).astype(int)
    return subject_of(frame, ("sex", "race", "side"), features=("sex", "race", "side"))


def test_what_one_group_drives_is_one_finding():
    def seen(subject, **options):
        rows = rule_sets(subject, RuleSetsOptions(support=0.02, **options, **FAST)).leaderboard
        return [row.rule_set for row in rows if row.verdict == "evidence of a difference"]

    assert seen(_in_shares(False)) == ["sex = f, race = d"]
    assert len(seen(_in_shares(False), leftover=0.0)) > 1, "wider groups differ by the same people"
    # a second effect of its own stays a finding of its own
    two = seen(_in_shares(True))
    assert len(two) > 1
    assert any("side = l" in rules for rules in two[:3])


def test_refine_moves_without_a_new_run():
    subject = subject_of(crowd(3000, effect=0.4), ("sex", "race"))
    result = rule_sets(subject, RuleSetsOptions(support=0.02, **FAST))
    larger, by_sex = refine(result, support=0.2), refine(result, attributes=["sex"])
    assert larger
    assert min(row.support for row in larger) >= 0.2
    assert all(row.direction == "harmed" for row in refine(result, direction="harmed"))
    assert all(any(rule["attribute"] == "sex" for rule in row.rules) for row in by_sex)
    assert "evidence of a difference" not in {row.verdict for row in refine(result, tolerance=0.99)}
    assert refine(result) == result.leaderboard


def test_constant_model_says_so():
    frame = crowd(300)
    data = subject_of(frame.assign(constant=0.9), ("sex", "race"), features=("constant",)).data
    subject = make_subject(data, model_spec({"predictions": {"score": "constant"}}))
    result = rule_sets(subject, RuleSetsOptions(**FAST))
    assert result.top_score == 0
    assert result.verdict != "evidence of a difference"
    assert {row.adjusted_p for row in result.leaderboard} == {1.0}
    assert "favorably" in result.warnings[0]


def test_missing_values_are_a_group_of_their_own():
    subject = subject_of(crowd(500, missing=0.2), ("sex", "age"), bins={"age": (18, 38, 58, 78)})
    result = rule_sets(
        subject, RuleSetsOptions(support=0.05, depth=1, overlap=1.0, leftover=0.0, top=100, **FAST)
    )
    rows = {row.rule_set: row for row in result.leaderboard}
    assert rows["age missing"].n_in == subject.data.frame["age"].isna().sum()
    # 6 runs of 3 bins (all three together are proper, they leave out the missing), the missing, 2 sexes
    assert result.n_candidates == 9
    assert result.rows == {"audited": 500, "used": 500, "left_out": {}}


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"protected": ()}, "rule_sets.protected"),
        ({"protected": ("color",)}, "rule_sets.protected"),
        ({"protected": ("sex", "sex")}, "rule_sets.protected"),
        ({"context": ("race",)}, "rule_sets.context"),
        ({"support": 0.97}, "rule_sets.support"),
        ({"support": 0}, "rule_sets.support"),
        ({"permutations": 5}, "rule_sets.permutations"),
        ({"bins": {"race": (1.0, 2.0, 3.0)}}, "rule_sets.bins.race"),
        ({"bins": {"age": (20.0, 30.0, 90.0)}}, "rule_sets.bins.age"),
    ],
)
def test_bad_options(options, where):
    subject = subject_of(crowd(300), ("sex", "race", "age"), bins={"age": (18, 38, 58, 78)})
    with refused(where):
        rule_sets(subject, RuleSetsOptions(**{**FAST, **options}))


def test_numbers_are_cut_into_as_many_people_where_asked():
    frame = crowd(500).drop(columns=["race", "age"]).round({"income": 1})
    counted = frame.groupby(list(frame.columns)).size().rename("weight").reset_index()
    asked = {"support": 0.05, "context": ("income",), "binning": "quantile", "bins": 4}
    rows, counts = (
        searched(each.data, each.decisions, **asked)
        for each in (subject_of(frame, ("sex",)), subject_of(counted, ("sex",), weights="weight"))
    )
    assert rows[0][1].levels == counts[0][1].levels
    assert np.bincount(rows[0][1].codes) == pytest.approx([125] * 4, abs=25)
