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

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from audits.errors import how_to_install
from audits.runs.version import VERSION
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of a copy of the tracked files, so that nothing else that lies about gets in."""
    folder = tmp_path_factory.mktemp("wheel")
    source, dist = folder / "source", folder / "dist"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, files.stdout.split("\0")):
        if name.startswith(("tests/", "benchmarks/", "docs/", "examples/")) or not (ROOT / name).is_file():
            continue
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
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    (site / "sitecustomize.py").write_text(ABSENT)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)
    return folder


def evenhand(
    env: Path, folder: Path, *arguments: object, **settings: str
) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "EVENHAND_HOME": str(folder / "home")}
    return subprocess.run(
        [env / "bin" / "evenhand", *map(str, arguments)],
        cwd=folder,
        env=variables | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def samples(env: Path, tmp_path_factory) -> Path:
    """The examples of hiring and loans, as the command writes them."""
    folder = tmp_path_factory.mktemp("samples")
    for name in ("hiring", "loans"):
        assert evenhand(env, folder, "sample-data", name, "--out", ".").returncode == 0
    return folder


@pytest.fixture
def with_samples(samples: Path, tmp_path: Path) -> None:
    """A folder that holds them."""
    shutil.copytree(samples, tmp_path, dirs_exist_ok=True)


def test_it_holds_all_that_is_needed_and_no_package_of_another_name(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.split("/")[0] for name in names} == {
        "audits",
        "evenhand",
        f"evenhand-{VERSION}.dist-info",
    }
    tracked = subprocess.run(
        ["git", "ls-files", "audits", "app", "assets", "sample_data"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    expected = {
        name if name.startswith("audits/") else f"audits/pages/{name}"
        for name in tracked
        if (ROOT / name).is_file()
    }
    assert expected <= names, f"left out: {sorted(expected - names)}"
    assert {
        f"evenhand-{VERSION}.dist-info/licenses/LICENSE",
        "audits/pages/site/audits/flipset.html",
    } <= names
    assert not [name for name in names if name.endswith((".map", "plotly.js")) or "lunr" in name]


def test_an_index_shows_the_readme_with_links_that_hold_there(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        told = archive.read(f"evenhand-{VERSION}.dist-info/METADATA").decode()
    links = re.findall(r"\]\(([^)]+)\)", told)
    home = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
    places = [link.removeprefix(f"{home}/blob/main/").removeprefix(f"{home}/raw/main/") for link in links]
    assert len(links) > 10
    assert not [place for place in places if not (ROOT / place).is_file()]
    assert all(link.startswith(home) for link in links)


def test_its_version_is_the_one_number(env: Path, tmp_path: Path):
    assert evenhand(env, tmp_path, "--version").stdout == f"evenhand {VERSION}\n"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]


def test_the_tutorial_followed_literally(env: Path, tmp_path: Path):
    """Every command and file in its order, with what `standard` brings and nothing else."""
    said = {}
    for language, name, block in re.findall(r"```(bash|yaml) ?(\S*)\n(.*?)```", TUTORIAL, flags=re.DOTALL):
        if name:
            (tmp_path / name).write_text(block, encoding="utf-8")
        for command in block.splitlines() if language == "bash" else ():
            done = evenhand(env, tmp_path, *shlex.split(command)[1:])
            # --fail-on is the one whose answer may be 1
            assert done.returncode <= ("--fail-on" in command), f"{command}\n{done.stderr}"
            said[command] = done.stdout
    assert "2,000" in said["evenhand describe hiring.csv"]
    document = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    assert document["evenhand"] == VERSION
    finding = document["audits"][0]["finding"]
    assert finding in " ".join(said["evenhand run hiring.yaml --out results"].split())
    assert (tmp_path / "results" / "report.html").stat().st_size > 1_000_000  # it opens offline
    assert (tmp_path / "gate" / "summary.md").read_text(encoding="utf-8").startswith("## ")
    assert json.loads((tmp_path / "baseline.json").read_text(encoding="utf-8"))["audits"]
    assert evenhand(env, tmp_path, "runs", "list").stdout.count("done") == 2


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("app",), "app"),
        (("run", "network.yaml", "--executor", "inline"), "neural"),
    ],
)
@pytest.mark.usefixtures("with_samples")
def test_what_needs_an_extra_says_which(env: Path, tmp_path: Path, arguments: tuple[str, ...], extra: str):
    spec = (tmp_path / "hiring.yaml").read_text(encoding="utf-8")
    (tmp_path / "quick.yaml").write_text(re.sub(r"audits:(.|\n)*", "audits: [{groups: {}}]\n", spec))
    network = re.sub(
        r"model:(.|\n)*?\n(?=\w)", "model: {train: mlp}\n", (tmp_path / "quick.yaml").read_text()
    )
    (tmp_path / "network.yaml").write_text(network)
    answer = evenhand(env, tmp_path, *arguments)
    assert answer.returncode != 0
    assert f"pip install 'evenhand[{extra}]'" in answer.stderr
    assert "Traceback" not in answer.stderr


STORED = """
data: {path: loans.csv, label: repaid, favorable: 1, protected: [sex], features: [age]}
model: {predictions: {score: model_score}}
audits: [groups, rule_sets, {explain: {source: {sex: female}, target: {sex: male}, explainers: [age]}}]
gate: {material: 1, rules: [{metric: impact_ratio, by: sex, at_least: 0.5, on: upper}]}
"""


def test_the_core_alone_audits_stored_decisions_and_says_what_it_leaves_out(env: Path, tmp_path: Path):
    def core(*arguments: object) -> subprocess.CompletedProcess[str]:
        return evenhand(env, tmp_path, *arguments, CORE_ALONE="1")

    assert core("sample-data", "loans", "--out", ".").returncode == 0
    (tmp_path / "stored.yaml").write_text(STORED, encoding="utf-8")
    ended = core("run", "stored.yaml", "--out", "gate", "--fail-on", "gate", "--junit", "gate/junit.xml")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "gate" / "report.html").stat().st_size > 1_000_000
    guessed = core("run", "loans.csv", "--out", "guessed")
    assert guessed.returncode == 0, guessed.stderr
    assert all(each in guessed.stderr for each in ("'flipset'", "'outcome_transport'", "POT"))
    document = json.loads((tmp_path / "guessed" / "results.json").read_text(encoding="utf-8"))
    assert [each["audit"] for each in document["audits"]] == ["groups", "rule_sets"]
    assert "groups" in json.loads(core("describe", "loans.csv", "--json").stdout)["audits"]["model"]
    table = (tmp_path / "loans.csv").read_text(encoding="utf-8")
    (tmp_path / "no one's.csv").write_text(table.replace("model_score", "figure", 1), encoding="utf-8")
    begun = core("init", "no one's.csv")
    assert "'repaid'" in begun.stdout
    typed = shlex.split(begun.stdout.rpartition(": evenhand ")[2])
    assert core(*typed, "--executor", "inline", "--no-save").returncode == 0


@pytest.mark.parametrize(
    ("model", "audit", "package", "extra"),
    [
        ("{predictions: {score: model_score}}", "barycenter", "POT", "transport"),
        ("{path: loans.onnx}", "groups", "onnx", "onnx"),
        ("{train: logistic}", "groups", "scikit-learn", "train"),
    ],
)
@pytest.mark.usefixtures("with_samples")
def test_what_the_core_lacks_is_told_before_anything_is_computed(
    env: Path, tmp_path: Path, model: str, audit: str, package: str, extra: str
):
    spec = re.sub(r"model:.*", f"model: {model}", STORED.split("audits:")[0]) + f"audits: [{audit}]\n"
    (tmp_path / "spec.yaml").write_text(spec, encoding="utf-8")
    answer = evenhand(env, tmp_path, "run", "spec.yaml", CORE_ALONE="1")
    assert answer.returncode == 2
    needs = f"needs {package}, which is not installed here; install it with: pip install 'evenhand[{extra}]'."
    assert needs in answer.stderr


CALLED = """
import importlib
from audits.data import DataSpec, build_data, read_table
from audits.errors import InputError
from audits.models import ModelSpec, make_subject
from audits.runs.registry import AUDITS

