"""Model files of other libraries: scores are the library's own, columns bind by name, no code is run."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from audits.data import DataSpec, LabelCut, build_data, read_table
from audits.models import ModelSpec, make_subject
from audits.models.native.opened import ModelFile
from tests.refused import refused

catboost = pytest.importorskip("catboost")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
skops = pytest.importorskip("skops.io")

READ = ["flag", "job", "sex", "age"]  # neither the table's order nor its features


def xgb(trees=5, **options):
    return xgboost.XGBClassifier(n_estimators=trees, enable_categorical=True, n_jobs=1, **options)


def light():
    return lightgbm.LGBMClassifier(n_estimators=20, min_child_samples=5, verbose=-1, n_jobs=1)


def cat(*words):
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return catboost.CatBoostClassifier(iterations=20, cat_features=list(words), **quiet)


@pytest.fixture(scope="module")
def blanks(people):
    """People, some with a ? for a job and some without an age."""
    frame = people.astype({"age": float})
    frame.loc[frame.index[::9], "job"] = "?"
    frame.loc[frame.index[::7], "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def x(blanks):
    # the levels in an order of their own: codes would be wrong, names are not
    jobs = pd.Categorical(blanks["job"], categories=["nurse", "?", "cook", "judge"])
    return blanks[READ].assign(job=jobs, sex=blanks["sex"].astype("category"))


@pytest.fixture(scope="module")
def y(blanks):
    return (blanks["hired"] == "yes").astype(int)


@pytest.fixture
def brought(blanks, make_data):
    """Return a function that gives the subject of a file for the people with blanks, last first."""

    def subject(path: Path):
        data = make_data(blanks.iloc[::-1], features=("age", "income", "job", "flag"))
        made = make_subject(data, ModelSpec(path=str(path)))
        assert set(made.model.columns) == set(READ)
        assert set(READ) <= set(made.data.features), "a protected column that is read becomes a feature"
        return made

    return subject


@pytest.mark.parametrize("name", ["m.json", "stopped.json", "raw.ubj", "m.txt", "m.cbm", "m.skops"])
def test_scores_are_those_of_the_library(x, y, blanks, tmp_path, brought, name):
    path, asked = tmp_path / name, x
    if path.suffix in {".json", ".ubj"}:
        stop = {"early_stopping_rounds": 3, "learning_rate": 0.5} if name == "stopped.json" else {}
        seen = {"eval_set": [(x[300:], y[300:])], "verbose": False} if stop else {}
        raw = {"objective": "binary:logitraw"} if name == "raw.ubj" else {}
        own = xgb(100, **stop, **raw).fit(x[:300], y[:300], **seen)
        own.save_model(path)
        assert not stop or own.best_iteration < 80
    elif name == "m.txt":
        own = light().fit(x, y)
        own.booster_.save_model(path)
    elif name == "m.cbm":
        asked = x.astype({"job": str, "sex": str})
        own = cat("job", "sex").fit(asked, blanks["hired"])
        own.save_model(path)
    else:
        asked, numbers = blanks[READ], make_pipeline(SimpleImputer(), StandardScaler())
        words = (OneHotEncoder(sparse_output=False), ["job", "sex"])
        encode = make_column_transformer(words, (numbers, ["age"]), remainder="passthrough")
        own = make_pipeline(encode, RandomForestClassifier(10, random_state=0)).fit(asked, blanks["hired"])
        skops.dump(own, path)
    expected = own.predict_proba(asked)[:, 1]
    if name == "raw.ubj":
        margin = own.get_booster().predict(xgboost.DMatrix(x, enable_categorical=True), output_margin=True)
        expected = 1 / (1 + np.exp(-margin.astype(float)))
    subject = brought(path)
    assert subject.model.classes == ("no", "yes")
    # float32 of XGBoost, read as the shortest decimal
    tolerance = 1e-6 if path.suffix in {".json", ".ubj"} else 1e-12
    np.testing.assert_allclose(subject.scores[::-1], expected, rtol=0, atol=tolerance)


def test_lines_that_were_fitted_on_codes_of_words_are_refused(x, y, tmp_path, brought):
    coded = x.assign(job=x["job"].cat.codes.astype(float), sex=x["sex"].cat.codes.astype(float))
    xgb(booster="gblinear").fit(coded, y).save_model(tmp_path / "m.json")
    with refused("XGBoost model m.json", "'job'", "'nurse'"):
        brought(tmp_path / "m.json")


def test_xgboost_of_three_classes(x, people, blanks, tmp_path, make_data):
    labels = pd.cut(people["income"], [-np.inf, 45, 55, np.inf], labels=["a", "b", "c"]).astype(str)
    own = xgb().fit(x, labels.map({"c": 0, "a": 1, "b": 2}))
    own.save_model(tmp_path / "m.json")
    data = make_data(blanks.assign(hired=labels), favorable=("b", "c"), features=("age", "job", "flag"))
    with refused("model.classes"):  # it was told numbers, whose meaning nobody else knows
        make_subject(data, ModelSpec(path=str(tmp_path / "m.json")))
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.json"), classes=("c", "a", "b")))
    assert subject.model.classes == ("c", "a", "b")
    summed = own.predict_proba(x)[:, [0, 2]].sum(axis=1)
    np.testing.assert_allclose(subject.probabilities, summed, rtol=0, atol=1e-6)
    assert np.array_equal(subject.decisions, own.predict(x) != 1)


def test_lightgbm_has_no_job_for_one_that_it_never_saw(x, y, tmp_path, brought):
    own = light().fit(x, y)
    own.booster_.save_model(tmp_path / "m.txt")
    subject = brought(tmp_path / "m.txt")
    strange = subject.favorable_score(subject.data.frame.assign(job="astronaut"))
    nothing = own.predict_proba(x.assign(job=pd.Categorical([None] * len(x), x["job"].cat.categories)))
    np.testing.assert_allclose(strange[::-1], nothing[:, 1], rtol=0, atol=1e-12)
    text = (tmp_path / "m.txt").read_text()
    (tmp_path / "m.txt").write_text(text[: len(text) // 2])
    with refused("LightGBM model m.txt"):
        brought(tmp_path / "m.txt")


def test_lightgbm_does_not_take_declared_numbers_for_a_frame_s_categories(people, y, tmp_path, make_data):
    """With categories named by hand a frame's own are left as codes, and the file lists them all the same."""
    town = 10 + 5 * np.arange(len(people)) % 20
    x = people[["age"]].assign(flag=people["flag"].astype("category"), town=town)
    light().fit(x, y, categorical_feature=["town"]).booster_.save_model(tmp_path / "m.txt")
    with refused("LightGBM model m.txt"):
        make_subject(make_data(people.assign(town=town)), ModelSpec(path=str(tmp_path / "m.txt")))


