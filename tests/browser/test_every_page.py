"""Every page: no serious finding of axe, nothing wider than a phone, and the dark scheme too."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.serving import PAGES, Served
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser

_RUN = {"groups", "explain", "barycenter"}  # other pages' results are looked at where they are made


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
        if name != PAGES[0] and link.is_visible():  # as a visitor comes there
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
        page.set_viewport_size({"width": 400, "height": 900})
        page.wait_for_timeout(300)
        wide = page.locator('[data-testid="stMain"]').evaluate("e => [e.scrollWidth, e.clientWidth]")
        if wide[0] > wide[1]:
            found.append(f"/{name}: {wide[0]} px wide where {wide[1]} are shown")
        page.set_viewport_size({"width": 1280, "height": 900})
    assert not found, "\n".join(dict.fromkeys(found))


def _white_in_the_dark(page: Page) -> list[str]:
    """Tell of figures that stay white in the scheme that axe looked at last, or dark in a light one."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper = "rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)"
    left = """paper => [...document.querySelectorAll(".js-plotly-plot .main-svg:first-child")]
        .filter(each => getComputedStyle(each).backgroundColor !== paper).length"""
    with suppress(NotInTime):  # each figure is drawn anew a moment after the scheme
        page.wait_for_function(f"paper => !({left})(paper)", arg=paper, timeout=5_000)
    count = page.evaluate(left, paper)
    return [f"{page.url.split('?')[0]}: {count} figures of the other scheme"] if count else []
