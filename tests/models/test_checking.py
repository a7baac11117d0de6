"""A model looked at as it arrives."""

from __future__ import annotations

import numpy as np
import pytest

from audits.models import ModelSpec, make_subject
from audits.models.inspection import Feed, check_model
from tests.refused import refused


def test_what_feeds_what_is_shown_with_the_first_person(linear, people, make_data):
    data = make_data(people, features=("age", "income", "job"))
    spec = ModelSpec(path=str(linear([0.1, 0.02], -5.0)))
    found = check_model(data, spec)
    first = people.iloc[0]
    assert found.feeds == (
        Feed("X[0]", "age", str(first["age"])),
        Feed("X[1]", "income", f"{first['income']:g}"),
    )
    assert found.format == "ONNX"
    assert found.classes == ("no", "yes")
    np.testing.assert_array_equal(found.scores, make_subject(data, spec).scores[:5])
    assert any("'job'" in note for note in found.notes)


def test_named_features_and_refusals(people, data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    own = xgboost.XGBClassifier(n_estimators=3, n_jobs=1)
    own.fit(people[["flag", "age"]], people["hired"] == "yes").save_model(tmp_path / "m.ubj")
    found = check_model(data, ModelSpec(path="m.ubj"), base_dir=tmp_path)
    assert [(each.input, each.column) for each in found.feeds] == [("flag", "flag"), ("age", "age")]
    assert found.format == "XGBoost"
    (tmp_path / "m.ubj").write_bytes(b"\x80\x04K\x01.")
    with refused("model.path", "pickle"):
        check_model(data, ModelSpec(path="m.ubj"), base_dir=tmp_path)
