"""ONNX files: what they say about people, against scikit-learn and against numbers worked by hand."""

from __future__ import annotations

import os
import pickle

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from audits.errors import InputError
from audits.models import ModelSpec, make_subject
from audits.models.onnx.graph import _run_once, open_session
from audits.models.onnx.model import load, reopen


def load_onnx(path, data, *, logits=False, **spec):
    return load(path, data, ModelSpec(output="logits" if logits else None, **spec), number=False)


FLOAT, INT64, STRING, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL
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
    return [
        ("age", Int64TensorType([None, 1])),
        ("income", FloatTensorType([None, 1])),
        ("job", StringTensorType([None, 1])),
        ("flag", Int64TensorType([None, 1])),
    ]


@pytest.mark.parametrize("zipmap", [False, True, "columns"])
def test_a_pipeline_with_one_input_a_column_scores_as_in_scikit_learn(
    pipeline, people, data, tmp_path, zipmap
):
    path = convert(pipeline, column_types(), tmp_path / "m.onnx", zipmap=zipmap)
    model = load_onnx(path, data)
    assert model.classes == ("no", "yes")
    assert set(model.columns) == set(COLUMNS)
    expected = pipeline.predict_proba(people[COLUMNS])
    # float32 logits of size up to about 10 keep 6 digits
    np.testing.assert_allclose(model.score(data.frame), expected, atol=2e-6)
    subject = make_subject(data, ModelSpec(path=str(path)))
    np.testing.assert_allclose(subject.scores, expected[:, 1], atol=2e-6)
    assert (subject.decisions == (pipeline.predict(people[COLUMNS]) == "yes")).mean() > 0.995


def test_scores_do_not_depend_on_the_order_or_dtype_of_the_columns(pipeline, data, tmp_path):
    model = load_onnx(convert(pipeline, column_types(), tmp_path / "m.onnx", zipmap=False), data)
    turned = data.frame[["sex", *COLUMNS[::-1]]].astype({"age": "float64", "job": "category", "flag": "bool"})
    np.testing.assert_array_equal(model.score(turned), model.score(data.frame))


def test_a_matrix_takes_the_columns_that_the_spec_names_in_their_order(people, data, tmp_path):
    numbers = ["income", "flag", "age"]
    fitted = LogisticRegression(max_iter=5000).fit(people[numbers].to_numpy(np.float32), people["hired"])
    path = convert(fitted, [("X", FloatTensorType([None, 3]))], tmp_path / "m.onnx", zipmap=False)
    refused(path, data, r"does not name them .*add under model, .*: columns: \[age, income, flag\]")
    model = load_onnx(path, data, columns=numbers)
    assert model.columns == ("income", "flag", "age")
    expected = fitted.predict_proba(people[numbers].to_numpy(np.float32))
    np.testing.assert_allclose(model.score(data.frame), expected, atol=2e-6)
    assert any("income, flag, age" in note for note in model.notes)
    assert any("'job'" in note for note in model.notes), "an unread feature must be told"


def test_metadata_says_which_columns_feed_a_matrix(linear, data):
    path = linear([1.0, 0.0], -50.0, metadata={"columns": '["income", "age"]'})
    scores = load_onnx(path, data).score(data.frame)[:, 1]
    by_hand = 1 / (1 + np.exp(50.0 - data.frame["income"].to_numpy()))
    np.testing.assert_allclose(scores, by_hand, atol=1e-5)  # float32 of a difference of numbers near 50


def test_a_single_output_is_the_probability_of_the_larger_label_value(linear, numeric_data):
    path = linear([0.1, 0.0], -5.0)
    subject = make_subject(numeric_data, ModelSpec(path=str(path)))
    by_hand = 1 / (1 + np.exp(5.0 - 0.1 * numeric_data.frame["age"].to_numpy()))
    np.testing.assert_allclose(subject.scores, by_hand, atol=1e-6)
    assert subject.model.classes == ("no", "yes")
    np.testing.assert_array_equal(subject.decisions, numeric_data.frame["age"] >= 50)
    turned = make_subject(numeric_data, ModelSpec(path=str(path), classes=("yes", "no")))
    np.testing.assert_allclose(turned.scores, 1 - by_hand, atol=1e-6)
    assert any("wrong way round" in note for note in turned.notes)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_a_fixed_batch_gives_the_same_scores_as_a_free_one(linear, numeric_data, rows):
    free = load_onnx(linear([0.1, 0.01], -5.0), numeric_data).score(numeric_data.frame)
    fixed = load_onnx(linear([0.1, 0.01], -5.0, rows=rows), numeric_data).score(numeric_data.frame)
    # the matrix product of one row and of many may round differently in float32
    np.testing.assert_allclose(fixed, free, atol=2e-7)


