"""A file with question marks: a model is given what it was trained on, for every row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pandas as pd
import pytest
import skops.io
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from audits.data import DataSpec, ReadOptions, Table, build_data, read_table
from audits.data.missing_markers import MissingCells
from audits.models import ModelSpec, make_subject
from audits.models.spec import Endpoint
from tests.models.scorer import serve

NUMBERS = ["age", "income"]
WORDS = ["job", "sex"]
READ = [*NUMBERS, *WORDS]


@pytest.fixture(scope="module")
def raw(people: pd.DataFrame) -> pd.DataFrame:
    """The file as a modeller reads it: a ? is a category."""
    frame = people.astype(dict.fromkeys(NUMBERS, "float32")).reset_index(drop=True)
    frame.loc[::9, "job"] = "?"
    frame.loc[::31, "sex"] = "?"
    return frame


@pytest.fixture(scope="module")
def table(raw: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    raw.to_csv(path, index=False)
    return read_table(path)


def audited(table: Table, missing: str = "category"):
    spec = DataSpec(
        label="hired", favorable=("yes",), protected=("sex",), features=tuple(READ), missing=missing
    )
    return build_data(table, spec)


def fitted(raw: pd.DataFrame, unknown: str = "ignore"):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown=unknown, sparse_output=False), WORDS), (StandardScaler(), NUMBERS)
    )
    return make_pipeline(encode, LogisticRegression(max_iter=300)).fit(raw[READ], raw["hired"])


def saved(pipeline, path: Path) -> str:
    types = [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    types += [(name, StringTensorType([None, 1])) for name in WORDS]
    path.write_bytes(to_onnx(pipeline, initial_types=types, options={"zipmap": False}).SerializeToString())
    return str(path)


@pytest.mark.parametrize("unknown", ["ignore", "error"])
def test_an_onnx_pipeline_scores_question_marks_as_it_did_in_training(raw, table, tmp_path, unknown):
    pipeline = fitted(raw, unknown)
    expected = pipeline.predict_proba(raw[READ])[:, 1]
    path = saved(pipeline, tmp_path / "people.onnx")
    for missing in ("category", "impute"):
        data = audited(table, missing)
        subject = make_subject(data, ModelSpec(path=path))
        assert data.n == len(raw)
        # the coefficients are float32 in the file
        np.testing.assert_allclose(subject.scores, expected, rtol=0, atol=1e-6)
    dropped = make_subject(audited(table, "drop"), ModelSpec(path=path))
    whole = ~(raw[WORDS] == "?").any(axis=1).to_numpy()
    np.testing.assert_allclose(dropped.scores, expected[whole], rtol=0, atol=1e-6)


def test_an_invented_person_without_a_value_is_shown_to_the_model_as_the_file_would(raw, table, tmp_path):
    """The category that stands for ? is admissible: who is given it is scored with a ?."""
    pipeline = fitted(raw)
    subject = make_subject(audited(table), ModelSpec(path=saved(pipeline, tmp_path / "people.onnx")))
    z = subject.space.encode(subject.data.frame.iloc[:5])
    block = subject.space.blocks["job"]
    assert subject.space.names[block][-1] == "job is missing"
    z[:, block] = 0.0
    z[:, block.stop - 1] = 0.5
    invented = subject.space.decode(z)
    assert invented["job"].isna().all()
    expected = pipeline.predict_proba(raw[READ].iloc[:5].assign(job="?"))[:, 1]
    np.testing.assert_allclose(subject.favorable_score(invented), expected, rtol=0, atol=1e-6)


def test_native_missing_numbers_stay_missing_under_every_policy(raw, tmp_path, monkeypatch):
    """Trees that learned where a blank goes: what is filled in for statistics is not shown to them."""
    plain = onnx.helper.make_attribute

    def attribute(key, value, *more, **options):  # skl2onnx 1.20 hands on truth values where ints are meant
        whole = [int(each) for each in value] if key.endswith("tracks_true") else value
        return plain(key, whole, *more, **options)

    monkeypatch.setattr(onnx.helper, "make_attribute", attribute)
    rng = np.random.default_rng(0)
    holed = raw.copy()
    holed.loc[rng.random(len(raw)) < 0.1, "income"] = np.nan
    holed.to_csv(tmp_path / "holed.csv", index=False)
    trees = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(
        holed[NUMBERS].to_numpy(np.float32), holed["hired"]
    )
    model = to_onnx(trees, initial_types=[("X", FloatTensorType([None, 2]))], options={"zipmap": False})
    (tmp_path / "trees.onnx").write_bytes(model.SerializeToString())
    expected = trees.predict_proba(holed[NUMBERS].to_numpy(np.float32))[:, 1]
    for missing in ("category", "impute"):
        data = audited(read_table(tmp_path / "holed.csv"), missing)
        spec = ModelSpec(path=str(tmp_path / "trees.onnx"), columns=tuple(NUMBERS))
        subject = make_subject(data, spec)
        np.testing.assert_allclose(subject.scores, expected, rtol=0, atol=1e-6)
        assert not any("NaN" in note for note in subject.notes), "these trees take missing numbers"


def test_people_without_a_label_are_scored_by_their_own_cells(raw, tmp_path):
    """Income is missing only of people without a label: filled in for statistics, and kept from the model."""
    holed = raw.copy()
    holed.loc[:99, "hired"] = None
    holed.loc[:49, "income"] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(holed[NUMBERS], raw["hired"])
    skops.io.dump(trees, tmp_path / "trees.skops")
    expected = trees.predict_proba(holed[NUMBERS])[:, 1]
    for missing in ("category", "impute"):
        data = audited(holed, missing)
        everyone = make_subject(data, ModelSpec(path=str(tmp_path / "trees.skops"))).everyone
        np.testing.assert_allclose(everyone.scores, expected[everyone.data.frame.index], rtol=0, atol=1e-12)
        assert everyone.data.frame["income"].isna().sum() == (0 if missing == "impute" else 50)
        assert data.imputed.get("income", 0) == (50 if missing == "impute" else 0)


def test_an_endpoint_is_sent_question_marks(raw, table):
    pipeline = fitted(raw)
    expected = pipeline.predict_proba(raw[READ])[:, 1]
    with serve() as told:
        told.answer = lambda rows: pipeline.predict_proba(
            pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "float32"))
        )[:, 1].tolist()
        subject = make_subject(
            audited(table, "impute"), ModelSpec(endpoint=Endpoint(told.url, rows_at_once=150))
        )
        np.testing.assert_allclose(subject.scores, expected, rtol=0, atol=1e-12)


def test_each_kind_of_cell_is_given_as_it_stands(tmp_path):
    """Two markers in a column, a number that means missing, an empty cell; a recoded column stays recoded."""
    (tmp_path / "t.csv").write_text(
        "job,debt,town,hired\n?,-999,Ulm,0\nNA,5,?,1\ncook,7,Ulm,0\n,8,Bonn,1\n?,,Bonn,0\njudge,2,,1\n"
    )
    table = read_table(tmp_path / "t.csv", options=ReadOptions(missing=("?", "NA", "-999", "")))
    assert table.frame["job"].isna().sum() == 4
    assert table.frame["debt"].isna().sum() == 2
    data = build_data(
        table,
        DataSpec(label="hired", favorable=(1,), missing="impute", features=("job", "debt", "town")),
    )
    given = data.written.restore(data.frame)
    assert given["job"].fillna("").tolist() == ["?", "NA", "cook", "", "?", "judge"]
    assert given["debt"].fillna(-1).tolist() == [-999, 5, 7, 8, -1, 2]
    assert given["town"].fillna("").tolist() == ["Ulm", "?", "Ulm", "Bonn", "Bonn", ""]
    texts = data.written.restore(data.frame, texts=("debt",))
    assert texts["debt"].tolist()[0] == "-999"
    part = data.take(np.array([4, 1]))
    assert part.written.restore(part.frame)["job"].tolist() == ["?", "NA"]
    moved = part.frame.assign(job="judge")
    assert part.written.restore(moved)["job"].tolist() == ["judge", "judge"], "a changed value stays"
    nobody = pd.DataFrame({"job": pd.array([None, "cook"], dtype="str")})
    assert data.written.restore(nobody)["job"].tolist() == ["?", "cook"], "the commonest marker"
    assert not MissingCells()
    assert MissingCells().restore(nobody) is nobody


@pytest.fixture(scope="module")
def spelled(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path]:
    """Words with and without spaces around them, and days as a modeller reads them: as texts."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "work": draw.choice([" Private", "Private", "Gov ", "Own"], 400),
            "day": draw.choice(["31/12/2024", "05/01/2024", "13/02/2023"], 400),
            "start": draw.choice(["2024-1-5", "2024-01-05", "2023-02-01"], 400),
            "age": draw.integers(18, 70, 400).astype("float32"),
        }
    )
    likes = (
        (frame["work"] == " Private") * 2.0 + (frame["day"] == "31/12/2024") + (frame["start"].str.len() < 10)
    )
    frame["hired"] = np.where(likes + draw.normal(size=400) > 1.2, "yes", "no")
    path = tmp_path_factory.mktemp("spelled") / "people.csv"
    frame.to_csv(path, index=False)
    return frame, path


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_a_model_gets_spaces_and_days_as_the_file_writes_them(spelled, tmp_path, missing):
    frame, path = spelled
    words = ["work", "day", "start"]
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough"),
        LogisticRegression(max_iter=300),
    ).fit(frame[[*words, "age"]], frame["hired"])
    types = [(name, StringTensorType([None, 1])) for name in words] + [("age", FloatTensorType([None, 1]))]
    proto = to_onnx(pipeline, initial_types=types, options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    spec = DataSpec(
        label="hired",
        favorable=("yes",),
        features=(*words, "age"),
        missing=missing,
        kinds={"day": "categorical"},
    )
    data = build_data(read_table(path), spec)
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.onnx")))
    asked = frame[[*words, "age"]]
    expected = pipeline.predict_proba(asked)[:, 1]
    np.testing.assert_allclose(subject.scores, expected, rtol=0, atol=1e-6)
    # moved to another value, people get its usual spelling; people of nobody's number, too
    others = data.frame.assign(work="Gov", day=data.frame["day"].iloc[0])
    for moved in (others, others.reset_index(drop=True)):
        given = data.written.restore(moved, texts=words)
        assert set(given["work"]) == {"Gov "}
        assert set(given["day"]) == {frame["day"].iloc[0]}
    again = MissingCells.restored(data.written.described(words)).restore(
        others.reset_index(drop=True), texts=words
    )
    assert set(again["work"]) == {"Gov "}


def test_a_space_of_the_separator_belongs_to_no_value(tmp_path):
    (tmp_path / "t.csv").write_text("age, job, hired\n" + "39, cook, 1\n40, judge , 0\n" * 20)
    data = build_data(read_table(tmp_path / "t.csv"), DataSpec(label="hired", favorable=(1,)))
    assert data.written.restore(data.frame[["job"]])["job"].tolist()[:2] == ["cook", "judge "]
