"""What lies above chance, what people with the same features show, and the one interval that all state."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.data.values import MISSING
from audits.flipset import sections as exhibits
from audits.flipset.figures import intervals as comparisons
from audits.flipset.text import finding, headline, larger_first
from audits.models import Subject
from audits.stats.text import percent
from benchmarks.samples import admissions
from tests.flipset.conftest import audited, draw_crowd, subject_of
from tests.flipset.test_maps import Rule
from tests.flipset.worlds import drawn, subject

A, B = {"group": "a"}, {"group": "b"}
QUICK = {"source": A, "target": B, "permutations": 39}


@pytest.fixture(scope="module")
def blue_college():
    people = admissions.generate().rename(columns={"admitted": "decision", "school": "group"})
    return audited(
        subject_of(people, features=("gpa",)),
        source={"group": "A"},
        target={"group": "B"},
        permutations=39,
        seconds=1.0,
    )


def test_admissions_by_lot_and_by_rank_differ_among_people_alike(blue_college):
    """18.75% of A in each flipset by theory, equal rates: rates say nothing, people of equal grade do."""
    assert blue_college.verdict == "evidence of a difference"
    alike = blue_college.above_chance.conditional
    assert blue_college.judged.decided_by.startswith("level: gpa")
    assert blue_college.above_chance.net_p > 0.05
    # a quarter in by lot where all or none get in by rank: .75 * .25 + .25 * .75 are decided otherwise
    assert alike.share.low < 0.375 < alike.share.high


def test_one_rule_over_features_that_hang_together_otherwise_is_no_evidence():
    """Up to 98 in 100 said evidence when flips were compared with permuted membership alone."""
    kind = "hangs together otherwise"
    verdicts = [audited(subject(kind, 100, 2, seed), rng=seed, **QUICK).verdict for seed in range(3)]
    assert verdicts.count("evidence of a difference") < 2
    assert "no material difference" not in verdicts


def test_a_model_that_reads_the_features_alone_decides_people_alike_alike():
    x, source, _ = drawn("hangs together otherwise", 300, 2, np.random.default_rng(0))
    frame = pd.DataFrame(x, columns=["x0", "x1"]).assign(group=np.where(source, "a", "b"))
    data = build_data(frame, DataSpec(protected=("group",), features=("x0", "x1")))
    rule = Subject(data, Rule(("x0", "x1"), (1.0,)), 0.0, FeatureSpace.fit(data))
    result = audited(rule, noise_people=150, **QUICK)
    assert result.above_chance.conditional.p_value is None
    assert result.above_chance.excess.low > 0
    assert result.verdict == "insufficient evidence"
    assert result.people_needed is None  # more people would not settle it


def test_a_difference_that_cancels_is_never_cleared():
    """A tenth turned each way, rates equal: seen among people with the same features, and never called
    immaterial."""
    assert audited(subject("turned", 150, 2, 0), rng=0, **QUICK).verdict == "evidence of a difference"
    assert audited(subject("turned", 60, 8, 0), rng=0, **QUICK).verdict != "no material difference"


def test_equalised_odds_go_the_same_way():
    """Decided otherwise among the deserving only, the other way among the rest: strata keep them apart."""
    rng = np.random.default_rng(1)
    n = 200
    frame = pd.DataFrame({"x": rng.normal(size=2 * n), "group": np.repeat(["a", "b"], n)})
    frame["label"] = rng.integers(0, 2, 2 * n)
    lucky = (frame["group"] == "a") == (frame["label"] == 1)
    frame["decision"] = (rng.random(2 * n) < np.where(lucky, 0.8, 0.2)).astype(int)
    people = subject_of(frame, label="label", features=("x",))
    result = audited(people, condition_on="label", **QUICK)
    assert result.above_chance.net_p > 0.001  # over both labels the rates are alike
    assert result.verdict == "evidence of a difference"
    assert result.judged.interval == result.above_chance.conditional.share


def test_a_stratum_that_differs_while_the_whole_does_not_is_named():
    """One town 40 points up, another 40 down, four alike: the whole cancels."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=1_200), "group": np.tile(["a", "b"], 600)})
    frame["town"] = np.repeat([f"T{k}" for k in range(6)], 200)
    lean = np.select([frame["town"] == "T0", frame["town"] == "T1"], [0.4, -0.4], 0.0)
    rate = 0.5 + np.where(frame["group"] == "a", lean, 0.0)
    frame["decision"] = (rng.random(1_200) < rate).astype(int)
    result = audited(subject_of(frame, features=("x",)), condition_on="town", noise_people=60, **QUICK)
    assert "2 of 6" in result.finding
    table = result.strata_frame()
    assert set(table["within"][:2]) == set(result.within[:2]) == {"T0", "T1"}
    assert (table["adjusted p"][2:] > 0.05).all()
    assert list(comparisons.strata(result).data[0].x) == [100 * v for v in table["difference of rates"][::-1]]
    # the flipsets of one town are those of an audit of that town, its report corrected for six
    town = frame[frame["town"] == "T0"].reset_index(drop=True)
    alone = audited(subject_of(town, features=("x",)), **QUICK | {"permutations": 0})
    told = next(item for item in result.strata if item.value == "T0")
    for part, ours in ((told.positive, alone.positive), (told.negative, alone.negative)):
        assert part.size == pytest.approx(ours.size)
        assert part.marginals[0].flipset == ours.marginals[0].flipset
        mine, other = part.transparency[0].mean_difference, ours.transparency[0].mean_difference
        assert mine.value == pytest.approx(other.value)
        assert part.share.low < ours.share.low < ours.share.high < part.share.high
    assert result.to_json()["strata"][0]["positive"]["transparency"][0]["feature"] == "x"
    people = result.people[result.people["within"] == "T0"]
    assert float(people["positive"].sum()) == pytest.approx(told.positive_size)