def test_truth_values_are_the_same_from_a_csv_file_as_from_a_frame(blanks, y, tmp_path):
    """A modeller has read True as a truth value; a skops file knows where it was read as text."""
    frame = blanks.assign(flag=blanks["flag"].astype(bool)).reset_index(drop=True)
    frame.to_csv(tmp_path / "people.csv", index=False)
    x = frame[["flag", "income"]]
    booster = xgb().fit(x, y)
    booster.save_model(tmp_path / "xgboost.json")
    expected = {"xgboost.json": booster.predict_proba(x)[:, 1]}
    encode = make_column_transformer((OneHotEncoder(), ["flag"]), remainder="passthrough")
    linear = make_pipeline(encode, LogisticRegression())
    for name, given in (("truths.skops", x), ("texts.skops", x.astype({"flag": str}))):
        skops.dump(linear.fit(given, blanks["hired"]), tmp_path / name)
        expected[name] = linear.predict_proba(given)[:, 1]
    for table in (read_table(tmp_path / "people.csv"), frame):
        data = build_data(table, DataSpec(label="hired", favorable=("yes",), protected=("sex",)))
        for name, scores in expected.items():
            if name != "texts.skops" or table is not frame:  # a truth value is no text
                subject = make_subject(data, ModelSpec(path=str(tmp_path / name)))
                np.testing.assert_allclose(subject.scores, scores, rtol=0, atol=1e-6, err_msg=name)


def test_skops_without_chances_gives_labels_or_log_odds(people, data, tmp_path):
    own = RidgeClassifier().fit(people[["age", "flag"]], people["hired"])
    skops.dump(own, tmp_path / "m.skops")
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.skops")))
    assert subject.score_kind == "label"
    np.testing.assert_array_equal(subject.decisions, own.predict(people[["age", "flag"]]) == "yes")
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.skops"), output="logits"))
    margin = own.decision_function(people[["age", "flag"]])
    np.testing.assert_allclose(subject.scores, 1 / (1 + np.exp(-margin)), rtol=0, atol=1e-12)


