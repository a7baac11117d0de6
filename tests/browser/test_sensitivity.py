"""The page of prediction sensitivity in real Chromium: from the finding to one person and the match set."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def figure(page: Page, name: str) -> None:
    expect(page.locator(f'[class*="-{name}"] .js-plotly-plot').first).to_be_visible(timeout=acts.SLOW)


def test_the_law_school_from_the_finding_to_one_person(
    server: Server, watched: Watched, artefacts: Path
) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "law_school")
    acts.to_page(page, "Prediction sensitivity", ".st-key-run button")
    acts.shoot(page, artefacts / "sensitivity-before.png")
    acts.run(page)
    assert "race" in acts.finding(page)
    figure(page, "sensitivity-by_group")
    acts.open_tab(page, "Who is flagged?")
    acts.unfold(page)
    expect(page.get_by_text("45 of 900").first).to_be_visible(timeout=acts.SLOW)
    figure(page, "sensitivity-histogram")
    acts.open_tab(page, "How well do proxies reveal it?")
    acts.unfold(page)
    match = page.locator('[class*="-sensitivity-match_set"] .js-plotly-plot').first
    expect(match).to_contain_text("AUC", timeout=acts.SLOW)
    figure(page, "sensitivity-status")
    acts.open_tab(page, "People")
    table = page.locator(".st-key-sensitivity-people")
    table.scroll_into_view_if_needed()
    table.locator(".dvn-scroller").click(position={"x": 18, "y": 52}, delay=acts.PRESS)
    card = page.locator(".st-key-person-card")
    expect(card).to_be_visible(timeout=acts.SLOW)
    acts.settle(page)
    assert not acts.serious(page)
    acts.narrow_and_shoot(page, artefacts, "sensitivity", 5200, last=True)