PARENT = "level: x1 = 1.0"


def test_parents_who_differ_under_equal_rates_are_evidence_by_their_level():
    """Mothers 30%, fathers 70%: 40 points among a fifth of the people, none on average."""
    result = audited(subject("parents", 500, 2, 0), rng=0, **QUICK | {"seconds": 0.3})
    assert result.verdict == "evidence of a difference"
    assert result.judged.decided_by == PARENT
    assert result.judged.interval.low < -0.4 < result.judged.interval.high
    figure = exhibits.section(result).exhibits[0].figure()
    assert figure.data[0].meta == {
        name: getattr(result.judged.interval, name) for name in ("value", "low", "high")
    }
    assert result.to_json()["decided_by"] == PARENT
    assert result.above_chance_frame()["value"][0] == result.judged.interval.value


def test_equal_decisions_are_cleared_by_as_many_people_as_are_said_to_be_needed():
    few = audited(subject("equal by lot", 200, 2, 1), rng=1, **QUICK | {"seconds": 1.0})
    assert few.verdict == "insufficient evidence"
    assert few.judged.badge == "cannot tell yet"
    assert 400 < few.people_needed < 20_000
    assert few.judged.badge_text.endswith("people in each group")


def test_groups_of_a_few_people_cannot_tell_how_many_it_takes():
    tiny = audited(subject("equal by lot", 9, 2, 1), rng=1, **QUICK)
    assert (tiny.verdict, tiny.people_needed) == ("insufficient evidence", None)
    assert tiny.above_chance.excess.low is None


def test_a_sample_or_a_map_never_clears():
    alike = subject("equal by lot", 1_200, 2, 3)
    sampled = audited(alike, max_people=1_000, rng=0, **QUICK | {"seconds": 0.3})
    assert sampled.verdict == "insufficient evidence"
    assert sampled.people_needed is None


def test_groups_that_are_not_compared_are_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=120), "group": ["a"] * 58 + ["b"] * 58 + ["c"] * 4})
    frame["decision"] = rng.integers(0, 2, 120)
    result = audited(subject_of(frame, features=("x",)), **QUICK)
    [left] = result.not_compared
    assert "3.3%" in left
    assert any(left in each for each in result.warnings)


