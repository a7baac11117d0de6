"""The spec: every wrong value is named, and the canonical form parses to an equal spec."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

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
