"""What is asked where nobody chose: no pair across two attributes, and no headline about an unknown group."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.data.values import MISSING
from audits.runs.execute import execute
from audits.runs.headline import headline_of
from audits.runs.plans.proposal import RoleAnswers, propose, read_past_header
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE
from tests.refused import refused


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 people; those of whom the race is missing are called back far less often than any others."""
    rng = np.random.default_rng(0)
    race = rng.choice(["black", "white", ""], 1500, p=[0.4, 0.45, 0.15])
    frame = pd.DataFrame({"race": race, "sex": rng.choice(["female", "male"], 1500)})
    frame["town"] = rng.choice(["x", "y", "z"], 1500)
    frame["call"] = np.where(
        rng.random(1500) < np.select([race == "", race == "black"], [0.1, 0.45], 0.65), "yes", "no"
    )
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_headline_is_never_about_an_unknown_group(people: Path) -> None:
    data = {"path": people.name, "favorable": "yes", "protected": ["race"]}
    few = {"permutations": 99}
    spec = {"data": data, "model": {"predictions": {"label": "call"}}}
    spec["audits"] = ["groups", {"barycenter": few}, {"rule_sets": few}]
    run = execute(parse_spec(spec, people.parent))
    assert MISSING not in run.headline().leads.sentence
    for each in (found.result for found in run.audits):
        assert each.verdict == EVIDENCE
        assert MISSING not in getattr(each, "rests_on", each.judged.decided_by)


def test_a_pair_that_nobody_chose_does_not_lead_a_difference(people: Path) -> None:
    sides = {"source": {"sex": "female"}, "target": {"sex": "male"}}
    data = {"path": people.name, "favorable": "yes", "protected": ["race", "sex"], "missing": "category"}
    spec = {"data": data, "model": {"predictions": {"label": "call"}}, "search": "off"}
    spec["audits"] = [
        {"flipset": {**sides, "permutations": 0}},
        {"groups": {"by": ["race"], "material": 0.9}},
    ]
    run = execute(parse_spec(spec, people.parent))
    assert [headline_of(run, usual=each).leads.place for each in ({}, {"flipset": sides})] == [0, 1]


def test_no_default_compares_people_who_differ_in_two_attributes(people: Path) -> None:
    table, _ = read_past_header(people)
    audits = propose(table).spec["audits"]
    asked = [options for each in audits if isinstance(each, dict) for options in each.values()]
    pairs = [options["source"] for options in asked if "source" in options]
    assert pairs
    assert all(len(source) == 1 for source in pairs)
    assert not any(isinstance(by, list) for options in asked for by in options.get("by", ()))


def test_a_count_table_of_groups_and_decisions_gets_a_spec_that_runs(tmp_path: Path) -> None:
    cells = itertools.product(("White", "Black"), ("male", "female"), "YN")
    lines = [f"{race},{sex},{searched},{30 + 17 * k}" for k, (race, sex, searched) in enumerate(cells)]
    path = tmp_path / "stops.csv"
    path.write_text("\n".join(["subject_race,subject_sex,search_conducted,n", *lines]))
    table, _ = read_past_header(path)
    found = propose(table)
    assert found.spec["data"]["weights"] == {"column": "n", "kind": "counts"}
    run = execute(parse_spec({**found.spec, "data": {**found.spec["data"], "path": path.name}}, tmp_path))
    assert run.audits[0].name == "groups"


def test_a_truth_in_other_values_than_the_decision_is_refused(tmp_path: Path) -> None:
    """No value of it would be the good one, so no audit could run."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 20, "grade": ["Low", "High"] * 20, "fell": [0, 1] * 20})
    frame.assign(same=frame["grade"]).to_csv(tmp_path / "people.csv", index=False)
    table, _ = read_past_header(tmp_path / "people.csv")
    answers = RoleAnswers("grade", "fell", ("Low",), ("sex",))
    with refused("--truth", "fell", "Low"):
        propose(table, answers=answers)
    same = propose(table, answers=dataclasses.replace(answers, truth="same"))
    assert same.spec["data"]["label"] == "same"
    assert same.spec["audits"]
