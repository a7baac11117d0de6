"""The individual-fairness page in real Chromium: its limit, one person, and a model of a number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.loss_ratio.conftest import people

pytestmark = pytest.mark.browser


def _bring(page: Page, url: str, file: Path) -> None:
    acts.open_app(page, url)
    acts.upload(page, file)


def _to_page(page: Page) -> None:
    page.get_by_role("link", name="Individual fairness").click()
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.settle(page)


def test_limit_and_one_person(server: Server, watched: Watched, artefacts: Path, tmp_path: Path) -> None:
    page = watched.page
    file = tmp_path / "hired.csv"
    people(400)[["hair", "skill", "sex", "hired"]].to_csv(file, index=False)
    _bring(page, server.url, file)
    acts.train_on(page, "hired", "yes")
    _to_page(page)
    acts.run(page)
    assert "beyond your 25% limit" in acts.finding(page)
    expect(page.locator(".st-key-verdict")).to_contain_text("Difference found")
    # the last limit on the slider lies above T; nothing is run for it, and it stays in other tabs
    acts.open_tab(page, "Limit")
    page.locator(".st-key-delta input[type=range]").first.press("End")
    expect(page.locator(".st-key-verdict")).not_to_contain_text("Difference found", timeout=acts.SLOW)
    expect(page.locator(".st-key-run button").first).to_be_disabled()  # the same run answers
    acts.settle(page)  # a list that is open while the page is drawn anew closes
    acts.open_tab(page, "People")
    expect(page.locator(".st-key-verdict")).not_to_contain_text("Difference found")
    page.locator(".st-key-person").scroll_into_view_if_needed()  # a list that scrolls with its page closes
    acts.settle(page)
    page.locator(".st-key-person input").click()
    page.get_by_role("option").first.click()
    acts.settle(page)
    expect(page.get_by_text("changing only what should not matter moves the score")).to_be_visible(
        timeout=acts.SLOW
    )
    assert "person=" in page.url
    assert not acts.serious(page)
    acts.narrow_and_shoot(page, artefacts, "individual", 6000, last=True)


def test_a_model_of_a_number_and_comparable_people(
    server: Server, watched: Watched, artefacts: Path, tmp_path: Path
) -> None:
    page = watched.page
    file = tmp_path / "paid.csv"
    frame = people(400).drop(columns="hired")
    noise = np.random.default_rng(0).normal(size=400)
    frame.assign(pay=(30 + 4 * frame["skill"] - 3 * frame["hair"] + noise).round(2)).to_csv(file, index=False)
    _bring(page, server.url, file)
    acts.train_on(page, "pay")
    with acts.answered(page):
        page.locator('[class*="st-key-bound-"] input').fill("28")
        page.locator('[class*="st-key-bound-"] input').press("Enter")
    acts.choose(page, "predict-", "the number itself")
    _to_page(page)
    acts.run(page)
    assert "proxies for sex" in acts.finding(page)
    acts.open_tab(page, "People")
    expect(page.locator(".st-key-ratio-people")).to_be_visible(timeout=acts.SLOW)
    acts.choose(page, "metric", "what comparable people differ in")
    acts.choose(page, "comparable", "job")
    expect(page.get_by_text("Earlier result", exact=False).first).to_be_visible(timeout=acts.SLOW)
    acts.run(page)
    expect(page.locator(".st-key-finding").first).to_contain_text("what should not matter", timeout=acts.SLOW)
    acts.settle(page)
    acts.narrow_and_shoot(page, artefacts, "individual-number", 5200, last=True)
