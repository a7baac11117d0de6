"""Trees and ONNX files asked without frames say what they said with them, to the last digit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import skl2onnx
from scipy.special import expit
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.models.trees import arrays, plain
from audits.runs.monitoring import plans
from audits.runs.monitoring.quick import at_hand, is_at_once, quicker
from audits.runs.monitoring.scoring import Scorer
from audits.sensitivity import MonitorBundle, SensitivityOptions, sensitivity
from audits.sensitivity.monitor.models import CarriedFile, CarriedTrees
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


def test_few_people_are_measured_by_trees_without_the_worker(both):
    bundle, _, frame = both
    here, scorer = at_hand(bundle), Scorer()
    assert is_at_once(here, 2)
    assert not is_at_once(here, 10_000)
    assert not is_at_once(bundle, 1), "these trees are not made ready"
    columns = columns_of(frame, bundle, 2)
    found = scorer.score("few", here, columns, 2)
    assert scorer._worker is None
    np.testing.assert_array_equal(found.sensitivity, bundle.score_columns(columns, 2).sensitivity)
    assert here.dump() == bundle.dump(), "what the worker is sent of it"


def test_many_people_are_measured_in_parts(both, monkeypatch):
    _, made, frame = both
    columns = columns_of(frame, made, 60)
    whole = made.score_columns(columns, 60)
    monkeypatch.setattr(plans, "_FEW", 25)
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


def test_many_people_get_the_same_leaves_of_a_forest_by_the_runtime():
    rng = np.random.default_rng(0)
    grid = np.array([-1.5, 0.0, 0.1, 0.3, 1 / 3, 2.0, np.nan], dtype=np.float32)
    labels = rng.integers(0, 3, 300)
    told = RandomForestClassifier(7, random_state=0).fit(rng.choice(grid[:-1], (300, 4)), labels)
    # thresholds on values, and between a value and the next that float32 has
    forest = plain._forest(told)
    moved = forest.threshold + rng.choice([0.0, 1e-9, -1e-9], len(forest.threshold))
    exact = np.where(rng.random(len(moved)) < 0.5, rng.choice(grid[:-1], len(moved)), moved)
    forest = dataclasses.replace(forest, threshold=np.where(forest.feature < 0, 0.0, exact))
    x = rng.choice(grid, (40, 100, 4))
    assert forest.compiled is not None
    np.testing.assert_array_equal(forest.compiled.leaves(x[0]), forest._leaves(x[0]))
    moves = [(slice(1, 40), [0, 1, 2, 3])]
    found = forest.outputs_of_copies(x, moves)  # of 4,000 rows
    assert "masks" not in vars(forest)
    expected = forest.outputs(x.reshape(-1, 4)).reshape(40, 100, -1)
    np.testing.assert_array_equal(found, expected)


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


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A bundle with boosting as an ONNX file, whose columns are inputs of their own."""
    frame = people()
    pipeline = make_pipeline(
        ColumnTransformer(
            [
                ("numbers", StandardScaler(), ["skill", "height"]),
                ("texts", OneHotEncoder(handle_unknown="ignore"), ["town"]),
            ]
        ),
        GradientBoostingClassifier(n_estimators=20, random_state=0),
    ).fit(frame[["skill", "height", "town"]], frame["hired"])
    kinds = [("skill", FloatTensorType([None, 1])), ("height", FloatTensorType([None, 1]))]
    made = skl2onnx.convert_sklearn(
        pipeline, initial_types=[*kinds, ("town", StringTensorType([None, 1]))], target_opset=17
    )
    path = tmp_path_factory.mktemp("file") / "boosting.onnx"
    path.write_bytes(made.SerializeToString())
    spec = DataSpec(label="hired", favorable=1, protected=("group",), features=("skill", "height", "town"))
    subject = make_subject(build_data(frame, spec), model_spec({"path": str(path)}))
    options = SensitivityOptions(bootstrap=100, match_set="off", max_people=300)
    return MonitorBundle.of(sensitivity(subject, options)), frame


@pytest.mark.parametrize("n", [1, 5, 300])
def test_an_onnx_file_says_the_same_without_frames(file, n, monkeypatch):
    bundle, frame = file
    columns = columns_of(frame, bundle, n)
    before = bundle.score_columns(columns, n)
    made = quicker(bundle)
    monkeypatch.setattr(CarriedFile, "measure", None)  # what makes frames
    found = made.score_columns(columns, n)
    for name in ("score", "sensitivity", "contributions", "flagged"):
        np.testing.assert_array_equal(getattr(found, name), getattr(before, name))


def test_what_only_a_frame_tells_of_is_left_to_it(file):
    bundle, frame = file
    columns = columns_of(frame, bundle, 3)
    columns["town"] = ["a town that nobody has seen", None, "north"]
    before, found = bundle.score_columns(columns, 3), quicker(bundle).score_columns(columns, 3)
    np.testing.assert_array_equal(found.sensitivity, before.sensitivity)
    assert found.unseen == before.unseen == {0: ["town"], 1: ["town"]}
