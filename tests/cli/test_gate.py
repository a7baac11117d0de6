"""The gate where teams meet it: baselines on the command line, build services, pre-commit, pytest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A folder with people.csv, a model's scores among them, and the spec audit.yaml."""
    folder = tmp_path_factory.mktemp("gate")
    people = pd.read_csv(ROOT / "sample_data" / "hiring.csv").rename(columns={"gender": "sex"})
    rank = people["work_years"].rank(pct=True)
    people["score"] = rank.round(4)
    people["later"] = (rank - 0.15 * (people["sex"] == "female")).clip(0).round(4)
    people.to_csv(folder / "people.csv", index=False)
    write(folder, {"evidence": 0})
    return folder


def write(folder: Path, gate: object, *, score: str = "score", name: str = "audit.yaml") -> Path:
    spec = {
        "data": {"path": "people.csv", "label": "qualified", "favorable": 1, "protected": ["sex"],
                 "features": ["work_years"]},
        "model": {"predictions": {"score": score}},
        "audits": ["groups"],
        "gate": gate,
    }  # fmt: skip
    (folder / name).write_text(json.dumps(spec), encoding="utf-8")
    return folder / name


def shell(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a build service does, its Python ours."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "EVENHAND_HOME": str(folder / "home"), **more}
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=variables, capture_output=True, text=True, timeout=200
    )  # fmt: skip


def test_a_model_that_got_worse_is_stopped_by_its_baseline_and_the_same_one_is_not(cli, project: Path):
    inline = ("--executor", "inline", "--no-save", "--fail-on", "gate")
    assert cli("run", project / "audit.yaml", "--out", project / "first", "--executor", "inline").status == 0
    baseline = project / "baseline.json"
    assert cli("baseline", project / "first", "--out", baseline).status == 0
    assert baseline.is_file()
    same = write(project, {"baseline": "baseline.json"}, name="same.yaml")
    assert cli("run", same, "--out", project / "same", *inline).status == 0
    worse = write(project, {"baseline": "baseline.json"}, score="later", name="worse.yaml")
    answer = cli("run", worse, "--out", project / "worse", *inline)
    assert answer.status == 1
    assert "differences.selection_rate" in answer.out
    assert cli("baseline", project, "--out", baseline).status == 2
    wrong = write(project, [{"metric": "impact_ratios", "at_least": 0.8}], name="wrong.yaml")
    assert cli("run", wrong, "--out", project / "wrong", *inline).status == 2
    assert not (project / "wrong" / "results.json").is_file(), "it is told before anything runs"


def test_the_action_runs_as_written(project: Path, tmp_path: Path):
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    [step] = [each for each in action["runs"]["steps"] if "audits run" in each.get("run", "")]
    given = {f"${{{{ inputs.{key} }}}}": each["default"] for key, each in action["inputs"].items()}
    variables = {key: given[value] for key, value in step["env"].items()}
    summary = tmp_path / "summary.md"
    summary.write_text("# Another step's\n")
    ended = shell(step["run"], project, GITHUB_STEP_SUMMARY=str(summary), **variables)
    assert ended.returncode == 1, ended.stderr
    assert re.search(r"^::error file=audit\.yaml,title=audits\[0\]", ended.stdout, flags=re.MULTILINE)
    told = summary.read_text(encoding="utf-8")
    assert told.startswith("# Another step's\n## ")
    stopped = int(ET.parse(project / "audit" / "junit.xml").getroot().get("failures"))
    assert stopped == told.count("| audits\\[0\\].groups.") > 0
    assert (project / "audit" / "report.html").is_file()
    assert not (project / "home" / "evenhand.sqlite").exists()


def test_the_fixture_runs_a_spec_beside_the_test(pytester, project: Path):
    pytester.makepyfile(
        """
        def test_passes(audits):
            assert audits.check("passes.yaml", fail_on={"evidence": 50}).audits

        def test_stops(audits):
            audits.check("passes.yaml")

        """
    )
    (pytester.path / "people.csv").write_bytes((project / "people.csv").read_bytes())
    write(pytester.path, {"evidence": 0}, name="passes.yaml")
    # where the package is installed, or was built (`make wheel`), its entry point brings the plugin already
    known = entry_points(group="pytest11", name="evenhand")
    plugin = () if known else ("-p", "audits.pytest_plugin")
    done = pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider", "--junitxml=j.xml")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*GateFailed: *", "*table[[]sex: *"])
    told, *_ = ET.parse(pytester.path / "j.xml").getroot().findall(".//property[@name='evenhand.groups']")
    assert "people" in told.get("value")
