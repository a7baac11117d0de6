"""The wheel, installed where there is no checkout and none of the extras: what people get from the index."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from audits.runs.version import VERSION
from tests.cli.conftest import parsed
from tests.free_port import free_port

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
EXTRAS = {"torch", "streamlit", "fairlearn", "psycopg", "starlette", "uvicorn", "safetensors"}
STANDARD = {"ot", "onnx", "onnxruntime", "sklearn", "duckdb", "sqlalchemy"}
ABSENT = f"""
import os, sys
GONE = {EXTRAS!r} | ({STANDARD!r} if os.environ.get("CORE_ALONE") else set())

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

if not os.environ.get("WITH_EXTRAS"):
    sys.meta_path.insert(0, Absent())
"""


def tracked(*places: str) -> list[str]:
    files = subprocess.run(["git", "ls-files", "-z", *places], cwd=ROOT, capture_output=True, check=True)
    names = files.stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of a copy of the tracked files, so that nothing else that lies about gets in."""
    folder = tmp_path_factory.mktemp("wheel")
    source, dist = folder / "source", folder / "dist"
    for name in tracked(":!tests", ":!benchmarks", ":!docs", ":!examples"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    (source / "site" / "audits").mkdir(parents=True)  # as `make docs` leaves it
    (source / "site" / "audits" / "flipset.html").write_text("<h1>Flipsets</h1>")
    (source / "site" / "audits" / "flipset.js.map").write_text("{}")
    for left_out in ("scripts/plotly.js", "assets/javascripts/lunr/min/lunr.th.min.js"):
        (source / "site" / left_out).parent.mkdir(parents=True)
        (source / "site" / left_out).write_text("//")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", dist, source], check=True)
    [made] = dist.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def env(wheel: Path, tmp_path_factory) -> Path:
    """An environment with the wheel, its dependencies from ours, and the extras missing."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    [site] = (folder / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    (site / "sitecustomize.py").write_text(ABSENT)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)
    return folder


EACH = """
import io, json, sys
from audits.cli.main import main

done = []
for command in json.loads(sys.argv[1]):
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "oe")
    status = exec(command[1], {}) or 0 if command[0] == "python" else main(command)
    done.append([status, *(each.buffer.getvalue().decode() for each in (sys.stdout, sys.stderr))])
sys.__stdout__.write(json.dumps(done))
"""


class Done(NamedTuple):
    """What a command of the environment answered."""

    status: int
    out: str
    err: str


def variables(folder: Path, **settings: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "EVENHAND_HOME": str(folder / "home"), **settings}


def evenhand(env: Path, folder: Path, *commands: str | list[str], **settings: str) -> list[Done]:
    """Carry out commands one after another, as typed but in one process; ``["python", code]`` runs code."""
    given = [shlex.split(each) if isinstance(each, str) else each for each in commands]
    ended = subprocess.run(
        [env / "bin" / "python", "-c", EACH, json.dumps(given)],
        cwd=folder,
        env=variables(folder, EVENHAND_EXECUTOR="inline", **settings),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [Done(*each) for each in json.loads(ended.stdout)]


def test_it_holds_all_that_is_needed_and_no_package_of_another_name(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = f"evenhand-{VERSION}.dist-info"
    assert {name.split("/")[0] for name in names} == {"audits", "evenhand", about}
    expected = {
        name if name.startswith("audits/") else f"audits/pages/{name}"
        for name in tracked("audits", "app", "assets", "sample_data")
    }
    assert expected <= names, f"left out: {sorted(expected - names)}"
    assert {f"{about}/licenses/LICENSE", "audits/pages/site/audits/flipset.html"} <= names
    assert not [name for name in names if name.endswith((".map", "plotly.js")) or "lunr" in name]


QUICKER = """
from pathlib import Path
spec = Path("hiring.yaml")
spec.write_text(spec.read_text().replace("l1_squared", "l1_squared, permutations: 0"))
"""


def test_the_tutorial_followed_literally(env: Path, tmp_path: Path):
    """Every command and file in its order, with what `standard` brings alone; permutations are left out."""
    commands = []
    for language, name, block in re.findall(r"```(bash|yaml) ?(\S*)\n(.*?)```", TUTORIAL, flags=re.DOTALL):
        if name:
            (tmp_path / name).write_text(block, encoding="utf-8")
        commands += block.splitlines() if language == "bash" else []
    typed: list[str | list[str]] = [each.removeprefix("evenhand ") for each in commands]
    _, *done = evenhand(env, tmp_path, typed[0], ["python", QUICKER], *typed[1:])
    said = dict(zip(commands[1:], done[1:], strict=True))
    for command, each in said.items():
        # --fail-on is the one whose answer may be 1
        assert each.status <= ("--fail-on" in command), f"{command}\n{each.err}"
    assert "2,000" in said["evenhand describe hiring.csv"].out
    document = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    assert document["evenhand"] == VERSION
    finding = document["audits"][0]["finding"]
    assert finding in " ".join(said["evenhand run hiring.yaml --out results"].out.split())
    assert (tmp_path / "results" / "report.html").stat().st_size > 1_000_000  # it opens offline
    assert (tmp_path / "gate" / "summary.md").read_text(encoding="utf-8").startswith("## ")
    assert json.loads((tmp_path / "baseline.json").read_text(encoding="utf-8"))["audits"]


CALLED = """
import importlib
from audits.errors import InputError
from audits.runs.registry import AUDITS

for name in [name for name, record in AUDITS.items() if record.lacks]:
    try:
        getattr(importlib.import_module(f"audits.{name}"), name)(None, None)
    except InputError as error:
        print(error)
