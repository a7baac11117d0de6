"""A model file on the page: opened at once, with what feeds what and five scores, or refused there."""

from __future__ import annotations

import io
import re
from pathlib import Path

import catboost
import numpy as np
import onnx
import pandas as pd
import pytest
import skops.io
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression
from streamlit.testing.v1 import AppTest

from app.data_model.model_choice import _model_among
from app.workspaces.workspace import Workspace
from audits.runs.spec import parse_spec
from tests.app.test_pages import boxes, bring, texts, visit
from tests.models.conftest import make_people
from tests.refused import refused

PEOPLE = make_people(80)
NUMBERS = ["age", "income"]


@pytest.fixture(scope="module")
def fitted() -> LogisticRegression:
    x = PEOPLE[NUMBERS].to_numpy("float32")
    return LogisticRegression().fit((x - x.mean(axis=0)) / x.std(axis=0), PEOPLE["hired"])


@pytest.fixture(scope="module")
def two_files(fitted: LogisticRegression, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """model.onnx and model.onnx.data, as onnx writes large models."""
    folder = tmp_path_factory.mktemp("two")
    proto = to_onnx(fitted, PEOPLE[NUMBERS].to_numpy("float32")[:1], options={"zipmap": False})
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(400, np.float32), "spare"))
    onnx.save(
        proto, folder / "model.onnx", save_as_external_data=True, location="model.onnx.data", size_threshold=1
    )
    return folder


def upload(space: Workspace, files: list[tuple[str, bytes]]) -> None:
    """Do what the page does with what was chosen."""
    place = _model_among([name for name, _ in files])
    path = space.add_files([(name, io.BytesIO(content)) for name, content in files])[place]
    draft = space.draft()
    assert draft is not None
    model = {"path": str(path), "columns": NUMBERS}
    space.save_draft({**draft, "spec": {**draft["spec"], "model": model}})


def fed(at: AppTest) -> pd.DataFrame | None:
    """Return the table of what feeds which input of the model, once it is open."""
    return next((each.value for each in at.dataframe if "model input" in each.value), None)


def test_what_feeds_what_and_five_scores_or_the_refusal(
    space: Workspace, fitted: LogisticRegression, two_files: Path
) -> None:
    bring(space, PEOPLE.to_csv(index=False), label="hired", favorable="yes", protected=["sex"])
    names = ("model.onnx", "model.onnx.data")
    upload(space, [(name, (two_files / name).read_bytes()) for name in names])
    at = visit(space)
    assert not at.exception
    feeds = fed(at)
    assert feeds["column"].tolist() == NUMBERS
    assert feeds["first person"].tolist() == [f"{PEOPLE[name].iloc[0]:g}" for name in NUMBERS]
    own = fitted.predict_proba(PEOPLE[NUMBERS].to_numpy("float32")[:5])[:, 1]
    found = next(each for text in texts(at) if len(each := re.findall(r"\b[01](?:\.\d+)?\b", text)) == 5)
    np.testing.assert_allclose([float(each) for each in found], own, rtol=1e-3)
    assert not at.button(key="next").disabled

    upload(space, [("model.onnx", (two_files / "model.onnx").read_bytes())])
    at = visit(space)
    [said] = boxes(at)
    assert "model.onnx.data" in said
    assert not any(str(space.folder) in text for text in texts(at))
    assert fed(at) is None
    assert at.button(key="next").disabled

    upload(space, [("model.onnx", b"\x80\x04K\x01.")])
    at = visit(space)
    assert any("pickle" in each for each in boxes(at))
    assert at.button(key="next").disabled


def test_other_formats_open_where_tables_lie_and_classes_can_be_named(
    space: Workspace, tmp_path: Path, fitted: LogisticRegression
) -> None:
    x, y = PEOPLE[NUMBERS], (PEOPLE["hired"] == "yes").astype(int)
    bring(space, PEOPLE.to_csv(index=False), label="hired", favorable="yes", protected=["sex"])
    skops.io.dump(LogisticRegression().fit(x, PEOPLE["hired"]), tmp_path / "m.skops")
    trees = {"iterations": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    catboost.CatBoostClassifier(**trees).fit(x, y).save_model(str(tmp_path / "m.cbm"))
    for name in ("m.skops", "m.cbm"):
        upload(space, [(name, (tmp_path / name).read_bytes())])
        draft = space.draft()
        assert draft is not None
        draft["spec"]["model"].pop("columns")
        space.save_draft(draft)
        at = visit(space)
        assert not at.exception
        if name == "m.cbm":
            [said] = boxes(at)
            assert all(each in said for each in ("'no'", "'yes'"))
            (field,) = (each for each in at.text_input if str(each.key).startswith("model-classes-"))
            at = field.set_value("no, yes").run()
        assert fed(at)["column"].tolist() == NUMBERS
        assert not at.button(key="next").disabled


def test_files_chosen_together(space: Workspace) -> None:
    assert _model_among(["a.data", "a.onnx"]) == 1
    assert _model_among(["a.data"]) == 0
    with refused("model"):
        _model_among(["a.onnx", "b.onnx"])
    with refused("a"):
        space.add_files([("a", io.BytesIO(b"1")), ("../a", io.BytesIO(b"2"))])
    first, second = space.add_files([("a.onnx", io.BytesIO(b"1")), ("a.data", io.BytesIO(b"2"))])
    assert first.parent == second.parent
    assert space.add_file("a.onnx", io.BytesIO(b"1")).parent != first.parent


def test_other_weights_beside_a_model_are_another_run(two_files: Path, tmp_path: Path) -> None:
    for name in ("model.onnx", "model.onnx.data"):
        (tmp_path / name).write_bytes((two_files / name).read_bytes())
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    data = {"path": "people.csv", "label": "hired", "favorable": "yes", "protected": ["sex"]}
    spec = parse_spec({"data": data, "model": {"path": "model.onnx"}, "audits": ["groups"]}, tmp_path)
    before = spec.digests()
    (tmp_path / "unrelated.data").write_bytes(b"1")
    assert spec.digests() == before
    (tmp_path / "model.onnx.data").write_bytes(b"other")
    assert spec.digests() != before
