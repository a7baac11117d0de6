"""The flipset audit: by hand, published, as a property, against the slow obvious way, and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from audits.data import DataSpec, build_data
from audits.errors import InputError, RunCancelled
from audits.models import make_subject, model_spec
from benchmarks.samples import arrests, hiring
from tests.flipset.conftest import audited, draw_crowd, subject_of
from tests.refused import refused

A, B = {"group": "a"}, {"group": "b"}


@pytest.fixture
def by_hand():
    """Four people a group on a line; sorted order pairs them, so every flip can be read off."""
    return subject_of(
        pd.DataFrame(
            {
                "work": [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0],
                "group": ["a"] * 4 + ["b"] * 4,
                "decision": [0, 1, 0, 1, 1, 0, 1, 1],
            }
        )
    )


def test_by_hand(by_hand):
    result = audited(by_hand, source=A, target=B, permutations=0)
    # pairs (row: decision): 0:0-4:1 negative, 1:1-5:0 positive, 2:0-6:1 negative, 3:1-7:1
    assert result.negative.size == 2
    assert result.positive.size == 1
    assert result.people["counterpart"].tolist() == [4, 5, 6, 7]
    assert result.people["negative"].tolist() == [1, 0, 1, 0]
    assert result.net.value == pytest.approx(-0.25)
    report = result.negative.transparency[0]
    assert report.mean_difference.value == pytest.approx(-10)
    assert report.mean_sign.value == -1
    assert report.mean_difference.low is None  # two people carry no interval
    assert result.reverse.positive_size == 2
    assert result.reverse.negative_size == 1
    assert result.verdict == "insufficient evidence"


def _lipton():
    people = hiring.generate(10_000)
    hired = hiring.linear_model(people, hiring.PUBLISHED[10_000]) > 0
    people = hiring.standardise(people).assign(decision=hired.astype(int), group=people["gender"])
    return subject_of(people, features=("work_years", "hair_length"))


def test_lipton_hiring_of_10_000_a_group_and_what_ties_leave_open():
    """1,785 flip, and 1,782 to 1,787 over all couplings of least cost."""
    subject = _lipton()
    asked = {"source": {"group": "female"}, "target": {"group": "male"}, "permutations": 0, "bootstrap": 100}
    result = audited(subject, **asked)
    assert (round(result.positive.size, 6), round(result.negative.size, 6)) == (1_785, 1_398)
    assert result.tie_range == (1_782, 1_787)
    assert result.certificate.cost == pytest.approx(4.798333, abs=5e-7)
    assert result.certificate.method == "restricted network simplex"
    assert len(result.links) == 10_000
    rates = result.source_rate.value, result.target_rate.value
    assert rates == pytest.approx((0.3049, 0.2662), abs=1e-9)
    for part, expected in (
        (result.positive, (-0.3009, 1.9638)),
        (result.negative, (-1.6665, 0.3719)),
    ):
        found = {item.feature: item.mean_difference.value for item in part.transparency}
        assert (found["work_years"], found["hair_length"]) == pytest.approx(expected, abs=5e-5)


def test_arrests_agree_with_theory():
    """Net flips .28125 n, none the other way, 1.646 arrests more (NUMBERS), within 4 standard errors."""
    n = 10_000
    spec = DataSpec(label="high_risk", favorable=0, protected=("group",), features=("prior_arrests",))
    data = build_data(arrests.generate(n, rng=1), spec)
    subject = make_subject(data, model_spec({"predictions": {"label": "high_risk"}}))
    result = audited(subject, source={"group": "north"}, target={"group": "south"}, permutations=0)
    # sampled quantiles of the two groups can cross where theory's touch: a few flips the other way
    assert result.negative.size / n == pytest.approx(0.28125, abs=4 * np.sqrt(0.28 * 0.72 * 2 / n))
    assert result.positive.size / n < 0.005
    report = result.negative.transparency[0]
    assert report.mean_difference.value == pytest.approx(1.646, abs=0.1)
    assert report.mean_sign.value == pytest.approx(1.0, abs=0.01)


@settings(max_examples=25)
@given(
    n=st.integers(3, 40),
    m=st.integers(3, 40),
    d=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    ties=st.booleans(),
    weights=st.booleans(),
)
def test_proposition_2(n, m, d, seed, ties, weights):
    """Net flipset size = difference of favorable shares, whatever sizes, ties and weights."""
    subject = draw_crowd(n, m, d=d, seed=seed, ties=ties, weights=weights)
    result = audited(subject, source=A, target=B, permutations=0)
    net = (result.positive.size - result.negative.size) / result.n_source
    assert net == pytest.approx(result.source_rate.value - result.target_rate.value, abs=1e-9)
    assert net == pytest.approx(result.net.value, abs=1e-9)
    # the same coupling backwards (Appendix D): positive and negative trade places
    share = result.positive.size / result.n_source
    assert result.reverse.negative_size / result.n_target == pytest.approx(share, abs=1e-9)
    if not ties:  # then the optimum is unique, and matching the other way round finds it too
        back = audited(subject, source=B, target=A, permutations=0)
        assert back.reverse.positive_size == pytest.approx(result.positive.size, abs=1e-6 * result.n_source)


@pytest.mark.parametrize("seed", range(3))
def test_against_the_slow_obvious_way(crowd, seed):
    """Person by person with SciPy's assignment solver."""
    subject = crowd(60, 60, d=3, seed=seed)
    result = audited(subject, source=A, target=B, permutations=0)
    z = subject.space.encode(subject.data.frame)
    group = subject.data.groups["group"].to_numpy()
    ours, theirs = np.flatnonzero(group == "a"), np.flatnonzero(group == "b")
    cost = np.array([[np.abs(z[i] - z[j]).sum() ** 2 for j in theirs] for i in ours])
    rows, columns = linear_sum_assignment(cost)
    assert result.certificate.cost == pytest.approx(cost[rows, columns].mean(), rel=1e-9)
    h = subject.decisions
    flips = {"positive": [], "negative": []}
    for i, j in zip(ours[rows], theirs[columns], strict=True):
        if h[i] and not h[j]:
            flips["positive"].append(z[i] - z[j])
        if h[j] and not h[i]:
            flips["negative"].append(z[i] - z[j])
    for name, found in flips.items():
        part = getattr(result, name)
        assert part.size == pytest.approx(len(found))
        if not found:
            assert part.transparency == ()
            continue
        mean = np.mean(found, axis=0)
        sign = np.mean(np.sign(found), axis=0)
        for item in part.transparency:
            k = subject.space.names.index(item.feature)
            assert item.standardized_difference == pytest.approx(mean[k], abs=1e-9)
            assert item.mean_sign.value == pytest.approx(sign[k], abs=1e-9)


