"""A file with question marks: a model is given what it was trained on, for every row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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


def fitted(raw: pd.DataFrame):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), WORDS), (StandardScaler(), NUMBERS)
    )
    return make_pipeline(encode, LogisticRegression(max_iter=300)).fit(raw[READ], raw["hired"])


def saved(pipeline, path: Path) -> str:
    types = [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    types += [(name, StringTensorType([None, 1])) for name in WORDS]
    path.write_bytes(to_onnx(pipeline, initial_types=types, options={"zipmap": False}).SerializeToString())
    return str(path)


def test_a_pipeline_in_a_file_or_behind_an_address_scores_question_marks_as_in_training(raw, table, tmp_path):
    pipeline = fitted(raw)
    expected = pipeline.predict_proba(raw[READ])[:, 1]
    path = saved(pipeline, tmp_path / "people.onnx")
    for missing in ("category", "impute", "drop"):
        subject = make_subject(audited(table, missing), ModelSpec(path=path))
        asked = ~(raw[WORDS] == "?").any(axis=1).to_numpy() | (missing != "drop")
        # the coefficients are float32 in the file
        np.testing.assert_allclose(subject.scores, expected[asked], rtol=0, atol=1e-6)
    with serve() as told:
        told.answer = lambda rows: pipeline.predict_proba(
            pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "float32"))
        )[:, 1].tolist()
        asked = ModelSpec(endpoint=Endpoint(told.url, rows_at_once=150))
        scores = make_subject(audited(table, "impute"), asked).scores
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_numbers_filled_in_for_statistics_stay_missing_for_the_model(raw, tmp_path, missing):
    """Trees learned where a blank goes; half of the blanks are of people without a label."""
    holed = raw.copy()
    holed.loc[:99, "hired"] = None
    holed.loc[list(range(50)) + list(range(150, 200)), "income"] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(holed[NUMBERS], raw["hired"])
    skops.io.dump(trees, tmp_path / "trees.skops")
    expected = trees.predict_proba(holed[NUMBERS])[:, 1]
    subject = make_subject(audited(holed, missing), ModelSpec(path=str(tmp_path / "trees.skops")))
    np.testing.assert_allclose(subject.scores, expected[100:], rtol=0, atol=1e-12)
    everyone = subject.everyone
    np.testing.assert_allclose(everyone.scores, expected[everyone.data.frame.index], rtol=0, atol=1e-12)
    assert everyone.data.frame["income"].isna().sum() == (0 if missing == "impute" else 100)


def test_each_kind_of_cell_is_given_as_it_stands(tmp_path):
    """Two markers in a column, a number that means missing, an empty cell; a recoded column stays recoded."""
    (tmp_path / "t.csv").write_text(
        "job,debt,town,hired\n?,-999,Ulm,0\nNA,5,?,1\ncook,7,Ulm,0\n,8,Bonn,1\n?,,Bonn,0\njudge,2,,1\n"
    )
    table = read_table(tmp_path / "t.csv", options=ReadOptions(missing=("?", "NA", "-999", "")))
    spec = DataSpec(label="hired", favorable=(1,), missing="impute", features=("job", "debt", "town"))
    data = build_data(table, spec)
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


def test_a_model_gets_spaces_and_days_as_the_file_writes_them(tmp_path):
    """Words with and without spaces around them, and days as a modeller reads them: as texts."""
    draw, words = np.random.default_rng(3), ["work", "day", "start"]
    frame = pd.DataFrame(
        {
            "work": draw.choice([" Private", "Private", "Gov ", "Own"], 400),
            "day": draw.choice(["31/12/2024", "05/01/2024", "13/02/2023"], 400),
            "start": draw.choice(["2024-1-5", "2024-01-05", "2023-02-01"], 400),
        }
    )
    likes = (
        (frame["work"] == " Private") * 2.0 + (frame["day"] == "31/12/2024") + frame["start"].str.len() / 9
    )
    frame["hired"] = np.where(likes + draw.normal(size=400) > 2.2, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words))
    pipeline = make_pipeline(encode, LogisticRegression()).fit(frame[words], frame["hired"])
    types = [(name, StringTensorType([None, 1])) for name in words]
    proto = to_onnx(pipeline, initial_types=types, options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    spec = DataSpec(label="hired", favorable=("yes",), features=tuple(words), kinds={"day": "categorical"})
    data = build_data(read_table(tmp_path / "people.csv"), spec)
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "m.onnx")))
    expected = pipeline.predict_proba(frame[words])[:, 1]
    np.testing.assert_allclose(subject.scores, expected, rtol=0, atol=1e-6)
    # moved to another value, people get its usual spelling; people of nobody's number, too
    others = data.frame.assign(work="Gov", day=data.frame["day"].iloc[0])
    again = MissingCells.restored(data.written.described(words))
    for written, moved in ((data.written, others), (again, others.reset_index(drop=True))):
        given = written.restore(moved, texts=words)
        assert (set(given["work"]), set(given["day"])) == ({"Gov "}, {frame["day"].iloc[0]})


def test_a_space_of_the_separator_belongs_to_no_value(tmp_path):
    (tmp_path / "t.csv").write_text("age, job, hired\n" + "39, cook, 1\n40, judge , 0\n" * 20)
    data = build_data(read_table(tmp_path / "t.csv"), DataSpec(label="hired", favorable=(1,)))
    assert data.written.restore(data.frame[["job"]])["job"].tolist()[:2] == ["cook", "judge "]
