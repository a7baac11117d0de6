"""Trees as plain arrays say what scikit-learn says: to the last digit, on every kind of value."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.models.trained.pipelines import prepare
from audits.models.trees import plain as trees
from audits.models.trees.plain import PlainTrees, plain_trees
from tests.refused import refused

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("forest", "boosting")


def people(n: int = 900) -> pd.DataFrame:
    """Numbers with blanks, a date, yes and no, words with blanks, and 300 jobs, most of them rare."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "debt": np.exp(rng.normal(7, 2, n)),
            "since": pd.Timestamp("2001-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
            "owner": rng.random(n) < 0.4,
            "town": rng.choice(["north", "south", "west", "east"], n),
            "job": [f"job {k}" for k in rng.zipf(1.4, n) % 300],
            "group": rng.choice(["a", "b"], n),
        }
    )
    frame.loc[rng.random(n) < 0.15, "debt"] = np.nan
    frame.loc[rng.random(n) < 0.15, "town"] = None
    worth = frame["age"] / 20 + frame["owner"] + (frame["town"] == "west") - frame["debt"].isna()
    frame["grade"] = pd.cut(worth + rng.normal(0, 1, n), [-9, 2, 3.2, 99], labels=["c", "b", "a"]).astype(str)
    frame["hired"] = (worth + rng.normal(0, 1, n) > 3).astype(int)
    return frame


def subject_of(kind: str, label: str = "hired", favorable: object = 1, **model: str) -> Subject:
    features = ("age", "debt", "since", "owner", "town", "job")
    spec = DataSpec(
        label=label, favorable=favorable, protected=("group",), features=features, missing="category"
    )
    return make_subject(build_data(people(), spec), model_spec({"train": kind, **model}), seed=0)


