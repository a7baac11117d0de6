"""What visitors do wrong: one sentence each, and the app goes on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser

CHANGE = '[class*="st-key-other-"] summary'


def problem(page: Page) -> str:
    page.wait_for_selector('[class*="st-key-problem-"]', timeout=acts.SLOW)
    acts.settle(page)
    shown = page.locator('[class*="st-key-problem-"]')
    assert "Traceback" not in page.content()
    return shown.first.inner_text()


def test_bad_files_and_a_label_with_one_value_then_good_ones(
    server: Server, watched: Watched, tmp_path: Path, artefacts: Path
) -> None:
    page = watched.page
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "header.csv").write_text("a,b,c\n")
    rows = "".join(f"{'fm'[k % 2]},{k % 7},1,{k % 2}\n" for k in range(60))
    (tmp_path / "people.csv").write_text("sex,skill,always,hired\n" + rows)
    acts.open_app(page, server.url)
    page.locator(".st-key-server-file input").click()
    page.locator(".st-key-server-file input").press("ArrowDown")
    expect(page.get_by_role("option")).to_have_text(
        ["people.csv"]
    )  # the link that leads outside is not listed
    with acts.answered(page):
        page.get_by_role("option").first.click()
    page.locator(".st-key-open-server button").click()
    expect(page.get_by_text(re.compile(r"\b80 .*\b3 ")).first).to_be_visible(timeout=acts.SLOW)
    page.locator(CHANGE).click()
    acts.upload(page, tmp_path / "empty.csv")
    assert "empty.csv" in problem(page)
    acts.narrow_and_shoot(page, artefacts, "error-empty", 1300)
    acts.upload(page, tmp_path / "header.csv")
    assert "header.csv" in problem(page)
    page.locator(CHANGE).click()
    acts.upload(page, tmp_path / "people.csv")
    acts.train_on(page, "always", "1")
    if page.locator(".st-key-next button").is_enabled():
        acts.to_flipsets(page)
        acts.run(page)
    assert "label" in problem(page)
    acts.to_page(page, "Data & model", ".st-key-next")
    acts.train_on(page, "hired", "1")
    acts.to_flipsets(page)


def test_names_from_the_data_are_shown_as_they_are(
    server: Server, watched: Watched, tmp_path: Path, artefacts: Path
) -> None:
    page = watched.page
    page.on("dialog", lambda dialog: watched.errors.append(f"a dialog opened: {dialog.message}"))
    race = "**race** <b>x</b> $\\alpha$ :smile:"
    group, other = "<img src=x onerror=alert(1)> www.evil.example :red[hot]", "B" + " long" * 80
    lines = [f'"{race}",{"long name " * 40},"=cmd|A0",hired']
    lines += [
        f'"{(group, other)[k % 2]}",{(k * 37) % 100 + 20 * (k % 2)},{k % 5},{(k // 2 + k) % 2}'
        for k in range(300)
    ]
    (tmp_path / "nasty.csv").write_text("\n".join(lines) + "\n")
    acts.open_app(page, server.url)
    acts.upload(page, tmp_path / "nasty.csv")
    acts.train_on(page, "hired", "1")
    acts.narrow_and_shoot(page, artefacts, "names-data", 2000)
    acts.to_flipsets(page)
    acts.run(page)
    found = acts.finding(page)
    assert group[:28] in found or other[:8] in found  # a long name is cut in a sentence
    assert page.locator('.st-key-finding a, .st-key-finding img, a[href*="evil"]').count() == 0
    acts.narrow_and_shoot(page, artefacts, "names-result", 2900, last=True)
