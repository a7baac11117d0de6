"""Beside the flipsets: ties, equal values, true counterfactuals, and the paper's case studies in small."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data, public_section
from audits.flipset.text import disagreement
from audits.models import Subject, make_subject, model_spec
from audits.runs.executors.inline import InlineExecutor
from benchmarks.papers.fliptest import lipton
from benchmarks.samples import arrests, law_school
from tests.flipset.conftest import audited, subject_of
from tests.flipset.test_maps import Rule
from tests.flipset.test_maps import subject_of as ruled
from tests.refused import refused

A, B = {"group": "a"}, {"group": "b"}


def test_equal_values_by_hand():
    """At 0 both groups are decided alike, at 1 the source half as often; 2 occurs in the source alone."""
    frame = pd.DataFrame({"work": [0, 0, 1, 1, 2, 0, 0, 1, 1], "group": list("aaaaabbbb")})
    frame["decision"] = [1, 0, 1, 0, 0, 1, 0, 1, 1]
    (found,) = audited(subject_of(frame), source=A, target=B, permutations=0).same_values
    assert found.difference.value == pytest.approx((0.0 * 2 - 0.5 * 2) / 4)
    assert found.coverage == pytest.approx(4 / 5)
    assert found.values == 2


def test_arrests_two_tests_disagree_and_the_reason_is_arrests():
    """Section 5.5: with equal arrests everyone is decided alike, so FairTest sees nothing within them."""
    spec = DataSpec(label="high_risk", favorable=0, protected=("group",), features=("prior_arrests",))
    data = build_data(arrests.generate(4_000), spec)
    subject = make_subject(data, model_spec({"predictions": {"label": "high_risk"}}))
    result = audited(subject, source={"group": "north"}, target={"group": "south"}, permutations=0)
    (found,) = result.same_values
    assert abs(found.difference.value) < 0.03
    assert result.net.value == pytest.approx(-0.28125, abs=0.03)
    assert "prior_arrests" in result.disagreement == disagreement(result)


def test_ties_by_hand():
    """Under plain L1 both pairings of 0, 1 with 2, 3 cost 4: nobody flips, or both do, one each way."""
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3], "group": list("aabb"), "decision": [1, 0, 1, 0]})
    ask = {"source": A, "target": B, "permutations": 0}
    tied = audited(subject_of(frame), cost="l1", **ask)
    assert tied.tie_range == pytest.approx((0, 1))
    assert "0 to 1" in " ".join(tied.warnings)
    sure = audited(subject_of(frame), **ask)
    assert sure.tie_range == pytest.approx((0, 0))
    assert len(sure.warnings) < len(tied.warnings)


@dataclass(frozen=True)
class Three:
    """Low below 1, middle to 10, high above: a model of three classes."""

    columns: tuple[str, ...] = ("work",)
    name: str = "three classes"
    classes: tuple[str, ...] = ("low", "middle", "high")
    invents: bool = True
    sha256: str = "0"

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        return np.eye(3)[np.digitize(frame["work"].to_numpy(dtype=float), [0.5, 11.5])]


def test_counterfactuals_by_hand():
    """The other life adds ten years to all but the last, whom transport would move too."""
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3, 10, 11, 12, 13], "group": ["a"] * 4 + ["b"] * 4})
    frame["other"] = [10.0, 1, 12, 0, 0, 0, 0, 0]
    subject = ruled(frame, Rule(("work",), (1.0,)), 1.5, features=("work",))
    causal = audited(subject, source=A, target=B, permutations=0, counterfactuals={"work": "other"}).causal
    assert causal.negative.size == 1  # 0 becomes 10
    assert causal.positive.size == 1  # 3 becomes 0
    assert causal.negative.transparency[0].mean_difference.value == pytest.approx(-10)
    # transport: 0 and 1 flip; the two agree on 0 and 2
    assert causal.agreement.value == pytest.approx(0.5)


def test_law_school_transport_agrees_with_the_causal_model():
    """Section 5.4 (Figure 12): almost the same flipset, none the other way, LSAT before GPA, sex about 0."""
    applicants, lives = law_school.generate(1_500)
    other = {"lsat": "lsat_other_race", "gpa": "gpa_other_race"}
    people = pd.concat([applicants, lives[list(other.values())]], axis=1)
    people["upper"] = (people["fya"] > people["fya"].median()).astype(int)
    features = ("lsat", "gpa", "sex", "race")
    data = build_data(people, DataSpec(label="upper", favorable=1, protected=("race",), features=features))
    subject = make_subject(data, model_spec({"train": "logistic"}))
    sides = {"source": {"race": "black"}, "target": {"race": "white"}}
    result = audited(subject, **sides, permutations=0, counterfactuals=other)
    causal = result.causal
    assert result.positive.size == causal.positive.size == 0
    assert result.negative.share.value == pytest.approx(causal.negative.share.value, abs=0.12)
    assert causal.agreement.value > 0.8
    for part in (result.negative, causal.negative):
        lines = {item.feature: abs(item.standardized_difference) for item in part.transparency}
        sex = max(value for name, value in lines.items() if name.startswith("sex"))
        assert lines["lsat"] > lines["gpa"] > sex
    assert sex == 0  # nobody's sex is another one in the causal model; transport may trade it for grades


@pytest.mark.parametrize(
    ("columns", "where"),
    [
        ({"pay": "other"}, "flipset.counterfactuals"),
        ({"work": "others"}, "flipset.counterfactuals.work"),
        ({"work": "holes"}, "flipset.counterfactuals.work"),
        ({"work": "words"}, "flipset.counterfactuals.work"),
    ],
)
def test_bad_counterfactuals(columns, where):
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3], "group": list("aabb"), "other": [1.0, 2, 3, 4]})
    frame = frame.assign(holes=[1.0, None, 3, 4], words=list("abcd"))
    subject = ruled(frame, Rule(("work",), (1.0,)), 1.5, features=("work",))
    with refused(where):
        audited(subject, source=A, target=B, permutations=0, counterfactuals=columns)


@pytest.mark.parametrize("kind", ["exact", "linear"])
def test_scores_and_classes_by_hand(kind):
    """0, 1, 2, 3 go to 10, 11, 12, 13; the scores are twice that, the classes cut at .5 and 11.5."""
    asked = {"source": A, "target": B, "transport": kind, "permutations": 0}
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3, 10, 11, 12, 13], "group": ["a"] * 4 + ["b"] * 4})
    change = audited(ruled(frame, Rule(("work",), (2.0,)), 1.5), **asked).score_change
    assert (change.mean, change.quantiles["0.5"], change.n) == pytest.approx((20, 20, 4))
    frame["label"] = ["low", *["middle"] * 5, "high", "high"]
    spec = DataSpec(label="label", favorable="high", protected=("group",), features=("work",))
    data = build_data(frame, spec)
    result = audited(Subject(data, Three(), 0.5, FeatureSpace.fit(data)), **asked)
    assert result.classes.loc["low"].tolist() == [0, 1, 0]
    assert result.classes.loc["middle"].tolist() == [0, 1, 2]
    assert result.classes.to_numpy().sum() == 4
    assert result.negative.size == 2


WOMEN, MEN = {"gender": "female"}, {"gender": "male"}


@pytest.fixture(scope="module")
def hiring():
    return lipton(1_000)


def test_lipton_in_both_directions_with_the_papers_model(hiring):
    """NUMBERS of the exact coupling; the way back holds the same pairs seen from there (Appendix D)."""
    forward = audited(hiring, source=WOMEN, target=MEN, permutations=0)
    backward = audited(hiring, source=MEN, target=WOMEN, permutations=0)
    assert (round(forward.positive.size), round(forward.negative.size)) == (157, 136)
    assert (round(backward.negative.size), round(backward.positive.size)) == (157, 136)
    assert forward.certificate.cost == pytest.approx(4.860449, abs=5e-7)
    for part, expected in ((forward.positive, (-0.3518, 1.9419)), (forward.negative, (-1.7308, 0.3458))):
        found = {item.feature: item.standardized_difference for item in part.transparency}
        assert (found["work_years"], found["hair_length"]) == pytest.approx(expected, abs=5e-5)


def test_compas_within_the_label_as_recomputed_from_outside(shared_data):
    """81 of 477 people who did not reoffend (17%) and 134 of 500 who did (27%) are held back by race."""
    features = ["age", "priors_count", "juv_fel_count", "c_charge_degree"]
    section = {**public_section("compas", shared_data), "features": features, "test_size": 0.3}
    section["path"] = str(Path(section["path"]).resolve())
    asked = {"source": {"race": "African-American"}, "target": {"race": "Caucasian"}}
    asked |= {"condition_on": "label", "permutations": 0, "bootstrap": 100}
    spec = {"data": section, "model": {"train": "logistic"}, "audits": [{"flipset": asked}]}
    runs = [InlineExecutor().submit({**spec, "seed": seed}, Path()).result() for seed in range(2)]
    found = [each.audits[0].result for each in runs]
    told = np.mean([[item.negative_size / item.n_source for item in each.strata] for each in found], axis=0)
    assert [item.value for item in found[0].strata] == ["favorable label", "unfavorable label"]
    # as recomputed from outside, on one split: shares of splits spread by 0.03
    assert told == pytest.approx([81 / 477, 134 / 500], abs=0.05)
