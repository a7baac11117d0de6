"""A file with question marks: a model is given what it was trained on, for every row."""

from __future__ import annotations

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
MARKED = ["job", "sex"]
SPELLED = ["work", "day", "start"]


@pytest.fixture(scope="module")
def raw(people: pd.DataFrame) -> pd.DataFrame:
    """The file as a modeller reads it: a ? is a category, spaces belong to words, and days are texts."""
    frame = people.astype(dict.fromkeys(NUMBERS, "float32")).reset_index(drop=True)
    frame.loc[::9, "job"] = "?"
    frame.loc[::31, "sex"] = "?"
    draw, n = np.random.default_rng(3), len(frame)
    frame["work"] = draw.choice([" Private", "Private", "Gov ", "Own"], n)
    frame["day"] = draw.choice(["31/12/2024", "05/01/2024", "13/02/2023"], n)
    frame["start"] = draw.choice(["2024-1-5", "2024-01-05", "2023-02-01"], n)
    likes = (frame["work"] == " Private") * 2.0 + (frame["day"] == "31/12/2024") + (frame["job"] == "?")
    frame["hired"] = np.where(likes + frame["start"].str.len() / 9 + draw.normal(size=n) > 2.2, "yes", "no")
    return frame.assign(late=draw.random(n) < 0.3)


@pytest.fixture(scope="module")
def table(raw: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    raw.to_csv(path, index=False)
    return read_table(path)


def audited(table: Table | pd.DataFrame, read: list[str], missing: str = "category"):
    told = {"label": "hired", "favorable": ("yes",), "protected": ("sex",), "kinds": {"day": "categorical"}}
    return build_data(table, DataSpec(**told, features=tuple(read), missing=missing))


def fitted(raw: pd.DataFrame, words: list[str]):
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encode, words), (StandardScaler(), NUMBERS))
    return make_pipeline(columns, LogisticRegression()).fit(raw[[*NUMBERS, *words]], raw["hired"])


@pytest.mark.parametrize("missing", ["category", "impute", "drop"])
def test_a_pipeline_in_a_file_scores_cells_as_it_did_in_training(raw, table, tmp_path, missing):
    words = [*MARKED, *SPELLED]
    pipeline = fitted(raw, words)
    types = [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    types += [(name, StringTensorType([None, 1])) for name in words]
    graph = to_onnx(pipeline, initial_types=types, options={"zipmap": False})
    (tmp_path / "people.onnx").write_bytes(graph.SerializeToString())
    expected = pipeline.predict_proba(raw[[*NUMBERS, *words]])[:, 1]
    asked = ~(raw[MARKED] == "?").any(axis=1).to_numpy() | (missing != "drop")
    data = audited(table, [*NUMBERS, *words], missing)
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "people.onnx")))
    # the coefficients are float32 in the file
    np.testing.assert_allclose(subject.scores, expected[asked], rtol=0, atol=1e-6)
    # moved to another value, people get its usual spelling; people of nobody's number, too
    others = data.frame.assign(work="Gov", day=data.frame["day"].iloc[0])
    again = MissingCells.restored(data.written.described(SPELLED))
    for written, moved in ((data.written, others), (again, others.reset_index(drop=True))):
        given = written.restore(moved, texts=SPELLED)
        assert (set(given["work"]), set(given["day"])) == ({"Gov "}, {raw["day"][asked].iloc[0]})


def test_a_pipeline_behind_an_address_is_sent_what_pandas_reads(raw, table):
    words = [*MARKED, "start", "late"]
    pipeline = fitted(raw, words)
    with serve() as told:
        told.answer = lambda rows: pipeline.predict_proba(
            pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "float32"))
        )[:, 1].tolist()
        asked = ModelSpec(endpoint=Endpoint(told.url, rows_at_once=150))
        scores = make_subject(audited(table, [*NUMBERS, *words], "impute"), asked).scores
    expected = pipeline.predict_proba(raw[[*NUMBERS, *words]])[:, 1]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_numbers_filled_in_for_statistics_stay_missing_for_the_model(raw, tmp_path, missing):
    """Trees learned where a blank goes; half of the blanks are of people without a label."""
    holed = raw.assign(hired=raw["hired"].mask(raw.index < 100))
    holed.loc[[*range(50), *range(150, 200)], "income"] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(holed[NUMBERS], raw["hired"])
    skops.io.dump(trees, tmp_path / "trees.skops")
    expected = trees.predict_proba(holed[NUMBERS])[:, 1]
    data = audited(holed, [*NUMBERS, *MARKED], missing)
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "trees.skops")))
    np.testing.assert_allclose(subject.scores, expected[100:], rtol=0, atol=1e-12)
    everyone = subject.everyone
    np.testing.assert_allclose(everyone.scores, expected[everyone.data.frame.index], rtol=0, atol=1e-12)
    assert everyone.data.frame["income"].isna().sum() == (0 if missing == "impute" else 100)


def test_each_kind_of_cell_is_given_as_it_stands(tmp_path):
    """Two markers in a column, a number that means missing, an empty cell; a space of the separator."""
    cells = ["job, debt,town,hired", "?,-999,Ulm,0", "NA,5,?,1", "cook,7,Ulm,0", ",8,Bonn,1", "?,,Bonn,0"]
    (tmp_path / "t.csv").write_text("\n".join([*cells, "judge , 2,,1", ""]))
    table = read_table(tmp_path / "t.csv", options=ReadOptions(missing=("?", "NA", "-999", "")))
    spec = DataSpec(label="hired", favorable=(1,), missing="impute", features=("job", "debt", "town"))
    data = build_data(table, spec)
    given = data.written.restore(data.frame)
    assert given["job"].fillna("").tolist() == ["?", "NA", "cook", "", "?", "judge "]
    assert given["debt"].fillna(-1).tolist() == [-999, 5, 7, 8, -1, 2]
    assert given["town"].fillna("").tolist() == ["Ulm", "?", "Ulm", "Bonn", "Bonn", ""]
    assert data.written.restore(data.frame, texts=("debt",))["debt"].tolist()[0] == "-999"
    part = data.take(np.array([4, 1]))
    assert part.written.restore(part.frame)["job"].tolist() == ["?", "NA"]
    moved = part.frame.assign(job="judge")
    assert part.written.restore(moved)["town"].tolist() == ["Bonn", "?"]
    assert "?" not in set(part.written.restore(moved)["job"]), "a changed value stays"
    nobody = pd.DataFrame({"job": pd.array([None, "cook"], dtype="str")})
    assert data.written.restore(nobody)["job"].tolist() == ["?", "cook"], "the commonest marker"
