"""The figure of the threshold counts both groups at every step as the decisions at that threshold do."""

from __future__ import annotations

import numpy as np
import pytest

from audits.data import DataSpec, build_data
from audits.groups import GroupsOptions, at_threshold, groups, most_telling
from audits.groups.figures.threshold import confusion, members, threshold_slider
from audits.models import make_subject, model_spec
from tests.groups.test_groups import people, subject_of


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.8])
def test_counts_are_those_of_the_decisions_at_the_threshold(cut):
    result = groups(subject_of(people(400)), GroupsOptions())
    row, reference, _ = most_telling(result.table)
    moved = at_threshold(result, cut)
    for group in (row, reference):
        found = confusion(members(result, group), cut)
        same = next(
            each for each in moved.table if (each.attribute, each.group) == (group.attribute, group.group)
        )
        assert found["yes"] == pytest.approx(same.selection_rate.value * group.n)
        assert found["yes"] + found["no"] == pytest.approx(group.n)
        good = found["true_yes"] + found["false_no"]
        assert found["true_yes"] / good == pytest.approx(same.true_positive_rate.value)
        assert found["false_yes"] / (group.n - good) == pytest.approx(same.false_positive_rate.value)
    figure = threshold_slider(result, (row, reference), 0.5)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps)
    active = figure.layout.sliders[0].active
    assert figure.frames[active].name == "0.5"
    filled = np.array(figure.frames[active].data[0].marker.color) != "white"
    somebody = np.array(figure.data[0].y) > 0
    assert (filled == (np.array(figure.data[0].x) >= 0.5))[somebody].all()


def test_where_higher_is_worse_who_lies_at_the_threshold_is_not_counted():
    """Scores from 1 to 10, many of them at the threshold: bars, words and decisions agree."""
    frame = people(400).assign(points=np.random.default_rng(0).integers(1, 11, 400))
    spec = DataSpec(label="y", favorable=1, protected=("race",), features=("x",))
    model = model_spec({"predictions": {"score": "points", "higher_is": "unfavorable"}})
    subject = make_subject(build_data(frame, spec), model, threshold=5.0)
    result = groups(subject, GroupsOptions())
    row, reference, _ = most_telling(result.table)
    found = confusion(members(result, row), 5.0, -1.0)
    assert found["yes"] == pytest.approx(row.selection_rate.value * row.n)
    figure = threshold_slider(result, (row, reference), 5.0)
    bars = figure.data[0]
    filled = np.array(bars.marker.color) != "white"
    assert np.array(bars.y)[filled].sum() == pytest.approx(100 * row.selection_rate.value)