@pytest.mark.parametrize("zipmap", [False, True, "columns"])
def test_many_classes_add_up_to_the_favourable_score(people, tmp_path, zipmap, make_data):
    frame = people.assign(hired=np.select([people["age"] < 35, people["age"] < 60], ["low", "mid"], "high"))
    data = make_data(frame, favorable=("mid", "high"), features=("age", "income"))
    x = frame[["age", "income"]].to_numpy(np.float32)
    forest = RandomForestClassifier(20, random_state=0).fit(x, frame["hired"])
    path = convert(forest, [("X", FloatTensorType([None, 2]))], tmp_path / "m.onnx", zipmap=zipmap)
    subject = make_subject(data, ModelSpec(path=str(path), columns=("age", "income")))
    assert subject.model.classes == ("high", "low", "mid")
    expected = forest.predict_proba(x)
    np.testing.assert_allclose(subject.probabilities, expected[:, [0, 2]].sum(axis=1), atol=1e-6)
    assert np.array_equal(subject.decisions, forest.predict(x) != "low")


def test_labels_alone_are_decisions(save, numeric_data):
    """A LabelEncoder from 0 and 1 to text, as skl2onnx writes it, behind a comparison."""
    nodes = [
        helper.make_node("Greater", ["age", "cut"], ["older"]),
        helper.make_node("Cast", ["older"], ["code"], to=INT64),
        helper.make_node(
            "LabelEncoder",
            ["code"],
            ["label"],
            domain="ai.onnx.ml",
            keys_int64s=[0, 1],
            values_strings=["no", "yes"],
        ),
    ]
    path = save(
        nodes,
        {"age": (FLOAT, [None, 1])},
        {"label": (STRING, [None, 1])},
        {"cut": np.array([[40.0]], np.float32)},
    )
    subject = make_subject(numeric_data, ModelSpec(path=str(path)))
    assert subject.model.classes == ("no", "yes")
    assert subject.score_kind == "label"
    np.testing.assert_array_equal(subject.decisions, numeric_data.frame["age"] > 40)
    np.testing.assert_array_equal(np.unique(subject.scores), [0.0, 1.0])


def numbered(save):
    nodes = [
        helper.make_node("Greater", ["age", "cut"], ["older"]),
        helper.make_node("Cast", ["older"], ["label"], to=INT64),
    ]
    return save(
        nodes,
        {"age": (FLOAT, [None, 1])},
        {"label": (INT64, [None, 1])},
        {"cut": np.array([[40.0]], np.float32)},
    )


def test_labels_by_number_need_their_classes_named(save, numeric_data):
    path = numbered(save)
    with pytest.raises(
        InputError, match=r"gives the labels 0 or 1, which are none of its classes.*model\.classes"
    ):
        make_subject(numeric_data, ModelSpec(path=str(path)))
    subject = make_subject(numeric_data, ModelSpec(path=str(path), classes=("no", "yes")))
    np.testing.assert_array_equal(subject.decisions, numeric_data.frame["age"] > 40)


def test_text_whole_number_and_truth_inputs_are_fed_as_such(save, people, make_data):
    """p = 0.5 if the job is judge, else 0.25 where the flag is set, else 0.125."""
    judge = {"keys_strings": ["judge"], "values_floats": [1.0], "default_float": 0.0}
    nodes = [
        helper.make_node("LabelEncoder", ["job"], ["j"], domain="ai.onnx.ml", **judge),
        helper.make_node("Cast", ["flag"], ["f"], to=FLOAT),
        helper.make_node("Where", ["flag", "quarter", "eighth"], ["low"]),
        helper.make_node("Cast", ["j"], ["is_judge"], to=BOOL),
        helper.make_node("Where", ["is_judge", "half", "low"], ["p"]),
    ]  # fmt: skip
    constants = {
        name: np.array([[value]], np.float32)
        for name, value in [("half", 0.5), ("quarter", 0.25), ("eighth", 0.125)]
    }
    path = save(
        nodes, {"job": (STRING, [None, 1]), "flag": (BOOL, [None, 1])}, {"p": (FLOAT, [None, 1])}, constants
    )
    frame = people.astype({"job": object})
    frame.loc[3, "job"] = None
    data = make_data(frame)
    model = load_onnx(path, data)
    by_hand = np.where(frame["job"] == "judge", 0.5, np.where(frame["flag"] == 1, 0.25, 0.125))
    np.testing.assert_array_equal(model.score(data.frame)[:, 1], by_hand)
    assert any("1 empty cells of 'job'" in note for note in model.notes)


