"""Beside the flipsets: equal values, true counterfactuals, score and class changes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import ot
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.flipset.text import disagreement
from audits.models import Subject, make_subject, model_spec
from benchmarks.samples import arrests, law_school
from tests.flipset.conftest import audited, subject_of
from tests.flipset.test_maps import Rule
from tests.flipset.test_maps import subject_of as ruled
from tests.refused import refused

A, B = {"group": "a"}, {"group": "b"}


def test_equal_values_by_hand():
    """At 0 both groups are decided alike, at 1 the source half as often; 2 occurs in the source alone."""
    frame = pd.DataFrame(
        {
            "work": [0, 0, 1, 1, 2, 0, 0, 1, 1],
            "group": ["a"] * 5 + ["b"] * 4,
            "decision": [1, 0, 1, 0, 0, 1, 0, 1, 1],
        }
    )
    (found,) = audited(subject_of(frame), source=A, target=B, permutations=0).same_values
    assert found.difference.value == pytest.approx((0.0 * 2 - 0.5 * 2) / 4)
    assert found.coverage == pytest.approx(4 / 5)
    assert found.values == 2


def test_arrests_two_tests_disagree_and_the_reason_is_arrests():
    """Section 5.5: with equal arrests everyone is decided alike, so FairTest sees nothing within them."""
    people = arrests.generate(4_000)
    data = build_data(
        people, DataSpec(label="high_risk", favorable=0, protected=("group",), features=("prior_arrests",))
    )
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


@pytest.mark.parametrize("cost", ["l1", "l1_squared"])
@pytest.mark.parametrize("seed", range(3))
def test_ties_against_every_pairing(cost, seed):
    """The slow obvious version: all pairings of five with five, those of least cost."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 3, (10, 2)).astype(float), columns=["x", "y"])
    frame["y"] += np.arange(10) * 1e-3  # nobody alike: a pairing is then a coupling's corner
    frame = frame.assign(group=["a"] * 5 + ["b"] * 5, decision=rng.integers(0, 2, 10))
    frame.loc[[0, 9], "decision"] = [0, 1]
    subject = subject_of(frame)
    result = audited(subject, source=A, target=B, permutations=0, cost=cost)
    z = subject.space.encode(subject.data.frame)
    gaps = np.abs(z[:5, None] - z[None, 5:]).sum(2) ** (1 if cost == "l1" else 2)
    h, g = subject.decisions[:5], subject.decisions[5:]
    orders = [list(order) for order in itertools.permutations(range(5))]
    costs = np.array([gaps[range(5), order].sum() for order in orders])
    best = [order for order, total in zip(orders, costs, strict=True) if total <= costs.min() + 1e-9]
    flips = [(h & ~g[order]).sum() for order in best]
    assert result.tie_range == pytest.approx((min(flips), max(flips)), abs=1e-6)


def test_people_of_the_same_features_can_exchange_counterparts():
    """Four people with the same features, decided 1, 0 and 1, 0: any pairing is free, from none flipped to
    one each way."""
    frame = pd.DataFrame({"work": [0, 0, 5, 0, 0, 5], "group": ["a"] * 3 + ["b"] * 3})
    frame["decision"] = [1, 0, 1, 1, 0, 1]
    result = audited(subject_of(frame), source=A, target=B, permutations=0)
    assert result.positive.size == pytest.approx(0.5)
    assert result.tie_range == pytest.approx((0, 1))


@pytest.mark.parametrize("seed", range(3))
def test_the_range_holds_what_a_solver_returns_for_shuffled_rows(seed):
    """Counts, decided by a column: the ends are a solver's where flips cost a trifle more or less."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.integers(0, 4, 60), "z": rng.integers(0, 4, 60), "group": ["a"] * 25 + ["b"] * 35}
    )
    frame["decision"] = rng.integers(0, 2, 60)
    frame["weight"] = rng.integers(1, 4, 60)
    result = audited(subject_of(frame, weights="weight"), source=A, target=B, permutations=0)
    z = frame[["x", "z"]].to_numpy(dtype=float)
    sd = np.sqrt(np.cov(z.T, aweights=frame["weight"], ddof=0).diagonal())
    costs = np.abs(z[:25, None] / sd - z[None, 25:] / sd).sum(axis=2) ** 2
    weight, decided = frame["weight"].to_numpy(dtype=float), frame["decision"].to_numpy()
    a, b = weight[:25] / weight[:25].sum(), weight[25:] / weight[25:].sum()
    flips = (decided[:25, None] * (1 - decided[None, 25:])).astype(float)
    found = []
    for price in (1e-8, 0.0, -1e-8):
        rows, columns = rng.permutation(25), rng.permutation(35)
        plan = ot.emd(a[rows], b[columns], (costs + price * flips)[np.ix_(rows, columns)])
        found.append(weight[:25].sum() * float((plan * flips[np.ix_(rows, columns)]).sum()))
    assert result.tie_range == pytest.approx((found[0], found[2]), abs=1e-6)
    assert found[0] - 1e-6 <= found[1] <= found[2] + 1e-6


def test_counts_are_cut_into_parts_as_their_people_are():
    """Tenths of the people, not of the rows; bars reach as far as nearly everyone does."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": np.round(rng.normal(size=160), 2), "group": ["a"] * 80 + ["b"] * 80})
    frame["decision"] = rng.permutation([0, 1] * 80)
    frame["weight"] = np.where(frame["x"] > 0.5, 40, 1)
    people = frame.loc[frame.index.repeat(frame["weight"])].reset_index(drop=True)
    counted = audited(subject_of(frame, weights="weight"), source=A, target=B, permutations=0)
    single = audited(subject_of(people.drop(columns="weight")), source=A, target=B, permutations=0)
    ours, theirs = counted.same_values[0], single.same_values[0]
    assert (ours.difference.value, ours.values) == (pytest.approx(theirs.difference.value), theirs.values)
    assert counted.positive.marginals[0].edges == pytest.approx(single.positive.marginals[0].edges)