@pytest.fixture(scope="module", params=KINDS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return subject_of(request.param)


def plain_of(subject: Subject) -> PlainTrees:
    """Take the model apart, and put it together from what is written down."""
    model = subject.model
    taken = plain_trees(model.pipeline, model.numbers, model.levels)
    return PlainTrees.restore(taken.describe(), load(save(taken.arrays())))


def by_scikit_learn(subject: Subject, frame: pd.DataFrame) -> np.ndarray:
    """Return what the fitted pipeline itself says, (n, k), or (n,) where that is a number."""
    model = subject.model
    asked = prepare(frame, model.numbers, model.levels)
    return getattr(model.pipeline, "predict" if hasattr(model, "number") else "predict_proba")(asked)


def strangers(frame: pd.DataFrame) -> pd.DataFrame:
    """People with blanks everywhere, values far out, and levels that nobody had."""
    rng, n = np.random.default_rng(5), len(frame)
    made = frame.copy()
    for name in frame.columns.drop("owner"):
        made[name] = frame[name].to_numpy()[rng.permutation(n)]
    made.loc[made.index[: n // 4], ["age", "since"]] = [np.nan, pd.NaT]
    made.loc[made.index[n // 5 : n // 3], "age"] = 1e30
    made.loc[made.index[n // 3 : n // 2], ["town", "job"]] = ["moon", "astronaut"]
    made.loc[made.index[n // 2 :], "debt"] = -1e9
    return made


def test_scores_are_those_of_scikit_learn(subject: Subject):
    plain = plain_of(subject)
    for frame in (subject.data.frame, strangers(subject.data.frame), subject.data.frame.iloc[:0]):
        if len(frame):
            np.testing.assert_array_equal(plain.score(frame)[:, 0], by_scikit_learn(subject, frame)[:, 1])
    assert plain.score(subject.data.frame.iloc[:0]).shape == (0, 1)


def test_values_exactly_at_a_threshold_go_the_same_way(subject: Subject):
    """And those of the neighboring floats; a forest rounds a value to float32 before it compares."""
    plain, frame = plain_of(subject), subject.data.frame
    [column] = [each for each in plain.inputs if each.column == "debt"]
    cuts = np.unique(plain.trees.threshold[plain.trees.feature == column.places[0]])[:150]
    cuts = cuts[np.isfinite(cuts)]  # an infinite one tells missing numbers from others
    raw = cuts * column.scale + column.mean
    near = np.concatenate([raw, np.nextafter(raw, np.inf), np.nextafter(raw, -np.inf), raw * (1 + 3e-8)])
    asked = frame.iloc[np.arange(len(near)) % len(frame)].assign(debt=near)
    np.testing.assert_array_equal(plain.score(asked)[:, 0], by_scikit_learn(subject, asked)[:, 1])
    read = np.unique(plain._matrix(asked)[:, column.places[0]].astype(float))
    assert np.isin(cuts, read).sum() >= (20 if not plain.trees.is_forest else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_several_labels_too(kind: str):
    subject = subject_of(kind, "grade", "a", predict="label")
    for frame in (subject.data.frame, strangers(subject.data.frame)):
        np.testing.assert_allclose(
            plain_of(subject).score(frame), by_scikit_learn(subject, frame), atol=1e-15
        )


@pytest.mark.parametrize(("kind", "features"), [("forest", ("town", "job")), ("boosting", ("age", "debt"))])
def test_models_of_numbers_or_of_words_alone(kind: str, features: tuple[str, ...]):
    spec = DataSpec(label="hired", favorable=1, protected=("group",), features=features, missing="category")
    subject = make_subject(build_data(people(400), spec), model_spec({"train": kind}), seed=0)
    frame = subject.data.frame
    np.testing.assert_array_equal(plain_of(subject).score(frame)[:, 0], by_scikit_learn(subject, frame)[:, 1])


def test_many_people_are_taken_in_parts(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    plain, frame = plain_of(subject), subject.data.frame
    whole = plain.score(frame)
    monkeypatch.setattr(trees, "_PAIRS", 1700)
    np.testing.assert_array_equal(plain.score(frame), whole)


@pytest.mark.parametrize(
    "damage",
    [
        {"left": lambda each: np.zeros_like(each)},  # would go round in circles
        {"right": lambda each: each + 10**6},
        {"feature": lambda each: each + 50},
        {"feature": lambda each: each.astype(float)},
        {"value": lambda each: each[:-1]},
        {"roots": lambda each: each[:0]},
        {"level_sets": lambda each: each[:, :9]},
    ],
    ids=lambda each: next(iter(each)),
)
def test_damaged_trees_are_refused(subject: Subject, damage):
    taken = plain_of(subject)
    arrays = taken.arrays()
    for name, change in damage.items():
        arrays[f"trees.{name}"] = change(arrays[f"trees.{name}"])
    with refused("bundle"):
        PlainTrees.restore(taken.describe(), arrays)


def test_columns_that_do_not_fit_are_refused(subject: Subject):
    taken = plain_of(subject)
    for change in ({"places": [0]}, {"levels": ["x"]}):
        described = taken.describe()
        described[-1].update(change)
        with refused("bundle"):
            PlainTrees.restore(described[::-1] if "places" in change else described, taken.arrays())


def test_scoring_needs_no_scikit_learn(tmp_path: Path):
    subject = subject_of("boosting")
    taken = plain_of(subject)
    frame = subject.data.frame.head(20)
    code = (
        "import json, sys; import pandas as pd; from safetensors.numpy import load_file\n"
        "from audits.models.trees.plain import PlainTrees\n"
        "plain = PlainTrees.restore(json.load(open('columns.json')), load_file('trees.safetensors'))\n"
        "print(plain.score(pd.read_parquet('people.parquet'))[:, 0].tolist())\n"
        "assert not {'sklearn', 'torch', 'onnxruntime'} & set(sys.modules), sorted(sys.modules)"
    )
    (tmp_path / "columns.json").write_text(json.dumps(taken.describe()))
    (tmp_path / "trees.safetensors").write_bytes(save(taken.arrays()))
    frame.to_parquet(tmp_path / "people.parquet")
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(json.loads(found.stdout), subject.model.score(frame), rtol=0, atol=1e-15)
