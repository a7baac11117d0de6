"""Documents: read as written, and nothing else."""

from __future__ import annotations

import json
import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.errors import InputError
from audits.runs.documents import dump_yaml, load_document, plain_data
from tests.refused import refused


def load(tmp_path, text, name="spec.yaml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_document(path)


def test_only_what_looks_like_nothing_else_is_more_than_text(tmp_path):
    text = (
        "no, yes, on, off, y, 12:30:45, 0123, 2020-01-01, 1_000, 0x10, true, null, ~, 1e-3, -2, +3, .5, 1., 0"
    )
    assert load(tmp_path, f"[{text}]") == [
        *("no", "yes", "on", "off", "y", "12:30:45", "0123", "2020-01-01", "1_000", "0x10"),
        *(True, None, None, 0.001, -2, 3, 0.5, 1.0, 0),
    ]
    # PyYAML's own rules read these label values and group names as something else
    assert yaml.safe_load("[no, 12:30:45, 0123]") == [False, 45045, 83]


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("", "a.yaml", ("data", "model", "audits")),
        ("a: 1\nb: {c: 1, c: 2}", "a.yaml", ("line 2, column 11", "'c'")),
        ("a: {1: x, '1': y}", "a.yaml", ("'1'",)),
        ("a: &x [1]\nb: *x", "a.yaml", ("line 2, column 4", "*")),
        ("a: [1", "a.yaml", ("line 1, column 6",)),
        ("a: 1\n\tb: 2", "a.yaml", ("line 2, column 1",)),
        ("a: !!python/object/apply:os.system [x]", "a.yaml", ("could not determine a constructor",)),
        ("a: \x00", "a.yaml", ()),
        ("[" * 5000, "a.yaml", ("50",)),
        ("[" * 200_000, "a.json", ("50",)),
        ("a: " + "9" * 5000, "a.yaml", ()),
        ('{"a": ' + "9" * 5000 + "}", "a.json", ()),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "a.json", ("'c'",)),
        ('{"a": 1,\n "b"}', "a.json", ("line 2, column 5",)),
        (b"a: \xff\xfe", "a.yaml", ("UTF-8", "byte 3")),
        ("a: 1 " * 300_000, "a.yaml", ("1 MB",)),
    ],
)
def test_what_is_no_document_is_refused_in_one_sentence(tmp_path, text, name, told):
    with pytest.raises(InputError) as error:
        load(tmp_path, text, name)
    assert all(each in str(error.value) for each in told)
    assert name in error.value.where
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with refused(str(tmp_path / "nowhere.yaml")):
        load_document(tmp_path / "nowhere.yaml")
    with refused(str(tmp_path)):
        load_document(tmp_path)


@pytest.mark.parametrize(
    ("value", "refusal"),
    [
        ({"a": {"b": [0.0, math.inf]}}, ("a.b[1]",)),
        ({"a": math.nan}, ("a",)),
        ({"a": {1: 0, "1": 0}}, ("a.1",)),
        ({"a": {3}}, ("a",)),
        ({"a": b"x"}, ("a",)),
    ],
)
def test_plain_data_names_the_key_of_what_it_refuses(value, refusal):
    with refused(*refusal):
        plain_data(value, "")


LIKE_OTHERS = "no 1e-3 0123 1:30 true null ~ 2020-01-01 =x << 0x1 .5 1_0 #"
letters = st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])
words = st.text(letters, max_size=12) | st.sampled_from([*LIKE_OTHERS.split(), "- a"])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
documents = st.recursive(
    words | numbers | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=20)
@given(document=st.dictionaries(words, documents, min_size=1, max_size=4))
def test_yaml_written_is_read_back_the_same_by_us_and_by_others(tmp_path_factory, document):
    path = tmp_path_factory.getbasetemp() / "round.yaml"
    path.write_text(dump_yaml(document), encoding="utf-8")
    assert repr(load_document(path)) == repr(document)  # repr: 1 is not 1.0, nor True
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == document


def test_what_a_run_wrote_is_read_as_its_spec(tmp_path):
    spec = {"data": {"path": "people.csv"}, "audits": ["groups"]}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"evenhand": "1.0", "spec": spec, "audits": [{"people": "x" * 2_000_000}]}))
    assert load_document(path) == spec
