"""ONNX files: what they say about people, against scikit-learn and against numbers worked by hand."""

from __future__ import annotations

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from audits.errors import InputError
from audits.models import ModelSpec, make_subject
from audits.models.onnx.model import load, reopen
from tests.refused import refused


def load_onnx(path, data, *, logits=False, **spec):
    return load(path, data, ModelSpec(output="logits" if logits else None, **spec), number=False)


COLUMNS = ["age", "income", "job", "flag"]


@pytest.fixture(scope="session")
def pipeline(people):
    encode = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(encode, LogisticRegression(max_iter=5000)).fit(people[COLUMNS], people["hired"])


def convert(model, types, path, **options):
    path.write_bytes(
        to_onnx(model, initial_types=types, options=options or None, target_opset=17).SerializeToString()
    )
    return path


def column_types():
    kinds = [Int64TensorType, FloatTensorType, StringTensorType, Int64TensorType]
    return [(name, kind([None, 1])) for name, kind in zip(COLUMNS, kinds, strict=True)]


@pytest.mark.parametrize("zipmap", [False, True, "columns"])
def test_a_pipeline_of_an_input_a_column_scores_as_in_training(pipeline, people, data, tmp_path, zipmap):
    path = convert(pipeline, column_types(), tmp_path / "m.onnx", zipmap=zipmap)
    model = load_onnx(path, data)
    assert model.classes == ("no", "yes")
    assert set(model.columns) == set(COLUMNS)
    expected = pipeline.predict_proba(people[COLUMNS])
    # float32 logits of size up to about 10 keep 6 digits
    np.testing.assert_allclose(model.score(data.frame), expected, atol=2e-6)
    turned = data.frame[["sex", *COLUMNS[::-1]]].astype({"age": "float64", "job": "category", "flag": "bool"})
    np.testing.assert_array_equal(model.score(turned), model.score(data.frame))
    subject = make_subject(data, ModelSpec(path=str(path)))
    np.testing.assert_allclose(subject.scores, expected[:, 1], atol=2e-6)
    assert (subject.decisions == (pipeline.predict(people[COLUMNS]) == "yes")).mean() > 0.995


def test_a_matrix_takes_the_columns_that_the_spec_names_in_their_order(people, data, tmp_path):
    numbers = ["income", "flag", "age"]
    x = people[numbers].to_numpy(np.float32)
    fitted = LogisticRegression(max_iter=5000).fit(x, people["hired"])
    path = convert(fitted, [("X", FloatTensorType([None, 3]))], tmp_path / "m.onnx", zipmap=False)
    no_subject(path, data, "columns: [age, income, flag]")
    model = load_onnx(path, data, columns=numbers)
    assert model.columns == tuple(numbers)
    np.testing.assert_allclose(model.score(data.frame), fitted.predict_proba(x), atol=2e-6)
    assert any("income, flag, age" in note for note in model.notes)
    assert any("'job'" in note for note in model.notes), "an unread feature must be told"


def test_a_single_output_is_the_probability_of_the_larger_label_value(linear, numeric_data):
    path = linear([0.1, 0.0], -5.0)
    subject = make_subject(numeric_data, ModelSpec(path=str(path)))
    by_hand = 1 / (1 + np.exp(5.0 - 0.1 * numeric_data.frame["age"].to_numpy()))
    np.testing.assert_allclose(subject.scores, by_hand, atol=1e-6)
    assert subject.model.classes == ("no", "yes")
    np.testing.assert_array_equal(subject.decisions, numeric_data.frame["age"] >= 50)
    turned = make_subject(numeric_data, ModelSpec(path=str(path), classes=("yes", "no")))
    np.testing.assert_allclose(turned.scores, 1 - by_hand, atol=1e-6)
    assert any("0.18" in note for note in turned.notes)  # the area under the curve
    with refused("model.classes"):  # no one says so, and it ranks people the other way
        make_subject(numeric_data, ModelSpec(path=str(linear([-0.1, 0.0], 5.0))))


LABEL = 'ai.onnx.ml.LabelEncoder<keys_int64s = [0, 1], values_strings = ["no", "yes"]>'
OLDER = f"""(float[n,1] age) => (string[n,1] label) <float[1,1] cut = {{40}}>
    {{ older = Greater(age, cut) code = Cast<to = 7>(older) label = {LABEL}(code) }}"""
