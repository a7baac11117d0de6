"""Trees asked without frames say what they said with them, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from audits.models.trees import arrays
from audits.runs.monitoring import quick
from audits.runs.monitoring.quick import quicker
from audits.sensitivity import MonitorBundle, SensitivityOptions, sensitivity
from audits.sensitivity.monitor.models import CarriedTrees
from tests.sensitivity.conftest import people, subject_of


@pytest.fixture(scope="module", params=["forest", "boosting"])
def both(request):
    frame = people()
    frame.loc[frame.index[::9], "height"] = np.nan
    frame.loc[frame.index[::11], "town"] = None
    options = SensitivityOptions(bootstrap=100, match_set="off", max_people=400)
    bundle = MonitorBundle.of(sensitivity(subject_of(frame, request.param), options))
    made = quicker(bundle)
    assert type(made.audited) is not CarriedTrees, "these columns need no frame"
    return bundle, made, frame


def columns_of(frame, bundle, n):
    rows = frame[list(bundle.reads)].head(n).astype(object)
    return {name: rows[name].where(rows[name].notna(), None).tolist() for name in bundle.reads}


@pytest.mark.parametrize("n", [1, 2, 60])
def test_people_get_the_same_numbers(both, n, monkeypatch):
    bundle, made, frame = both
    made = quicker(bundle)
    columns = columns_of(frame, bundle, n)
    columns["town"][0] = "a town that nobody has seen"
    columns["skill"][-1] = 1e6
    found = made.score_columns(columns, n)
    vars(bundle.audited.model.trees).pop("masks", None)  # the leaves, too, are found another way then
    monkeypatch.setattr(arrays, "_MANY", 10**9)
    before = bundle.score_columns(columns, n)
    assert "masks" not in vars(bundle.audited.model.trees)
    for name in ("score", "sensitivity", "contributions", "flagged"):
        np.testing.assert_array_equal(getattr(found, name), getattr(before, name))
    assert found.unseen == before.unseen


def test_many_people_are_measured_in_parts(both, monkeypatch):
    _, made, frame = both
    columns = columns_of(frame, made, 60)
    whole = made.score_columns(columns, 60)
    monkeypatch.setattr(quick, "_FEW", 25)
    parts = made.score_columns(columns, 60)
    for name in ("score", "sensitivity", "contributions"):  # networks round otherwise in other sizes
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9)


def test_stranger_values_take_the_usual_way(both):
    bundle, made, frame = both
    columns = columns_of(frame, bundle, 3)
    columns["town"][1] = float("nan")
    np.testing.assert_array_equal(
        made.score_columns(columns, 3).sensitivity, bundle.score_columns(columns, 3).sensitivity
    )


def test_sums_over_trees_are_the_same_however_many_there_are():
    rng = np.random.default_rng(0)
    nodes = 40
    shared = {
        "roots": np.arange(12),
        "feature": np.full(nodes, -1),
        "threshold": np.zeros(nodes),
        "left": np.zeros(nodes, dtype=int),
        "right": np.zeros(nodes, dtype=int),
        "missing_left": np.zeros(nodes, dtype=np.uint8),
        "level_set": np.full(nodes, -1),
        "level_sets": np.zeros((0, 256), dtype=np.uint8),
    }
    leaves = rng.integers(0, nodes, (12, 5, 7))
    for width, start in ((1, []), (3, []), (1, [0.3]), (1, [0.1, -0.2, 0.5])):
        made = arrays.Trees(**shared, value=rng.normal(size=(nodes, width)) / 3, start=np.array(start))
        many = made._outputs(leaves)
        for place in np.ndindex(5, 7):
            np.testing.assert_array_equal(many[place], made._outputs(leaves[:, *place][:, None])[0])
        one_by_one = np.zeros(many.shape) + (made.start if len(start) else 0)
        for turn, leaf in enumerate(leaves):
            if len(start):
                one_by_one[..., turn % len(start)] += made.value[leaf, 0]
            else:
                one_by_one += made.value[leaf]
        expected = one_by_one / 12 if not len(start) else None
        if expected is not None:
            np.testing.assert_array_equal(many, expected)
        elif len(start) == 1:
            np.testing.assert_array_equal(many, expit(one_by_one))
