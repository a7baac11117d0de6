"""Every kind of bad input gives exit status 2 and one sentence that says what to do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from audits.data.public import PUBLIC, public_section
from audits.data.samples import write_samples
from tests.cli.conftest import write_spec
from tests.runs.conftest import read_spec

ROOT = Path(__file__).resolve().parents[2]


def refused(answer, where: str, *tells: object) -> None:
    """Check status, one line on standard error, nothing on standard output; the place, names and numbers."""
    assert answer.status == 2, answer.err
    assert answer.out == ""
    assert answer.err.startswith(f"evenhand: {where}"), answer.err
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    for each in tells:
        assert str(each) in answer.err, answer.err


def run(cli, spec: Path, *more: object):
    return cli("run", spec, "--out", spec.parent / "out", "--executor", "inline", *more)


def test_an_onnx_file_that_gives_nan(cli, tmp_path):
    write_samples("hiring", tmp_path)
    text = (tmp_path / "hiring.csv").read_text().splitlines()
    cells = text[5].split(",")
    cells[text[0].split(",").index("hair_length")] = ""
    text[5] = ",".join(cells)
    (tmp_path / "hiring.csv").write_text("\n".join(text) + "\n")
    refused(run(cli, tmp_path / "hiring.yaml"), "", "hiring.onnx", "1 of 2,000", "NaN", "row 5")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"tresholds": 0.5}, ("tresholds", "'threshold'")),
        ({"data": {"favorable": 7}}, ("data.favorable", "7", "0", "1")),
        ({"source": {"group": "nort"}}, ("audits[0].flipset", "'nort'", "'north'")),
    ],
)
def test_wrong_specs(cli, project, changes, told):
    refused(run(cli, write_spec(project, **changes)), *told)


def test_control_characters_from_data_do_not_reach_the_terminal(cli, project):
    answer = run(cli, write_spec(project, data={"label": "\x1b[31mred\x07"}))
    assert answer.status == 2
    assert not {"\x1b", "\x07"} & set(answer.err)


def test_results_folders_that_are_not_ours(cli, project):
    spec = project / "spec.yaml"
    other = project / "other"
    other.mkdir()
    (other / "thesis.docx").write_text("do not lose")
    for out in (other, spec, spec / "below"):
        refused(cli("run", spec, "--out", out), "--out")
    assert [path.name for path in other.iterdir()] == ["thesis.docx"]


def test_wrong_arguments(cli):
    for arguments in ("", "runn", "run", "run a.yaml --executor moon", "run a.yaml --fail-on x"):
        answer = cli(*arguments.split())
        assert (answer.status, answer.out) == (2, "")
        assert "python -m audits" in answer.err


def test_describe_and_sample_data_refuse_in_the_same_way(cli, project, tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    refused(cli("describe", tmp_path / "empty.csv"), "empty.csv")
    refused(cli("sample-data", "hirring", "--out", tmp_path / "s"), "", "'hiring'")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "hiring.csv").write_text("mine")
    refused(cli("sample-data", "hiring", "--out", tmp_path / "taken"), "", "hiring.csv")
    assert (tmp_path / "taken" / "hiring.csv").read_text() == "mine"


def test_a_python_without_the_packages_is_one_sentence():
    command = [sys.executable, "-S", "-m", "audits", "describe", "people.csv"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.search(rf"^evenhand: .*{re.escape(sys.executable)}.*'\w+'", ended.stderr)
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("name", PUBLIC)
def test_a_spec_is_written_where_the_files_are_and_refused_where_not(cli, tmp_path: Path, name: str):
    out = tmp_path / "spec.yaml"
    lacking = cli("data", name, "--from", tmp_path, "--out", out)
    refused(lacking, "--from")
    path = public_section(name, "")["path"]
    for each in path if isinstance(path, list) else [path]:
        (tmp_path / each).write_text("x\n", encoding="utf-8")
        assert each in lacking.err
    assert cli("data", name, "--from", tmp_path, "--out", out).status == 0
    assert read_spec(out).data.protected
    refused(cli("data", name, "--from", tmp_path, "--out", out), "--out")
