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
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression
from streamlit.testing.v1 import AppTest

from app.data_model.model_choice import _model_among
from app.workspaces.workspace import Workspace
from audits.runs.spec import parse_spec
from tests.app.test_pages import boxes, bring, texts, visit
from tests.models.conftest import make_people

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


def upload(space: Workspace, files: list[tuple[str, bytes]], **told: object) -> AppTest:
    """Do what the page does with what was chosen, and come to it."""
    place = _model_among([name for name, _ in files])
    path = space.add_files([(name, io.BytesIO(content)) for name, content in files])[place]
    draft = space.draft() or {}
    space.save_draft({**draft, "spec": {**draft["spec"], "model": {"path": str(path), **told}}})
    at = visit(space)
    assert not at.exception
    return at


def fed(at: AppTest) -> pd.DataFrame | None:
    """Return the table of what feeds which input of the model, once it is open."""
    return next((each.value for each in at.dataframe if "model input" in each.value), None)


def test_what_feeds_what_and_five_scores_or_the_refusal(
    space, fitted, two_files: Path, tmp_path: Path
) -> None:
    bring(space, PEOPLE.to_csv(index=False), label="hired", favorable="yes", protected=["sex"])
    both = [(name, (two_files / name).read_bytes()) for name in ("model.onnx", "model.onnx.data")]
    at = upload(space, both, columns=NUMBERS)
    feeds = fed(at)
    assert feeds["column"].tolist() == NUMBERS
    assert feeds["first person"].tolist() == [f"{PEOPLE[name].iloc[0]:g}" for name in NUMBERS]
    own = fitted.predict_proba(PEOPLE[NUMBERS].to_numpy("float32")[:5])[:, 1]
    found = next(each for text in texts(at) if len(each := re.findall(r"\b[01](?:\.\d+)?\b", text)) == 5)
    np.testing.assert_allclose([float(each) for each in found], own, rtol=1e-3)
    assert not at.button(key="next").disabled
    labeled = space.draft()
    next(box for box in at.selectbox if str(box.key).startswith("label-")).set_value(None).run()
    good = next(box for box in at.text_input if str(box.key).startswith("good-class-"))
    assert good.set_value("").run().button(key="next").disabled, "which of the model's answers is good?"
    assert boxes(good.set_value("no").run()) == []
    assert (space.draft() or {})["spec"]["data"]["favorable"] == "no"
    space.save_draft(labeled)

    for files, told in ((both[:1], "model.onnx.data"), ([("model.onnx", b"\x80\x04K\x01.")], "pickle")):
        at = upload(space, files, columns=NUMBERS)
        [said] = boxes(at)
        assert told in said
        assert not any(str(space.folder) in text for text in texts(at))
        assert fed(at) is None
        assert at.button(key="next").disabled

    trees = catboost.CatBoostClassifier(iterations=3, verbose=0, thread_count=1, allow_writing_files=False)
    trees.fit(PEOPLE[NUMBERS], PEOPLE["hired"] == "yes").save_model(str(tmp_path / "m.cbm"))
    at = upload(space, [("m.cbm", (tmp_path / "m.cbm").read_bytes())])
    [said] = boxes(at)
    assert all(each in said for each in ("'no'", "'yes'")), "whose order nothing says"
    (field,) = (each for each in at.text_input if str(each.key).startswith("model-classes-"))
    at = field.set_value("no, yes").run()
    assert fed(at)["column"].tolist() == NUMBERS
    assert not at.button(key="next").disabled


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
