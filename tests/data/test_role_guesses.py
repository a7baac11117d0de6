"""Of headers as public tables have them, outcome, good answer and groups are right, or are asked."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.data import DataSpec, Table, build_data, describe, read_table
from audits.data.preprocessing.column_names import named_age, named_protected
from audits.data.role_guesses import guess_good_answer, guess_outcome

ASK = "ask"


def _column(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    if kind == "#":
        return np.arange(7, 7 + n)
    if kind == "~":
        return rng.normal(50, 12, n).round(2)
    if kind == "@":
        return np.array([f"text {chr(97 + k % 26)} of row {k}" for k in range(n)])
    if kind == "d":
        return np.array([f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(n)])
    if "|" in kind:
        return rng.choice(kind.split("|"), n)
    low, high = map(int, kind.rsplit("-", 1))
    return rng.integers(low, high + 1, n)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[tuple[dict, Table, dict]]]:
    """Return the cases of a corpus, each with its table and what is said of it, read once."""
    path = tmp_path_factory.mktemp("corpus") / "people.csv"

    def case(told: dict[str, Any]) -> tuple[dict, Table, dict]:
        rng = np.random.default_rng(3)
        frame = pd.DataFrame({name: _column(kind, rng, 120) for name, kind in told["columns"].items()})
        frame.to_csv(path, index=False)
        table = read_table(path)
        return told, table, describe(table)

    @functools.cache
    def of(corpus: str) -> list[tuple[dict, Table, dict]]:
        return [case(each) for each in yaml.safe_load((Path(__file__).parent / corpus).read_text("utf-8"))]

    return of


def _outcome(table: Table, said: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """The outcome and its good answer as proposed for a table."""
    guess = guess_outcome((said or describe(table))["columns"], rows=len(table.frame))
    if guess.column is None:
        assert guess.why
        return ASK, None
    answer = guess_good_answer(
        sorted(table.frame[guess.column].dropna().unique().tolist(), key=str), guess.column
    )
    return guess.column, ASK if answer.value is None else answer.value


def _same(found: Any, good: Any) -> bool:
    return str(found).lower() == str(good).lower() or (str(found), str(good)) in {
        ("True", "TRUE"),
        ("False", "N"),
    }


@pytest.mark.parametrize("corpus", ["headers.yaml", "headers_more.yaml"])
def test_the_corpus_is_right_or_asked(corpus: str, described) -> None:
    right, wrong, asked = [], [], []
    for case, table, said in described(corpus):
        name, outcome, good = case["name"], case["outcome"], case["good"]
        found = _outcome(table, said)
        if found[0] == ASK:
            (right if outcome == ASK else asked).append(name)
        elif found[0] != outcome:
            wrong.append((name, found))
        elif found[1] == ASK:
            (right if good == ASK else asked).append(name)
        elif _same(found[1], good):
            right.append(name)
        else:
            wrong.append((name, found))
    assert len(right) + len(asked) >= 40
    assert not wrong, wrong
    assert len(right) >= 0.9 * (len(right) + len(asked)), asked


def test_groups_are_proposed_by_name_or_values(described) -> None:
    lacking, extra = [], []
    for case, _, said in described("headers_more.yaml"):
        proposed = set(said["suggested"]["protected"])
        lacking += [(case["name"], name) for name in set(case["protected"]) - proposed]
        extra += [(case["name"], name) for name in proposed - set(case["protected"])]
    assert not lacking
    assert not extra


def test_no_name_makes_an_outcome_of_what_cannot_be_one(tmp_path: Path) -> None:
    n, path = 240, tmp_path / "people.csv"
    unfit = {
        "unique": [f"word{k}" for k in range(n)],
        "alphabetical": sorted(f"{chr(97 + k % 26)}{k % 60}" for k in range(n)),
        "row numbers": list(range(31, 31 + n)),
        "constant": ["yes"] * n,
        "dates": [f"2024-01-{1 + k % 28:02d}" for k in range(n)],
    }
    for values in unfit.values():
        pd.DataFrame({"sex": ["f", "m"] * (n // 2), "hired": values}).to_csv(path, index=False)
        assert _outcome(read_table(path)) == (ASK, None)


@pytest.mark.parametrize("name", ["inspected", "fouillé", "kontrolliert"])
def test_yes_is_good_only_where_the_name_says_so(name: str) -> None:
    assert guess_good_answer(["no", "yes"], name).value is None


@pytest.mark.parametrize(
    "answers", [["no", "yes"], ["No", "Yes"], [False, True], ["N", "Y"], ["FALSE", "TRUE"]]
)
def test_yes_to_harm_is_never_good(answers) -> None:
    for name in ("deny", "injury", "arrested", "readmitted", "is_fraud", "charged"):
        assert str(guess_good_answer(answers, name).value) == str(answers[0]), name
    assert str(guess_good_answer(answers, "hired").value) == str(answers[1])


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
def test_a_public_set(shared_data: Path):
    suggested = describe(read_table(shared_data / "compas.csv"))["suggested"]
    assert (suggested["label"] or suggested["perhaps"])[0] == "two_year_recid"
    assert set(suggested["protected"]) == {"sex", "age", "age_cat", "race"}


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
    names = ["Geschlecht", "Alter", "Nationalität", "âge", "sexe", "Género", "edad", "Einkommen", "Wohnort"]
    assert [name for name in names if named_protected(name)] == names[:7]
    assert [name for name in names if named_age(name)] == ["Alter", "âge", "edad"]
