"""The spec: every wrong value is named, and the canonical form parses to an equal spec."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.errors import InputError
from audits.runs.documents import dump_yaml, load_document
from audits.runs.spec import parse_spec
from tests.cases import cases
from tests.refused import refused
from tests.runs.conftest import make_spec, read_spec, write_people

FULL = """
data:
  path: [a.csv, b.csv]
  format: csv
  read: {separator: ";", header: false, names: [x, y, g, w], skip_rows: [0, 1], encoding: cp1252}
  keep:
    - {column: x, between: [-30, 30.5]}
    - {column: y, not_in: [-1, no, 0123]}
    - {column: g, in: [a, "1", 2]}
    - {column: x, at_least: 2020-01-01}
    - {column: w, not_missing: true}
  recode: {sex: {from: g, map: {A92: female, 1: male, x: null}}}
  label: {column: y, at_least: 3.0}
  favorable: true
  protected: [sex, x]
  features: [x, w]
  kinds: {x: continuous, w: ordinal}
  orders: {w: [low, high]}
  roles: {actionable: [w], immutable: [x]}
  bins: {x: [18, 25, 45.5]}
  missing: impute
  test_size: 0.25
model: {train: boosting}
threshold: {sex: {female: 0.4, male: 0.6}}
seed: 7
audits:
  - flipset: {source: {sex: female}, target: {sex: {not: female}}, cost: l1, feature_weights: {x: 2}}
  - rates: {by: sex}
  - flipset:
      source: {sex: [female, male]}
      target: {x: "[18, 25)"}
"""


def test_every_part_of_a_full_spec_survives_the_canonical_form(tmp_path):
    (tmp_path / "spec.yaml").write_text(FULL, encoding="utf-8")
    spec = parse_spec(load_document(tmp_path / "spec.yaml"), Path())
    assert spec.seed == 7
    assert spec.threshold == {"sex": {"female": 0.4, "male": 0.6}}
    assert spec.data.keep[1].not_in == (-1, "no", "0123")
    assert spec.data.keep[3].at_least == "2020-01-01"
    assert [request.name for request in spec.audits] == ["flipset", "rates", "flipset"]
    plain = spec.to_dict()
    assert parse_spec(plain, Path()) == spec
    assert parse_spec(plain, Path()).to_dict() == plain
    for name, text in (("again.yaml", dump_yaml(plain)), ("again.json", json.dumps(plain))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert read_spec(tmp_path / name) == spec


def test_defaults_that_decide_numbers_are_written_out():
    minimal = {"data": {"path": "a.csv"}, "model": {"predictions": {"score": "s"}}}
    assert parse_spec({**minimal, "audits": [{"rates": {"by": "g"}}]}, Path()).to_dict() == {
        "data": {"path": "a.csv", "missing": "category", "test_size": 0.3},
        "model": {"predictions": {"score": "s", "higher_is": "favorable"}},
        "threshold": 0.5,
        "seed": 0,
        "audits": [{"rates": {"by": "g", "draws": 50, "gap": 0.1}}],
    }


def change(path: str, value):
    """Return a good spec with one place changed; a path such as ``data.keep``."""
    spec = make_spec()
    *parents, last = path.split(".")
    place = spec
    for name in parents:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return spec


@pytest.mark.parametrize(
    ("path", "value", "refusal"),
    [
        *cases(__file__, "refused_specs.yaml"),
        ("data", ..., ("data",)),
        ("data.path", ..., ("data.path",)),
        ("data.bins", {"hours": [0, math.inf]}, ("data.bins.hours[1]", "inf")),
        ("threshold", math.nan, ("threshold", "nan")),
        ("threshold", 10**400, ("threshold",)),
        ("audits", [{"rates": {"by": object()}}], ("audits[0].rates.by",)),
    ],
)
def test_what_is_wrong_is_named_with_key_rule_and_value(path, value, refusal):
    with refused(*refusal) as error:
        parse_spec(change(path, value), Path())
    assert "\n" not in str(error.value)


def test_a_spec_is_a_mapping():
    for document in (None, [], "text", 3):
        with refused("the spec"):
            parse_spec(document, Path())


def test_a_missing_file_is_named(base):
    spec = parse_spec(change("data.path", ["people.csv", "nobody.csv"]), base)
    with refused("data.path[1]", "'nobody.csv'"):
        spec.digests()
    for path in (".", "/dev/zero"):
        with refused("data.path"):
            parse_spec(change("data.path", path), base).digests()
    with refused("model.path", "'m.onnx'"):
        parse_spec(change("model", {"path": "m.onnx"}), base).digests()


def key(spec, base) -> str:
    parsed = parse_spec(spec, base)
    return parsed.key(parsed.digests())


def test_the_key_follows_content_not_place(base, tmp_path):
    reference = key(make_spec(), base)
    elsewhere = tmp_path / "a" / "b"
    shutil.copytree(base, elsewhere)
    assert key(make_spec(), elsewhere) == reference
    assert key(change("data.path", "a/b/people.csv"), tmp_path) == reference
    assert key(change("data.path", ["people.csv"]), base) == reference
    assert key(change("threshold", 0.5), base) == reference
    write_people(elsewhere / "people.csv", seed=1)
    assert key(make_spec(), elsewhere) != reference


def test_the_key_follows_everything_that_decides_numbers(base):
    for path, value in (
        ("seed", 1),
        ("threshold", 0.6),
        ("data.protected", ["hours"]),
        ("data.read", {"separator": ","}),
        ("data.missing", "drop"),
        ("model", {"train": "logistic"}),
        ("audits", [{"rates": {"by": "group", "draws": 51}}]),
        ("audits", [{"rates": {"by": "group"}}, {"rates": {"by": "group"}}]),
    ):
        assert key(change(path, value), base) != key(make_spec(), base)


@pytest.mark.parametrize(
    ("first", "own", "second"),
    [
        ({}, {}, None),
        ({"threshold": 0.7}, {}, 0.7),
        ({}, {"threshold": 0.4}, 0.4),
        ({"threshold": 0.7}, {"threshold": 0.5}, 0.5),
    ],
)
def test_a_second_model_of_any_classes_has_the_threshold_that_somebody_wrote(first, own, second):
    document = make_spec("groups", model={"predictions": {"label": "today"}}, **first)
    document = document if first else {key: document[key] for key in document if key != "threshold"}
    document["compare"] = {"model": {"path": "three.onnx"}, **own}
    assert parse_spec(document, Path()).of_second().threshold == second


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
        ("[" * 500, "a.yaml", ("50",)),
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


LIKE_OTHERS = "no 1e-3 0123 1:30 true null ~ 2020-01-01 =x << 0x1 .5 1_0 #"
letters = st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])
words = st.text(letters, max_size=12) | st.sampled_from([*LIKE_OTHERS.split(), "- a"])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
documents = st.recursive(
    words | numbers | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=5)
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
