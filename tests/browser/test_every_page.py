"""Every page: no serious finding of axe in either scheme, nothing wider than a phone or too high."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.serving import PAGES, Served
from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.browser.test_texts_apart import APART, TURNED

pytestmark = pytest.mark.browser

_RUN = {"groups", "explain", "barycenter"}  # other pages' results are looked at where they are made
TALLEST = 1_800
_COMPUTED = ("glance", "groups", "rule_sets", "flipset", "attribute_swap", "recourse")
"""Pages whose result arrives with the loans."""
_SIZES = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return [main.scrollHeight, main.scrollWidth, main.clientWidth];
}"""


def test_pages_have_no_serious_findings_and_fit_a_phone_in_both_schemes(
    server: Server, watched: Watched
) -> None:
    page = watched.page
    found: list[str] = []
    acts.open_app(page, server.url)
    found += acts.serious(page)
    acts.open_example(page, "hiring")
    address = page.url.partition("?")[2]
    for name in PAGES:
        link = page.locator(f'a[href$="/{name}"]').first
        if name == PAGES[0]:
            acts.to_page(page, "Data & model", ".st-key-next button")
        elif link.is_visible():  # as a visitor comes there
            with acts.answered(page):
                link.click()
        else:
            page.goto(Served(server.url, server.pid).page(name, address))
        page.wait_for_selector("h1", timeout=acts.SLOW)
        acts.settle(page)
        if name in _RUN:
            acts.run(page)
            acts.finding(page)
        found += acts.serious(page)
        found += _white_in_the_dark(page)
        found += too_large(page, name)
        page.set_viewport_size(acts.WINDOW["viewport"])
    assert not found, "\n".join(dict.fromkeys(found))


def test_no_tab_of_a_result_is_higher_than_two_screens_or_wider_than_a_phone(
    server: Server, watched: Watched
) -> None:
    page, found = watched.page, list[str]()
    acts.open_app(page, server.url)
    page.locator(".st-key-card-loans").click(position={"x": 30, "y": 40})  # anywhere on the card
    page.wait_for_selector(".st-key-question-1", timeout=acts.SLOW)
    address = page.url.partition("?")[2]
    for name in _COMPUTED:
        if name != "glance":
            page.set_viewport_size(acts.WINDOW["viewport"])
            page.goto(Served(server.url, server.pid).page(name, address))
        page.wait_for_selector(".st-key-finding", timeout=acts.SLOW)
        acts.settle(page)
        if name != "glance":
            expect(page.locator(".st-key-settings details").first).not_to_have_attribute("open", "")
        for tab in page.locator(".stMain").get_by_role("tab").all_inner_texts() or [""]:
            if tab:
                acts.open_tab(page, tab)
            found += too_large(page, f"{name}, {tab}", TALLEST)
    page.set_viewport_size(acts.WINDOW["viewport"])
    found += _one_person_takes_the_place_of_the_figure_and_the_next_is_a_click_away(page, server, address)
    assert not found, "\n".join(found)


def _one_person_takes_the_place_of_the_figure_and_the_next_is_a_click_away(
    page: Page, server: Server, address: str
) -> list[str]:
    page.goto(Served(server.url, server.pid).page("flipset", f"{address}&tab=People&person=4872"))
    card = page.locator(".st-key-person-card")
    expect(card).to_contain_text("4872", timeout=acts.SLOW)
    expect(card).to_contain_text("What if sex were male?", timeout=acts.SLOW)
    acts.settle(page)
    expect(page.locator(".st-key-figure-flipset-blocks")).to_have_count(0)
    found = too_large(page, "one person", TALLEST)
    page.set_viewport_size(acts.WINDOW["viewport"])
    with acts.answered(page):
        page.locator(".st-key-person-after button:visible").first.click()
    expect(card).not_to_contain_text("Applicant 4872")
    assert "person=4872" not in page.url
    return found


def too_large(page: Page, name: str, tallest: float = math.inf) -> list[str]:
    """Tell of a page that is too high on a screen or too wide on a phone, and of texts that collide.

    It begins at the width that the page has, and leaves it at the other: figures are drawn again for each.
    """
    found = []
    now = page.viewport_size or acts.WINDOW["viewport"]
    for width in sorted((1280, 400), key=lambda width: width != now["width"]):
        page.set_viewport_size({"width": width, "height": 900})
        acts.settle(page)  # figures take their room a moment later
        if width != now["width"]:
            with suppress(NotInTime):  # figures out of view are drawn when there is time
                page.wait_for_function(TURNED, timeout=5_000)
        high, inner, outer = page.evaluate(_SIZES)
        if width == 1280 and high > tallest:
            found.append(f"{name}: {high} px high")
        if width == 400 and inner > outer:
            found.append(f"{name}: {inner} px wide where {outer} are shown")
        found += [f"{name}, {width} px: {each}" for each in page.evaluate(APART)]
    return found


def _white_in_the_dark(page: Page) -> list[str]:
    """Tell of figures that stay white in the scheme that axe looked at last, or dark in a light one."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper = "rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)"
    left = """paper => [...document.querySelectorAll(".js-plotly-plot .main-svg:first-child")]
        .filter(each => getComputedStyle(each).backgroundColor !== paper).length"""
    with suppress(NotInTime):  # each figure is drawn again a moment after the scheme
        page.wait_for_function(f"paper => !({left})(paper)", arg=paper, timeout=5_000)
    count = page.evaluate(left, paper)
    return [f"{page.url.split('?')[0]}: {count} figures of the other scheme"] if count else []
