"""The rule-set page in real Chromium: the planted group, and what opens with a click on it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from audits.stats.badges import ICONS
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_the_planted_group_is_first_confirmed_and_opens_with_a_click(
    server: Server, watched: Watched
) -> None:
    page = watched.page
    acts.arrive(page, server, "rule_sets", "loans")
    acts.run(page)
    assert "Velian" in acts.finding(page)
    expect(page.locator(".st-key-verdict")).to_contain_text(ICONS["difference"])
    with acts.answered(page):
        page.locator(".st-key-leaderboard .dvn-scroller").click(position={"x": 18, "y": 52}, delay=acts.PRESS)
    acts.in_address(page, "people=")
    acts.open_tab(page, "What sets them apart?")
    acts.unfold(page)
    expect(page.locator('[class*="-conditions"] .js-plotly-plot').first).to_be_visible(timeout=acts.SLOW)
    acts.fits(page, last=True)
