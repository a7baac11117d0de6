"""Trees whose split points are known: the search crosses them, however narrow the stretch between two is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.attack.search import crossing_values
from audits.models import ModelSpec, make_subject


@pytest.fixture(scope="module")
def crowd():
    """Hair tells the sex; only a narrow stretch of it is hired."""
    rng = np.random.default_rng(0)
    sex = np.where(rng.random(240) < 0.5, "f", "m")
    hair = rng.normal(size=240).round(4) + 1.5 * (sex == "f")
    frame = pd.DataFrame({"hair": hair, "skill": rng.normal(size=240).round(4), "sex": sex})
    frame["hired"] = np.where((hair > 0.3) & (hair < 0.5), "yes", "no")
    return frame.rename_axis("row")


def test_between_split_points_nothing_changes_and_every_stretch_is_tried(crowd, tmp_path):
    library = pytest.importorskip("xgboost")
    x, y = crowd[["hair", "skill"]], (crowd["hired"] == "yes").astype(int)
    library.XGBClassifier(n_estimators=20, n_jobs=1).fit(x, y).save_model(tmp_path / "m.ubj")
    spec = DataSpec(label="hired", favorable=("yes",), protected=("sex",), features=("hair", "skill"))
    data = build_data(crowd, spec)
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.ubj")))
    part = next(each for each in subject.space.parts if each.column == "hair")
    edges = subject.splits["hair"]
    tried = crossing_values(part, {"hair": edges[:30]})
    assert np.unique(np.searchsorted(edges[:30], tried)).size == len(edges[:30]) + 1
    # scores along hair change at these points only
    one = data.frame.iloc[[0] * 4001].assign(hair=np.linspace(-2, 3, 4001))
    changes = np.flatnonzero(np.diff(subject.favorable_score(one)))
    assert len(changes) > 3
    for low, high in zip(one["hair"].iloc[changes], one["hair"].iloc[changes + 1], strict=True):
        assert ((edges >= low - 1e-6) & (edges <= high + 1e-6)).any(), (low, high)
    asked = {"metric": "expert", "free_features": ("hair",), "steps": 6, "step_size": 0.05, "max_people": 40}
    found = loss_ratio(subject, LossRatioOptions(**asked), rng=0)
    hidden = subject.model.source.opened
    object.__setattr__(hidden, "splits", lambda: None)  # as a model that does not tell them
    object.__setattr__(hidden, "model", None)
    blind = loss_ratio(dataclasses.replace(subject), LossRatioOptions(**asked), rng=0)
    assert blind.method != found.method
    assert found.statistic.value > blind.statistic.value


def test_numbers_between_split_points_as_the_column_writes_them():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "sex": list("fmfm"), "y": [0, 1, 0, 1]}).rename_axis("row")
    data = build_data(frame, DataSpec(label="y", favorable=(1,), protected=("sex",), features=("age",)))
    (part,) = FeatureSpace.fit(data).parts
    assert crossing_values(part, {"age": np.array([24.5, 26.0])}).tolist() == [23.0, 24.0, 25.0, 26.0, 27.0]
    assert crossing_values(part, {}).size == 0
    assert crossing_values(part, {"age": np.arange(21.5, 99.5)}).size == 40
