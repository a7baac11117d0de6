"""Saved audits in real Chromium: reports, comparison, links, deletion, findings."""

from __future__ import annotations

import html
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from audits.report_kinds import TEMPLATES
from tests.browser import acts
from tests.browser.conftest import Server, Watched, watch

pytestmark = pytest.mark.browser


def download(page: Page, key: str, folder: Path) -> Path:
    with page.expect_download(timeout=acts.SLOW) as waiting:
        page.locator(f".st-key-report-{key} button").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_reports_comparison_link_and_deletion(
    server: Server, watched: Watched, browser: Browser, tmp_path: Path
) -> None:
    page = watched.page
    acts.arrive(page, server, "groups", "loans")
    for reference in ("(the largest)", "female"):
        if reference != "(the largest)":
            acts.open_settings(page)
            acts.choose(page, "reference-sex", reference)
        acts.run(page)
        finding = acts.finding(page).splitlines()[0]
    acts.to_page(page, "Report & saved audits", ".st-key-open")
    assert acts.finding(page) == finding
    acts.in_address(page, "run=")
    assert not acts.serious(page)

    report = download(page, "HTML", tmp_path)
    assert finding in html.unescape(report.read_text(encoding="utf-8"))
    assert download(page, "PDF", tmp_path).read_bytes().startswith(b"%PDF-")
    acts.choose(page, "kind", TEMPLATES["ll144"])
    expect(page.locator(".st-key-law-race input")).to_have_value("ethnicity")
    law = download(page, "HTML", tmp_path).read_text(encoding="utf-8")
    assert "by sex and ethnicity" in law

    other = acts.visit(browser)
    seen = Watched(other.new_page())
    watch(seen, server.url)
    seen.page.goto(page.url)
    assert acts.finding(seen.page) == finding
    expect(seen.page.locator(".st-key-law-race input")).to_have_value("ethnicity")

    page.locator(".st-key-against input").click()
    page.keyboard.press("ArrowDown")
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(page.locator(".st-key-every-difference")).to_be_visible(timeout=acts.SLOW)
    acts.fits(page)

    page.locator(".st-key-keep-saved summary").click()
    [run] = parse_qs(urlsplit(page.url).query)["run"]
    sure = page.locator(f".st-key-sure-{run}")
    expect(sure).to_be_attached()
    acts.settle(page)  # what is compared is drawn again: a click before that would be lost
    sure.locator("label").first.click()
    expect(sure.get_by_role("checkbox")).to_be_checked()
    acts.settle(page)
    with acts.answered(page):
        page.locator(".st-key-delete button").click()
    expect(page.locator(".st-key-open")).to_be_visible()
    # open elsewhere when it was deleted: one sentence or the next run, never a broken page
    seen.page.locator(".st-key-keep-saved summary").click()
    acts.settle(seen.page)
    expect(seen.page.locator(".st-key-open")).to_be_visible()
    expect(seen.page.get_by_test_id("stException")).to_have_count(0)
    other.close()
    assert seen.errors == seen.foreign == []
