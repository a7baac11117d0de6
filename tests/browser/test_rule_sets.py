"""The rule-set page in real Chromium: the planted group, one group's page, and training against it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_the_planted_group_is_first_confirmed_and_opens_with_a_click(
    server: Server, watched: Watched, artefacts: Path
) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "loans")
    page.get_by_role("link", name="Rule sets").click()
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.settle(page)
    acts.run(page)
    assert "sex = female, ethnicity = Velian, age < 30" in acts.finding(page)
    expect(page.locator(".st-key-verdict")).to_contain_text("evidence of a difference")
    acts.narrow_and_shoot(page, artefacts, "rule-sets", 3400)
    page.locator(".st-key-leaderboard .dvn-scroller").click(position={"x": 18, "y": 52})
    acts.settle(page)
    expect(page.get_by_text("decided favorably inside")).to_be_visible(timeout=acts.SLOW)
    assert "group=" in page.url
    acts.narrow_and_shoot(page, artefacts, "rule-sets-group", 4600)
    page.reload()
    assert "Velian" in acts.finding(page)
    expect(page.get_by_text("decided favorably inside")).to_be_visible(timeout=acts.SLOW)


def test_a_model_trained_here_is_trained_again(server: Server, watched: Watched, artefacts: Path) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "loans")
    page.get_by_role("button", name="Train one here").or_(page.get_by_text("Train one here")).first.click()
    page.wait_for_selector('[class*="st-key-train-"]', timeout=acts.SLOW)
    acts.settle(page)
    page.get_by_role("link", name="Rule sets").click()
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.settle(page)
    acts.run(page)
    acts.finding(page)
    page.locator(".st-key-mitigate button").click()
    expect(page.locator(".st-key-mitigated")).to_contain_text("held-out people", timeout=acts.SLOW)
    acts.settle(page)
    acts.narrow_and_shoot(page, artefacts, "rule-sets-mitigated", 4600)
