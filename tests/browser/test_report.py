"""A report opened from disk, as from a mail attachment, and its PDF: looked at, and without any request."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser

from audits.cli.main import main
from audits.report_kinds import TEMPLATES
from tests.browser import acts
from tests.reports.everything import write_project

pytestmark = pytest.mark.browser
REPORTS = {name: "report" if name == "full" else f"report-{name}" for name in TEMPLATES}
PRINTED = ("full", "ll144")  # with figures, and of tables alone


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    spec, out = write_project(folder), folder / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_HOME", str(folder / "home"))
        assert main(["run", str(spec), "--out", str(out), "--executor", "inline"]) == 0
        for template in TEMPLATES:
            assert main(["report", str(out), "--format", "html", "--template", template]) == 0
        for template in PRINTED:
            assert main(["report", str(out), "--format", "pdf", "--template", template]) == 0
    return out


def test_the_report_opens_offline_without_a_request_or_an_error(
    out: Path, browser: Browser, artefacts: Path
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    page.on(
        "console",
        lambda message: errors.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: errors.append(f"a dialog opened: {dialog.message}"))
    for name in REPORTS.values():
        page.goto((out / f"{name}.html").as_uri())
        figures = page.locator(".figure")
        if figures.count():
            page.wait_for_function(
                "[...document.querySelectorAll('.figure')].every(figure => figure.querySelector('.main-svg'))"
            )
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(400)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (
                f"{name} overflows at {width} px"
            )
            acts.shoot(page, artefacts / f"{name}-{width}.png")
    own = [request for request in requests if request.startswith("file:") and request.endswith(".html")]
    assert [
        request for request in requests if request not in own and not request.startswith(("data:", "blob:"))
    ] == []
    assert errors == []
    context.close()


def test_every_table_is_there_on_paper(out: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True, bypass_csp=True)  # waiting reads a script
    page = context.new_page()
    page.goto((out / "report.html").as_uri())
    page.emulate_media(media="print")
    assert page.locator("details table").count() > 5
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = page.evaluate(
        "[...document.querySelectorAll('.figure .main-svg')].map(e => e.getBoundingClientRect().width)"
    )
    assert max(widths) <= 670, "figures are as wide as paper between its margins"
    page.set_viewport_size({"width": 673, "height": 1000})  # A4 between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 673, "a table is cut off on paper"
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function("+document.querySelector('.figure .main-svg').getAttribute('width') > 670")
    page.wait_for_function(
        "[...document.querySelectorAll('details:not(.bars) table')].every("
        "table => table.checkVisibility({contentVisibilityAuto: true}))"
    )
    context.close()


def test_pdf_pages_are_drawn(out: Path, artefacts: Path) -> None:
    for name in (REPORTS[template] for template in PRINTED):
        document = pypdfium2.PdfDocument(out / f"{name}.pdf")
        assert len(document) >= 1
        for number, page in enumerate(document):
            image = page.render(scale=1.2).to_pil().convert("L")
            ink = sum(count for level, count in enumerate(image.histogram()) if level < 160)
            assert ink > 200, f"page {number + 1} of {name}.pdf is empty"
            if number < 3:
                image.save(artefacts / f"{name}-page-{number + 1}.png")
