"""From nothing to a finding: guessed specs, short specs, and keys explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.models.metadata import accuracy_words
from audits.stats import EVIDENCE
from benchmarks.ten_tables import TABLES, write_table


@pytest.fixture
def results(tmp_path):
    """A table of label, prediction and groups alone."""
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.5).astype(int)
    frame = pd.DataFrame({"y_true": truth, "y_pred": np.where(rng.random(300) < 0.8, truth, 1 - truth)})
    frame["sex"] = rng.choice(["f", "m"], 300)
    frame.to_csv(tmp_path / "results.csv", index=False)
    return tmp_path / "results.csv"


def test_a_table_of_results_runs_by_its_name_alone(cli, results, tmp_path):
    done = cli("run", results, "--out", tmp_path / "out", "--executor", "inline")
    assert done.status == 0, done.err
    assert "'y_pred'" in done.err
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [each["audit"] for each in found["audits"]] == ["groups", "outcome_transport", "rule_sets"]
    flows = found["audits"][1]
    assert {row["mean"] for row in flows["bias"]} == {None}
    assert found["model"]["quality"]["made"] == "unknown"
    assert accuracy_words(found["model"]) in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("columns", "told", "model", "threshold"),
    [
        (["sex", "score"], "0.5", {"predictions": {"score": "score"}}, 0.5),
        (["sex", "points", "repaid"], "575", {"predictions": {"score": "score"}}, 575),
        (["sex", "age", "repaid"], "'repaid'", {"predictions": {"label": "repaid"}}, 0.5),
    ],
)
def test_a_table_without_features_or_label_is_audited_by_what_it_has(
    cli, tmp_path, columns, told, model, threshold
):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 201), "score": rng.random(201)})
    frame["points"], frame["age"] = np.arange(475, 676), rng.integers(18, 70, 201)
    frame["repaid"] = rng.choice([0, 1], 201)
    frame[columns].rename(columns={"points": "score"}).to_csv(tmp_path / "people.csv", index=False)
    begun = cli("init", tmp_path / "people.csv")
    assert told in begun.out
    spec = yaml.safe_load((tmp_path / "people.yaml").read_text(encoding="utf-8"))
    assert (spec["model"], spec["threshold"]) == (model, threshold)
    spec["audits"] = ["groups"]
    (tmp_path / "people.yaml").write_text(yaml.safe_dump(spec))
    ran = cli("run", tmp_path / "people.yaml", "--out", tmp_path / "out", "--executor", "inline", "--no-save")
    assert ran.status == 0, ran.err


def test_init_replaces_nothing_unasked(cli, results):
    assert cli("init", results).status == 0
    assert cli("init", results).status == 2
    assert cli("init", results, "--force").status == 0


def test_explain_lists_what_a_key_takes_or_suggests_the_nearest(cli):
    for key, told in {
        "data.missing": "drop, impute, category",
        "missing": "data.missing",
        "flipset.cost": "l1_squared, l2_squared, l1, l2",
    }.items():
        assert told in " ".join(cli("explain", key).out.split())
    answer = cli("explain", "data.protectd")
    assert answer.status == 2
    assert "'data.protected'" in answer.err


def test_init_proposes_an_amount_as_it_is(cli, tmp_path):
    rng = np.random.default_rng(3)
    sex = rng.choice(["female", "male"], 400)
    wage = (rng.lognormal(2.5, 0.4, 400) * np.where(sex == "female", 0.7, 1.0)).round(2)
    table = pd.DataFrame({"sex": sex, "schooling": rng.integers(8, 19, 400), "wage": wage})
    table.to_csv(tmp_path / "wages.csv", index=False)
    assert cli("init", tmp_path / "wages.csv", "--out", tmp_path / "guess.yaml").status == 0
    spec = yaml.safe_load((tmp_path / "guess.yaml").read_text(encoding="utf-8"))
    assert spec["data"].items() >= {"label": "wage", "outcome": "numeric", "favorable": "high"}.items()
    assert spec["data"]["words"] == {"verb": "earn"}
    done = cli("run", tmp_path / "guess.yaml", "--out", tmp_path / "out", "--executor", "inline")
    assert done.status == 0
    found = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert found["audits"][0]["verdict"] == EVIDENCE
    assert found["audits"][0]["amounts"]["name"] == "wage"


@pytest.mark.parametrize(
    ("name", "data", "model"),
    [
        (
            "admissions",
            {"weights": {"column": "Freq", "kind": "counts"}},
            {"predictions": {"label": "Decision"}},
        ),
        ("adverts", {"person": "adid"}, {"predictions": {"label": "callback"}}),
        ("bewerbungen", {"read": {"skip_rows": 1}}, {"predictions": {"label": "eingestellt"}}),
        ("rearrests", {"label": "rearrested_within_two_years", "favorable": 0}, {"train": "logistic"}),
        ("loans-and-truth", {"favorable": "granted"}, {"predictions": {"label": "decision"}}),
    ],
)
def test_init_says_what_a_row_is_and_what_was_decided(cli, tmp_path: Path, name, data, model) -> None:
    table = write_table(name, tmp_path)
    assert cli("init", table).status == 0
    spec = yaml.safe_load(table.with_suffix(".yaml").read_text(encoding="utf-8"))
    assert spec["data"].items() >= data.items()
    assert spec["model"] == model
    assert spec["data"]["protected"][0] == TABLES[name].by[0]


def test_rows_without_a_decision_are_left_out_and_counted(cli, tmp_path: Path) -> None:
    rows = "sex,years,hired\n" + "f,1,yes\nm,2,no\nf,3,no\nm,4,yes\n" * 30 + "f,2,\n" * 5
    (tmp_path / "people.csv").write_text(rows)
    done = cli("run", tmp_path / "people.csv", "--out", tmp_path / "out", "--executor", "inline", "--no-save")
    assert done.status == 0, done.err
    assert json.loads((tmp_path / "out" / "results.json").read_text())["data"]["rows_used"] == 120
