"""The command line in this process, and a small project folder to use it on."""

from __future__ import annotations

import signal
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from audits.cli.commands import app
from audits.cli.main import main
from audits.runs.documents import dump_yaml
from tests.runs.conftest import write_people

PEOPLE = 240


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str


@pytest.fixture
def cli(capfd, monkeypatch, tmp_path):
    """Run a command as a terminal would; returns exit status, standard output and standard error."""
    handlers = {name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "home"))

    def run(*arguments: object) -> Answer:
        capfd.readouterr()
        with warnings.catch_warnings():
            status = main([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return Answer(status, said.out, said.err)

    yield run
    for name, handler in handlers.items():
        signal.signal(name, handler)


@pytest.fixture
def project(tmp_path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return make_project(folder)


def make_project(folder: Path) -> Path:
    """Put people.csv (two groups, a label, a stored score) and spec.yaml on it into a folder."""
    write_people(folder / "people.csv", n=PEOPLE)
    write_spec(folder)
    return folder


def write_spec(folder: Path, name: str = "spec.yaml", **changes: Any) -> Path:
    """Write a spec on people.csv; ``data=`` changes keys of its data section, others whole sections."""
    data = {"path": "people.csv", "label": "paid", "favorable": 1, "protected": ["group"]}
    data |= {"features": ["skill", "hours"], **changes.pop("data", {})}
    source, target = changes.pop("source", {"group": "south"}), changes.pop("target", {"group": "north"})
    flipset = {"source": source, "target": target, "permutations": 19, "bootstrap": 100}
    spec = {"data": data, "model": {"predictions": {"score": "score"}}, "audits": [{"flipset": flipset}]}
    spec |= changes
    path = folder / name
    path.write_text(dump_yaml(spec), encoding="utf-8")
    return path


def parsed(*arguments: str) -> dict[str, Any]:
    """Parse a command without carrying it out; fails where there is no such command or option."""
    context = typer.main.get_command(app).make_context("evenhand", list(arguments))
    while isinstance(context.command, typer.core.TyperGroup):
        _, command, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(command.name, rest, parent=context)
    return context.params