needing = [(name, {}, None) for name, record in AUDITS.items() if record.lacks]
if not AUDITS["flipset"].lacks:
    features = ("work_years", "hair_length")
    told = DataSpec(label="qualified", favorable=1, protected=("gender",), features=features)
    data = build_data(read_table("hiring.csv"), told).take(range(0, 2000, 20))
    subject = make_subject(data, ModelSpec(path="hiring.onnx"))
    sides = {"source": {"gender": "female"}, "target": {"gender": "male"}}
    needing.append(("flipset", sides | {"transport": "neural"}, subject))
    needing.append(("recourse", {"actionable": ("work_years",), "interpolation": "literal"}, subject))
for name, chosen, subject in needing:
    options = AUDITS[name].options(**chosen) if subject else None
    try:
        getattr(importlib.import_module(f"audits.{name}"), name)(subject, options)
    except InputError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        (
            {"CORE_ALONE": "1"},
            {
                "flipset": "POT",
                "barycenter": "POT",
                "outcome_transport": "POT",
                "mitigation": "scikit-learn",
                "loss_ratio": "torch",
                "sensitivity": "torch",
            },
        ),
        (
            {},
            {
                "loss_ratio": "torch",
                "sensitivity": "torch",
                "flipset": "torch",  # only its neural maps
                "recourse": "torch",  # only its literal steps
            },
        ),
    ],
)
@pytest.mark.usefixtures("with_samples")
def test_an_audit_called_from_python_says_what_it_lacks(
    env: Path, tmp_path: Path, settings: dict[str, str], needs: dict[str, str]
):
    python = [env / "bin" / "python", "-c", CALLED]
    ended = subprocess.run(
        python, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    extras = {"POT": "transport", "scikit-learn": "train", "torch": "neural"}
    assert set(ended.stdout.splitlines()) == {
        f"{name} needs {package}, which is not installed here; "
        f"install it with: pip install 'evenhand[{extras[package]}]'."
        for name, package in needs.items()
    }


def test_the_pages_are_served_from_the_wheel(env: Path, tmp_path: Path):
    port = free_port()
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "EVENHAND_HOME": str(tmp_path / "home")}
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [env / "bin" / "evenhand", "app", "--port", str(port)],
            cwd=tmp_path,
            env=variables | {"WITH_EXTRAS": "1"},
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


def test_every_extra_is_in_all_of_them_and_told_of():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = extras["optional-dependencies"]

    def brought(name: str) -> set[str]:
        inside = [each for item in extras[name] if (each := Requirement(item)).name == "evenhand"]
        return {name}.union(*(brought(extra) for each in inside for extra in each.extras))

    assert brought("all") == set(extras)
    told = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert not [name for name in extras if f"`{name}`" not in told]
    packages = {
        "transport": "ot",
        "onnx": "onnxruntime",
        "train": "sklearn",
        "boosters": "xgboost",
        "large": "duckdb",
        "saved": "sqlalchemy",
    }
    for name, package in packages.items():
        assert how_to_install(package) == f"install it with: pip install 'evenhand[{name}]'"