TABLE = """(int64[n,1] flag) => (float[n,1] p) <float[2] table = {0.75, 0.25}>
    { p = Gather<axis = 0>(table, flag) }"""
PICKED = """(int64[n,1] flag) => (float[n,2] p, string[n] label)
    <float[1,1] one = {1}, string[2] labels = {"yes", "no"}> {
        first = Cast<to = 1>(flag) second = Sub(one, first) p = Concat<axis = 1>(first, second)
        at = ArgMax<axis = 1, keepdims = 0>(p) label = Gather<axis = 0>(labels, at)
    }"""
TURNED = f"""(float[n,1] age) => (float[n,1] p, string[n,1] label) <float[1,1] cut = {{40.5}}> {{
        d = Sub(age, cut) p = Sigmoid(d) younger = Less(age, cut) code = Cast<to = 7>(younger)
        label = {LABEL}(code)
    }}"""
SEVEN = """(float[n,1] age) => (float[n,1] p) <float[1,1] zero = {0}, float[1,1] p0 = {0.7}>
    { x = Mul(age, zero) p = Add(x, p0) }"""
KINDS = """(string[n,1] job, bool[n,1] flag) => (float[n,1] p)
    <float[1,1] half = {0.5}, float[1,1] quarter = {0.25}, float[1,1] eighth = {0.125}> {
        j = ai.onnx.ml.LabelEncoder<keys_strings = ["judge"], values_floats = [1.0], default_float = 0.0>(job)
        low = Where(flag, quarter, eighth) is_judge = Cast<to = 9>(j) p = Where(is_judge, half, low)
    }"""


@pytest.mark.parametrize(
    ("graph", "classes", "threshold", "decided"),
    [
        (OLDER, None, 0.5, lambda p: p["age"] > 40),  # labels alone are decisions
        (TABLE, None, 0.5, lambda p: p["flag"] == 0),  # probabilities in a list are no class labels
        (PICKED, None, 0.5, lambda p: p["flag"] == 1),  # a label picked by position names the classes
        (TURNED, ("yes", "no"), 0.5, lambda p: p["age"] <= 40),
        (SEVEN, None, 0.7, lambda p: p["age"] > 0),  # 0.7 in float32 is 0.69999999: a tie would be lost
        (SEVEN, ("yes", "no"), 0.3, lambda p: p["age"] > 0),
        (KINDS, None, 0.5, lambda p: p["job"] == "judge"),
        (KINDS, None, 0.25, lambda p: (p["job"] == "judge") | (p["flag"] == 1)),
    ],
)
def test_a_graph_decides_as_is_read_off_it(save, people, make_data, graph, classes, threshold, decided):
    frame = people.assign(job=people["job"].mask(people.index == 3))
    spec = ModelSpec(path=str(save(graph)), classes=classes)
    subject = make_subject(make_data(frame), spec, threshold=threshold)
    np.testing.assert_array_equal(subject.decisions, decided(frame))
    assert subject.score_kind == ("label" if graph is OLDER else "probability")


def no_subject(path, data, *tells, **options):
    with pytest.raises(InputError) as caught:
        make_subject(data, ModelSpec(path=str(path), **options))
    text = str(caught.value)
    assert [each for each in tells if each not in text] == []
    assert "\n" not in text
    assert len(text) < 700
    return text


def test_inputs_that_no_column_has_are_named_with_both_lists(pipeline, people, tmp_path, make_data):
    path = convert(pipeline, column_types(), tmp_path / "m.onnx", zipmap=False)
    data = make_data(people.rename(columns={"age": "years"}), features=("years", "income", "job"))
    every = "'years', 'income', 'job', 'flag', 'sex'"  # all but the label
    no_subject(path, data, "'age'", "'years'", every, "columns: {age: [COLUMN]}")
    assert load_onnx(path, data, columns={"age": ("years",)}).columns == ("years", "income", "job", "flag")


@pytest.mark.parametrize(
    ("columns", "tells"),
    [
        ('["age", "height"]', "'height'"),
        ("age,income", "JSON"),
        ('["age", "age"]', "'age'"),
        ('["age", "hired"]', "'hired'"),
        (None, "does not name them"),
    ],
)
def test_metadata_columns_must_be_columns_of_the_data(linear, data, columns, tells):
    no_subject(linear([1.0, 1.0], metadata={"columns": columns} if columns else {}), data, tells)


