"""What is asked where nobody chose: no pair across two attributes, and no headline about an unknown group."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.data.values import MISSING
from audits.models import make_subject, model_spec
from audits.runs.execute import execute
from audits.runs.plans.proposal import propose, read_past_header
from audits.runs.registry import AUDITS
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 people; those of whom the race is missing are called back far less often than any others."""
    rng = np.random.default_rng(0)
    race = rng.choice(["black", "white", ""], 1500, p=[0.4, 0.45, 0.15])
    frame = pd.DataFrame({"race": race, "sex": rng.choice(["female", "male"], 1500)})
    frame["town"] = rng.choice(["x", "y", "z"], 1500)
    frame["call"] = np.where(rng.random(1500) < np.where(race == "", 0.2, 0.6), "yes", "no")
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_headline_is_never_about_an_unknown_group(people: Path) -> None:
    data = {"path": people.name, "favorable": "yes", "protected": ["race"]}
    few = {"permutations": 19}
    spec = {"data": data, "model": {"predictions": {"label": "call"}}}
    spec["audits"] = ["groups", {"barycenter": few}, {"rule_sets": few}]
    run = execute(parse_spec(spec, people.parent))
    assert MISSING not in run.headline().leads.sentence


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


@pytest.mark.parametrize(("audit", "options"), [("rule_sets", {}), ("barycenter", {"permutations": 99})])
def test_a_group_with_a_name_leads(audit, options):
    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b", "c", "?"], 1200, p=[0.4, 0.3, 0.15, 0.15])
    chance = np.select([race == "?", race == "b"], [0.1, 0.45], 0.65)
    table = pd.DataFrame({"race": np.where(race == "?", None, race), "x": rng.normal(size=1200)})
    table["ok"] = np.where(rng.random(1200) < chance, "yes", "no")
    data = build_data(table, data_spec({"favorable": "yes", "protected": ["race"], "features": ["x"]}))
    subject = make_subject(data, model_spec({"predictions": {"label": "ok"}}))
    record = AUDITS[audit]
    result = record.run(subject, record.options(**options), rng=np.random.default_rng(0))
    assert result.verdict == EVIDENCE
    assert "(missing)" not in getattr(result, "rests_on", result.judged.decided_by)
