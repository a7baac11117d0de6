"""A report opened from disk, as from a mail attachment: looked at, and without any request."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from audits.reports.html import render_report
from audits.runs.execute import execute
from tests.reports.everything import write_project
from tests.runs.conftest import read_spec

pytestmark = pytest.mark.browser
REPORTS = {name: "report" if name == "full" else f"report-{name}" for name in ("full", "ll144")}


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run = execute(read_spec(write_project(folder)))
    for template, name in REPORTS.items():
        (folder / f"{name}.html").write_text(render_report(run, template=template), encoding="utf-8")
    return folder


def test_the_report_opens_offline_without_a_request_or_an_error_and_is_whole_on_paper(
    out: Path, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: errors.append(f"a dialog opened: {dialog.message}"))
    for name in REPORTS.values():
        page.goto((out / f"{name}.html").as_uri())
        figures = page.locator(".figure")
        if figures.count():
            page.wait_for_function("() => !document.querySelector('.figure:not(:has(.main-svg))')")
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(400)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (
                f"{name} overflows at {width} px"
            )
            if width == 1280 and name == "report":
                _every_table_is_there_on_paper(page)
    own = [request for request in requests if request.startswith("file:") and request.endswith(".html")]
    assert [
        request for request in requests if request not in own and not request.startswith(("data:", "blob:"))
    ] == []
    assert errors == []
    context.close()


def _every_table_is_there_on_paper(page: Page) -> None:
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
    page.wait_for_function("() => +document.querySelector('.figure .main-svg').getAttribute('width') > 670")
    page.wait_for_function(
        "() => [...document.querySelectorAll('details:not(.bars) table')].every("
        "table => table.checkVisibility({contentVisibilityAuto: true}))"
    )
    page.emulate_media(media="screen")
