"""The command line on good input: exit status, files written, and what stands in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd

from audits.runs.result import RunResult
from tests.cli.conftest import write_spec


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "audits", *map(str, arguments)]


def read(out: Path) -> dict:
    def refuse(number: str) -> None:
        raise AssertionError(f"{number} is no JSON")

    return json.loads((out / "results.json").read_text(encoding="utf-8"), parse_constant=refuse)


def test_run_writes_what_the_contract_names(cli, project):
    out = project / "out"
    answer = cli("run", project / "spec.yaml", "--out", out, "--executor", "inline")
    assert (answer.status, answer.err) == (0, "")
    results = read(out)
    assert {"evenhand", "spec", "data", "model", "audits"} <= set(results)
    data = results["data"]
    assert data["rows_read"] == data["rows_used"] + sum(data["excluded"].values()) == 240
    [audit] = results["audits"]
    assert (audit["audit"], audit["options"]["source"]) == ("flipset", {"group": "south"})
    assert (out / "report.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    text = " ".join(answer.out.split())
    assert "240 of 240" in text
    assert f"1. flipset: {audit['badge_text']}" in text
    assert " ".join(audit["finding"].split()) in text
    assert str(out) in answer.out
    assert RunResult.load(out).to_json() == results
    raw = pd.read_csv(project / "people.csv")
    people = pd.read_csv(out / "tables" / "flipset-people.csv")
    assert people["row"].tolist() == [row + 1 for row in raw.index[raw["group"] == "south"]]
    assert people["decision"].tolist() == (raw["score"][raw["group"] == "south"] >= 0.5).tolist()


def test_former_results_are_replaced_and_nothing_else(cli, project):
    out = project / "out"
    flipset = {"flipset": {"source": {"group": "south"}, "target": {"group": "north"}, "permutations": 0}}
    both = [flipset, flipset]
    assert cli("run", write_spec(project, audits=both), "--out", out, "--executor", "inline").status == 0
    assert (out / "tables" / "flipset-2-people.csv").exists()
    (out / "notes.txt").write_text("mine")
    (out / "tables" / "mine.csv").write_text("mine")
    assert cli("run", write_spec(project), "--out", out, "--executor", "inline").status == 0
    assert len(read(out)["audits"]) == 1
    assert {path.name for path in (out / "tables").iterdir()} >= {"flipset-people.csv", "mine.csv"}
    assert not (out / "tables" / "flipset-2-people.csv").exists()
    assert (out / "notes.txt").read_text() == "mine"
    assert not list(out.glob(".partial*"))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    wrong = write_spec(project, source={"group": "x"})
    assert cli("run", wrong, "--out", out, "--executor", "inline").status == 2
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_list_of_former_files_cannot_point_outside(cli, project, monkeypatch):
    monkeypatch.chdir(project)
    out = project / "spec-results"  # where results go by default
    out.mkdir()
    (out / ".evenhand").write_text("../people.csv\n/etc/hostname\ntables/../../people.csv\n")
    assert cli("run", "spec.yaml", "--executor", "inline").status == 0
    assert (out / "results.json").exists()
    assert (project / "people.csv").exists()


def test_an_unexpected_error_is_one_sentence_and_a_log(cli, project, monkeypatch):
    from audits.runs.executors import pool as executors

    def broken(*args, **kwargs):
        raise ZeroDivisionError("deep\ninside")

    monkeypatch.setattr(executors.InlineExecutor, "submit", broken)
    answer = cli("run", project / "spec.yaml", "--out", project / "out", "--executor", "inline")
    assert answer.status == 3
    assert answer.err.count("\n") == 1
    assert "(ZeroDivisionError: deep inside)" in answer.err
    log = Path(answer.err.split()[-1])
    assert "Traceback" in log.read_text()
    log.unlink()


def test_describe(cli, project):
    answer = cli("describe", project / "people.csv")
    assert (answer.status, answer.err) == (0, "")
    assert "people.csv: 240" in answer.out
    facts = json.loads(cli("describe", project / "people.csv", "--json").out)
    assert facts["rows"] == 240
    assert [column["name"] for column in facts["columns"]] == ["group", "skill", "hours", "paid", "score"]
    assert "paid" in facts["suggested"]["label"]
