"""``monitor export`` and ``monitor score``: the audit's own numbers, from files, without Streamlit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from audits.cli.main import main
from tests.cli.conftest import make_project, write_spec
from tests.cli.test_bad_input import refused


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Path:
    """A folder with people.csv, a logistic regression audited on it in out, and its bundle."""
    folder = make_project(tmp_path_factory.mktemp("audited"))
    audits = [{"sensitivity": {"bootstrap": 100, "protected": "group"}}]
    spec = write_spec(folder, model={"train": "logistic"}, audits=audits)
    for command in (
        ("run", spec, "--out", folder / "out", "--executor", "inline", "--no-save"),
        ("monitor", "export", folder / "out", "--out", folder / "bundle", "--note", "ours"),
    ):
        assert main([str(word) for word in command]) == 0
    assert (folder / "bundle" / "monitor.safetensors").is_file()
    return folder


@pytest.fixture
def project(audited, tmp_path) -> Path:
    return Path(shutil.copytree(audited, tmp_path / "project"))


@pytest.fixture
def exported(project) -> Path:
    return project / "bundle"


def test_rows_get_the_numbers_of_the_audit(cli, project, exported):
    answer = cli("monitor", "score", exported, project / "people.csv")
    assert answer.status == 0, answer.err
    found = pd.DataFrame([json.loads(line) for line in answer.out.splitlines()]).set_index("row")
    [table] = (project / "out" / "tables").glob("*sensitivity*people.csv")
    people = pd.read_csv(table, index_col=0)
    shared = found.loc[people.index]
    pd.testing.assert_series_equal(shared["sensitivity"], people["sensitivity"], check_names=False)
    assert (shared["flagged"] == people["flagged"]).all()
    written = cli("monitor", "score", exported, project / "people.csv", "--out", project / "scored.jsonl")
    assert written.status == 0
    assert (project / "scored.jsonl").read_text(encoding="utf-8").splitlines() == answer.out.splitlines()


def test_what_cannot_be_sent_is_said(cli, project, monkeypatch):
    refused(cli("monitor", "send", "http://127.0.0.1:9/x", project / "people.csv"), "EVENHAND_MONITOR_TOKEN")
    monkeypatch.setenv("EVENHAND_MONITOR_TOKEN", "t")
    refused(cli("monitor", "send", "127.0.0.1", project / "people.csv"), "", "'127.0.0.1'", "http")


def test_what_is_wrong_is_said_in_a_sentence(cli, project, exported):
    (project / "short.csv").write_text("group\nnorth\nsouth\n")
    for command, told in (
        (("score", exported, project / "short.csv"), "'skill'"),
        (("score", project, project / "people.csv"), "monitor.json"),
        (("export", project, "--out", project / "b"), "DIR"),
    ):
        refused(cli("monitor", *command), "", told)