def test_an_exporters_underscores_match_the_columns_names(save, people, make_data):
    data = make_data(people.rename(columns={"income": "income-per year"}))
    path = save(
        [helper.make_node("Sigmoid", ["income_per_year"], ["p"])],
        {"income_per_year": (FLOAT, [None, 1])},
        {"p": (FLOAT, [None, 1])},
    )
    assert load_onnx(path, data).columns == ("income-per year",)


def test_a_model_that_says_seven_tenths_meets_that_threshold(save, numeric_data):
    """0.7 in float32 is 0.69999999: read as such, a tie would be lost."""
    nodes = [
        helper.make_node("Mul", ["age", "zero"], ["nothing"]),
        helper.make_node("Add", ["nothing", "p0"], ["p"]),
    ]
    constants = {"zero": np.zeros((1, 1), np.float32), "p0": np.array([[0.7]], np.float32)}
    path = save(nodes, {"age": (FLOAT, [None, 1])}, {"p": (FLOAT, [None, 1])}, constants)
    assert make_subject(numeric_data, ModelSpec(path=str(path)), threshold=0.7).decisions.all()
    turned = make_subject(numeric_data, ModelSpec(path=str(path), classes=("yes", "no")), threshold=0.3)
    assert turned.decisions.all()


# ---- what is refused


def refused(path, data, match, **options):
    with pytest.raises(InputError, match=match) as caught:
        make_subject(data, ModelSpec(path=str(path), **options))
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 700
    return text


def test_inputs_that_no_column_has_are_named_with_both_lists(pipeline, people, tmp_path, make_data):
    path = convert(pipeline, column_types(), tmp_path / "m.onnx", zipmap=False)
    data = make_data(people.rename(columns={"age": "years"}), features=("years", "income", "job"))
    text = refused(path, data, "inputs without a column: 'age'")
    assert "features without an input: 'years'" in text
    assert "columns 'years', 'income', 'job', 'flag', 'sex')" in text, "all but the label"
    assert "add under model, columns: {age: [COLUMN]}" in text
    assert load_onnx(path, data, columns={"age": ("years",)}).columns == ("years", "income", "job", "flag")


def test_metadata_columns_must_be_columns_of_the_data(linear, data):
    refused(
        linear([1.0, 1.0], metadata={"columns": '["age", "height"]'}),
        data,
        "metadata columns must be columns of the data, got 'height'",
    )
    refused(
        linear([1.0, 1.0], metadata={"columns": "age,income"}), data, "must be a JSON list of column names"
    )
    refused(linear([1.0, 1.0], metadata={"columns": '["age", "age"]'}), data, "repeats 'age'")
    refused(
        linear([1.0, 1.0], metadata={"columns": '["age", "hired"]'}),
        data,
        "must not hold the label, got 'hired'",
    )
    refused(
        linear([1.0, 1.0], metadata={"columns": '["age", "job"]'}),
        data,
        "takes numbers .* column 'job' holds none",
    )


def test_other_bytes_under_the_name_are_refused(tmp_path, numeric_data):
    path = tmp_path / "model.onnx"
    for content in (b"PK\x03\x04junk", b"\x18\x00\x00\x00ORTM" + bytes(64), b"not a model"):
        path.write_bytes(content)
        refused(path, numeric_data, "is not a complete ONNX model")
    path.write_bytes(pickle.dumps({"a": 1}))
    refused(path, numeric_data, "holds a pickle and is refused .* convert it with skl2onnx")