@pytest.mark.parametrize(("width", "weights", "slope"), [(1, "0.1", 0.1), (2, "-0.1, 0.1", 0.2)])
def test_log_odds_are_read_where_the_spec_says_so(save, numeric_data, width, weights, slope):
    path = save(f"""(float[n,1] X) => (float[n,{width}] y)
        <float[1,{width}] w = {{{weights}}}, float[1] b = {{50}}> {{ d = Sub(X, b) y = MatMul(d, w) }}""")
    no_subject(path, numeric_data, "output: logits", columns=("age",))
    subject = make_subject(numeric_data, ModelSpec(path=str(path), columns=("age",), output="logits"))
    logit = slope * (numeric_data.frame["age"].to_numpy() - 50)
    np.testing.assert_allclose(subject.scores, 1 / (1 + np.exp(-logit)), atol=1e-6)


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_people_without_a_number_are_told_of_where_nothing_is_for_them(save, people, make_data, missing):
    """1 where income is over 50: NaN is not, so that everyone without an income is turned down."""
    over = """(float[n,1] income) => (float[n,1] p) <float[1,1] cut = {50}>
        { over = Greater(income, cut) p = Cast<to = 1>(over) }"""
    frame = people.assign(income=people["income"].mask(people.index <= 60))
    subject = make_subject(make_data(frame, missing=missing), ModelSpec(path=str(save(over))))
    (told,) = (note for note in subject.notes if "NaN" in note)
    share = f"{(people['income'].iloc[60:] > 50).mean():.0%}"
    assert [each for each in ("60 people", "'income'", share, "data.missing") if each not in told] == []
    asks = "(float[n,1] income) => (float[n,1] p) { gone = IsNaN(income) p = Cast<to = 1>(gone) }"
    aware = make_subject(make_data(frame, missing=missing), ModelSpec(path=str(save(asks))))
    assert aware.decisions.sum() == 60
    assert not any("NaN" in note for note in aware.notes)


def test_what_is_missing_or_not_whole_is_counted_where_no_score_can_be(linear, save, people, make_data):
    gap = people.assign(income=people["income"].round())
    gap.loc[[5, 9, 11], "income"] = np.nan
    for_floats = make_data(gap, features=("age", "income"))
    no_subject(linear([0.1, 0.1]), for_floats, "3 of 400", "rows 5, 9, 11")
    path = save("(int64[n,1] income) => (float[n,1] p) { f = Cast<to = 1>(income) p = Sigmoid(f) }")
    no_subject(path, make_data(people), "int64", "'income'")
    no_subject(path, make_data(gap), "3 of 400", "'income'", "rows 5, 9, 11")


@pytest.mark.parametrize("where", ["initializer", "attribute", "subgraph", "no flag"])
def test_external_data_is_refused_before_anything_is_read(linear, numeric_data, where):
    path = linear([0.1, 0.0])
    model = onnx.load_from_string(path.read_bytes())
    told = {"data_type": TensorProto.FLOAT, "dims": [1], "data_location": TensorProto.EXTERNAL}
    tensor = onnx.TensorProto(name="secret", **told)
    tensor.external_data.add(key="location", value="../../etc/passwd")
    inside = helper.make_node("Constant", [], ["c"], value=tensor)
    if where == "initializer":
        model.graph.initializer.append(tensor)
    elif where == "attribute":
        model.graph.node.append(inside)
    elif where == "subgraph":
        inner = helper.make_graph([inside], "inner", [], [])
        model.graph.node.append(helper.make_node("If", ["b"], ["d"], then_branch=inner, else_branch=inner))
    else:
        model.graph.initializer[0].external_data.add(key="location", value="../../etc/passwd")
    path.write_bytes(model.SerializeToString())
    no_subject(path, numeric_data, "'secret'" if where in {"attribute", "subgraph"} else "'../../etc/passwd'")


