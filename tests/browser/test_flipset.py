"""The flipset page in real Chromium: a map that is watched while it trains."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.flipset.choices import _METHODS
from app.widgets.results.result_page import TABS
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_a_map_is_watched_while_it_trains_and_its_curve_is_kept(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.arrive(page, server, "flipset")
    acts.choose(page, "method", _METHODS["gan"])
    acts.shuffles(page, 0)
    box = page.locator(".st-key-gan-iterations input")
    with acts.answered(page):
        box.fill("150")
        box.press("Enter")
    acts.run(page)
    live = page.locator(".st-key-running .js-plotly-plot").last  # one more while it is drawn again
    expect(live).to_be_visible(timeout=acts.SLOW)
    expect(page.locator(".st-key-cancel button")).to_be_enabled()  # there is a curve, and the run goes on
    assert acts.finding(page)
    acts.open_tab(page, TABS["tested"])
    acts.unfold(page)
    kept = page.locator(".st-key-wide-flipset-training .js-plotly-plot")
    expect(kept).to_contain_text("source to target")
    acts.open_tab(page, "Who are they?")
    acts.unfold(page)
    expect(page.locator(".st-key-wide-flipset-arrows .js-plotly-plot")).to_be_visible()
    acts.fits(page, last=True)