"""

DATA = "data: {path: all.csv, label: repaid, favorable: 1, protected: [sex], features: [age]}\n"
STORED = """model: {predictions: {score: model_score}}
audits: [groups, {explain: {source: {sex: female}, target: {sex: male}, explainers: [age]}}]
gate: {material: 1, rules: [{metric: impact_ratio, by: sex, at_least: 0.5, on: upper}]}
"""
LACKING = {
    "{predictions: {score: model_score}}": ("barycenter", "POT", "transport"),
    "{path: loans.onnx}": ("groups", "onnx", "onnx"),
    "{train: logistic}": ("groups", "scikit-learn", "train"),
    "{train: mlp}": ("groups", "torch", "neural"),
}
"""A model: an audit of it, and the package and the extra that are lacking where the core is alone."""


def test_the_core_alone_audits_stored_decisions_and_says_what_it_leaves_out(env: Path, tmp_path: Path):
    (tmp_path / "stored.yaml").write_text(DATA + STORED, encoding="utf-8")
    for place, (model, (audit, *_)) in enumerate(LACKING.items()):
        (tmp_path / f"{place}.yaml").write_text(
            f"{DATA}model: {model}\naudits: [{audit}]\n", encoding="utf-8"
        )
    shutil.copy(ROOT / "sample_data" / "loans.onnx", tmp_path)
    rows = (ROOT / "sample_data" / "loans.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    table = "".join(rows[:300])
    (tmp_path / "loans.csv").write_text(table, encoding="utf-8")
    (tmp_path / "all.csv").write_text("".join(rows[:3000]), encoding="utf-8")
    (tmp_path / "no one's.csv").write_text(table.replace("model_score", "figure", 1), encoding="utf-8")
    ended, guessed, described, begun, *refused, pages, called = evenhand(
        env,
        tmp_path,
        "run stored.yaml --out gate --fail-on gate --junit gate/junit.xml",
        "run loans.csv --out guessed",
        "describe loans.csv --json",
        ["init", "no one's.csv"],
        *(f"run {place}.yaml" for place in range(len(LACKING))),
        "app",
        ["python", CALLED],
        CORE_ALONE="1",
    )
    assert [each.status for each in (ended, guessed, described, called)] == [0] * 4, ended.err
    assert (tmp_path / "gate" / "report.html").stat().st_size > 1_000_000
    assert all(each in guessed.err for each in ("'flipset'", "'outcome_transport'", "POT"))
    document = json.loads((tmp_path / "guessed" / "results.json").read_text(encoding="utf-8"))
    assert [each["audit"] for each in document["audits"]] == ["groups", "rule_sets"]
    assert "groups" in json.loads(described.out)["audits"]["model"]
    assert "'repaid'" in begun.out
    typed = begun.out.rpartition(": python -m audits ")[2]
    assert parsed(*shlex.split(typed)), "what it says to type is a command"
    for answer, (_, package, extra) in zip(refused, LACKING.values(), strict=True):
        assert answer.status == 2
        assert needs(package, extra) in answer.err
    assert pages.status == 2
    assert "pip install 'evenhand[app]'" in pages.err
    lacking = dict.fromkeys(("flipset", "barycenter", "outcome_transport"), needs("POT", "transport"))
    lacking |= {"mitigation": needs("scikit-learn", "train")}
    lacking |= dict.fromkeys(("loss_ratio", "sensitivity"), needs("torch", "neural"))
    assert set(called.out.splitlines()) == {f"{name} {told}." for name, told in lacking.items()}


def needs(package: str, extra: str) -> str:
    return f"needs {package}, which is not installed here; install it with: pip install 'evenhand[{extra}]'"


def test_the_pages_are_served_from_the_wheel(env: Path, tmp_path: Path):
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [env / "bin" / "evenhand", "app", "--port", str(port)],
            cwd=tmp_path,
            env=variables(tmp_path, WITH_EXTRAS="1"),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        health = _answer(f"http://127.0.0.1:{port}/api/v1/health", server, tmp_path / "log")
        assert json.loads(health)["status"] == "ok"
        assert b"<title>" in _answer(f"http://127.0.0.1:{port}/", server, tmp_path / "log")
        documented = _answer(f"http://127.0.0.1:{port}/docs/audits/flipset.html", server, tmp_path / "log")
        assert documented == b"<h1>Flipsets</h1>"
        script = _answer(f"http://127.0.0.1:{port}/docs/scripts/plotly.js", server, tmp_path / "log")
        assert b"plotly.js v" in script[:200]
        # the container's health check, as written, once it is up and once it is not
        written = re.search(
            r"HEALTHCHECK .*CMD (\[.*\])", (ROOT / "Containerfile").read_text(encoding="utf-8")
        )
        code = json.loads(written[1])[-1].replace(":8501/", f":{port}/")
        check = [env / "bin" / "python", "-c", code]
        assert subprocess.run(check, capture_output=True, timeout=30, check=False).returncode == 0
    finally:
        server.terminate()
        assert server.wait(30) == 0, "it was asked to end, and did"
    assert "cancelled" not in (tmp_path / "log").read_text(encoding="utf-8")
    assert subprocess.run(check, capture_output=True, timeout=30, check=False).returncode != 0


def _answer(url: str, server: subprocess.Popen, log: Path) -> bytes:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())


def test_ranges_and_pinned_versions_name_the_same_packages_and_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [
        *project["dependencies"],
        *(item for items in project["optional-dependencies"].values() for item in items),
    ]
    named = [each for each in map(Requirement, listed) if each.name != "evenhand"]  # extras of extras
    ranges = {canonicalize_name(each.name): each.specifier for each in named}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line.split("#")[0]) for line in lines if line.split("#")[0].strip()]
    pinned = {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in pins}
    assert ranges.keys() == pinned.keys()
    assert not [name for name, version in pinned.items() if version not in ranges[name]]