def test_log_odds_are_read_where_the_spec_says_so(save, numeric_data):
    line = helper.make_node("Gemm", ["X", "w", "b"], ["logit"])
    for width, opposite in ((1, [0.1]), (2, [-0.1, 0.1])):
        path = save(
            [line],
            {"X": (FLOAT, [None, 1])},
            {"logit": (FLOAT, [None, width])},
            {"w": np.array([opposite], np.float32), "b": np.array(opposite, np.float32) * -50},
        )
        refused(path, numeric_data, "write output: logits under model", columns=("age",))
        subject = make_subject(numeric_data, ModelSpec(path=str(path), columns=("age",), output="logits"))
        logit = (0.1 if width == 1 else 0.2) * (numeric_data.frame["age"].to_numpy() - 50)
        np.testing.assert_allclose(subject.scores, 1 / (1 + np.exp(-logit)), atol=1e-6)


def test_inputs_bind_to_any_column_of_the_table_and_these_become_features(people, tmp_path, make_data):
    """A protected attribute that the model reads is found by its name, and people are moved by it."""
    fitted = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough"),
        LogisticRegression(max_iter=5000),
    ).fit(people[["age", "sex"]], people["hired"])
    types = [("age", FloatTensorType([None, 1])), ("sex", StringTensorType([None, 1]))]
    path = convert(fitted, types, tmp_path / "m.onnx", zipmap=False)
    subject = make_subject(make_data(people, features=("age", "income")), ModelSpec(path=str(path)))
    np.testing.assert_allclose(subject.scores, fitted.predict_proba(people[["age", "sex"]])[:, 1], atol=2e-6)
    assert subject.data.features == ("age", "income", "sex")
    assert "sex=f" in subject.space.names
    assert any("Added to the features, because the model reads them: 'sex'" in note for note in subject.notes)


def test_a_matrix_of_one_column_needs_no_name(linear, people, make_data):
    path = linear([0.1], -5.0, metadata={})
    assert load_onnx(path, make_data(people, features=("age", "job"))).columns == ("age",)
    refused(path, make_data(people, features=("age", "income")), r"does not name them")


def test_people_without_a_number_are_told_of_where_nothing_in_the_file_is_for_them(save, people, make_data):
    """1 where income is over 50: NaN is not, so that everyone without an income is turned down."""
    nodes = [
        helper.make_node("Greater", ["income", "cut"], ["over"]),
        helper.make_node("Cast", ["over"], ["p"], to=FLOAT),
    ]
    parts = (
        {"income": (FLOAT, [None, 1])},
        {"p": (FLOAT, [None, 1])},
        {"cut": np.array([[50.0]], np.float32)},
    )
    frame = people.copy()
    frame.loc[frame.index[:60], "income"] = np.nan
    for missing in ("category", "impute"):
        subject = make_subject(make_data(frame, missing=missing), ModelSpec(path=str(save(nodes, *parts))))
        (told,) = (note for note in subject.notes if "NaN" in note)
        assert told.startswith("60 people have no value of 'income'")
        share = (people["income"].iloc[60:] > 50).mean()
        assert f"0 of them get the favorable decision ({share:.0%} of the others do)" in told
        assert "data.missing to 'drop'" in told
    asks = [
        helper.make_node("IsNaN", ["income"], ["gone"]),
        helper.make_node("Cast", ["gone"], ["p"], to=FLOAT),
    ]
    aware = make_subject(make_data(frame), ModelSpec(path=str(save(asks, *parts[:2]))))
    assert aware.decisions.sum() == 60
    assert not any("NaN" in note for note in aware.notes)


def test_nan_scores_are_counted(linear, people, make_data):
    frame = people.copy()
    frame.loc[[5, 9, 11], "income"] = np.nan
    data = make_data(frame, features=("age", "income"))
    refused(linear([0.1, 0.1]), data, r"3 of 400 people NaN or an infinite score \(rows 5, 9, 11\)")


def test_whole_number_inputs_refuse_what_is_not_whole(save, people, make_data):
    path = save(
        [helper.make_node("Cast", ["income"], ["f"], to=FLOAT), helper.make_node("Sigmoid", ["f"], ["p"])],
        {"income": (INT64, [None, 1])},
        {"p": (FLOAT, [None, 1])},
    )
    refused(path, make_data(people), "takes int64 in input 'income', but .* are missing or do not fit")
    gap = people.assign(income=people["income"].round())
    gap.loc[7, "income"] = np.nan
    refused(path, make_data(gap), r"1 of 400 values of column 'income' are missing or do not fit \(row 7\)")


