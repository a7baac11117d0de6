"""An audit that another package brings is everywhere that ours are, and nothing of ours names it."""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import jsonschema
import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.widgets import audit_page
from app.widgets.results.result_page import TABS
from app.workspaces.workspace import Workspace, issue_token
from audits.errors import InputError
from audits.options import options_of
from audits.runs import registry
from audits.runs.executors.sandbox import readable_folders
from audits.runs.registry import AUDITS
from audits.stats.badges import ICONS
from tests.app.test_pages import boxes, can_run, figures, prepared, visit
from tests.cli.conftest import cli  # noqa: F401  (a fixture)
from tests.runs.conftest import make_spec, write_people

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "tests" / "example_audit"
NAME = "top_scores"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the import path that holds the package and its entry point, as pip leaves them."""
    folder = tmp_path_factory.mktemp("site")
    facts = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in EXAMPLE.glob("*/"):
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    told = folder / f"evenhand_top_scores-{facts['version']}.dist-info"
    told.mkdir()
    named = f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\n"
    (told / "METADATA").write_text(named)
    [(group, points)] = facts["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (told / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def beside(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have this process and its children find the package; afterwards it is forgotten."""
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    _forget()
    yield site
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    registry._entries.cache_clear()
    registry._plugin_record.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "evenhand_top_scores"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def kept(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people and a spec as one run left it: a fresh process, with both packages installed."""
    folder = tmp_path_factory.mktemp("ran")
    write_people(folder / "people.csv")
    options = {"by": ["group"], "best": 0.25, "note": "for <b>tests</b>"}
    spec = make_spec({NAME: options}, gate={"evidence": 0})
    (folder / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    command = [sys.executable, "-m", "audits", "run", str(folder / "spec.yaml"), "--out", str(folder / "out")]
    found = os.environ | {"PYTHONPATH": str(site), "EVENHAND_HOME": str(folder / "home")}
    done = subprocess.run(command, cwd=ROOT, env=found, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"1. {NAME}: ● " in done.stdout
    return folder


@pytest.fixture
def ran(beside: Path, kept: Path, cli, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    """The folder of the run, whose saved runs the command line finds."""
    monkeypatch.setenv("EVENHAND_HOME", str(kept / "home"))
    return kept


def finding(folder: Path) -> str:
    [found] = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))["audits"]
    return found["finding"]


def test_nothing_of_ours_names_it():
    ours = [*(ROOT / "audits").rglob("*.py"), *(ROOT / "app").rglob("*.py"), *(ROOT / "assets").rglob("*")]
    assert not [path for path in ours if path.is_file() and NAME.encode() in path.read_bytes()]


def test_a_fresh_process_runs_it_with_all_its_options_and_results_follow_the_schema(ran: Path, cli):  # noqa: F811
    document = json.loads((ran / "out" / "results.json").read_text(encoding="utf-8"))
    [found] = document["audits"]
    assert (found["audit"], found["verdict"]) == (NAME, "evidence of a difference")
    assert found["interval"]["low"] > 0
    assert found["options"]["best"] == 0.25
    assert found["options"].keys() == {each.name for each in options_of(AUDITS[NAME].options)}
    assert sum(row["n"] for row in found["table"]) == 400
    tables = {path.name for path in (ran / "out" / "tables").iterdir()}
    assert tables == {f"{NAME}-table.csv", f"{NAME}-people.csv"}
    schema = json.loads(cli("schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    del found["table"][0]["share"]["method"]
    with pytest.raises(jsonschema.ValidationError, match="'method'"):
        jsonschema.validate(document, schema)


def test_reports_show_its_finding_figure_table_and_limits(ran: Path, cli):  # noqa: F811
    page = (ran / "out" / "report.html").read_text(encoding="utf-8")
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
    audit = AUDITS[NAME]
    for text in (finding(ran), audit.title, audit.question, audit.limits, "for <b>tests</b>"):
        assert text in words
    assert "<b>tests</b>" not in page  # escaped, as ours are
    assert page.count('class="figure"') == 1
    assert cli("report", ran / "out", "--format", "card").status == 0
    assert "people" in (ran / "out" / "model-card.md").read_text(encoding="utf-8")


def test_it_is_kept_shown_and_compared(ran: Path, cli):  # noqa: F811
    other = make_spec({NAME: {"by": ["group"], "best": 0.1}})
    (ran / "other.yaml").write_text(json.dumps(other), encoding="utf-8")
    assert cli("run", ran / "other.yaml", "--out", ran / "second", "--executor", "inline").status == 0
    listed = json.loads(cli("runs", "list", "--audit", NAME, "--json").out)
    second, first = (each["id"] for each in listed)
    assert finding(ran) in " ".join(cli("runs", "show", first).out.split())
    changes = json.loads(cli("runs", "compare", first, second, "--json").out)
    moved = [change for change in changes if change["part"] == NAME and change["where"] == "interval"]
    assert moved[0]["overlap"] in {True, False}  # an estimate is compared with its interval


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("gone.record", "ModuleNotFoundError: .*'evenhand_gone'"),
        ("top_scores.audit", "AttributeError: .*'AUDIT'"),
        ("wrong", "TypeError: .*'limits'"),
        ("other", r"audits\.records\.Audit, .*'dict'"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(beside: Path, tmp_path: Path, monkeypatch, module, words):
    (tmp_path / "evenhand_wrong.py").write_text("from audits.records import Audit\nAUDIT = Audit(name='x')")
    (tmp_path / "evenhand_other.py").write_text("AUDIT = {}")
    monkeypatch.syspath_prepend(tmp_path)
    lost = EntryPoint(name=NAME, value=f"evenhand_{module}:AUDIT", group=registry.GROUP)
    monkeypatch.setattr(registry, "_entries", lambda: {NAME: lost})
    with pytest.raises(InputError, match=f"'top_scores' .* {words}"):
        AUDITS[NAME]
    assert AUDITS.meant("banana") is None  # looking through all of them passes it over


@pytest.fixture
def space(beside: Path, own_worker: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with people, whose worker finds the package."""
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "home"))
    made = Workspace(issue_token())
    write_people(tmp_path / "people.csv")
    path = made.add_file("people.csv", io.BytesIO((tmp_path / "people.csv").read_bytes()))
    data = {"label": "paid", "favorable": 1, "protected": ["group"], "features": ["skill", "hours"]}
    made.save_draft(drafts.with_data(drafts.from_files([path], "upload"), **data))
    return made


