"""Flipsets through learned maps: by hand, against the direct computation, invariants, and bad input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.errors import RunFailed
from audits.flipset.text import DISTRUST
from audits.models import Subject
from audits.results import load_result, save_result
from tests.flipset.conftest import audited, draw_crowd
from tests.refused import refused

A, B = {"group": "a"}, {"group": "b"}
QUICK = {"gan": {"iterations": 30}, "neural": {"dual_steps": 20, "map_steps": 20}}
INVENTING = ("linear", "entropic", "unbalanced", "neural", "gan")


@dataclass(frozen=True)
class Rule:
    """A model: a weighted sum of numbers, plus a bonus for one group."""

    columns: tuple[str, ...]
    weights: tuple[float, ...] = ()
    bonus: str | None = None
    name: str = "rule"
    classes: None = None
    invents: bool = True
    sha256: str = "0"

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        numbers = frame[list(self.columns[: len(self.weights)])].to_numpy(dtype=float)
        score = numbers @ np.array(self.weights) if self.weights else np.zeros(len(frame))
        return score + (0.0 if self.bonus is None else 10.0 * (frame["group"] == self.bonus).to_numpy())


def subject_of(frame: pd.DataFrame, rule: Rule, threshold: float = 0.0, **data: object) -> Subject:
    own = tuple(name for name in frame.columns if name != "group" or rule.bonus)
    built = build_data(frame, DataSpec(**{"protected": ("group",), "features": own, **data}))
    return Subject(built, rule, threshold, FeatureSpace.fit(built))


def two_groups(n: int = 60, m: int = 50, seed: int = 0) -> Subject:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + m, 2)) + np.r_[np.zeros(n), np.ones(m)][:, None]
    frame = pd.DataFrame(x, columns=["work", "hair"]).assign(group=["a"] * n + ["b"] * m)
    return subject_of(frame, Rule(("work", "hair"), (1.0, -0.4)), 0.3)


@pytest.fixture
def by_hand() -> Subject:
    """Four people a group, the second ten years on: the linear map adds ten years."""
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3, 10, 11, 12, 13], "group": ["a"] * 4 + ["b"] * 4})
    return subject_of(frame, Rule(("work",), (1.0,)), 1.5)


def test_by_hand(by_hand):
    result = audited(by_hand, source=A, target=B, transport="linear", permutations=0)
    # 0 and 1 are below 1.5, their counterparts 10 and 11 are not; 2 and 3 are above, as 12 and 13
    assert result.negative.size == 2
    assert result.positive.size == 0
    assert result.invented["work"].to_numpy()[result.people["atom"]] == pytest.approx([10, 11, 12, 13])
    assert result.people["counterpart_score"].tolist() == pytest.approx([10, 11, 12, 13])
    assert result.people["counterpart"].isna().all()
    assert result.negative.transparency[0].mean_difference.value == pytest.approx(-10)
    assert (result.reverse.positive_size, result.reverse.negative_size) == (2, 0)
    assert result.validation.composition_error == pytest.approx(0, abs=1e-20)
    assert result.validation.trusted
    assert result.certificate.slack is None


@pytest.mark.parametrize("kind", INVENTING)
def test_every_map(kind, tmp_path):
    """Shares lie in [0, 1], sizes add up, the same seed gives the same result, and a file keeps it."""
    ask = {"transport": kind, "map": QUICK.get(kind), "permutations": 3, "noise_people": 20, "rng": 5}
    result = audited(two_groups(), source=A, target=B, **ask)
    people = result.people
    assert people[["positive", "negative", "counterparts_favorable", "found"]].stack().between(0, 1).all()
    assert (people["positive"] + people["negative"] <= people["found"] + 1e-12).all()
    assert result.positive.size == pytest.approx(people["positive"].sum())
    assert len(result.invented) == people["atom"].max() + 1
    refitted = {"entropic": "an entropic map", "unbalanced": "an unbalanced map"}
    assert result.noise.method.startswith(refitted.get(kind, "a linear map"))
    assert (result.unmatched is not None) == (kind == "unbalanced")
    assert bool(result.training) == (kind in {"gan", "neural"})
    save_result(result, tmp_path, "flipset")
    again = load_result(type(result), tmp_path, "flipset")
    assert again.to_json() == result.to_json()
    pd.testing.assert_frame_equal(again.invented, result.invented)
    if kind == "gan":
        same = audited(two_groups(), source=A, target=B, **ask)
        pd.testing.assert_frame_equal(same.people, people)


def test_counterparts_belong_to_the_target_group():
    """A model that reads the group alone decides everyone's counterpart the other way."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"work": rng.normal(size=60), "group": ["a"] * 20 + ["b"] * 20 + ["c"] * 20})
    subject = subject_of(frame, Rule(("work", "group"), (), bonus="a"), 5)
    for target in (B, {"group": {"not": "a"}}):
        result = audited(subject, source=A, target=target, transport="linear", permutations=0)
        assert result.positive.size == 20
        assert not (result.invented["group"] == "a").any()