def test_matches_are_called_similar_only_within_the_caliper():
    """The source has twice the target's debt: no pair agrees in it, and all do in the other feature."""
    frame = pd.DataFrame({"x": np.tile(np.linspace(0, 1, 60), 2), "group": np.repeat(["a", "b"], 60)})
    frame["debt"] = np.repeat([2.0, 0.0], 60)
    frame["decision"] = (frame["group"] == "b").astype(int)
    far, near = (
        audited(subject_of(each), **QUICK | {"permutations": 0}) for each in (frame, frame.assign(debt=0.0))
    )
    assert (far.negative.within_caliper, far.negative.differs_in) == (0.0, ("debt",))
    assert (near.negative.within_caliper, near.caliper) == (1.0, 0.5)
    assert near.negative.similar


def test_people_without_a_date_are_a_level_of_their_own():
    """A date known only of some (when it was paid): the rest are a level, and no traceback."""
    draw = np.random.default_rng(4)
    people = pd.DataFrame({"group": draw.choice(["a", "b"], 300), "skill": draw.normal(size=300).round(2)})
    paid = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 300, 300), unit="D")
    people["paid"] = pd.Series(paid).where(draw.random(300) > 0.4)
    people["decision"] = (people["skill"] > 0).astype(int)
    levels = audited(subject_of(people), **QUICK).levels
    [missing] = [each for each in levels if each.name == f"paid {MISSING}"]
    gone = people["paid"].isna().groupby(people["group"]).sum()
    assert [missing.n_source, missing.n_target] == [gone["a"], gone["b"]]
    dated = sum(each.n_source for each in levels if each.name.startswith("paid"))
    assert dated == (people["group"] == "a").sum()


def test_chance_that_is_the_same_but_for_rounding_is_counted():
    """Nine of ten people are favored, and nearly all have one feature: all permutations flip as many."""
    frame = pd.DataFrame({"c": list("vvvvvvvuuv"), "group": ["a"] * 5 + ["b"] * 5, "decision": [1] * 9 + [0]})
    result = audited(subject_of(frame), **QUICK | {"permutations": 99})
    assert result.verdict == "insufficient evidence"
    assert sum(result.noise.histogram["permutations"]) == 99


@pytest.mark.parametrize(
    ("positive", "negative", "first", "told"),
    [
        (2.5, 2.0, "positive", "3"),  # a half is rounded alike wherever it is said
        (0.4, 0.2, "positive", None),  # less than a person is not one
        (0.4, 0.0, "positive", None),  # and not nobody
        (4.4, 4.3, "negative", "4"),
    ],
)
def test_headline_and_finding_begin_with_the_same_people(positive, negative, first, told):
    found = audited(draw_crowd(8, 8), permutations=0, source=A, target=B)
    sizes = {"positive": positive, "negative": negative}
    parts = {way: replace(getattr(found, way), size=size) for way, size in sizes.items()}
    changed = replace(found, **parts)
    assert larger_first(changed)[0] == first
    for sentence in (headline(changed), finding(changed, 0.1)):
        of_eight = re.match(r"\D*(?:(\d+) )?of 8\b", sentence)
        assert of_eight is not None
        assert of_eight[1] == told


def test_only_all_others_are_called_others():
    """Long names are cut to what the other side is; where a third group is left out, it is not all others."""
    found = audited(draw_crowd(8, 8), permutations=0, source=A, target=B)
    long = {side: " ".join(f"{side}{k}" for k in range(20)) for side in ("source", "target")}
    alone = replace(found, **long, not_compared=())
    beside = replace(alone, not_compared=("c",))
    assert headline(alone) != headline(beside)


def test_a_difference_from_chance_is_stated_beside_the_two_that_it_is_of():
    """Chance is measured on a sample, which flips otherwise than all: 13.7 less 5.3 was 8.6."""
    found = audited(draw_crowd(150, 150), noise_people=60, **QUICK)
    noise, above = found.noise, found.above_chance
    assert noise.n_source < found.n_source
    assert noise.observed - above.expected == pytest.approx(above.excess.value)
    for share in (noise.observed, above.expected):
        assert f" {percent(share, found.n_source)}" in found.finding