def test_weights_in_a_file_beside_the_model_are_read_and_bounded(linear, numeric_data, tmp_path, monkeypatch):
    whole = linear([0.1, 0.01], -5.0)
    expected = load_onnx(whole, numeric_data).score(numeric_data.frame)
    fixed = load_onnx(linear([0.1, 0.01], -5.0, rows=150), numeric_data)  # people a batch
    np.testing.assert_allclose(fixed.score(numeric_data.frame), expected, atol=2e-7)
    apart, weights = tmp_path / "apart" / "model.onnx", tmp_path / "apart" / "weights.bin"
    apart.parent.mkdir()
    told = {"save_as_external_data": True, "location": weights.name, "size_threshold": 0}
    onnx.save(onnx.load(linear([0.1, 0.01], -5.0)), apart, **told)
    model = load_onnx(apart, numeric_data)
    for each in (model, reopen(model.content, model.feeding())):
        np.testing.assert_array_equal(each.score(numeric_data.frame), expected)
    weights.write_bytes(weights.read_bytes()[:-1])
    no_subject(apart, numeric_data)
    elsewhere = weights.rename(tmp_path / "elsewhere.bin")
    no_subject(apart, numeric_data, "'weights.bin'")
    weights.symlink_to(elsewhere)
    no_subject(apart, numeric_data, "'weights.bin'")
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "1")
    elsewhere.rename(weights)
    for path, size in ((weights, 2_000_000), (whole, 3_000_000)):
        os.truncate(path, size)
        no_subject(apart if path is weights else whole, numeric_data, "1 MB", f"{size / 1e6} MB")


def test_a_function_made_of_standard_operators_is_no_foreign_one(save, numeric_data):
    graph = "(float[n,1] age) => (float[n,1] p) { p = local.Squash(age) }"
    function = '<domain: "local", opset_import: ["": 17, "my.ops": 1]> Squash (x) => (y) {{ y = {}(x) }}'
    found = load_onnx(save(graph, functions=function.format("Sigmoid")), numeric_data)
    by_hand = 1 / (1 + np.exp(-numeric_data.frame["age"].to_numpy()))
    np.testing.assert_allclose(found.score(numeric_data.frame)[:, 1], by_hand, atol=1e-6)
    no_subject(save(graph, functions=function.format("my.ops.Trick")), numeric_data, "'my.ops'")


_TWO = "(float[n,2] p) { s = Sigmoid(age) p = Concat<axis = 1>(s, s) }"
_THREE = "(float[n,3] p) { x = Concat<axis = 1>(age, age, age) p = Softmax<axis = 1>(x) }"


@pytest.mark.parametrize(
    ("graph", "tells", "options"),
    [
        ("(float[n,1] p) { p = com.microsoft.Trick(age) }", "'com.microsoft'", {}),
        ("(float[n,1] p) { p = Neg(age) }", "output: logits", {}),
        ("(float[n,1] p, float[n,1] q) { p = Sigmoid(age) q = Sigmoid(age) }", "'p: tensor", {}),
        ("(float[n,1] p) { s = Sigmoid(age) p = ReduceMean<keepdims = 1>(s) }", "'p'", {}),
        ("(float[n,1] p) { p = Sigmoid(absent) }", "onnxruntime", {}),
        (_TWO, "400 of 400", {}),
        (TURNED.split("=>")[1], "400 of 400", {}),  # its labels say yes where its probability of yes is small
        (_THREE, "'yes'", {}),
        (_THREE, "3", {"classes": ("no", "yes")}),
        (_THREE, "'yes'", {"classes": ("no", "maybe", "perhaps")}),
    ],
)
def test_graphs_that_give_something_else_are_refused(save, numeric_data, graph, tells, options, capfd):
    no_subject(save(f"(float[n,1] age) => {graph}"), numeric_data, tells, **options)
    assert capfd.readouterr() == ("", ""), "the runtime's own messages must not reach the terminal"


def test_a_model_that_answers_at_random_or_by_the_batch_is_refused(save, data):
    random = """(float[n] income) => (float[n] p)
        {{ noise = RandomNormalLike<scale = {}, seed = 1.0>(income) p = Sigmoid(noise) }}"""
    centered = """(float[n] income) => (float[n] p)
        { mean = ReduceMean<keepdims = 1>(income) centered = Sub(income, mean) p = Sigmoid(centered) }"""
    for graph in (random.format(0.5), centered):
        no_subject(save(graph), data)
    assert load_onnx(save(random.format(1e-7)), data).columns == ("income",), "rounding is no randomness"
