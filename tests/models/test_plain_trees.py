"""Trees as plain arrays say what scikit-learn says: to the last digit, on every kind of value."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from audits.data import DataSpec, LabelCut, build_data
from audits.errors import InputError
from audits.models import Subject, make_subject, model_spec
from audits.models.trained.asked import prepare
from audits.models.trees.arrays import Trees
from audits.models.trees.plain import PlainTrees, plain_trees

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


@pytest.mark.parametrize("rows", [1, 30, 900])
@pytest.mark.parametrize("how", [{}, {"label": "grade", "favorable": "a", "predict": "label"}])
@pytest.mark.parametrize("kind", ["logistic", *KINDS])
def test_models_trained_here_say_what_scikit_learn_says(kind: str, how: dict[str, str], rows: int):
    subject = trained(kind, tuple(how.items()))
    for frame in (subject.data.frame.head(rows), strangers(subject.data.frame).tail(rows)):
        own = by_scikit_learn(subject, frame)
        np.testing.assert_array_equal(subject.model.score(frame), own if how else own[:, 1])


@pytest.mark.parametrize("kind", ["logistic", *KINDS])
def test_numbers_predicted_here_are_those_of_scikit_learn(kind: str):
    cut, features = LabelCut("debt", at_least=1000.0), ("age", "since", "owner", "town", "job")
    spec = DataSpec(label=cut, protected=("group",), features=features, missing="category")
    data = build_data(people().dropna(subset="debt"), spec)
    subject = make_subject(data, model_spec({"train": kind, "predict": "label"}), seed=0)
    for frame in (subject.data.frame.head(40), strangers(subject.data.frame.assign(debt=1.0))):
        np.testing.assert_array_equal(subject.model.number(frame), by_scikit_learn(subject, frame))


@cache
def trained(kind: str, how: tuple[tuple[str, str], ...]) -> Subject:
    return subject_of(kind, **dict(how))


def test_values_exactly_at_a_threshold_go_the_same_way(subject: Subject):
    """And those of the neighbouring floats; a forest rounds a value to float32 before it compares."""
    plain, frame = plain_of(subject), subject.data.frame
    [column] = [each for each in plain.inputs if each.column == "debt"]
    cuts = np.unique(plain.trees.threshold[plain.trees.feature == column.places[0]])[:150]
    raw = cuts * column.scale + column.mean
    near = np.concatenate([raw, np.nextafter(raw, np.inf), np.nextafter(raw, -np.inf), raw * (1 + 3e-8)])
    asked = frame.iloc[np.arange(len(near)) % len(frame)].assign(debt=near)
    np.testing.assert_array_equal(plain.score(asked)[:, 0], by_scikit_learn(subject, asked)[:, 1])
    read = np.unique(plain._matrix(asked)[:, column.places[0]].astype(float))
    assert np.isin(cuts, read).sum() >= (20 if plain.trees.kind == "boosting" else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_several_labels_too(kind: str):
    subject = subject_of(kind, "grade", "a", predict="label")
    for frame in (subject.data.frame, strangers(subject.data.frame)):
        np.testing.assert_allclose(
            plain_of(subject).score(frame), by_scikit_learn(subject, frame), atol=1e-15
        )


@pytest.mark.parametrize("features", [("age", "debt"), ("town", "job")])
@pytest.mark.parametrize("kind", KINDS)
def test_models_of_numbers_or_of_words_alone(kind: str, features: tuple[str, ...]):
    spec = DataSpec(label="hired", favorable=1, protected=("group",), features=features, missing="category")
    subject = make_subject(build_data(people(400), spec), model_spec({"train": kind}), seed=0)
    frame = subject.data.frame
    np.testing.assert_array_equal(plain_of(subject).score(frame)[:, 0], by_scikit_learn(subject, frame)[:, 1])


def test_copies_are_scored_as_if_asked_about_one_by_one(subject: Subject):
    plain, frame = plain_of(subject), strangers(subject.data.frame).iloc[:80]
    n, rng = len(frame), np.random.default_rng(1)
    moves = {
        "age": pd.Series(np.concatenate([frame["age"] - 9, frame["age"] + 9, rng.uniform(0, 99, n)])),
        "town": pd.Series(np.repeat(np.array(["north", "moon", None], dtype=object), n)),
        "hobby": pd.Series(np.zeros(2 * n)),  # which the model does not read
        "owner": pd.Series(np.repeat([True, False], n)),
    }
    found = plain.score_moved(frame, moves)
    expected = [plain.score(frame)]
    for column, raw in moves.items():
        for values in np.array_split(raw.to_numpy(), len(raw) // n):
            expected.append(plain.score(frame.assign(**{column: values})))
    np.testing.assert_array_equal(found, np.array(expected))
    assert (found[1:] != found[0]).any(axis=(1, 2)).sum() >= 6


def test_many_people_are_taken_in_parts(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    from audits.models.trees import arrays as trees

    plain, frame = plain_of(subject), subject.data.frame
    raw = {"debt": pd.Series(np.linspace(1, 9000, 2 * len(frame)))}
    whole, moved = plain.score(frame), plain.score_moved(frame, raw)
    monkeypatch.setattr(trees, "_CELLS", 1700)
    np.testing.assert_array_equal(plain.score(frame), whole)
    np.testing.assert_array_equal(plain.score_moved(frame, raw), moved)


def test_leaves_found_by_bits_are_those_at_which_rows_arrive(subject: Subject):
    trees = plain_of(subject).trees
    rng, n, d = np.random.default_rng(2), 150, int(trees.feature.max()) + 1
    cuts = trees.threshold[(trees.feature >= 0) & (trees.level_set < 0)]
    x = rng.choice([*cuts, -np.inf, np.inf, np.nan, 0.0, 1.0], (7, n, d))
    for place in np.unique(trees.feature[trees.level_set >= 0]):
        x[:, :, place] = rng.choice([*range(255), np.nan], (7, n))
    x[5:, :, 2] = x[5, 0, 2]  # a value that all have
    moved = [(slice(1, 4), [0]), (slice(4, 5), [1, 3]), (slice(5, 7), [2])]
    for which, places in moved:
        for place in set(range(d)) - set(places):
            x[which, :, place] = x[0, :, place]
    found = np.empty((len(trees.roots), 7, n), dtype=int)
    for copy, rows, leaves in trees.masks.walk(x, moved):
        found[:, copy, rows] = leaves
    np.testing.assert_array_equal(found, np.moveaxis(trees._copied_leaves(x, moved), -1, 0))


@pytest.mark.parametrize("leaves", [2, 20, 60, 300, 1400])
def test_trees_of_any_size_are_found_by_bits(leaves: int):
    trees, rng = chains(leaves, 3), np.random.default_rng(0)
    x = rng.normal(size=(2, 500, 2))
    x[1, :, 0] = x[0, :, 0]
    moved = [(slice(1, 2), [1])]
    expected = np.moveaxis(trees._copied_leaves(x, moved), -1, 0)
    for copy, rows, found in trees.masks.walk(x, moved):
        np.testing.assert_array_equal(found, expected[:, copy, rows])
    assert len(np.unique(expected)) > min(leaves, 40) / 2
    assert chains(1600, 1).masks is None  # taken down the trees instead


def test_nodes_shared_between_trees_are_not_taken_for_trees():
    trees = chains(20, 2)
    twice = Trees.of({**trees.arrays(), "left": np.maximum(trees.left, 0) * 0 + trees.right}, 2)
    assert twice.masks is None


def chains(leaves: int, number: int) -> Trees:
    """Return trees of so many leaves that cut at random, first to one side and then to the other."""
    rng, m = np.random.default_rng(leaves), 2 * leaves - 1
    parts: dict[str, list[np.ndarray]] = {"feature": [], "threshold": [], "left": [], "right": []}
    for tree in range(number):
        left, right, feature = np.zeros(m, dtype=int), np.zeros(m, dtype=int), np.full(m, -1)
        open_ends = [0]
        for node in range(1, m, 2):
            own = open_ends.pop(rng.integers(len(open_ends)))
            feature[own], left[own], right[own] = rng.integers(2), node + tree * m, node + 1 + tree * m
            open_ends += [node, node + 1]
        made = {"feature": feature, "threshold": rng.normal(size=m), "left": left, "right": right}
        for name, array in made.items():
            parts[name].append(array)
    arrays = {name: np.concatenate(found) for name, found in parts.items()}
    m = len(arrays["left"])
    return Trees(
        roots=np.arange(number) * (m // number),
        **arrays,
        missing_left=np.zeros(m, dtype=np.uint8),
        level_set=np.full(m, -1),
        level_sets=np.zeros((0, 256), dtype=np.uint8),
        value=np.ones((m, 1)),
        start=np.empty(0),
    )


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
    with pytest.raises(InputError, match="nodes lead to later nodes"):
        PlainTrees.restore(taken.describe(), arrays)


def test_columns_that_do_not_fit_are_refused(subject: Subject):
    taken = plain_of(subject)
    for change in ({"places": [0]}, {"levels": ["x"]}):
        described = taken.describe()
        described[-1].update(change)
        with pytest.raises(InputError, match="fill the matrix"):
            PlainTrees.restore(described[::-1] if "places" in change else described, taken.arrays())


def test_scoring_needs_no_scikit_learn(subject: Subject, tmp_path: Path):
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
