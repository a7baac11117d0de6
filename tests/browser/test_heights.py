"""Every page of the bundled examples: at most 1,800 px high with any tab open, no wider than a phone.

And in its figures no two texts overlap and none leaves its figure; settings fold beside a result.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.serving import Served
from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.browser.test_texts_apart import APART, TURNED

pytestmark = pytest.mark.browser

TALLEST = 1_800
COMPUTED = {
    "loans": ("glance", "groups", "rule_sets", "flipset", "attribute_swap", "recourse"),
    "hiring": ("glance", "groups", "flipset", "attribute_swap"),
}
"""Pages whose result arrives with the example."""
RUN = {"loans": (), "hiring": ("outcome_transport", "compare")}
"""Pages that are run first."""
SIZES = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return [main.scrollHeight, main.scrollWidth, main.clientWidth];
}"""


@pytest.mark.parametrize("example", list(COMPUTED))
def test_no_page_is_higher_than_two_screens_or_wider_than_a_phone(
    server: Server, watched: Watched, example: str
) -> None:
    page, found = watched.page, list[str]()
    acts.open_app(page, server.url)
    acts.open_example(page, example)
    address = page.url.partition("?")[2]
    for name in (*COMPUTED[example], *RUN[example]):
        page.goto(Served(server.url, server.pid).page(name, address))
        if name in RUN[example]:
            acts.run(page)
        page.wait_for_selector(".st-key-finding", timeout=acts.SLOW)
        acts.settle(page)
        if name != "glance":
            expect(page.locator(".st-key-settings details")).not_to_have_attribute("open", "")
        for tab in page.locator(".stMain").get_by_role("tab").all_inner_texts() or [""]:
            if tab:
                acts.open_tab(page, tab)
            found += _too_large(page, f"{example}, {name}, {tab}")
    assert not found, "\n".join(found)


def _too_large(page: Page, name: str) -> list[str]:
    """Tell of a page that is too high on a screen, or too wide on a phone, and of texts that collide."""
    page.wait_for_timeout(300)  # figures take their room a moment later
    high = page.evaluate(SIZES)[0]
    found = [f"{name}: {high} px high"] if high > TALLEST else []
    found += [f"{name}, 1280 px: {each}" for each in page.evaluate(APART)]
    page.set_viewport_size({"width": 400, "height": 900})
    acts.settle(page)
    with suppress(NotInTime):  # figures out of view are drawn when there is time
        page.wait_for_function(TURNED, timeout=5_000)
    _, inner, outer = page.evaluate(SIZES)
    found += [f"{name}, 400 px: {each}" for each in page.evaluate(APART)]
    page.set_viewport_size({"width": 1280, "height": 900})
    acts.settle(page)
    return found + ([f"{name}: {inner} px wide where {outer} are shown"] if inner > outer else [])
