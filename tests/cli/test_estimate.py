"""What a run would take, told before it: what becomes of the rows."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from audits.cli.main import main
from audits.runs.plans.estimate import estimate
from audits.runs.spec import parse_spec
from tests.runs.conftest import make_spec, write_people


def test_what_becomes_of_the_rows_is_told_and_nothing_runs(tmp_path, monkeypatch, capsys):
    write_people(tmp_path / "people.csv", n=6000)
    pd.read_csv(tmp_path / "people.csv").to_parquet(tmp_path / "people.parquet")

    def told(path, **data):
        spec = make_spec("groups")
        return spec | {"data": spec["data"] | {"path": path, **data}}

    for document, how, people in (
        (told("people.parquet"), "held", 6000),
        (told("people.csv"), "held", 6000),
        (told("people.parquet", draw=1000), "drawn", 1000),
    ):
        found = estimate(parse_spec(document, tmp_path))
        assert (found.how, found.people) == (how, pytest.approx(people, rel=0.1))
    monkeypatch.setattr("audits.runs.source.strategy.COUNTED_FROM", 1)
    assert estimate(parse_spec(told("people.parquet"), tmp_path)).how == "counted"
    (tmp_path / "spec.json").write_text(json.dumps(told("people.csv")))
    assert main(["run", str(tmp_path / "spec.json"), "--estimate"]) == 0
    assert "6,000" in capsys.readouterr().out
    assert not list(tmp_path.glob("*results*"))
