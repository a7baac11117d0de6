"""What a call from Python answers to mistakes: the argument at fault, and a line that holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import evenhand
from audits.errors import InputError, quoted

N = 120
SEX = ["f", "m"] * (N // 2)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {"hours": rng.normal(size=N), "age": rng.integers(18, 70, N), "text": ["no", "yes"] * (N // 2)}
    )


@pytest.fixture(scope="module")
def hired(people: pd.DataFrame) -> np.ndarray:
    return (people["hours"] > 0).to_numpy().astype(int)


def refused(model: object, people: object, y: object, **said: object) -> InputError:
    told = {"favorable": 1, "protected": {"sex": SEX}, "audits": "groups"} | said
    with pytest.raises(InputError) as error:
        evenhand.audit(model, people, y, **{key: each for key, each in told.items() if each is not None})
    return error.value


def test_each_names_what_is_wrong_and_what_to_write(people, hired) -> None:
    read = people[["hours", "age"]]
    model = LogisticRegression().fit(read, hired)
    number = LinearRegression().fit(read, people["hours"])
    words = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(people["text"], hired)
    cases = [
        (refused(model, read, hired, control_features="age"), "control_features", "'explain'"),
        (
            refused(model, read, hired, audits={"groups": {"control_features": ["age"]}}),
            "audits['groups'].control_features",
            "audits={'explain'",
        ),
        (refused(LogisticRegression, read, hired), "model", "LogisticRegression().fit"),
        (refused(LogisticRegression(), read, hired), "model", "fit"),
        (refused(number, read, people["hours"]), "favorable", "{'at_least': "),
        (refused(number, read, people["hours"], favorable=None), "favorable", "{'at_least': "),
        (refused(model, read, hired, favorable=None), "favorable", "favorable=VALUE"),
        (
            refused(model, read, people["text"].rename("hired"), favorable=None),
            "favorable",
            "favorable='yes'",
        ),
        (refused(words, people[["text"]], hired), "model", "X['text']"),
        (refused(model, read, hired, protected=["sex"]), "protected", "protected={'sex': values}"),
        (refused(model, read, hired, protected="ages"), "protected", "'age'"),
        (refused(model, read, hired, weights=np.full(N, 0.5)), "weights", "'kind': 'sampling'"),
        (refused(model, read, hired[:9]), "y", ""),
        (refused(model, read, hired, favorable=2), "favorable", "0 or 1"),
        (refused(model, read.mask(read["age"] > 60), hired), "model", "missing"),
        (refused(model, read[:0], hired[:0], protected="age"), "X", ""),
        (refused(model, read, hired, metrics=["f1"]), "metrics", "{'NAME': FUNCTION}"),
        (refused(model, read, hired, seed="one"), "seed", ""),
        (refused("model.pkl", read, hired), "model", "skops.io.dump(model, 'model.skops')"),
    ]
    for error, where, advice in cases:
        assert error.where == where, error
        assert advice in error.advice, error
        assert "np." not in str(error)
        assert "type()" not in str(error)


def test_a_model_file_has_the_scores_of_its_model(people, hired, tmp_path) -> None:
    from skl2onnx import to_onnx

    read = people[["hours", "age"]]
    model = LogisticRegression().fit(read, hired)
    exported = to_onnx(model, read.to_numpy("float32")[:1], options={"zipmap": False})
    (tmp_path / "model.onnx").write_bytes(exported.SerializeToString())
    error = refused(tmp_path / "model.onnx", people, hired)
    assert "columns=[" in error.advice
    opened = evenhand.audit(
        tmp_path / "model.onnx", people, hired, favorable=1, protected={"sex": SEX},
        audits="groups", columns=["hours", "age"],
    )  # fmt: skip
    np.testing.assert_allclose(opened.subject.scores, model.predict_proba(read)[:, 1], atol=1e-6)
    assert opened.spec["model"]["columns"] == ["hours", "age"]


def test_the_lines_that_are_told_work(people, hired) -> None:
    read = people[["hours", "age"]]
    pay = 2 * people["hours"].rename("pay")
    number = LinearRegression().fit(read, pay)
    told = {"protected": {"sex": SEX}, "audits": "groups"}
    cut = evenhand.audit(number, read, pay, favorable={"at_least": 0.1}, **told)
    assert cut.subject.decisions.mean() == (number.predict(read) >= 0.1).mean()
    words = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(people["text"], hired)
    asked = evenhand.audit(
        lambda X: words.predict_proba(X["text"]), people[["text"]], hired, favorable=1, **told
    )
    np.testing.assert_allclose(asked.subject.scores, words.predict_proba(people["text"])[:, 1])
    weighed = {"column": np.full(N, 0.5), "kind": "sampling"}
    model = LogisticRegression().fit(read, hired)
    assert evenhand.audit(model, read, hired, favorable=1, weights=weighed, **told)["groups"].table


def test_british_words_mean_american_ones(people, hired) -> None:
    read, told = people[["hours", "age"]], {"protected": {"sex": SEX}, "audits": "groups"}
    ours = evenhand.audit(
        None, read, hired, favorable=0, scores=people["hours"], higher_is="unfavorable", **told
    )
    theirs = evenhand.audit(
        None, read, hired, favourable=0, scores=people["hours"], higher_is="unfavourable", **told
    )
    assert theirs.to_json()["audits"] == ours.to_json()["audits"]


def test_features_of_one_value_each_are_refused(hired) -> None:
    same = np.ones((N, 2))
    with pytest.raises(InputError) as error:
        evenhand.audit(
            LogisticRegression().fit(same, hired), same, hired, favorable=1,
            protected={"sex": SEX}, audits="loss_ratio",
        )  # fmt: skip
    assert error.value.where.endswith("features")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        (np.bool_(True), "True"),
        (np.array([1, 2]), "[1, 2]"),
        ({np.str_("a"): (np.int8(1),)}, "{'a': (1,)}"),
        (pd.Timestamp("2024-12-31"), "'2024-12-31 00:00:00'"),
        ("it's", '"it\'s"'),
    ],
)
def test_values_are_quoted_without_a_library_s_marks(value: object, text: str) -> None:
    assert quoted(value) == text


def test_a_gate_says_what_it_judges_and_takes_one_rule(people, hired) -> None:
    read = people[["hours", "age"]]
    model = LogisticRegression().fit(read, hired)
    with pytest.raises(InputError) as error:
        evenhand.check(model, [{"metric": "selection_rate", "at_least": 0.1}])
    assert error.value.where == "spec"
    results = evenhand.audit(model, read, hired, favorable=1, protected={"sex": SEX}, audits="groups")
    assert results.check({"metric": "selection_rate", "at_least": 0.01}) is not None
    with pytest.raises(InputError) as error:
        results.check("impact_ratio > 0.8")
    assert error.value.where == "rules"
    with pytest.raises(InputError) as error:
        results.check(["impact_ratio"])
    assert error.value.advice == "write {NAME: VALUE}"
    with pytest.raises(InputError) as error:
        evenhand.compare(results, "other")
    assert error.value.where == "second"
    with pytest.raises(evenhand.GateFailed):
        results.check({"metric": "selection_rate", "at_least": 0.99})


def test_rows_are_named_by_values_of_one_kind(people, hired) -> None:
    read = people[["hours", "age"]]
    model = LogisticRegression().fit(read, hired)
    mixed = pd.Index([k if k % 2 else f"p{k}" for k in range(N)], dtype=object)
    for rows in (mixed, pd.interval_range(0, N)):
        assert refused(model, read.set_index(rows), hired).where == "frame"


def test_columns_of_bytes_are_named_with_what_to_write(people, hired) -> None:
    model = LogisticRegression().fit(people[["hours", "age"]], hired)
    held = people[["hours", "age"]].assign(town=[b"a", b"b"] * (N // 2))
    error = refused(model, held, hired, protected="town")
    assert error.where == "protected"
    assert "'town'" in str(error)
    assert "decode" in error.advice