@pytest.mark.parametrize("where", ["initializer", "attribute", "subgraph"])
def test_external_data_is_refused_before_anything_is_read(linear, numeric_data, where):
    path = linear([0.1, 0.0])
    model = onnx.load_from_string(path.read_bytes())
    tensor = onnx.TensorProto(name="secret", data_type=FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="../../etc/passwd")
    if where == "initializer":
        model.graph.initializer.append(tensor)
    elif where == "attribute":
        model.graph.node.append(helper.make_node("Constant", [], ["c"], value=tensor))
    else:
        inner = helper.make_graph([helper.make_node("Constant", [], ["c"], value=tensor)], "inner", [], [])
        model.graph.node.append(helper.make_node("If", ["b"], ["d"], then_branch=inner, else_branch=inner))
    path.write_bytes(model.SerializeToString())
    here = "weights in a separate file that is not beside it, got '../../etc/passwd'"
    refused(
        path, numeric_data, here if where == "initializer" else "must be self-contained, but tensor 'secret'"
    )


def external(path, folder, **about):
    """Save the model at `path` with its weights in a file of its own."""
    model = onnx.load(path)
    onnx.save(
        model, folder / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    return folder / "model.onnx"


def test_weights_in_a_file_beside_the_model_are_read(linear, numeric_data, tmp_path):
    whole = load_onnx(linear([0.1, 0.01], -5.0), numeric_data).score(numeric_data.frame)
    (tmp_path / "apart").mkdir()
    path = external(tmp_path / "model.onnx", tmp_path / "apart")
    model = load_onnx(path, numeric_data)
    np.testing.assert_array_equal(model.score(numeric_data.frame), whole)
    again = reopen(model.content, model.feeding())
    np.testing.assert_array_equal(again.score(numeric_data.frame), whole)
    weights = path.with_name("weights.bin")
    weights.write_bytes(weights.read_bytes()[:-1])
    refused(path, numeric_data, "whose bytes are not in the file beside it")
    elsewhere = weights.rename(tmp_path / "elsewhere.bin")
    refused(path, numeric_data, "weights in a separate file that is not beside it, got 'weights.bin'")
    weights.symlink_to(elsewhere)
    refused(path, numeric_data, "weights in a separate file that is not beside it")


def test_model_and_weights_are_bounded_together(linear, numeric_data, tmp_path, monkeypatch):
    linear([0.1, 0.01])
    (tmp_path / "apart").mkdir()
    path = external(tmp_path / "model.onnx", tmp_path / "apart")
    with path.with_name("weights.bin").open("ab") as file:
        file.truncate(2_000_000)
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "1")
    refused(path, numeric_data, "must be at most 1 MB, but has 2.0 MB")


def test_a_location_without_the_flag_is_external_too(linear, numeric_data):
    path = linear([0.1, 0.0])
    model = onnx.load_from_string(path.read_bytes())
    model.graph.initializer[0].external_data.add(key="location", value="weights.bin")
    path.write_bytes(model.SerializeToString())
    refused(path, numeric_data, "weights in a separate file that is not beside it, got 'weights.bin'")


def test_operators_of_other_domains_are_refused(save, numeric_data):
    domain = "com.microsoft"
    path = save(
        [helper.make_node("Trick", ["age"], ["p"], domain=domain)],
        {"age": (FLOAT, [None, 1])},
        {"p": (FLOAT, [None, 1])},
        domains=("", domain),
    )
    refused(path, numeric_data, f"uses 'Trick' of the domain '{domain}'")


def test_a_function_made_of_standard_operators_is_no_foreign_one(save, numeric_data):
    body = helper.make_node("Sigmoid", ["x"], ["y"])
    function = helper.make_function("local", "Squash", ["x"], ["y"], [body], [helper.make_opsetid("", 17)])
    nodes = [helper.make_node("Squash", ["age"], ["p"], domain="local")]
    parts = (nodes, {"age": (FLOAT, [None, 1])}, {"p": (FLOAT, [None, 1])})
    path = save(*parts, domains=("", "local"), functions=(function,))
    by_hand = 1 / (1 + np.exp(-numeric_data.frame["age"].to_numpy()))
    np.testing.assert_allclose(
        load_onnx(path, numeric_data).score(numeric_data.frame)[:, 1], by_hand, atol=1e-6
    )
    hidden = helper.make_node("Trick", ["x"], ["y"], domain="my.ops")
    function = helper.make_function(
        "local", "Squash", ["x"], ["y"], [hidden], [helper.make_opsetid("my.ops", 1)]
    )
    refused(
        save(*parts, domains=("", "local"), functions=(function,)), numeric_data, "of the domain 'my.ops'"
    )


