"""The overview in real Chromium: run, intersections, a moved threshold, a second model, cards, a link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.groups.metric_advisor import _GIVES, _SHORT, _TRUST
from tests.browser import acts
from tests.browser.conftest import Server, Watched, watch

pytestmark = pytest.mark.browser


def test_groups_thresholds_a_measure_and_a_link(
    server: Server, watched: Watched, browser: Browser, artefacts: Path
) -> None:
    page = watched.page
    acts.arrive(page, server, "groups")
    acts.run(page)
    finding = acts.finding(page)
    assert "women" in finding
    first = page.locator(".stMain").get_by_role("tab").first.inner_text()
    for tab, names in (
        (None, ("groups-deciding", "group-rates")),
        ("Errors and scores", ("group-scores",)),
        ("Calibration", ("group-calibration",)),
        ("All combinations", ("group-differences",)),
    ):
        if tab is not None:
            acts.open_tab(page, tab)
        for name in names:
            expect(page.locator(f".st-key-figure-{name} .main-svg").first).to_be_visible()
    acts.shoot(page, artefacts / "overview.png")  # its width is held by test_every_page
    acts.open_tab(page, "Who are they?")
    _each_figure_is_drawn_once(page)

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

    link = page.url
    acts.to_page(page, "Data & model", ".st-key-next button")
    with acts.answered(page):
        page.locator('[class*="st-key-other-"] summary').click()
    acts.open_example(page, "admissions")
    seen.page.goto(link)
    seen.page.locator('.stMain a[href*="saved"]').click(timeout=acts.SLOW)
    # among the saved audits a run begins with its first sentence alone
    assert acts.finding(seen.page) == finding.splitlines()[0]
    other.close()
    assert seen.errors == seen.foreign == []


COUNT = """() => document.querySelectorAll(".figure").forEach(each => {
    each.draws = 0;
    each.on("plotly_afterplot", () => { each.draws += 1; });
})"""
DRAWS = """() => Object.fromEntries([...document.querySelectorAll(".figure")].map(each =>
    [each.closest('[class*="st-key-figure-"]').className.match(/st-key-figure-([\\w-]+)/)[1], each.draws]))"""


def _each_figure_is_drawn_once(page: Page) -> None:
    """A choice draws again what it changes, once, in view or not, and nothing else."""
    acts.settle(page)
    drawn = "() => [...document.querySelectorAll('.figure')].every(each => each.on || !each.clientWidth)"
    page.wait_for_function(drawn)
    page.evaluate(COUNT)
    rate = page.locator(".st-key-rates").get_by_text("balanced accuracy")
    with acts.answered(page):
        rate.click()
    page.wait_for_function(f"() => ({DRAWS})()['group-rates'] > 0")
    acts.settle(page)
    draws = page.evaluate(DRAWS)
    assert draws.pop("group-rates") == 1
    assert draws
    assert not any(draws.values()), draws
    boxes, drawn = page.locator(".figure").element_handles(), page.evaluate(DRAWS)
    with acts.answered(page):
        acts.open_menu(page, "group-rates")
        with acts.answered(page):
            page.locator(".st-key-table-group-rates label").click()
    assert page.locator(".st-key-exhibit-group-rates [data-testid=stDataFrame]").count() == 1
    assert all(box.evaluate("each => each.isConnected") for box in boxes), "a table unfolded replaces figures"
    assert page.evaluate(DRAWS) == drawn
    page.keyboard.press("Escape")
    with acts.answered(page):
        rate.click()


def _choose_a_measure(page: Page) -> None:
    """Hold that the chooser asks what matters, and that the back button takes an answer back."""
    box = page.locator(".st-key-measure-chooser")
    box.locator("summary").click()
    asked = box.get_by_role("radiogroup")
    said = box.locator("strong")
    trusted, gives, burdens = _TRUST["yes"], _GIVES["help"], _GIVES["burden"]
    for answers, name in (
        ((trusted, gives, _SHORT["many"]), "true positive rate"),
        ((trusted, gives, _SHORT["few"]), "precision"),
        ((trusted, burdens), "false negative rate"),
        ((_TRUST["no"],), "selection rate"),
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
    acts.in_address(page, "rates=false+negative+rate")
    expect(page.locator(".st-key-figure-group-rates")).to_contain_text(re.compile(r"false\s*negative\s*rate"))
    page.go_back()
    expect(said).to_have_text("False negative rate", timeout=acts.SLOW)
    expect(box.get_by_role("radio", name=_GIVES["burden"])).to_be_checked()