def test_condition_on_label_matches_within_it(crowd):
    base = crowd(60, 60, d=2, seed=2).data.frame
    frame = base.assign(label=np.random.default_rng(0).integers(0, 2, len(base)))
    subject = subject_of(frame, label="label", features=("x0", "x1"))
    result = audited(subject, source=A, target=B, condition_on="label", permutations=0)
    labels = frame["label"]
    for row, counterpart in result.people["counterpart"].items():
        assert labels[row] == labels[counterpart]
    assert sum(item.n_source for item in result.strata) == 60
    assert result.positive.size == pytest.approx(sum(item.positive_size for item in result.strata))
    # equalized odds: within each label the net flips are the difference of rates
    for item in result.strata:
        assert (item.positive_size - item.negative_size) / item.n_source == pytest.approx(item.net.value)


def test_everyone_favoured_is_said(crowd):
    frame = crowd(20, 20).data.frame.assign(label=[0, 1] * 20, decision=1)
    result = audited(subject_of(frame, label="label", features=("x0",)), source=A, target=B)
    assert result.positive.size == result.negative.size == 0
    assert result.positive.transparency == ()
    assert result.warnings
    assert result.verdict != "evidence of a difference"


def test_subsample_is_counted_and_said(crowd):
    result = audited(crowd(100, 80), source=A, target=B, max_people=40, permutations=0)
    assert result.n_source == result.n_target == 40
    assert result.rows["left_out"]["not drawn into the subsample"] == 100
    assert "40" in result.warnings[0]
    favored = crowd(100, 80).decisions[:100].mean()
    assert result.source_rate.value == pytest.approx(favored, abs=0.5 / 40)  # the share is kept