def page(space: Workspace) -> AppTest:
    """Visit the audit's page: AppTest opens pages of scripts only, so this one is called as its page is."""

    def script() -> None:
        from app.widgets.any_audit import any_audit_page

        any_audit_page("top_scores")

    at = AppTest.from_function(script, default_timeout=60)
    at.query_params["w"] = space.token
    return at.run()


def test_its_page_has_a_control_for_every_option_and_tells_bad_ones(space: Workspace):
    at = page(space)
    assert not at.exception
    assert [title.value for title in at.title] == [AUDITS[NAME].title]
    key = f"with-{NAME}-"
    assert at.multiselect(key=f"{key}by").value == ["group"]
    best = at.number_input(key=f"{key}best")
    assert 0 < best.min < 1e-3 < best.value == 0.2 < 0.999 < best.max < 1, best.help
    assert at.selectbox(key=f"{key}ties").options == ["in", "out"]
    assert at.toggle(key=f"{key}list_people").value is True
    assert at.text_area(key=f"{key}names").value == "{}"
    kinds = ("multiselect", "number_input", "selectbox", "toggle", "text_input", "text_area")
    keys = {str(widget.key) for kind in kinds for widget in getattr(at, kind)}
    assert {key + each.name for each in options_of(AUDITS[NAME].options)} <= keys
    for names, told in (("{north: [", "YAML (line 1)"), ("[1, 2]", "top_scores.names")):
        at.text_area(key=f"{key}names").set_value(names).run()
        assert any(told in said for said in boxes(at))
    at.text_area(key=f"{key}names").set_value("{}").run()
    at.multiselect(key=f"{key}by").set_value([]).run()
    assert not at.exception
    assert len(boxes(at, "note")) == 1
    assert not can_run(at)


def test_its_page_runs_it_and_the_other_pages_lead_to_what_was_found(space: Workspace, monkeypatch):
    # a link to another page needs the navigation, which this script is outside of; Chromium has it
    monkeypatch.setattr(audit_page, "_next_look", lambda *_: None)
    assert not visit(space).exception  # which takes up the scores of the file
    at = page(space)
    at.number_input(key=f"with-{NAME}-best").set_value(0.3).run()
    at.text_area(key=f"with-{NAME}-names").set_value("{north: Norð}").run()
    at.button(key="run").click().run()
    record = space.runs()[0]
    assert record["spec"]["audits"] == [{NAME: {"by": ["group"], "best": 0.3, "names": {"north": "Norð"}}}]
    assert jobs.executor().run(record["id"]).wait(200)
    at.run()
    assert not at.exception
    result = jobs.result(space, record["spec"]).audits[0].result
    assert at.container(key="finding").text[0].value == result.finding
    assert "Norð people" in result.finding
    at.toggle(key=f"table-{NAME}-shares").set_value(True).run()
    assert any(frame.value.columns[0] == "group" for frame in at.dataframe)
    assert len(figures(at)) == 1
    at.session_state["tab"] = "People"
    people = at.run().selectbox(key="person-people")
    people.select(people.options[0]).run()
    assert any(f"row {people.options[0]}" in frame.value.columns for frame in at.dataframe)
    at.session_state["tab"] = TABS["tested"]
    assert any(AUDITS[NAME].limits in found.value for found in at.run().markdown)
    assert not at.exception

    at = visit(space)
    prepared(at.switch_page("views/glance.py").run())
    badge, title = result.judged.badge, AUDITS[NAME].title
    assert result.judged.badge_text in at.container(key="question-6").markdown[1].value
    links = {link.proto.label: link.proto.page for link in at.get("page_link")}
    assert links[f"{ICONS[badge]} {title}"] == NAME, "with its badge"
    prepared(at.switch_page("views/saved.py").run())
    assert any(result.finding in text.value for text in at.text)
    assert not at.exception


def test_confined_processes_read_a_package_that_is_edited_where_it_lies(tmp_path: Path, monkeypatch):
    """``pip install -e`` leaves a package where it is, on no path, and tells where in its facts (PEP 610)."""
    source, facts = tmp_path / "a package", tmp_path / "site" / "evenhand_mine-1.0.dist-info"
    source.mkdir()
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: evenhand-mine\nVersion: 1.0\n")
    lies = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (facts / "direct_url.json").write_text(json.dumps(lies))
    monkeypatch.syspath_prepend(facts.parent)
    assert source not in readable_folders()  # it brings us nothing
    (facts / "entry_points.txt").write_text("[evenhand.formats]\nscorecard = mine:FORMAT\n")
    assert source in readable_folders()
