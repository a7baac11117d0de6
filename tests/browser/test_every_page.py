"""Every page: no serious finding of axe in either scheme, nothing wider than a phone or too high."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.serving import PAGES
from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.browser.test_texts_apart import APART, TURNED

pytestmark = pytest.mark.browser

TALLEST = 1_800
RESULTS = {
    **dict.fromkeys(("glance", "groups", "rule_sets", "flipset", "attribute_swap", "recourse"), "loans"),
    **dict.fromkeys(("explain", "barycenter", "compare"), "hiring"),
    **dict.fromkeys(("sensitivity", "mitigation"), "law_school"),
}
"""Pages whose results are looked at here, and of which example; those of others are where they are made."""
_RUN = {
    "explain": "with-explain-attribution=true",
    "barycenter": "",
    "compare": "",
    "sensitivity": "",
    "mitigation": "with-mitigation-also=%7B%7D",
}
"""Of these the pages whose result does not arrive with the example, and what their links choose."""
_SIZES = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return [main.scrollHeight, main.scrollWidth, main.clientWidth];
}"""


def test_pages_without_a_result_have_no_serious_findings_and_fit_a_phone(
    server: Server, watched: Watched
) -> None:
    page, found = watched.page, list[str]()
    page.set_viewport_size({"width": 400, "height": 900})
    acts.open_app(page, server.url)
    found += acts.serious(page)
    found += _sizes(page, "empty")
    acts.arrive(page, server, PAGES[0])
    address = page.url.partition("?")[2]
    for name in [each for each in PAGES if each not in RESULTS]:
        if name != PAGES[0]:
            acts.go_to(page, server, name, address)
        found += acts.serious(page)
        found += _white_in_the_dark(page)
        found += _sizes(page, name)
    assert not found, "\n".join(dict.fromkeys(found))


@pytest.mark.parametrize("example", ["loans", "hiring", "law_school"])
def test_results_have_no_serious_findings_and_no_tab_is_too_high_or_too_wide(
    server: Server, watched: Watched, example: str
) -> None:
    page, found = watched.page, list[str]()
    acts.arrive(page, server, "data_model", example)
    address = page.url.partition("?")[2]
    for name in [each for each, of in RESULTS.items() if of == example]:
        page.set_viewport_size(acts.WINDOW["viewport"])
        acts.go_to(page, server, name, f"{address}&{_RUN.get(name, '')}")
        if name in _RUN:
            acts.run(page)
        page.wait_for_selector(".st-key-finding", timeout=acts.SLOW)
        acts.settle(page)
        expect(page.locator(".figure .main-svg").first).to_be_visible()
        if name != "glance":
            expect(page.locator(".st-key-settings details").first).not_to_have_attribute("open", "")
        found += acts.serious(page)
        found += _white_in_the_dark(page)
        for tab in page.locator(".stMain").get_by_role("tab").all_inner_texts() or [""]:
            if tab:
                acts.open_tab(page, tab)
            found += too_large(page, f"{name}, {tab}", TALLEST)
    if example == "loans":
        found += _one_person_takes_the_place_of_the_figure_and_the_next_is_a_click_away(page, server, address)
    assert not found, "\n".join(dict.fromkeys(found))


def _one_person_takes_the_place_of_the_figure_and_the_next_is_a_click_away(
    page: Page, server: Server, address: str
) -> list[str]:
    page.set_viewport_size(acts.WINDOW["viewport"])
    acts.go_to(page, server, "flipset", f"{address}&tab=People&person=4872")
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
        found += _sizes(page, name, tallest)
    return found


def _sizes(page: Page, name: str, tallest: float = math.inf) -> list[str]:
    """Tell of what is too high, too wide or collides at the width that the page has."""
    width = (page.viewport_size or acts.WINDOW["viewport"])["width"]
    high, inner, outer = page.evaluate(_SIZES)
    found = [f"{name}: {high} px high"] if width == 1280 and high > tallest else []
    if width == 400 and inner > outer:
        found.append(f"{name}: {inner} px wide where {outer} are shown")
    return found + [f"{name}, {width} px: {each}" for each in page.evaluate(APART)]


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
