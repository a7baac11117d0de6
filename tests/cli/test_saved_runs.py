"""``runs``, ``report`` and the gate on the command line: exit status, files, words."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import audits
from audits.runs.gates.gate import judge
from audits.runs.gates.reports import junit_xml
from audits.runs.registry import AUDITS
from audits.runs.result import AuditResult, RunResult
from audits.runs.storage.saved import SavedRuns
from audits.stats import EVIDENCE
from tests.cli.conftest import write_spec
from tests.runs.extra_audits import EXTRA, PlainResult

GROUPS = [{"groups": {}}]


def run(cli, folder: Path, *more: object, **changes: object):
    spec = write_spec(folder, **{"audits": GROUPS, **changes})
    return cli("run", spec, "--out", folder / "out", "--executor", "inline", *more)


def ids(cli) -> list[str]:
    return [item["id"] for item in json.loads(cli("runs", "list", "--json").out)]


def test_a_run_is_saved_listed_shown_and_removed(cli, project):
    answer = run(cli, project, "--title", "First try")
    assert answer.status == 0
    [name] = ids(cli)
    assert name[:8] in answer.out
    assert "First try" in cli("runs", "list").out
    finding = json.loads((project / "out" / "results.json").read_text())["audits"][0]["finding"]
    shown = cli("runs", "show", name[:8])
    assert shown.status == 0
    assert " ".join(finding.split()) in " ".join(shown.out.split())
    saved = json.loads(cli("runs", "show", name, "--json").out)
    assert saved["result"] == json.loads((project / "out" / "results.json").read_text())
    assert cli("runs", "rm", name).status == 0
    assert ids(cli) == []
    assert f"'{name}'" in cli("runs", "show", name).err


def test_a_run_that_cannot_be_saved_still_gives_its_results(cli, project, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATABASE_URL", "postgresql://127.0.0.1:1/none")
    answer = run(cli, project)
    assert answer.status == 0
    assert "EVENHAND_DATABASE_URL" in answer.err
    assert (project / "out" / "results.json").is_file()


def test_a_failed_run_is_kept_with_its_reason_and_starts_again(cli, project):
    people = (project / "people.csv").read_bytes()
    (project / "people.csv").write_text("group,skill,hours,paid,score\n")
    failed = run(cli, project)
    assert failed.status == 2
    [name] = ids(cli)
    assert SavedRuns().get(name).status == "failed"
    assert SavedRuns().get(name).error in failed.err
    assert cli("report", project / "out").status == cli("runs", "compare", name, name).status == 2
    (project / "people.csv").write_bytes(people)
    again = cli("runs", "start", name[:8], "--out", project / "again", "--executor", "inline")
    assert (again.status, again.err) == (0, "")
    assert SavedRuns().get(name).status == "done"
    assert (project / "again" / "report.html").is_file()


def test_rename_note_filter_compare(cli, project):
    run(cli, project)
    run(cli, project, threshold=0.6)
    second, first = ids(cli)
    assert cli("runs", "rename", first, "Before").status == 0
    assert cli("runs", "note", first, "=looks odd").status == 0
    assert "=looks odd" in cli("runs", "show", first).out
    assert cli("runs", "list", "--text", "befo").out.startswith(first[:8])
    assert json.loads(cli("runs", "list", "--audit", "flipset", "--json").out) == []
    assert cli("runs", "list", "--status", "dune").status == 2
    assert json.loads(cli("runs", "compare", first, first, "--json").out) == []
    assert "spec threshold: 0.500 → 0.600" in cli("runs", "compare", first, second).out


def test_report_renders_a_finished_run_again_or_says_why_not(cli, project):
    assert run(cli, project).status == 0
    path = project / "out" / "results.json"
    before = path.read_bytes()
    for form, name, start in (
        ("html", "report.html", b"<!doctype html>"),
        ("json", "report.json", b"{"),
        ("card", "model-card.md", b"---\ntags: [fairness, evenhand]"),
    ):
        answer = cli("report", project / "out", "--format", form)
        assert (answer.status, answer.err) == (0, "")
        assert (project / "out" / name).read_bytes().startswith(start)
    assert (project / "out" / "report.json").read_bytes() == before
    for wrong, told in ((json.loads(before) | {"schema": 99}, "99"), ({"schema": 1}, "'audits'")):
        path.write_text(json.dumps(wrong))
        answer = cli("report", project / "out", "--format", "pdf")
        assert (answer.status, answer.out) == (2, "")
        assert told in answer.err


def test_junit_holds_no_character_that_xml_cannot(monkeypatch):
    monkeypatch.setitem(AUDITS._added, "slow", EXTRA["slow"])
    nasty = PlainResult(EVIDENCE, "a\x00\x1b<b>&\ud800 ok", ())
    result = RunResult("0", {}, {}, {}, (AuditResult("slow", {}, nasty),))
    text = junit_xml(judge(result, audits.runs.gates.gate.STRICT))
    assert ET.fromstring(text).find(".//failure").text == "a\ufffd\ufffd<b>&\ufffd ok"


def test_a_full_disk_is_one_sentence_and_leaves_former_results(cli, project, monkeypatch):
    assert run(cli, project).status == 0
    before = (project / "out" / "results.json").read_bytes()

    def full(self, folder):
        (folder / "results.json").write_text("{")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(RunResult, "save", full)
    answer = run(cli, project, threshold=0.6)
    assert answer.status == 3
    assert os.strerror(errno.ENOSPC) in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert (project / "out" / "results.json").read_bytes() == before
    assert not list((project / "out").glob(".partial*"))
    assert SavedRuns().list()[0].status == "failed"
