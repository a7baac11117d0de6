"""Fair metrics given and learned, sensitive numbers, and what is moved along where nobody has chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.metrics.distances import matrix_metric, projection_metric
from audits.loss_ratio.metrics.selection import explore_metric, factor_directions, usual_options
from audits.models.subspaces import category_units, protected_directions, read_as_number
from tests.loss_ratio.conftest import people, subject_of
from tests.refused import refused


def test_a_projection_by_hand():
    metric = projection_metric(np.array([[1.0, 1.0], [2.0, 2.0]]), "the diagonal")
    x, y = np.array([[1.0, 0.0], [3.0, 3.0]]), np.zeros((2, 2))
    np.testing.assert_allclose(metric.squared_distance(x, y), [0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(metric.loadings(), [0.5, 0.5])


@pytest.mark.parametrize(
    ("made", "given", "where"),
    [
        (projection_metric, np.eye(3), "loss_ratio.metric"),
        (projection_metric, np.zeros((2, 3)), "loss_ratio.metric"),
        (projection_metric, np.array([[np.nan, 1.0]]), "loss_ratio.metric"),
        (matrix_metric, np.ones((2, 3)), "loss_ratio.matrix"),
        (matrix_metric, np.array([[1.0, 2.0], [0.0, 1.0]]), "loss_ratio.matrix"),
        (matrix_metric, -np.eye(2), "loss_ratio.matrix"),
        (matrix_metric, np.zeros((2, 2)), "loss_ratio.matrix"),
    ],
)
def test_what_makes_no_metric(made, given, where):
    with refused(where):
        made(given, "bad")


def test_comparable_people_differ_in_the_first_direction():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 20, 400)
    x = rng.normal(size=(20, 3))[groups] + rng.normal(size=(400, 1)) * np.array([3.0, 0.0, 0.0])
    x += 0.1 * rng.normal(size=x.shape)
    found = factor_directions(x, groups, 1)
    assert abs(found[0, 0]) > 0.99
    with refused("comparable"):
        factor_directions(x, np.arange(400), 1)
    with refused("factors"):
        factor_directions(x, groups, 4)


def test_explore_finds_the_metric_behind_the_answers():
    rng = np.random.default_rng(0)
    truth = np.diag([0.0, 1.0, 4.0])
    differences = rng.normal(size=(6000, 3))
    far = np.einsum("nd,de,ne->n", differences, truth, differences)
    alike = rng.uniform(size=6000) < 2 / (1 + np.exp(far))
    metric = explore_metric(differences, alike, "answers")
    # scaled to a largest eigenvalue of 1; 6,000 answers leave an error of some hundredths
    np.testing.assert_allclose(metric.matrix, truth / 4, atol=0.08)


@pytest.mark.parametrize(
    ("features", "protected", "usual"),
    [
        # race and sex are features, and each takes one direction of the two numbers: both would take all
        (("one", "two", "race", "sex"), ("race", "sex"), {"sensitive": ["race"]}),
        (("one", "two", "town", "race", "sex"), ("race", "sex"), {"sensitive": ["race", "sex"]}),
        (("one", "two"), ("race", "sex"), {"sensitive": ["race"]}),
        # of one number only what the model reads itself can be free
        (("one", "race"), ("race",), {"metric": "expert", "free_features": ["race"]}),
        (("one",), ("race",), None),
        (("race",), ("race",), None),
    ],
)
def test_attributes_are_taken_while_a_direction_is_left(features, protected, usual) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"one": rng.normal(size=60), "two": rng.normal(size=60), "y": np.arange(60) % 2})
    for name, values in (("race", "ab"), ("sex", "fm"), ("town", "xyz")):
        frame[name] = rng.choice(list(values), 60)
    data = build_data(frame, DataSpec(label="y", favorable=1, protected=protected, features=features))
    assert usual_options(data) == usual


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


def test_a_number_unknown_for_somebody_counts_by_its_groups():
    frame = aged()
    frame.loc[frame.index[:80], "age"] = np.nan
    told = {"features": ("hair", "skill", "job"), "missing": "category"}
    subject = subject_of(frame, protected=("sex", "age"), bins=BINS, **told)
    assert not read_as_number(subject.data, "age")
    result = loss_ratio(subject, LossRatioOptions(sensitive=["age"], steps=5))
    assert "age (by its groups)" in result.metric.source
    space = FeatureSpace.fit(subject.data)
    assert protected_directions(subject.data, space, ("age",))[0].shape == (3, 4)  # four groups with the gap
    with refused("sensitive", "data.protected"):
        loss_ratio(subject_of(frame, **told), LossRatioOptions(sensitive=["age"]))


def test_what_is_neither_protected_nor_a_number_that_varies_is_refused():
    subject = subject_of(people(200).assign(constant=3.5), features=("hair", "skill"))
    for name in ("job", "hired", "constant"):
        with refused("sensitive"):
            loss_ratio(subject, LossRatioOptions(sensitive=[name]))
