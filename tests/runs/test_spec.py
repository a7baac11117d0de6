"""The spec: every wrong value is named, and the canonical form parses to an equal spec."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.runs import spec as spec_module
from audits.runs.documents import dump_yaml
from audits.runs.spec import parse_spec
from audits.runs.version import stamp
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


def parse(text: str):
    return parse_spec(_document(text), Path())


def _document(text: str):
    import tempfile

    from audits.runs.documents import load_document

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        path.write_text(text, encoding="utf-8")
        return load_document(path)


def test_every_part_of_a_full_spec_survives_the_canonical_form(tmp_path):
    spec = parse(FULL)
    assert spec.seed == 7
    assert spec.threshold == {"sex": {"female": 0.4, "male": 0.6}}
    assert spec.data.keep[1].not_in == (-1, "no", "0123")
    assert spec.data.keep[3].at_least == "2020-01-01"
    assert [request.name for request in spec.audits] == ["flipset", "rates", "flipset"]
    plain = spec.to_dict()
    assert parse_spec(plain, Path()) == spec
    assert parse_spec(plain, Path()).to_dict() == plain
    assert parse_spec(json.loads(json.dumps(plain)), Path()) == spec
    (tmp_path / "again.yaml").write_text(dump_yaml(spec.to_dict()), encoding="utf-8")
    assert read_spec(tmp_path / "again.yaml") == spec
    (tmp_path / "again.json").write_text(json.dumps(plain), encoding="utf-8")
    assert read_spec(tmp_path / "again.json") == spec


def test_defaults_that_decide_numbers_are_written_out():
    minimal = {
        "data": {"path": "a.csv"},
        "model": {"predictions": {"score": "s"}},
        "audits": [{"rates": {"by": "g"}}],
    }
    assert parse_spec(minimal, Path()).to_dict() == {
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
        ("model", ..., ("model",)),
        ("audits", ..., ("audits",)),
        ("data.path", ..., ("data.path",)),
        ("data.bins", {"hours": [0, math.inf]}, ("data.bins.hours[1]", "inf")),
        ("threshold", math.nan, ("threshold", "nan")),
        ("threshold", 10**400, ("threshold",)),
        (
            "audits",
            [{"rates": {"by": object()}}],
            ("audits[0].rates.by",),
        ),
    ],
)
def test_what_is_wrong_is_named_with_key_rule_and_value(path, value, refusal):
    with refused(*refusal) as error:
        parse_spec(change(path, value), Path())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("document", [None, [], "text", 3])
def test_a_spec_is_a_mapping(document):
    with refused("the spec"):
        parse_spec(document, Path())


def test_paths_start_at_the_spec_file(base, tmp_path):
    (base / "spec.yaml").write_text(dump_yaml(parse_spec(make_spec(), base).to_dict()), encoding="utf-8")
    spec = read_spec(base / "spec.yaml")
    assert [path for _, _, path in spec.paths()] == [base / "people.csv"]
    assert len(spec.digests()) == 1


def test_a_missing_file_is_named(base):
    spec = parse_spec(change("data.path", ["people.csv", "nobody.csv"]), base)
    with refused("data.path[1]", "'nobody.csv'"):
        spec.digests()
    with refused("data.path"):
        parse_spec(change("data.path", "."), base).digests()
    with refused("data.path"):
        parse_spec(change("data.path", "/dev/zero"), base).digests()
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


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("seed", 1),
        ("threshold", 0.6),
        ("data.protected", ["hours"]),
        ("data.read", {"separator": ","}),
        ("data.missing", "drop"),
        ("model", {"train": "logistic"}),
        ("audits", [{"rates": {"by": "group", "draws": 51}}]),
        ("audits", [{"rates": {"by": "group"}}, {"rates": {"by": "group"}}]),
    ],
)
def test_the_key_follows_everything_that_decides_numbers(base, path, value):
    assert key(change(path, value), base) != key(make_spec(), base)


def test_the_key_follows_versions_endings_and_which_file_plays_which_part(base, monkeypatch):
    reference = key(make_spec(), base)
    shutil.copy(base / "people.csv", base / "people.tsv")
    assert key(change("data.path", "people.tsv"), base) != reference  # an ending can decide how it is read
    for name in "ab":
        (base / f"{name}.csv").write_text(name)
    first, second = (
        key(change("data.path", paths), base) for paths in (["a.csv", "b.csv"], ["b.csv", "a.csv"])
    )
    assert first != second
    monkeypatch.setattr(spec_module, "stamp", lambda: {**stamp(), "source": "changed"})
    assert key(make_spec(), base) != reference


def test_other_audits_keep_table_and_subject(base):
    first = parse_spec(make_spec(), base)
    other = parse_spec(change("audits", [{"rates": {"by": "group", "draws": 9}}]), base)
    digests = first.digests()
    assert first.subject_key(digests) == other.subject_key(digests)
    seeded = parse_spec(change("seed", 1), base)
    assert first.subject_key(digests) != seeded.subject_key(digests)
    assert first.table_key(digests) == seeded.table_key(digests)


names = st.text("abcXYZ_ -=1é", min_size=1, max_size=8)
values = st.integers(-5, 5) | st.floats(-1e6, 1e6) | names | st.booleans()
groups = st.dictionaries(names, values | st.lists(values, min_size=1, max_size=3), min_size=1, max_size=2)
audits = st.lists(
    st.builds(
        lambda source, target, cost, reverse: {
            "flipset": {"source": source, "target": target, "cost": cost, "reverse": reverse}
        },
        groups,
        groups,
        st.sampled_from(["l1_squared", "l1", "l2"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    threshold=st.floats(allow_nan=False, allow_infinity=False)
    | st.dictionaries(names, st.dictionaries(names, st.floats(0, 1), min_size=1), min_size=1, max_size=2),
    favorable=values | st.lists(values, min_size=1, max_size=3),
    protected=st.lists(names, unique=True, max_size=3),
    keep=st.lists(
        st.builds(lambda c, v: {"column": c, "in": v}, names, st.lists(values, min_size=1)), max_size=2
    ),
    mapping=st.dictionaries(names, values | st.none(), min_size=1, max_size=3),
    chosen=audits,
)
def test_parsing_the_canonical_form_gives_an_equal_spec(
    seed, threshold, favorable, protected, keep, mapping, chosen
):
    document = {
        "data": {
            "path": "a.csv",
            "label": "the label",
            "favorable": favorable,
            "protected": protected,
            "keep": keep,
            "recode": {"new": {"from": "old", "map": mapping}},
        },
        "model": {"train": "logistic"},
        "threshold": threshold,
        "seed": seed,
        "audits": chosen,
    }
    spec = parse_spec(document, Path())
    again = parse_spec(spec.to_dict(), Path())
    assert again == spec
    assert repr(again.to_dict()) == repr(spec.to_dict())  # repr: 1 is neither 1.0 nor True
    assert repr(parse_spec(_document(dump_yaml(spec.to_dict())), Path()).to_dict()) == repr(spec.to_dict())


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
    document = {
        "data": {"path": "a.csv", "label": "y", "favorable": 1, "protected": ["g"]},
        "model": {"predictions": {"label": "today"}},
        "compare": {"model": {"path": "three.onnx"}, **own},
        "audits": ["groups"],
        **first,
    }
    assert parse_spec(document, Path()).of_second().threshold == second