def test_thresholds_by_group_are_those_of_the_target():
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3] * 2, "group": ["a"] * 4 + ["b"] * 4})
    subject = subject_of(frame, Rule(("work",), (1.0,)), {"group": {"a": 0.5, "b": 2.5}})
    result = audited(subject, source=A, target=B, transport="linear", permutations=0)
    assert result.positive.size == 2  # 1 and 2 pass in group a only


def test_entropic_coupling_nears_the_exact_one():
    crowd = draw_crowd(40, 40, d=1, seed=6)
    ask = {"source": A, "target": B, "permutations": 0}
    exact = audited(crowd, **ask)
    near = audited(crowd, transport="entropic", map={"epsilon": 1e-3, "iterations": 20000}, **ask)
    # one dimension: the optimum is sorted order; a thousandth of the cost's contrast blurs few pairs
    assert near.positive.size == pytest.approx(exact.positive.size, abs=1.0)
    assert near.certificate.cost == pytest.approx(exact.certificate.cost, rel=0.01)


def test_unbalanced_leaves_the_far_ones_out_and_counts_them():
    """Ten of fifty people lie a hundred years away: they find no counterpart, and no flip is made of them."""
    rng = np.random.default_rng(1)
    work = np.r_[rng.normal(size=40), rng.normal(size=10) + 100, rng.normal(size=50)]
    frame = pd.DataFrame({"work": work, "group": ["a"] * 50 + ["b"] * 50})
    subject = subject_of(frame, Rule(("work",), (1.0,)), 50)
    ask = {"source": A, "target": B, "permutations": 0}
    found = audited(subject, transport="unbalanced", map={"relaxation": "partial", "share": 0.8}, **ask)
    assert found.unmatched.value == pytest.approx(0.2, abs=0.02)
    assert found.positive.size < 1
    assert audited(subject, **ask).positive.size == 10
    assert "10 of 50" in " ".join(found.warnings)


def test_a_map_that_misses_says_so_first():
    # one iteration leaves the generator where it was drawn
    untrained = {"transport": "gan", "map": {"iterations": 1}}
    result = audited(two_groups(200, 200), source=A, target=B, permutations=9, **untrained)
    assert not result.validation.trusted
    assert result.verdict == "insufficient evidence"
    assert result.warnings[0].startswith(DISTRUST)
    assert "no" in result.validation_frame()["passed"].tolist()


def test_chance_beside_an_entropic_map_is_that_of_an_entropic_map():
    """Its counterparts are drawn, so that alike groups flip as often as any two people of them differ."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["work", "hair"])
    subject = subject_of(frame.assign(group=np.repeat(["a", "b"], 100)), Rule(("work", "hair"), (1.0, 1.0)))
    result = audited(subject, source=A, target=B, transport="entropic", permutations=9)
    assert result.verdict != "evidence of a difference"
    ways = result.positive, result.negative
    by_chance = sum(way.expected_by_chance.value for way in ways)
    assert by_chance == pytest.approx(sum(way.size for way in ways), rel=0.4)


@pytest.mark.parametrize(
    ("ask", "where", "names"),
    [
        ({"transport": "linear", "map": {"shrink": 0.1}}, "flipset.map.shrink", "shrinkage"),
        ({"transport": "linear", "map": {"shrinkage": 2.0}}, "flipset.map.shrinkage", "1"),
        ({"transport": "gan", "map": {"cost": "l1"}}, "flipset.map.cost", "flipset.cost"),
        ({"map": {"epsilon": 0.1}}, "flipset.map", "exact"),
    ],
)
def test_bad_options(ask, where, names):
    with refused(where, names):
        audited(two_groups(), source=A, target=B, permutations=0, **ask)


@pytest.mark.parametrize("kind", ["linear", "neural", "gan"])
def test_a_column_of_decisions_cannot_invent(kind):
    with refused("flipset.transport"):
        audited(draw_crowd(20, 20), source=A, target=B, transport=kind, permutations=0)


def test_a_gan_that_diverges_gives_a_sentence_and_nothing_else():
    wild = {"learning_rate": 1e3, "clip": 1e6, "iterations": 400}
    with pytest.raises(RunFailed, match="GAN"):
        audited(two_groups(), source=A, target=B, transport="gan", map=wild, permutations=0)