def test_a_subsample_never_exceeds_its_number_however_many_strata():
    frame = draw_crowd(200, 150, seed=2).data.frame.copy()
    frame["town"] = [f"town {k % 18}" for k in range(350)]
    subject = subject_of(frame, features=("x0", "x1"))
    for most in (20, 61):
        result = audited(
            subject, source=A, target=B, condition_on="town", max_people=most, permutations=2, noise_people=25
        )
        assert result.n_source <= most
        assert result.n_target <= most
        assert result.rows["used"] + sum(result.rows["left_out"].values()) == 350
        assert result.noise.n_source <= 25
    with refused("flipset.noise_people", "18"):
        audited(subject, source=A, target=B, condition_on="town", permutations=5, noise_people=10)


def test_groups_too_large_for_two_minutes_are_offered_in_full(monkeypatch):
    """The sample says what everyone would take and how to ask for it; asked for, everyone is matched."""
    from audits.flipset import options as budget

    monkeypatch.setattr(budget, "MAX_SECONDS", 0.05)
    subject = draw_crowd(700, 600, seed=4)
    ask = {"source": A, "target": B, "permutations": 0}
    part = audited(subject, **ask)
    assert part.n_source < 700
    assert "max_people" in part.warnings[0]
    wider = np.sqrt((1 / part.n_source + 1 / part.n_target) / (1 / 700 + 1 / 600))
    assert f"{wider:.2g}" in part.warnings[0]
    everyone = audited(subject, max_people=700, **ask)
    assert (everyone.n_source, everyone.n_target) == (700, 600)
    assert not any("matched" in warning and "random" in warning for warning in everyone.warnings)


def test_cancel_unwinds(crowd):
    def stop(fraction: float, doing: str) -> None:
        if fraction > 0.2:
            raise RunCancelled("cancelled")

    with pytest.raises(RunCancelled):
        audited(crowd(50, 50), source=A, target=B, progress=stop)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"source": {"group": "c"}, "target": B},
            "flipset.source.group must be a value of 'group' that people audited have, got 'c'",
        ),
        ({"source": {"sex": "a"}, "target": B}, "must be a protected attribute, got 'sex'"),
        ({"source": A, "target": A}, "must not share people with the source, but 20 are in both"),
        ({"source": A, "target": {"group": {"not": "b"}}}, "20 are in both"),
        ({"source": {}, "target": B}, "must name at least one protected attribute"),
        ({"source": A, "target": B, "condition_on": "nothing"}, "must be 'label' or a column of the data"),
        ({"source": A, "target": B, "condition_on": "x0"}, "must have at most 20 values"),
        ({"source": A, "target": B, "feature_weights": {"x7": 1.0}}, "must be a feature, got 'x7'"),
        ({"source": A, "target": B, "feature_weights": {"x0": 0.0, "x1": 0.0}}, "a weight above 0"),
        ({"source": A, "target": B, "feature_weights": {"x0": -1.0}}, "greater than or equal to 0"),
        ({"source": A, "target": B, "level": 1.5}, "flipset.level must be less than or equal to 0.5"),
        ({"source": A, "target": B, "cost": "euclid"}, "flipset.cost must be"),
    ],
)
def test_bad_input_is_one_sentence(crowd, options, message):
    with pytest.raises(InputError) as caught:
        audited(crowd(20, 20), **options)
    assert message in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_group_of_one_is_refused():
    frame = pd.DataFrame({"x": [0.0, 1, 2, 3], "group": list("abbb"), "decision": [0, 1, 0, 1]})
    with refused("flipset.source", "'a'"):
        audited(subject_of(frame), source=A, target=B)


def test_weights_beyond_what_numpy_draws_from():
    """Rows that stand for a billion people each are still permuted; sums no float can hold are refused."""
    frame = draw_crowd(40, 30).data.frame.assign(weight=1e9)
    result = audited(
        subject_of(frame, weights="weight", features=("x0", "x1")), source=A, target=B, permutations=5
    )
    assert result.n_source == 40e9
    assert 300 <= result.noise.n_source < 5_000
    assert result.net.value == pytest.approx(result.source_rate.value - result.target_rate.value, abs=1e-12)
    with refused("data.weights", "1e+12"):
        subject_of(frame.assign(weight=1e300), weights="weight", features=("x0", "x1"))


def test_too_few_permutations_are_not_blamed_on_too_few_people():
    """Nine permutations cannot fall below the level, and no number of people would change that."""
    frame = draw_crowd(300, 300, seed=2).data.frame
    frame["decision"] = np.tile([0, 1], 300)
    result = audited(subject_of(frame, features=("x0",)), source=A, target=B, permutations=9, noise_people=40)
    assert result.verdict == "insufficient evidence"
    assert result.people_needed is None
