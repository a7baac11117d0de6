"""The flipset audit: by hand, published, as a property, against the slow obvious way, and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.flipset.conftest import audited, draw_crowd, subject_of
from tests.refused import refused

A, B = {"group": "a"}, {"group": "b"}


@pytest.fixture
def by_hand():
    """Four people a group on a line; sorted order pairs them, so every flip can be read off."""
    frame = pd.DataFrame({"work": [0.0, 1, 2, 3, 10, 11, 12, 13], "group": ["a"] * 4 + ["b"] * 4})
    return subject_of(frame.assign(decision=[0, 1, 0, 1, 1, 0, 1, 1]))


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


@settings(max_examples=10)
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


def test_condition_on_label_matches_within_it():
    base = draw_crowd(60, 60, d=2, seed=2).data.frame
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


def test_everyone_favoured_is_said():
    frame = draw_crowd(20, 20).data.frame.assign(label=[0, 1] * 20, decision=1)
    result = audited(subject_of(frame, label="label", features=("x0",)), source=A, target=B)
    assert result.positive.size == result.negative.size == 0
    assert result.positive.transparency == ()
    assert result.warnings
    assert result.verdict != "evidence of a difference"


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


@pytest.mark.parametrize(("options", "refusal"), cases(__file__, "refused_options.yaml"))
def test_bad_input_is_refused_by_its_name(options, refusal):
    with refused(*refusal):
        audited(draw_crowd(20, 20), **{"source": A, "target": B, **options})