def test_numbers_that_are_no_probabilities_are_refused(save, numeric_data):
    raw = save(
        [helper.make_node("Neg", ["age"], ["p"])], {"age": (FLOAT, [None, 1])}, {"p": (FLOAT, [None, 1])}
    )
    refused(raw, numeric_data, r"must give probabilities in \[0, 1\], but 400 of 400 people.*output: logits")
    nodes = [
        helper.make_node("Sigmoid", ["age"], ["s"]),
        helper.make_node("Concat", ["s", "s"], ["p"], axis=1),
    ]
    both = save(nodes, {"age": (FLOAT, [None, 1])}, {"p": (FLOAT, [None, 2])})
    refused(both, numeric_data, "must give probabilities that sum to 1, but they do not for 400 of 400")


def test_the_number_of_classes_must_be_that_of_the_label(save, numeric_data):
    nodes = [
        helper.make_node("Concat", ["age", "age", "age"], ["x"], axis=1),
        helper.make_node("Softmax", ["x"], ["p"], axis=1),
    ]
    path = save(nodes, {"age": (FLOAT, [None, 1])}, {"p": (FLOAT, [None, 3])})
    refused(path, numeric_data, "gives 3 probabilities a person, but the label takes 2 values: 'no' or 'yes'")
    refused(path, numeric_data, "must name 3 different label values", classes=("no", "yes"))
    refused(
        path, numeric_data, "must cover the label values .* also 'yes'", classes=("no", "maybe", "perhaps")
    )


def test_classes_in_the_wrong_order_are_found_out(save, numeric_data):
    """The file's label output says yes where its second probability is small: sorting would be wrong."""
    names = {"keys_int64s": [1, 0], "values_strings": ["yes", "no"]}
    nodes = [
        helper.make_node("Sub", ["age", "cut"], ["d"]),
        helper.make_node("Sigmoid", ["d"], ["p"]),
        helper.make_node("Less", ["age", "cut"], ["younger"]),
        helper.make_node("Cast", ["younger"], ["code"], to=INT64),
        helper.make_node("LabelEncoder", ["code"], ["out"], domain="ai.onnx.ml", **names),
    ]  # fmt: skip
    path = save(
        nodes,
        {"age": (FLOAT, [None, 1])},
        {"p": (FLOAT, [None, 1]), "out": (STRING, [None, 1])},
        {"cut": np.array([[40.5]], np.float32)},
    )
    refused(path, numeric_data, "its own label output contradicts that for 400 of 400 people")
    subject = make_subject(numeric_data, ModelSpec(path=str(path), classes=("yes", "no")))
    np.testing.assert_array_equal(subject.decisions, numeric_data.frame["age"] <= 40)


def test_a_table_of_probabilities_is_not_taken_for_class_labels(save, make_data, people):
    """Scores picked from a constant list are scores: only a label output may name the classes so."""
    table = np.array([0.25, 0.75], np.float32)
    nodes = [helper.make_node("Gather", ["table", "flag"], ["p"], axis=0)]
    path = save(nodes, {"flag": (INT64, [None, 1])}, {"p": (FLOAT, [None, 1])}, {"table": table})
    subject = make_subject(make_data(people), ModelSpec(path=str(path)))
    assert subject.model.classes == ("no", "yes")
    np.testing.assert_array_equal(subject.scores, np.where(people["flag"] == 1, 0.75, 0.25))


def test_a_label_picked_by_position_names_the_classes(save, make_data, people):
    """The label list of the file says 1, 0: its first probability is that of label 1."""
    nodes = [
        helper.make_node("Cast", ["flag"], ["first"], to=FLOAT),
        helper.make_node("Sub", ["one", "first"], ["second"]),
        helper.make_node("Concat", ["first", "second"], ["p"], axis=1),
        helper.make_node("ArgMax", ["p"], ["at"], axis=1, keepdims=0),
        helper.make_node("Gather", ["labels", "at"], ["label"], axis=0),
    ]
    path = save(
        nodes,
        {"flag": (INT64, [None, 1])},
        {"p": (FLOAT, [None, 2]), "label": (INT64, [None])},
        {"one": np.ones((1, 1), np.float32), "labels": np.array([1, 0])},
    )
    frame = people.assign(hired=(people["hired"] == "yes").astype(int))
    subject = make_subject(make_data(frame, favorable=1), ModelSpec(path=str(path)))
    assert subject.model.classes == (1, 0)
    np.testing.assert_array_equal(subject.decisions, people["flag"] == 1)


