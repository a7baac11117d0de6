"""Every audit in every kind of report: the same numbers, nothing that runs, nothing left out in silence."""

from __future__ import annotations

import dataclasses
import html
import json
import math
import re
from pathlib import Path

import jsonschema
import pypdfium2
import pytest

from audits.cli.main import main
from audits.errors import RunFailed
from audits.report_kinds import TEMPLATES
from audits.reports.blocks import Document
from audits.reports.card import render_card
from audits.reports.contents import AID
from audits.reports.html import arrange, html_of
from audits.reports.pdf import render_pdf
from audits.reports.schema import results_schema
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from tests.reports.everything import EMOJI, FORMULA, HTML, LONG, write_project
from tests.reports.parsing import Tables

SCHEMA = results_schema()
NAMES = AUDITS.ours


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """What the command line writes for a run of every audit."""
    folder = tmp_path_factory.mktemp("everything")
    spec = write_project(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_HOME", str(folder / "home"))
        assert main(["run", str(spec), "--out", str(folder / "out"), "--executor", "inline"]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def run(out) -> RunResult:
    return RunResult.load(out)


@pytest.fixture(scope="module")
def parsed(out) -> Tables:
    found = Tables()
    found.feed((out / "report.html").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def document(run) -> Document:
    return arrange(run)


@pytest.fixture(scope="module")
def pdf(run) -> bytes:
    return render_pdf(run)


@pytest.fixture(scope="module")
def pdf_text(pdf) -> str:
    return _pdf_text(pypdfium2.PdfDocument(pdf))


@pytest.fixture(scope="module")
def card(run) -> str:
    """The model card without its escapes."""
    return re.sub(r"\\(.)", r"\1", render_card(run))


def test_every_audit_of_ours_is_here_and_survives_its_files(run, out):
    assert run.to_json() == json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert sorted(audit.name for audit in run.audits) == sorted(NAMES), (
        "add it to tests/reports/everything.py"
    )


def test_results_follow_the_published_schema(out):
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    schema = jsonschema.Draft202012Validator(SCHEMA)
    schema.validate(document)
    rules = SCHEMA["$defs"]["audit"]["allOf"]
    needs = {rule["if"]["properties"]["audit"]["const"]: rule["then"]["required"] for rule in rules}
    # the schema can fail: every key that it requires of an audit is missed when it is gone
    for entry in document["audits"]:
        if entry["audit"] == "groups":  # of a number, no decision has a rate
            schema.validate({**document, "audits": [entry | {"demographic_parity_difference": None}]})
        for key in needs.get(entry["audit"], ["finding"]):
            short = {name: value for name, value in entry.items() if name != key}
            assert not schema.is_valid({**document, "audits": [short]})


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_equal_in_json_report_pdf_card_and_tables(name, out, run, parsed, pdf_text, card):
    """The finding word for word in each; every number of every table in the report equal to the result's."""
    written = json.loads((out / "results.json").read_text())["audits"]
    entry = next(item for item in written if item["audit"] == name)
    result = next(audit.result for audit in run.audits if audit.name == name)
    assert entry["finding"] == result.finding
    assert entry["verdict"] == result.verdict
    shown = " ".join(" ".join(parsed.text).split())
    assert " ".join(result.finding.split()) in shown
    assert result.finding in html.unescape(result._repr_html_()), "in a notebook"
    digits = re.findall(r"\d[\d,.]*\d|\d", result.finding.replace(LONG, ""))
    assert " ".join(result.finding.split()) in card
    assert [number for number in digits if number not in pdf_text] == []
    compared = 0
    for exhibit in AUDITS[name].section(result).exhibits:
        rows = exhibit.table().head(200).itertuples(index=False)
        expected = [number for row in rows for number in map(_number, row) if number is not None]
        found = [
            value
            for row in parsed.tables[exhibit.named]
            for cell in row
            for value in cell
            if value is not None
        ]
        assert sorted(found) == sorted(expected), exhibit.named
        compared += len(expected)
    assert compared > 0


def _number(value):
    value = value.item() if hasattr(value, "item") else value
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else None


def _pdf_text(document: pypdfium2.PdfDocument) -> str:
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def test_every_template_says_that_it_is_no_legal_advice(run, pdf_text):
    for template in TEMPLATES:
        text = html_of(arrange(run, template))
        Tables().feed(text)
        assert AID in text
        assert template in ("full", "executive") or len(text) < 200_000
    assert AID in " ".join(pdf_text.split())
    assert "Ω Ж" in pdf_text, "every script is printed"


def test_the_executive_report_is_two_printed_pages_signed_on_the_first(run):
    pages = pypdfium2.PdfDocument(render_pdf(run, template="executive"))
    assert len(pages) == 2
    blocks = arrange(run, "executive").blocks
    signed = next(block for block in blocks if getattr(block, "anchor", "") == "sign-off")
    assert signed.text in pages[0].get_textpage().get_text_bounded()
    for page in pages:
        drawn = page.render(scale=1.2).to_pil().convert("L").histogram()
        assert sum(drawn[:160]) > 200, "it is not empty"


def test_names_are_shown_as_they_are(parsed):
    shown = "".join(parsed.text)
    assert all(name in shown for name in (HTML, FORMULA, EMOJI, LONG))


def test_nothing_is_loaded_from_elsewhere_and_no_button_sends_the_data_away(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>"), "the library, the drawing, a call a figure"
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", outside)
    assert "default-src 'none'" in page
    assert page.count("plotly.js v") == 1
    drawer = re.search(r"Plotly\.newPlot\(name, [^)]*\)", page[page.index("function draw") :])
    assert '"modeBarButtonsToRemove":["sendChartToCloud"]' in drawer[0]


def test_a_number_that_does_not_exist_is_never_turned_into_null(run):
    result = next(audit.result for audit in run.audits if audit.name == "groups")
    row = result.table[0]
    broken = dataclasses.replace(row, selection_rate=dataclasses.replace(row.selection_rate, low=math.nan))
    wrong = dataclasses.replace(result, table=(broken, *result.table[1:]))
    with pytest.raises(RunFailed, match=r"GroupsResult.* nan .*table\[0\]\.selection_rate\.low"):
        wrong.to_json()