def test_a_regression_predicts_the_number_behind_the_label(people, tmp_path, make_data):
    own, x = LinearRegression(), people[["age", "flag"]]
    skops.dump(own.fit(x, people["income"]), tmp_path / "m.skops")
    cut = {"label": LabelCut("income", at_least=50.0), "favorable": None, "features": ("age", "flag")}
    path = str(tmp_path / "m.skops")
    subject = make_subject(make_data(people, **cut), ModelSpec(path=path, predict="label"))
    np.testing.assert_allclose(subject.scores, own.predict(x), rtol=1e-12)
    with refused("skops model m.skops"):
        make_subject(make_data(people), ModelSpec(path=path))


@pytest.mark.parametrize("named", [False, True])
def test_features_that_no_column_is_named_after_can_be_pointed_to(people, data, tmp_path, named):
    x = people[["flag", "age"]]
    x = x.set_axis(["flag", "years"], axis=1) if named else x.to_numpy()
    own = xgb().fit(x, people["hired"] == "yes")
    own.save_model(tmp_path / "m.json")
    (tmp_path / "m.json").rename(tmp_path / "m.onnx")  # the content decides, not the name
    with refused("XGBoost model m.onnx", *(["'years'", "COLUMN"] if named else [])):
        make_subject(data, ModelSpec(path=str(tmp_path / "m.onnx")))
    columns = {"years": ("age",)} if named else ("flag", "age")
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.onnx"), columns=columns))
    np.testing.assert_allclose(subject.scores, own.predict_proba(x)[:, 1], rtol=0, atol=1e-6)


class Trap:
    """Unpickling it would write a file."""

    def __reduce__(self):
        return (open, ("/tmp/evenhand-trap", "w"))


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "refusal"),
    [
        ("m.onnx", pickle.dumps(Trap()), ("model.path", "pickle")),
        ("m.skops", pickle.dumps(Trap(), protocol=2), ("model.path", "pickle")),
        ("m.json", b"\x78\x9c" + b"0" * 30, ("model.path", "pickle")),  # what joblib compresses
        ("m.onnx", zipped({"m/data.pkl": b"x"}), ("model.path", "torch.onnx")),
        ("m.onnx", zipped({"m/archive_format": b"pt2"}), ("model.path", "torch.onnx")),
        ("m.txt", zipped({"config.json": b"{}", "model.weights.h5": b""}), ("model.path", "Keras")),
        ("m.onnx", b"\x89HDF\r\n\x1a\n" + bytes(20), ("model.path", "Keras")),
        ("m.txt", b"artifact_path: model\nflavors:\n  python_function: {}\n", ("model.path", "MLflow")),
        ("m.bin", b'\x40\x00\x00\x00\x00\x00\x00\x00{"w":{"dtype":"F32"}}', ("model.path", "torch.onnx")),
        ("m.bin", b"hello", ("model.path",)),
        ("m.json", b'{"learner": 3}', ("XGBoost model m.json",)),
        ("m.ubj", b"{L\x00\x00\x00\x00\x00\x00", ("XGBoost model m.ubj",)),
        ("m.cbm", b"CBM1" + bytes(40), ("CatBoost model m.cbm",)),
        ("m.txt", b"tree\nversion=v4\n", ("LightGBM model m.txt",)),
        ("m.skops", zipped({"schema.json": b"{}"}), ("skops model m.skops",)),
    ],
)  # fmt: skip
def test_other_content_is_refused_with_a_recipe(data, tmp_path, name, content, refusal):
    Path("/tmp/evenhand-trap").unlink(missing_ok=True)
    (tmp_path / name).write_bytes(content)
    with refused(*refusal) as caught:
        make_subject(data, ModelSpec(path=name), base_dir=tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert not Path("/tmp/evenhand-trap").exists()


def test_types_beyond_the_list_are_refused(people, data, tmp_path):
    own = make_pipeline(FunctionTransformer(Path), LogisticRegression())
    own.steps[1] = ("logisticregression", LogisticRegression().fit(people[["age"]], people["hired"]))
    skops.dump(own, tmp_path / "m.skops")
    with refused("skops model m.skops", "Path"):
        make_subject(data, ModelSpec(path=str(tmp_path / "m.skops")))


def test_a_library_that_lacks_one_of_the_system_is_told(tmp_path, monkeypatch):
    """LightGBM without OpenMP: import ends in an OSError, no ImportError."""
    (tmp_path / "boosting_without.py").write_text(
        "import ctypes\nctypes.CDLL('libno-such-openmp.so.1')\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "model.txt").touch()
    with refused("model.path", "openmp.so"):
        ModelFile.at(tmp_path / "model.txt", "Boosting").library("boosting_without", "boosting")
