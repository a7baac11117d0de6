"""The figure of the threshold counts both groups at every step as the decisions at that threshold do."""

from __future__ import annotations

import numpy as np
import pytest

from audits.data import DataSpec, build_data
from audits.groups import GroupsOptions, groups, most_telling
from audits.groups.figures.threshold import confusion, members, threshold_slider
from audits.models import make_subject, model_spec
from tests.groups.test_groups import people


def test_counts_are_those_of_the_decisions_at_the_threshold():
    """Scores from 1 to 10, higher is worse, many at the threshold: bars, words and decisions agree."""
    frame = people(400).assign(points=np.random.default_rng(0).integers(1, 11, 400))
    spec = DataSpec(label="y", favorable=1, protected=("race",), features=("x",))
    model = model_spec({"predictions": {"score": "points", "higher_is": "unfavorable"}})
    result = groups(make_subject(build_data(frame, spec), model, threshold=5.0), GroupsOptions())
    row, reference, _ = most_telling(result.table)
    for group in (row, reference):
        found = confusion(members(result, group), 5.0, -1.0)
        assert found["yes"] == pytest.approx(group.selection_rate.value * group.n)
        assert found["yes"] + found["no"] == pytest.approx(group.n)
        good = found["true_yes"] + found["false_no"]
        assert found["true_yes"] / good == pytest.approx(group.true_positive_rate.value)
        assert found["false_yes"] / (group.n - good) == pytest.approx(group.false_positive_rate.value)
    figure = threshold_slider(result, (row, reference), 5.0)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps)
    bars = figure.data[0]
    filled = np.array(bars.marker.color) != "white"
    assert np.array(bars.y)[filled].sum() == pytest.approx(100 * row.selection_rate.value)
