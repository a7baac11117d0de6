"""The README's examples are run as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the sample data that the README's first command writes there."""
    folder = tmp_path_factory.mktemp("readme")
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("python -m audits")]
    assert len(commands) >= 3
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EVENHAND_HOME": str(folder / "home")}
    for command in commands:
        words = [sys.executable, *command.split("#")[0].split()[1:]]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    return folder


def test_commands_write_what_they_say(folder):
    written = {path.name for path in (folder / "results").iterdir()}
    assert {"results.json", "report.html", "tables"} <= written


@pytest.fixture
def notebook(folder):
    """What a notebook holds before the README's first lines: a fitted model and its table."""
    X = pd.read_csv(folder / "samples" / "hiring.csv")
    read = ["work_years", "hair_length"]
    return {"__name__": "readme", "X": X, "y": X["qualified"], "protected": "gender",
            "model": LogisticRegression().fit(X[read], X["qualified"])}  # fmt: skip


def test_notebook_example_runs(folder, notebook, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    for block in blocks("python"):
        code = block.replace('protected="sex"', 'protected="gender"')
        exec(compile(code, "README", "exec"), dict(notebook))
    assert (folder / "report.html").stat().st_size > 100_000
    assert "of 1,000 female people" in capsys.readouterr().out


def test_spec_in_the_readme_is_the_bundled_one(folder):
    shown = yaml.safe_load(blocks("yaml")[0])
    bundled = yaml.safe_load((folder / "samples" / "hiring.yaml").read_text(encoding="utf-8"))
    for section in ("data", "model"):
        for key, value in shown[section].items():
            assert bundled[section][key] == value, f"{section}.{key}"


def test_picture_is_there():
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), f"README shows {path}, which does not exist"
