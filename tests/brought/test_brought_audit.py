"""An audit that another package brings is everywhere that ours are, and nothing of ours names it."""

from __future__ import annotations

import html
import io
import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import jsonschema
import pypdfium2
import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.widgets import audit_page
from app.widgets.results.result_page import TABS
from app.workspaces.workspace import Workspace, issue_token
from audits.errors import InputError
from audits.options import options_of
from audits.reports.schema import results_schema
from audits.runs import registry
from audits.runs.executors.sandbox import readable_folders
from audits.runs.registry import AUDITS
from audits.stats.badges import ICONS
from tests.app.test_pages import boxes, can_run, figures, prepared
from tests.cli.conftest import Answer, cli  # noqa: F401  (a fixture)
from tests.runs.conftest import make_spec, write_people

ROOT = Path(__file__).resolve().parents[2]
MAIN = str(ROOT / "app" / "main.py")
NAME = "top_scores"


@pytest.fixture
def folder(beside: Path, tmp_path: Path) -> Path:
    """A folder with people and a spec that asks for the audit."""
    write_people(tmp_path / "people.csv")
    options = {"by": ["group"], "best": 0.25, "note": "for <b>tests</b>"}
    spec = make_spec({NAME: options}, gate={"evidence": 0})
    (tmp_path / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folder is kept as the run left it."""
    return tmp_path_factory.mktemp("kept") / "folder"


@pytest.fixture
def ran(folder: Path, kept: Path, cli) -> Path:  # noqa: F811
    """A copy of the folder as one run from the command line left it, which a worker process carried out."""
    if kept.exists():
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        return folder
    answer: Answer = cli("run", folder / "spec.yaml", "--out", folder / "out")
    assert (answer.status, answer.err) == (0, "")
    assert f"1. {NAME}: ● " in answer.out
    shutil.copytree(folder, kept)
    return folder


def entry(folder: Path) -> dict:
    [found] = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))["audits"]
    return found


def test_nothing_of_ours_names_it():
    ours = [*(ROOT / "audits").rglob("*.py"), *(ROOT / "app").rglob("*.py"), *(ROOT / "assets").rglob("*")]
    assert not [path for path in ours if path.is_file() and NAME.encode() in path.read_bytes()]


def test_the_command_line_runs_it_with_all_its_options(ran: Path):
    found = entry(ran)
    assert found["audit"] == NAME
    assert found["verdict"] == "evidence of a difference"
    assert found["interval"]["low"] > 0
    assert found["options"]["best"] == 0.25
    assert found["options"].keys() == {each.name for each in options_of(AUDITS[NAME].options)}
    assert sum(row["n"] for row in found["table"]) == 400
    tables = {path.name for path in (ran / "out" / "tables").iterdir()}
    assert tables == {f"{NAME}-table.csv", f"{NAME}-people.csv"}


@pytest.mark.parametrize(
    ("options", "place", "told"),
    [
        ({"by": ["group"], "best": 1.5}, ".best", "1.5"),
        ({"by": ["group"], "bset": 0.1}, ".bset", "'best'"),
        ({}, ".by", "by"),
        ({"by": ["hours"]}, "", "['group']"),
    ],
)
def test_wrong_options_are_told_as_ours_are(folder: Path, cli, options: dict, place: str, told: str):  # noqa: F811
    spec = make_spec({NAME: options})
    (folder / "wrong.yaml").write_text(json.dumps(spec), encoding="utf-8")
    answer = cli("run", folder / "wrong.yaml", "--out", folder / "out")
    assert answer.status == 2
    assert f"audits[0].{NAME}{place}" in answer.err
    assert told in answer.err


def test_a_fresh_process_finds_it(folder: Path):
    """As whoever has both packages installed: no fixture of this process helps."""
    command = [sys.executable, "-m", "audits"]
    arguments = ["run", str(folder / "spec.yaml"), "--out", str(folder / "own"), "--no-save"]
    done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"1. {NAME}: ● " in done.stdout


def test_results_follow_the_schema_that_holds_its_keys(ran: Path, cli):  # noqa: F811
    document = json.loads((ran / "out" / "results.json").read_text(encoding="utf-8"))
    schema = json.loads(cli("schema").out)
    assert schema == results_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    del document["audits"][0]["table"][0]["share"]["method"]
    with pytest.raises(jsonschema.ValidationError, match="'method'"):
        jsonschema.validate(document, schema)


def test_reports_show_its_finding_figure_table_and_limits(ran: Path, cli):  # noqa: F811
    finding = entry(ran)["finding"]
    page = (ran / "out" / "report.html").read_text(encoding="utf-8")
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
    for text in (finding, AUDITS[NAME].title, AUDITS[NAME].question, AUDITS[NAME].limits, "for <b>tests</b>"):
        assert text in words
    assert "<b>tests</b>" not in page  # escaped, as ours are
    assert page.count('class="figure"') == 1
    assert cli("report", ran / "out", "--format", "pdf").status == 0
    assert cli("report", ran / "out", "--format", "card").status == 0
    pdf = pypdfium2.PdfDocument(ran / "out" / "report.pdf")
    printed = " ".join(" ".join(each.get_textpage().get_text_range() for each in pdf).split())
    assert finding in printed
    assert AUDITS[NAME].title in printed
    assert "people" in (ran / "out" / "model-card.md").read_text(encoding="utf-8")


def test_it_is_kept_shown_and_compared(ran: Path, cli):  # noqa: F811
    other = make_spec({NAME: {"by": ["group"], "best": 0.1}})
    (ran / "other.yaml").write_text(json.dumps(other), encoding="utf-8")
    assert cli("run", ran / "other.yaml", "--out", ran / "second").status == 0
    listed = json.loads(cli("runs", "list", "--audit", NAME, "--json").out)
    assert len(listed) == 2
    second, first = (each["id"] for each in listed)
    assert entry(ran)["finding"] in " ".join(cli("runs", "show", first).out.split())
    changes = json.loads(cli("runs", "compare", first, second, "--json").out)
    moved = [change for change in changes if change["part"] == NAME and change["where"] == "interval"]
    assert moved
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


def page(space: Workspace, **query: str) -> AppTest:
    """Visit the audit's page: AppTest opens pages of scripts only, so this one is called as its page is."""

    def script() -> None:
        from app.widgets.any_audit import any_audit_page

        any_audit_page("top_scores")

    at = AppTest.from_function(script, default_timeout=60)
    at.query_params["w"] = space.token
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def test_its_page_has_a_control_for_every_option(space: Workspace):
    at = page(space)
    assert not at.exception
    assert [title.value for title in at.title] == [AUDITS[NAME].title]
    assert at.multiselect(key=f"with-{NAME}-by").value == ["group"]
    best = at.number_input(key=f"with-{NAME}-best")
    assert (best.value, best.min, best.max) == (0.2, 0.0, 1.0)
    assert best.help
    assert at.selectbox(key=f"with-{NAME}-ties").options == ["in", "out"]
    assert at.number_input(key=f"with-{NAME}-smallest").step == 1
    assert at.toggle(key=f"with-{NAME}-list_people").value is True
    assert at.text_input(key=f"with-{NAME}-note").value == ""
    assert at.text_area(key=f"with-{NAME}-names").value == "{}"
    assert {each.name for each in options_of(AUDITS[NAME].options)} == {
        str(widget.key).rpartition("-")[2]
        for kind in ("multiselect", "number_input", "selectbox", "toggle", "text_input", "text_area")
        for widget in getattr(at, kind)
        if str(widget.key).startswith(f"with-{NAME}-")
    }


def test_its_page_runs_it_and_shows_all_that_the_record_presents(space: Workspace, monkeypatch):
    # a link to another page needs the navigation, which this script is outside of; Chromium has it
    monkeypatch.setattr(audit_page, "_next_look", lambda *_: None)
    at = page(space)
    at.number_input(key=f"with-{NAME}-best").set_value(0.3).run()
    at.text_area(key=f"with-{NAME}-names").set_value("{north: Norð}").run()
    at.button(key="run").click().run()
    record = space.runs()[0]
    assert record["spec"]["audits"] == [{NAME: {"by": ["group"], "best": 0.3, "names": {"north": "Norð"}}}]
    run = jobs.executor().run(record["id"])
    assert run.wait(200)
    at.run()
    assert not at.exception
    finding = at.container(key="finding").text[0].value
    assert "Norð people" in finding
    assert finding == jobs.result(space, record["spec"]).audits[0].result.finding
    at.toggle(key=f"table-{NAME}-shares").set_value(True).run()
    assert any(frame.value.columns[0] == "group" for frame in at.dataframe)
    assert len(figures(at)) == 1
    at.session_state["tab"] = "People"
    people = at.run().selectbox(key="person-people")
    people.select(people.options[0]).run()
    assert not at.exception
    assert any(f"row {people.options[0]}" in frame.value.columns for frame in at.dataframe)
    at.session_state["tab"] = TABS["tested"]
    at.run()
    assert not at.exception
    assert any(AUDITS[NAME].limits in found.value for found in at.markdown)


def test_bad_options_are_told_on_the_page(space: Workspace):
    at = page(space)
    at.text_area(key=f"with-{NAME}-names").set_value("{north: [").run()
    assert any("YAML (line 1)" in said for said in boxes(at))
    at.text_area(key=f"with-{NAME}-names").set_value("[1, 2]").run()
    assert any("top_scores.names" in said for said in boxes(at))
    at.text_area(key=f"with-{NAME}-names").set_value("{}").run()
    at.multiselect(key=f"with-{NAME}-by").set_value([]).run()
    assert not at.exception
    assert len(boxes(at, "note")) == 1
    assert not can_run(at)


def test_the_navigation_the_questions_and_the_saved_runs_lead_to_it(space: Workspace):
    at = AppTest.from_file(MAIN, default_timeout=60)
    at.query_params["w"] = space.token
    at.run()
    links = {link.proto.label: link.proto.page for link in at.get("page_link")}
    assert not at.exception
    title = AUDITS[NAME].title
    assert links[title] == NAME
    draft = space.draft()
    spec = drafts.audit_spec(draft, NAME, {"by": ["group"]})
    assert jobs.submit(space, spec, "Best of all").wait(200)
    assert jobs.submit(space, drafts.audit_spec(draft, "groups", {"by": ["group"]}), "Groups").wait(200)
    result = jobs.result(space, spec).audits[0].result
    judged, finding = result.judged, result.finding
    prepared(at.switch_page("views/glance.py").run())
    assert not at.exception
    card = at.container(key="question-6")
    assert judged.badge_text in card.markdown[1].value
    assert card.get("page_link")[0].proto.page == NAME
    links = {link.proto.label: link.proto.page for link in at.get("page_link")}
    assert links[f"{ICONS[judged.badge]} {title}"] == NAME, "with its badge"
    prepared(at.switch_page("views/saved.py").run())
    assert not at.exception
    at.selectbox(key="of-audit").select(NAME).run()
    assert not at.exception
    assert any(finding in text.value for text in at.text)


def test_confined_processes_read_a_package_that_is_edited_where_it_lies(tmp_path: Path, monkeypatch):
    """``pip install -e`` leaves a package where it is, on no path, and tells where in its facts (PEP 610)."""
    source, facts = tmp_path / "a package", tmp_path / "site" / "evenhand_mine-1.0.dist-info"
    source.mkdir()
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: evenhand-mine\nVersion: 1.0\n")
    (facts / "direct_url.json").write_text(
        json.dumps({"url": source.as_uri(), "dir_info": {"editable": True}})
    )
    monkeypatch.syspath_prepend(facts.parent)
    assert source not in readable_folders()  # it brings us nothing
    (facts / "entry_points.txt").write_text("[evenhand.formats]\nscorecard = mine:FORMAT\n")
    assert source in readable_folders()
