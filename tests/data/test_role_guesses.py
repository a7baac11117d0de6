"""Of headers as public tables have them, outcome, good answer and groups are right, or are asked."""

from __future__ import annotations

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


KINDS: dict[str, Callable[[int], Any]] = {
    "#": lambda k: k + 7,
    "@": lambda k: f"text {chr(97 + k % 26)} of row {k}",
    "d": lambda k: f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}",
}


def _column(kind: str, rng: np.random.Generator, n: int = 120) -> Any:
    if kind in KINDS:
        return [KINDS[kind](k) for k in range(n)]
    if kind == "~":
        return rng.normal(50, 12, n).round(2)
    if "|" in kind:
        return rng.choice(kind.split("|"), n)
    low, high = map(int, kind.rsplit("-", 1))
    return rng.integers(low, high + 1, n)


def _outcome(table: Table, said: dict[str, Any]) -> tuple[Any, Any]:
    """The outcome and its good answer as proposed for a table, in small letters."""
    guess = guess_outcome(said["columns"], rows=len(table.frame))
    if guess.column is None:
        assert guess.why
        return ASK, None
    answers = sorted(table.frame[guess.column].dropna().unique().tolist(), key=str)
    answer = guess_good_answer(answers, guess.column).value
    return guess.column, ASK if answer is None else str(answer).lower()


@pytest.mark.parametrize("corpus", ["headers.yaml", "headers_more.yaml"])
def test_the_corpus_is_right_or_asked(corpus: str, tmp_path: Path) -> None:
    right, asked, path = [], [], tmp_path / "people.csv"
    for case in yaml.load((Path(__file__).parent / corpus).read_text("utf-8"), yaml.CSafeLoader):
        rng, name = np.random.default_rng(3), case["name"]
        frame = pd.DataFrame({each: _column(kind, rng) for each, kind in case["columns"].items()})
        frame.to_csv(path, index=False)
        table = read_table(path)
        said = describe(table)
        outcome, good = _outcome(table, said)
        if ASK in (outcome, good) and case["outcome" if outcome == ASK else "good"] != ASK:
            asked.append(name)
            assert outcome in (ASK, case["outcome"]), name
        else:
            right.append(name)
            assert outcome == case["outcome"], name
            assert good in (None, str(case["good"]).lower()), name
        if "protected" in case:  # by name or values
            assert set(said["suggested"]["protected"]) == set(case["protected"]), name
    assert len(right) + len(asked) >= 40
    assert len(right) >= 0.9 * (len(right) + len(asked)), asked


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
        table = read_table(path)
        assert _outcome(table, describe(table)) == (ASK, None)


@pytest.mark.parametrize("answers", [["no", "yes"], [False, True], ["N", "Y"], ["FALSE", "TRUE"]])
def test_yes_is_good_only_where_the_name_says_so_and_never_to_harm(answers) -> None:
    for name in ("inspected", "fouillé", "kontrolliert"):
        assert guess_good_answer(answers, name).value is None
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
    told = {"name": "age", "kind": "integer", "missing": 0, "distinct": 3, "examples": ["30", "40", "50"]}
    assert found["columns"][1] == told
    wage, note, hired = found["columns"][4:]
    assert (wage["missing"], wage["examples"], note["examples"]) == (1, ["1.5", "2.5"], [])
    assert (note["kind"], hired["kind"], hired["examples"]) == ("categorical", "boolean", ["no", "yes"])
    assert "'hired'" in found["suggested"].pop("why")
    guessed = {"label": ["hired"], "perhaps": ["wage"], "protected": ["age", "Race", "maritalStatus"]}
    assert found["suggested"] == {**guessed, "identifiers": ["person_id"], "predictions": {}}
    assert found["report"]["files"][0]["separator"] == ","
    assert found["report"]["missing"] == {"wage": {"": 1}, "note": {"?": 3}}
    assert any("'?', 3 cells (note)" in sentence for sentence in found["sentences"])


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
