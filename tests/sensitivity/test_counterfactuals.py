"""Match sets from true counterfactuals: by hand, on the law school, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, LabelCut, build_data, read_table
from audits.models import Subject, make_subject, model_spec
from audits.models.quality import area_under_curve
from audits.sensitivity import SensitivityOptions, sensitivity
from audits.sensitivity.match_sets.counterfactual_model import decided_otherwise
from tests.refused import refused

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
OTHER = {"lsat": "lsat_other_race", "gpa": "gpa_other_race"}


class Points:
    """Scores by hand: a quarter a point of work, a half for being a b, a quarter for a clean record."""

    name, columns, classes, sha256, invents = "points", ("work", "record", "group"), None, "0" * 64, True

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        work = 0.25 * frame["work"].to_numpy(dtype=float)
        return work + 0.5 * (frame["group"] == "b") + 0.25 * (frame["record"] == "clean").to_numpy()


def six(**columns: list) -> Subject:
    frame = pd.DataFrame(
        {
            "work": [0, 1, 1, 0, 2, 0],
            "record": ["clean", "clean", "late", "late", "clean", "late"],
            "group": list("aaabbb"),
            "other_work": [0, 1, 1, 2, 0, 1],
            "other_record": ["clean", "late", "clean", "clean", "late", "late"],
        }
    ).assign(**columns)
    data = build_data(frame, DataSpec(protected=("group",), features=("work", "record", "group")))
    return Subject(data, Points(), 0.75, FeatureSpace.fit(data))


def test_the_model_decides_on_lives_with_another_group_by_hand():
    subject = six()
    assert (subject.scores * 4).tolist() == [1, 2, 1, 2, 5, 2]  # favorable from 3
    lives = {"work": "other_work", "record": "other_record"}
    found, words = decided_otherwise(subject, "group", lives)
    # as the other group's: 0+2+1, 1+2+0, 1+2+1, then 2+0+1, 0+0+0, 1+0+0
    assert found.tolist() == [True, True, True, True, True, False]
    assert "other_work, other_record" in words
    # work alone: the record stays, the group changes
    found, _ = decided_otherwise(subject, "group", {"work": "other_work"})
    assert found.tolist() == [True, True, True, False, True, False]
    # the other group's threshold decides: 0+2+1 < 6; 1+2+1 < 6; 1+2 < 6; 2 ≥ 1; 0+0+1 ≥ 1; 1 ≥ 1
    by_group = Subject(subject.data, subject.model, {"group": {"a": 0.25, "b": 1.5}}, subject.space)
    assert by_group.decisions.tolist() == [True, True, True, False, False, False]
    assert decided_otherwise(by_group, "group", {"work": "other_work"})[0].all()


@pytest.fixture(scope="module")
def law_school() -> Subject:
    features = ("lsat", "gpa", "race", "sex")
    spec = DataSpec(label=LabelCut("fya", at_least=0.0), protected=("race", "sex"), features=features)
    data = build_data(read_table(SAMPLES / "law_school.csv"), spec)
    return make_subject(data, model_spec({"train": "logistic"}), threshold=0.5, seed=0)


def test_the_law_school_knows_every_other_life(law_school: Subject):
    asked = {"protected": "race", "counterfactuals": OTHER, "status_model": "logistic"}
    found = sensitivity(law_school, SensitivityOptions(**asked, bootstrap=100))
    table = pd.read_csv(SAMPLES / "law_school.csv")
    held_out = table.iloc[law_school.data.frame.index.to_numpy() - 1]
    lives = {name: held_out[column] for name, column in OTHER.items()}
    other = held_out.assign(**lives, race=held_out["race"].map({"black": "white", "white": "black"}))
    p, q = law_school.favorable_score(held_out), law_school.favorable_score(other)
    mismatched = (p >= 0.5) != (q >= 0.5)
    match = found.match_set
    assert (match.source, match.by_chance) == ("counterfactuals", None)
    assert match.mismatched.value * match.n == mismatched.sum() > 500
    scores = [found.people["sensitivity"], found.people["gradient"], -np.abs(p - 0.5)]
    assert [curve.name for curve in match.curves] == ["sensitivity", "gradient", "boundary"]
    for curve, score in zip(match.curves, scores, strict=True):
        area = area_under_curve(np.asarray(score), mismatched, np.ones(len(p)), level=0.05)
        assert curve.auc.value == pytest.approx(area.value)
    # between two linear models sensitivity is the gradient and the gradient is the distance
    assert not match.adds


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"protected": ("race", "sex"), "counterfactuals": OTHER}, ("sensitivity.counterfactuals",)),
        ({"counterfactuals": OTHER, "match_set": "off"}, ("sensitivity.counterfactuals", "match_set")),
        ({"counterfactuals": {"lsaat": "gpa_other_race"}}, ("sensitivity.counterfactuals", "'lsat'")),
        ({"counterfactuals": {"lsat": "lsat_other"}}, ("sensitivity.counterfactuals.lsat",)),
        ({"counterfactuals": {"lsat": "gpa"}}, ("sensitivity.counterfactuals.lsat",)),
        ({"counterfactuals": ["lsat"]}, ("sensitivity.counterfactuals",)),
    ],
)
def test_what_is_no_counterfactual_is_refused(law_school: Subject, options, refusal):
    with refused(*refusal):
        sensitivity(law_school, SensitivityOptions(**{"protected": "race", **options}))


def test_columns_of_other_values_are_refused():
    gap, lost = [1.0, np.nan, 1, 1, 1, 1], ["clean", "late", "lost"] * 2
    numbers = (gap, list("uvwxyz"), [True, False] * 3)
    for feature, told in (*(("work", each) for each in numbers), ("record", lost)):
        with refused(f"sensitivity.counterfactuals.{feature}"):
            sensitivity(six(told=told), SensitivityOptions(counterfactuals={feature: "told"}))


def test_a_third_group_has_to_say_what_it_would_have_been():
    subject, work = six(group=list("aaabbc"), other_group=list("bcbaaa")), {"work": "other_work"}
    with refused("sensitivity.counterfactuals.group"):
        sensitivity(subject, SensitivityOptions(counterfactuals=work))
    found, _ = decided_otherwise(subject, "group", {**work, "group": "other_group"})
    # 0+2+1, 1+0+1, 1+2, 2, 0+0+1, 1 where 1, 2, 1, 2, 5, 0 were
    assert found.tolist() == [True, False, True, False, True, False]
