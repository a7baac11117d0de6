"""What visitors come for, in real Chromium against the real server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from app.flipset.choices import _LABEL
from audits.runs.registry import AUDITS
from audits.stats.badges import ICONS
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_an_example_gives_its_published_finding_in_three_clicks(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "hiring")
    acts.to_flipsets(page)
    acts.run(page)
    found = acts.finding(page)
    assert "157 of 1,000 women" in found
    assert re.search(r"\b136\b", found)
    expect(page.locator(".st-key-verdict")).to_contain_text(ICONS["difference"])
    acts.open_tab(page, "People")
    with acts.answered(page):
        page.locator(".st-key-people-positive .dvn-scroller").click(
            position={"x": 18, "y": 52}, delay=acts.PRESS
        )
    expect(page.locator(".st-key-person-card")).to_be_visible()
    acts.in_address(page, "person=")
    address = page.url
    page.reload()
    assert acts.finding(page) == found
    expect(page.locator(".st-key-person-card")).to_be_visible()
    assert page.url == address


def test_a_long_run_survives_a_reload_is_cancelled_and_the_next_one_works(
    server: Server, watched: Watched
) -> None:
    page = watched.page
    acts.arrive(page, server, "flipset", "loans")
    acts.shuffles(page, 9999)
    acts.run(page)
    expect(page.locator(".st-key-running")).to_contain_text("permutation", timeout=acts.SLOW)
    page.reload()  # a run goes on without its page
    expect(page.locator(".st-key-running")).to_contain_text("permutation", timeout=acts.SLOW)
    acts.settle(page)
    page.locator(".st-key-cancel button").click()
    expect(page.locator(".st-key-running")).to_have_count(0, timeout=8_000)
    acts.shuffles(page, 19)
    acts.run(page)
    assert "Velian" in acts.finding(page)


def test_choices_are_in_the_address_and_the_back_button_passes_through(
    server: Server, watched: Watched
) -> None:
    page = watched.page
    page.goto("about:blank")
    acts.open_app(page, server.url)
    acts.open_example(page, "hiring")
    acts.to_flipsets(page)
    acts.choose(page, "condition", _LABEL)
    acts.in_address(page, "condition=")
    with acts.answered(page):
        page.locator(".st-key-swap button").first.click()
    expect(page.locator(".st-key-source input")).to_have_value("male")
    chosen = page.url
    acts.to_page(page, "What explains it", ".st-key-run")
    expect(page.locator("h1")).to_have_text("What explains it")
    acts.settle(page)  # it has a choice named source, too
    page.go_back()
    expect(page.locator("h1")).to_have_text("Flipsets")
    expect(page).to_have_url(chosen)
    expect(page.locator(".st-key-source input")).to_have_value("male")
    acts.to_page(page, "Data & model", ".st-key-next")
    acts.to_page(page, "Flipsets", ".st-key-run")
    expect(page.locator(".st-key-source input")).to_have_value("male")
    steps = page.evaluate("history.length")
    acts.to_page(page, "Groups", ".st-key-finding")
    assert page.evaluate("history.length") == steps + 1, "a page with its run is one step"
    page.go_back()
    expect(page.locator("h1")).to_have_text(AUDITS["flipset"].title)
    acts.settle(page)
    for _ in range(page.evaluate("history.length")):
        page.go_back()
        page.wait_for_timeout(500)
        if page.url == "about:blank":
            break
        acts.settle(page)
        if page.url == chosen:
            expect(page.locator(".st-key-source input")).to_have_value("male")
    assert page.url == "about:blank", "the back button is trapped"
