"""What README and docs show is run: Python as written, commands by their arguments, specs by their keys."""

from __future__ import annotations

import re
import shlex
import signal
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from audits.cli.main import main
from audits.runs.documents import load_document
from audits.runs.spec import parse_spec
from tests.cli.conftest import parsed

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
ELSEWHERE = {
    "models.md": "tests/test_recipes.py",
    "gate.md": "tests/cli/test_gate.py",
    "connect.md": "tests/test_connect.py",
    "fairlearn.md": "tests/test_connect.py",
    "aif360.md": "tests/test_connect.py",
    "aequitas.md": "tests/test_connect.py",
}
"""Pages whose Python another test runs."""


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(
        rf"```{language}(?: [\w.-]+)?\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL
    )


def commands(path: Path) -> list[str]:
    lines = [line.split(" #")[0].strip() for block in blocks(path, "bash") for line in block.splitlines()]
    return [line for line in lines if line.startswith("evenhand ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with what the README's commands write, of 200 people."""
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("EVENHAND_HOME", str(folder / "home"))
        patch.setenv("EVENHAND_EXECUTOR", "inline")
        patch.setattr(signal, "signal", lambda *_: None)  # the tests' own handlers stay
        samples, run = commands(README)
        assert main(shlex.split(samples)[1:]) == 0
        table = Path("samples", "hiring.csv")
        pd.read_csv(table).groupby("gender").head(100).to_csv(table, index=False)
        assert main(shlex.split(run)[1:]) == 0
    return folder


def test_commands_write_what_they_say(folder):
    written = {path.name for path in (folder / "results").iterdir()}
    assert {"results.json", "report.html", "tables"} <= written


def test_python_runs_as_written(folder, capsys, monkeypatch):
    """With what a notebook holds before: a fitted model and its table."""
    path = ROOT / "docs" / "notebook.md"
    assert blocks(README, "python") == blocks(path, "python")[:1]
    monkeypatch.chdir(folder)
    X = pd.read_csv(folder / "samples" / "hiring.csv").rename(columns={"gender": "sex"})
    read = ["work_years", "hair_length"]
    names = {"__name__": "shown", "X": X, "y": X["qualified"],
             "model": LogisticRegression().fit(X[read], X["qualified"])}  # fmt: skip
    for block in blocks(path, "python"):
        exec(compile(block, path.name, "exec"), dict(names))
    assert (folder / "report.html").stat().st_size > 100_000
    assert "100 female people" in capsys.readouterr().out


@pytest.mark.parametrize("path", [README, *DOCS], ids=lambda path: path.name)
def test_every_command_is_one_and_every_spec_is_valid(path: Path, tmp_path: Path):
    for command in commands(path):
        parsed(*shlex.split(command)[1:])
    for place, block in enumerate(blocks(path, "yaml")):
        (tmp_path / f"{place}.yaml").write_text(block, encoding="utf-8")
        found = load_document(tmp_path / f"{place}.yaml")
        if "data" in found:
            parse_spec(found, tmp_path)
    shown = blocks(path, "python")
    run = path.name in {"README.md", "notebook.md", *ELSEWHERE}
    assert run or not shown, f"no test runs the Python of {path.name}"
