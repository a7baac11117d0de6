"""What a table holds and which roles its columns might play."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audits.data import DataSpec, build_data, describe, read_table
from audits.data.preprocessing.column_names import named_age, named_protected


def test_a_small_table_by_hand(tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text(
        "person_id,age,Race,maritalStatus,wage,note,hired\n"
        "1,30,White,single,1.5,?,yes\n"
        "2,40,Black,married,,?,no\n"
        "3,50,White,single,2.5,?,no\n"
    )
    found = describe(read_table(path))
    assert json.loads(json.dumps(found)) == found
    assert found["rows"] == 3
    told = {"name": "age", "kind": "integer", "missing": 0, "distinct": 3, "examples": ["30", "40", "50"]}
    assert found["columns"][1] == told
    assert (found["columns"][4]["missing"], found["columns"][4]["examples"]) == (1, ["1.5", "2.5"])
    assert (found["columns"][5]["kind"], found["columns"][5]["examples"]) == ("categorical", [])
    assert (found["columns"][6]["kind"], found["columns"][6]["examples"]) == ("boolean", ["no", "yes"])
    assert "'hired'" in found["suggested"].pop("why")
    assert found["suggested"] == {
        "label": ["hired"],
        "perhaps": ["wage"],
        "protected": ["age", "Race", "maritalStatus"],
        "identifiers": ["person_id"],
        "predictions": {},
    }
    assert found["report"]["files"][0]["separator"] == ","
    assert found["report"]["missing"] == {"wage": {"": 1}, "note": {"?": 3}}
    assert any("'?', 3 cells (note)" in sentence for sentence in found["sentences"])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "label", "protected"),
    [
        ("compas.csv", "two_year_recid", {"sex", "age", "age_cat", "race"}),
        ("bank-full.csv.gz", "y", {"age", "marital"}),
    ],
)
def test_public_sets(shared_data: Path, file: str, label: str, protected: set[str]):
    found = describe(read_table(shared_data / file))
    suggested = found["suggested"]
    assert (suggested["label"] or suggested["perhaps"])[0] == label
    assert set(suggested["protected"]) == protected


def test_stored_results_are_suggested_and_never_features(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("y_true,y_pred,y_prob,sex,hours\n" + "1,0,0.4,f,3\n0,1,0.7,m,4\n" * 20)
    table = read_table(path)
    suggested = describe(table)["suggested"]
    assert suggested["label"][0] == "y_true"
    assert suggested["predictions"] == {"y_pred": "label", "y_prob": "score"}
    data = build_data(table, DataSpec(label="y_true", favorable=1, protected=("sex",)))
    assert data.features == ("hours",)
    assert any("y_pred, y_prob" in note for note in data.notes)
    told = build_data(table, DataSpec(label="y_true", favorable=1, features=("y_prob",)))
    assert told.features == ("y_prob",)


def test_groups_are_known_by_german_french_and_spanish_names_too() -> None:
    names = [
        "Geschlecht",
        "Alter",
        "Nationalität",
        "âge",
        "sexe",
        "Género",
        "edad",
        "Jahreseinkommen",
        "Wohnort",
    ]
    assert [name for name in names if named_protected(name)] == names[:7]
    assert [name for name in names if named_age(name)] == ["Alter", "âge", "edad"]
