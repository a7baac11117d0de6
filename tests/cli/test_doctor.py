"""The doctor's list on the command line, and what `init` proposes of what a row is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from benchmarks.ten_tables import TABLES, write_table


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