@pytest.mark.parametrize("kind", ["exact", "linear"])
def test_score_change_by_hand(kind):
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3, 10, 11, 12, 13], "group": ["a"] * 4 + ["b"] * 4})
    subject = ruled(frame, Rule(("work",), (2.0,)), 1.5)
    change = audited(subject, source=A, target=B, transport=kind, permutations=0).score_change
    assert change.mean == pytest.approx(20)
    assert change.quantiles["0.5"] == pytest.approx(20)
    assert change.n == 4


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


@pytest.mark.parametrize("kind", ["exact", "linear"])
def test_classes_by_hand(kind):
    frame = pd.DataFrame(
        {
            "work": [0.0, 1, 2, 3, 10, 11, 12, 13],
            "group": ["a"] * 4 + ["b"] * 4,
            "label": ["low", "middle", "middle", "middle", "middle", "middle", "high", "high"],
        }
    )
    spec = DataSpec(label="label", favorable="high", protected=("group",), features=("work",))
    data = build_data(frame, spec)
    subject = Subject(data, Three(), 0.5, FeatureSpace.fit(data))
    result = audited(subject, source=A, target=B, transport=kind, permutations=0)
    # 0 → 10, 1 → 11, 2 → 12, 3 → 13
    assert result.classes.loc["low"].tolist() == [0, 1, 0]
    assert result.classes.loc["middle"].tolist() == [0, 1, 2]
    assert result.classes.to_numpy().sum() == 4
    assert result.negative.size == 2


def test_counterfactuals_by_hand():
    """The other life adds ten years to all but the last, whom transport would move too."""
    frame = pd.DataFrame(
        {
            "work": [0.0, 1, 2, 3, 10, 11, 12, 13],
            "other": [10.0, 1, 12, 0, 0, 0, 0, 0],
            "group": ["a"] * 4 + ["b"] * 4,
        }
    )
    data = build_data(frame, DataSpec(protected=("group",), features=("work",)))
    subject = Subject(data, Rule(("work",), (1.0,)), 1.5, FeatureSpace.fit(data))
    result = audited(subject, source=A, target=B, permutations=0, counterfactuals={"work": "other"})
    assert result.causal.negative.size == 1  # 0 becomes 10
    assert result.causal.positive.size == 1  # 3 becomes 0
    assert result.causal.negative.transparency[0].mean_difference.value == pytest.approx(-10)
    # transport: 0 and 1 flip; the two agree on 0 and 2
    assert result.causal.agreement.value == pytest.approx(0.5)


def test_law_school_transport_agrees_with_the_causal_model():
    """Section 5.4 (Figure 12): almost the same flipset, none the other way, LSAT before GPA, sex about 0."""
    drawn = law_school.generate(1_500)
    truth = drawn.counterfactuals[["lsat_other_race", "gpa_other_race"]]
    people = pd.concat([drawn.applicants, truth], axis=1)
    people["upper"] = (people["fya"] > people["fya"].median()).astype(int)
    features = ("lsat", "gpa", "sex", "race")
    data = build_data(people, DataSpec(label="upper", favorable=1, protected=("race",), features=features))
    subject = make_subject(data, model_spec({"train": "logistic"}))
    result = audited(
        subject,
        source={"race": "black"},
        target={"race": "white"},
        permutations=0,
        counterfactuals={"lsat": "lsat_other_race", "gpa": "gpa_other_race"},
    )
    causal = result.causal
    assert result.positive.size == causal.positive.size == 0
    assert result.negative.share.value == pytest.approx(causal.negative.share.value, abs=0.12)
    assert causal.agreement.value > 0.8
    for part in (result.negative, causal.negative):
        lines = {item.feature: abs(item.standardized_difference) for item in part.transparency}
        sex = max(value for name, value in lines.items() if name.startswith("sex"))
        assert lines["lsat"] > lines["gpa"] > sex
    assert sex == 0  # nobody's sex is another one in the causal model; transport may trade it for grades


BAD = [
    ({"pay": "other"}, ("flipset.counterfactuals",)),
    ({"work": "others"}, ("flipset.counterfactuals.work",)),
    ({"work": "holes"}, ("flipset.counterfactuals.work",)),
    ({"work": "words"}, ("flipset.counterfactuals.work",)),
]


@pytest.mark.parametrize(("columns", "refusal"), BAD)
def test_bad_counterfactuals(columns, refusal):
    frame = pd.DataFrame(
        {
            "work": [0.0, 1, 2, 3],
            "other": [1.0, 2, 3, 4],
            "holes": [1.0, None, 3, 4],
            "refusal": list("abcd"),
            "group": list("aabb"),
        }
    )
    data = build_data(frame, DataSpec(protected=("group",), features=("work",)))
    subject = Subject(data, Rule(("work",), (1.0,)), 1.5, FeatureSpace.fit(data))
    with refused(*refusal):
        audited(subject, source=A, target=B, permutations=0, counterfactuals=columns)
