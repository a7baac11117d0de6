"""Training again on real rows: what is added, what it does, and on whom it is stated."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from audits.data import DataSpec, build_data
from audits.groups import GroupsOptions, groups
from audits.mitigation.audit import augmented_by, draw_samples, mitigation, subject_on
from audits.mitigation.inference import judge_step
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import NOT_RUN, MitigationResult, Step
from audits.mitigation.splits import SplitGap
from audits.mitigation.treated import find_worst, group_kind
from audits.models import make_subject, model_spec
from audits.results import load_result, plain, save_result
from audits.runs.mitigation import mitigation_with_others
from audits.runs.registry import usual_others
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, wilson
from audits.stats.intervals import cautious_difference
from tests.refused import refused
from tests.rule_sets.conftest import crowd, subject_of
from tests.rule_sets.test_text import corpus
from tests.rule_sets.test_text import subject as text_subject


@pytest.fixture(scope="module")
def trained():
    """A logistic model that learned from labels in which people of c and d were refused."""
    rng, frame = np.random.default_rng(3), crowd(6000, seed=3)
    frame["merit"] = rng.normal(size=6000)
    chance = expit(1.2 * frame["merit"] + 0.6 - 1.5 * frame["race"].isin(["c", "d"]))
    frame["decision"] = (rng.random(6000) < chance).astype(int)
    features = ("merit", "income", "age", "sex", "race")
    spec = DataSpec(label="decision", favorable=1, protected=("sex", "race"), features=features)
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}))


def test_mitigation_lowers_the_difference_on_held_out_people(trained, tmp_path):
    options = MitigationOptions(amounts=(0.05, 0.1), also={"groups": {}})
    told: list[tuple[float, str]] = []
    result = mitigation_with_others(trained, options, rng=0, progress=lambda *now: told.append(now))
    assert told == sorted(told, key=lambda now: now[0])
    assert min(share for share, doing in told if doing.startswith("Groups")) < 0.3, "they take longest"
    assert result.rule_set == "race = c or d"
    assert result.direction == "harmed"
    before, after = result.steps[0], result.steps[result.chosen]
    assert before.added == 0
    assert [step.added for step in result.steps] == [0, 50, 210, 420]
    assert before.difference.value < -0.3
    assert abs(after.difference.value) < abs(before.difference.value) - 0.05
    assert after.accuracy.value >= before.accuracy.value - 0.01
    # the first step is the model as it was, on the held-out people
    inside = trained.data.frame.eval("race in ['c', 'd']").to_numpy()
    gap = trained.decisions[inside].mean() - trained.decisions[~inside].mean()
    assert before.difference.value == pytest.approx(gap)
    assert before.accuracy.value == pytest.approx((trained.decisions == trained.data.y).mean())
    assert [headline.audit for headline in before.also] == ["groups"]
    assert before.also[0].finding == groups(trained, GroupsOptions(), rng=trained.seed).finding
    assert before.also[0].finding != after.also[0].finding
    save_result(result, tmp_path, "mitigation")
    assert plain(load_result(MitigationResult, tmp_path, "mitigation")) == plain(result)


def test_another_audit_that_these_people_do_not_allow_is_said(trained):
    also = {"groups": {"bootstrap": 0}, "flipset": {"source": {"sex": "nobody"}, "target": {"sex": "m"}}}
    result = mitigation_with_others(trained, MitigationOptions(amounts=(0.02,), also=also, methods=()), rng=0)
    for step in (result.steps[0], result.steps[result.chosen]):
        told = [(item.audit, item.verdict == NOT_RUN) for item in step.also]
        assert told == [("groups", False), ("flipset", True)]
        assert "nobody" in step.also[1].finding


def test_other_audits_that_need_no_choice(trained):
    """The two largest groups, those with fewer favorable labels first; recourse only with a role."""
    data = trained.data
    share = data.frame.groupby("sex", observed=True)["decision"].mean()
    found = usual_others(data, "logistic")
    assert found["flipset"] == {"source": {"sex": share.idxmin()}, "target": {"sex": share.idxmax()}}
    assert "recourse" not in found
    with_role = dataclasses.replace(data, roles={"merit": "actionable"})
    assert usual_others(with_role, "logistic")["recourse"] == {"actionable": ["merit"], "by": ["sex"]}
    assert list(usual_others(data, "text")) == ["groups", "attribute_swap"]
    assert usual_others(dataclasses.replace(data, protected=()), "logistic") == {}


def test_samples_carry_the_label_against_the_trend(trained):
    options = MitigationOptions()
    before, groups = subject_on(trained, trained.training, trained.model), group_kind(trained, options)
    group = find_worst(groups, before, options)
    samples, labels, _ = draw_samples(before, groups, group, options, np.random.default_rng(0))
    data = augmented_by(trained.training, samples.iloc[:80], labels[:80])
    added = data.frame.iloc[trained.training.n :]
    assert (added["decision"] == 1).all()
    assert added["race"].isin(["c", "d"]).all()
    assert data.frame.index.is_unique
    assert data.n == trained.training.n + 80
    pd.testing.assert_frame_equal(data.frame.iloc[: trained.training.n], trained.training.frame)


def test_samples_of_texts_hold_the_terms_and_nothing_else_of_their_category():
    audited = text_subject(corpus(3000))
    options = MitigationOptions(terms={"gender": ("gay", "male", "female")})
    before, groups = subject_on(audited, audited.training, audited.model), group_kind(audited, options)
    group = find_worst(groups, before, options)
    assert group.words == "“gay”"
    samples, labels, tried = draw_samples(before, groups, group, options, np.random.default_rng(0))
    assert labels.all()
    assert tried >= len(samples) > 0
    assert samples["text"].str.contains(r"\bgay\b").all()
    assert not samples["text"].str.contains(r"\b(?:fe)?male\b").any()
    assert (audited.favorable_score(samples) >= 0.5).all()


@pytest.mark.parametrize(("elsewhere", "badge"), [(0.05, "no material difference"), (0.3, "no verdict")])
def test_a_group_that_is_level_clears_nobody_while_another_is_not(elsewhere, badge):
    same = cautious_difference(2500, 5000, 2500, 5000)
    share = wilson(2500, 5000)
    step = Step(0, same, share, share, share, "region = north", elsewhere, ())
    judged = judge_step([step], 0, level=0.05, material=0.1)
    assert judged.badge == badge
    assert judged.people_needed is None


def test_a_verdict_holds_over_several_splits_of_the_people():
    """One split alone shows evidence for 3 or 4 of ten seeds, and nothing for the others."""
    rng = np.random.default_rng(11)
    sex, race = rng.choice(["f", "m"], 3000), rng.choice(list("abc"), 3000, p=[0.5, 0.3, 0.2])
    x = rng.normal(size=(3000, 3))
    behind = 1.0 * ((sex == "f") & (race == "c")) + 0.5 * (sex == "f")
    y = rng.random(3000) < expit(x[:, 0] + 0.5 * x[:, 1] - behind)
    frame = pd.DataFrame(x, columns=list("uvw")).assign(sex=sex, race=race, y=y.astype(int))
    features = ("u", "v", "w", "sex", "race")
    spec = DataSpec(label="y", favorable=1, protected=("sex", "race"), features=features)
    table, alone = build_data(frame, spec), 0
    for seed in range(4):
        audited = make_subject(table, model_spec({"train": "logistic"}), seed=seed)
        result = mitigation(audited, MitigationOptions(methods=()), rng=seed)
        deciding, own = result.judged.interval, result.splits[0]
        assert len(result.splits) == 5
        assert deciding.low == min(each.low for each in result.splits)
        assert deciding.high == max(each.high for each in result.splits)
        assert deciding == result.steps[result.chosen].difference
        alone += (own.low > 0 or own.high < 0) and result.judged.verdict != EVIDENCE
    assert alone > 0, "one split would have been evidence"


def test_a_limit_on_a_ratio_is_the_narrowest_over_all_splits():
    """Where nobody is approved there is no ratio; where 2% of the others are, half a point is the limit."""
    none = wilson(0, 300), wilson(0, 600)
    gap = cautious_difference(0, 300, 0, 600)
    step = Step(0, gap, *none, wilson(800, 900), "", 0.0, ())
    how = {"level": 0.05, "material": 0.10}
    assert judge_step([step], 0, **how).verdict == NO_MATERIAL
    again = SplitGap(cautious_difference(6, 300, 12, 600), 1.0, 0.02, 0.02)
    judged = judge_step([step], 0, **how, alone=gap, again=[again])
    assert judged.verdict == INSUFFICIENT
    assert (judged.immaterial_low, judged.immaterial_high) == pytest.approx((-0.004, 0.005))


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"also": {"group": {}}}, ("mitigation.also.group", "'groups'")),
        ({"text": "merit"}, ("mitigation.text",)),
    ],
)
def test_what_cannot_be_asked_is_named(trained, options, refusal):
    with refused(*refusal):
        mitigation_with_others(trained, MitigationOptions(**options))
    with refused("model.train"):  # of a model that was not trained here
        mitigation(subject_of(crowd(300), ("sex",)), MitigationOptions())
