"""The overview in real Chromium: run, intersections, a moved threshold, a second model, cards, a link."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from app.groups.metric_advisor import _GIVES, _SHORT, _TRUST
from tests.browser import acts
from tests.browser.conftest import Server, Watched, watch

pytestmark = pytest.mark.browser


def test_groups_thresholds_a_measure_and_a_link(server: Server, watched: Watched, browser: Browser) -> None:
    page = watched.page
    acts.arrive(page, server, "groups")
    acts.run(page)
    finding = acts.finding(page)
    assert "women" in finding
    first = page.locator(".stMain").get_by_role("tab").first.inner_text()
    acts.open_tab(page, "Threshold")
    counts = page.locator(".st-key-figure-group-threshold .annotation-text").first
    before = counts.text_content()
    slider = page.locator(".st-key-figure-group-threshold .slider-rail-touch-rect")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    expect(counts).not_to_have_text(before or "")
    with acts.answered(page):
        page.locator(".st-key-thresholds-more summary").click()
    thumb = page.get_by_role("slider").first
    thumb.focus()
    with acts.answered(page):
        for _ in range(10):
            thumb.press("ArrowRight")
    moved = page.locator(".st-key-moved").inner_text()
    assert moved
    assert acts.finding(page) == finding, "the saved result stays"
    acts.in_address(page, "cut=")
    page.reload()
    expect(page.locator(".st-key-moved")).to_have_text(moved, timeout=acts.SLOW)
    acts.open_tab(page, first)
    _a_link_opens_the_same_result(page, server, browser, finding)


def _a_link_opens_the_same_result(page: Page, server: Server, browser: Browser, finding: str) -> None:
    """Choose a measure; whoever is sent the address sees it of the same run, whatever is theirs."""
    acts.in_address(page, "run=")
    _choose_a_measure(page)
    with acts.answered(page):
        page.locator(".st-key-rates").get_by_text("balanced accuracy").click()
    other = acts.visit(browser)
    seen = Watched(other.new_page())
    watch(seen, server.url)
    seen.page.goto(page.url)
    assert acts.finding(seen.page) == finding
    drawn = seen.page.locator(".st-key-figure-group-rates")
    expect(drawn).to_contain_text(re.compile(r"balanced\s*accuracy"))  # in two lines

    other.close()
    assert seen.errors == seen.foreign == []


def _choose_a_measure(page: Page) -> None:
    """Hold that the chooser asks what matters, and that the back button takes an answer back."""
    box = page.locator(".st-key-measure-chooser")
    box.locator("summary").click()
    asked = box.get_by_role("radiogroup")
    said = box.locator("strong")
    trusted, gives, burdens = _TRUST["yes"], _GIVES["help"], _GIVES["burden"]
    for answers, name in (
        ((trusted, gives, _SHORT["many"]), "true positive rate"),
        ((trusted, burdens), "false negative rate"),
    ):
        for answer in answers:
            answered = box.get_by_role("radio", name=answer)
            if not answered.is_checked():
                with acts.answered(page):
                    box.get_by_text(answer).click()
            expect(answered).to_be_checked()
        expect(asked.locator("input:enabled:checked")).to_have_count(len(answers))
        expect(said).to_have_text(name.capitalize())
        acts.settle(page)  # what is drawn again loses a click
        with acts.answered(page):
            box.locator(".st-key-show-measure button").click(delay=acts.PRESS)
        acts.in_address(page, f"rates={name.replace(' ', '+')}")
        expect(page.locator(".st-key-figure-group-rates")).to_contain_text(
            re.compile(name.replace(" ", r"\s*"))
        )
    page.go_back()
    acts.settle(page)
    acts.in_address(page, "rates=true+positive+rate")
    expect(page.locator(".st-key-figure-group-rates")).to_contain_text(re.compile(r"true\s*positive\s*rate"))
    page.go_back()
    expect(said).to_have_text("True positive rate", timeout=acts.SLOW)
    expect(box.get_by_role("radio", name=_GIVES["help"])).to_be_checked()
