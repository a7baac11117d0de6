"""Sensitive attributes that are numbers, read as such where they are cut into bins or not protected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import FeatureSpace
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models.subspaces import category_units, protected_directions, read_as_number
from tests.loss_ratio.conftest import people, subject_of
from tests.refused import refused

BINS = {"age": [18, 40, 60]}


def aged(n: int = 600) -> pd.DataFrame:
    """`age` is real-valued, leaves its trace in `hair`, and lies above 18."""
    frame = people(n)
    rng = np.random.default_rng(5)
    frame["age"] = 18 + 50 * np.clip(0.5 + 0.12 * frame["hair"] + 0.1 * rng.normal(size=n), 0, 1)
    return frame


def test_a_numbers_direction_is_that_of_least_squares():
    subject = subject_of(aged(), protected=("sex", "age"), bins=BINS, features=("hair", "skill", "job"))
    found, doubts = protected_directions(subject.data, subject.space, ("age",))
    assert (found.shape, doubts) == ((1, 4), ())
    x = subject.space.encode(subject.data.frame) * category_units(subject.space)
    values = subject.data.frame["age"].to_numpy()
    expected = np.linalg.lstsq(x - x.mean(axis=0), values - values.mean(), rcond=1e-10)[0]
    # ours has a ridge of 1 beside the 300 people's sums of squares
    ours, theirs = found[0] / np.linalg.norm(found), expected / np.linalg.norm(expected)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    result = loss_ratio(subject, LossRatioOptions(sensitive=["age"], steps=5))
    assert "age" in result.metric.source
    assert result.metric.dimensions == 1
    assert result.features[0].feature == "hair"


def test_bins_stay_for_groups_and_a_number_that_is_a_feature_is_free_itself():
    features = ("hair", "skill", "job", "age")
    subject = subject_of(aged(), protected=("sex", "age"), bins=BINS, features=features)
    result = loss_ratio(subject, LossRatioOptions(steps=5))
    assert {item.group for item in result.groups if item.attribute == "age"} == {
        "[18, 40)",
        "[40, 60]",
        "above 60",
    }
    assert {item.feature: item.loading for item in result.features}["age"] == pytest.approx(1.0)


def test_no_doubt_is_cast_on_the_direction_of_an_attribute_that_is_a_feature():
    frame = aged().assign(chance=np.random.default_rng(0).permutation(aged()["sex"]))
    for itself in (True, False):
        features = ("hair", "skill", "job", *(["chance"] if itself else []))
        subject = subject_of(frame, protected=("sex", "chance"), features=features)
        result = loss_ratio(subject, LossRatioOptions(steps=5))
        assert [each.told for each in result.metric.told] == [True, False]
        assert any("chance" in warning for warning in result.warnings) == (not itself)


def test_a_number_unknown_for_somebody_counts_by_its_groups():
    frame = aged()
    frame.loc[frame.index[:80], "age"] = np.nan
    subject = subject_of(
        frame, protected=("sex", "age"), bins=BINS, features=("hair", "skill", "job"), missing="category"
    )
    assert not read_as_number(subject.data, "age")
    assert (
        "age (by its groups)"
        in loss_ratio(subject, LossRatioOptions(sensitive=["age"], steps=5)).metric.source
    )
    space = FeatureSpace.fit(subject.data)
    assert protected_directions(subject.data, space, ("age",))[0].shape == (3, 4)  # four groups with the gap
    other = subject_of(frame, features=("hair", "skill", "job"), missing="category")
    with refused("sensitive", "data.protected"):
        loss_ratio(other, LossRatioOptions(sensitive=["age"]))


@pytest.mark.parametrize("name", ["job", "hired", "constant"])
def test_what_is_neither_protected_nor_a_number_that_varies_is_refused(name):
    frame = people(200).assign(constant=3.5)
    with refused("sensitive"):
        loss_ratio(subject_of(frame, features=("hair", "skill")), LossRatioOptions(sensitive=[name]))
