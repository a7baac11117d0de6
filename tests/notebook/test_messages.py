"""What a call from Python answers to mistakes: the argument at fault, and a line that holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from skl2onnx import to_onnx
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import evenhand
from audits.errors import InputError

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


def told(read, hired, **changes) -> InputError:
    """Return what an audit of the people answers, asked with `changes`."""
    model = changes.pop("model") if "model" in changes else LogisticRegression().fit(read, hired)
    x, y = changes.pop("X", read), changes.pop("y", hired)
    asked = {"favorable": 1, "protected": {"sex": SEX}, "audits": "groups"} | changes
    with pytest.raises(InputError) as error:
        evenhand.audit(model, x, y, **{key: each for key, each in asked.items() if each is not None})
    return error.value


def test_each_names_what_is_wrong_and_what_to_write(people, hired) -> None:
    read, hours, text = people[["hours", "age"]], people["hours"], people["text"]
    number = {"model": LinearRegression().fit(read, hours), "y": hours}
    words = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(text, hired)
    mixed = pd.Index([k if k % 2 else f"p{k}" for k in range(N)], dtype=object)
    same = np.ones((N, 2))
    flat = {"model": LogisticRegression().fit(same, hired), "X": same, "audits": "loss_ratio"}
    control = {"groups": {"control_features": ["age"]}}
    coded = {"X": read.assign(town=[b"a", b"b"] * (N // 2)), "protected": "town"}
    cases = [
        ({"control_features": "age"}, "control_features", "'explain'"),
        ({"audits": control}, "audits['groups'].control_features", "audits={'explain'"),
        ({"model": LogisticRegression}, "model", "LogisticRegression().fit"),
        ({"model": LogisticRegression()}, "model", "fit"),
        ({"model": words, "X": people[["text"]]}, "model", "X['text']"),
        ({"model": "model.pkl"}, "model", "skops.io.dump(model, 'model.skops')"),
        ({"X": read.mask(read["age"] > 60)}, "model", "missing"),
        (number, "favorable", "{'at_least': "),
        ({**number, "favorable": None}, "favorable", "{'at_least': "),
        ({"favorable": None}, "favorable", "favorable=VALUE"),
        ({"y": text.rename("hired"), "favorable": None}, "favorable", "favorable='yes'"),
        ({"favorable": 2}, "favorable", "0 or 1"),
        ({"protected": ["sex"]}, "protected", "protected={'sex': values}"),
        ({"protected": "ages"}, "protected", "'age'"),
        (coded, "protected", "decode"),
        ({"weights": np.full(N, 0.5)}, "weights", "'kind': 'sampling'"),
        ({"y": hired[:9]}, "y", ""),
        ({"X": read[:0], "y": hired[:0], "protected": "age"}, "X", ""),
        ({"metrics": ["f1"]}, "metrics", "{'NAME': FUNCTION}"),
        ({"seed": "one"}, "seed", ""),
        ({"X": read.set_index(mixed)}, "the table", ""),
        ({"X": read.set_index(pd.interval_range(0, N))}, "the table", ""),
        (flat, "audits['loss_ratio']: features", ""),
    ]
    for changes, where, advice in cases:
        error = told(read, hired, **changes)
        assert error.where == where, error
        assert advice in error.advice, error
        assert "np." not in str(error)
        assert "type()" not in str(error)


def test_a_model_file_has_the_scores_of_its_model(people, hired, tmp_path) -> None:
    read, path = people[["hours", "age"]], tmp_path / "model.onnx"
    model = LogisticRegression().fit(read, hired)
    exported = to_onnx(model, read.to_numpy("float32")[:1], options={"zipmap": False})
    path.write_bytes(exported.SerializeToString())
    assert "columns=[" in told(read, hired, model=path, X=people).advice
    asked = {"favourable": 1, "protected": {"sex": SEX}, "audits": "groups", "columns": ["hours", "age"]}
    opened = evenhand.audit(path, people, hired, **asked)
    np.testing.assert_allclose(opened.subject.scores, model.predict_proba(read)[:, 1], atol=1e-6)
    assert opened.spec["model"]["columns"] == ["hours", "age"]