def test_outputs_that_cannot_be_told_apart_are_refused(save, numeric_data):
    nodes = [helper.make_node("Sigmoid", ["age"], ["a"]), helper.make_node("Sigmoid", ["age"], ["b"])]
    path = save(nodes, {"age": (FLOAT, [None, 1])}, {"a": (FLOAT, [None, 1]), "b": (FLOAT, [None, 1])})
    refused(
        path, numeric_data, "must have one output with probabilities or one with labels, but has 'a: tensor"
    )


def test_an_output_that_is_not_one_row_a_person_is_refused(save, numeric_data):
    nodes = [
        helper.make_node("Sigmoid", ["age"], ["s"]),
        helper.make_node("ReduceMean", ["s"], ["p"], keepdims=1),
    ]
    path = save(nodes, {"age": (FLOAT, [None, 1])}, {"p": (FLOAT, [None, 1])})
    refused(path, numeric_data, "must give one result a person, but output 'p' has")


def test_a_graph_that_the_runtime_cannot_build_is_one_sentence(save, numeric_data):
    path = save(
        [helper.make_node("Sigmoid", ["absent"], ["p"])],
        {"age": (FLOAT, [None, 1])},
        {"p": (FLOAT, [None, 1])},
    )
    refused(path, numeric_data, "cannot be loaded by onnxruntime: ")


def test_damage_anywhere_is_an_input_error_or_harmless(pipeline, data, tmp_path, capfd):
    """Bytes changed at random: whatever still loads gives probabilities, all else says so in a sentence."""
    path = convert(pipeline, column_types(), tmp_path / "m.onnx", zipmap=False)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    refusals, scored = [], 0
    for _ in range(300):
        damaged = bytearray(content)
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            scores = load_onnx(path, data).score(data.frame)
        except InputError as error:
            refusals.append(str(error))
        else:
            np.testing.assert_allclose(scores.sum(axis=1), 1.0, atol=1e-3)
            scored += 1
    assert min(scored, len(refusals)) > 10
    assert not any("\n" in refusal for refusal in refusals)
    assert capfd.readouterr() == ("", ""), "the runtime's own messages must not reach the terminal"


def test_a_file_over_the_limit_is_refused_unread(linear, numeric_data, monkeypatch):
    path = linear([0.1, 0.0])
    with path.open("r+b") as file:
        os.ftruncate(file.fileno(), 3_000_000)
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "2")
    refused(path, numeric_data, "must be at most 2 MB, but has 3.0 MB")


def _random(save, at):
    """One number, and noise of the size of `at`."""
    return save(
        [
            helper.make_node("RandomNormalLike", ["income"], ["noise"], scale=at, seed=1.0),
            helper.make_node("Add", ["income", "noise"], ["noisy"]),
            helper.make_node("Sigmoid", ["noisy"], ["p"]),
        ],
        {"income": (FLOAT, [None])},
        {"p": (FLOAT, [None])},
    )


def _centered(save):
    """One number, minus the mean of the batch."""
    return save(
        [
            helper.make_node("ReduceMean", ["income"], ["mean"], keepdims=1),
            helper.make_node("Sub", ["income", "mean"], ["centered"]),
            helper.make_node("Sigmoid", ["centered"], ["p"]),
        ],
        {"income": (FLOAT, [None])},
        {"p": (FLOAT, [None])},
    )


def test_a_model_that_answers_at_random_or_by_the_batch_is_refused(save, data):
    for path in (_random(save, 0.5), _centered(save)):
        refused(path, data, "same score every time")
    assert load_onnx(_random(save, 1e-7), data).columns == ("income",), "rounding is no randomness"


def test_what_the_runtime_says_names_no_file_of_its_own_source():
    """Two widths that do not go together, found out only on the data."""
    width = onnx.numpy_helper.from_array(np.ones((2, 5), np.float32), "w")
    shape = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m"])]
    out = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", shape, out, [width])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = open_session(model.SerializeToString(), "m.onnx")
    with pytest.raises(InputError, match=r"m\.onnx fails on the data: Add: Attempting .* 3 by 5") as failed:
        _run_once(session, "y", {"x": np.ones((2, 3), np.float32)}, "m.onnx")
    assert "/" not in str(failed.value)
