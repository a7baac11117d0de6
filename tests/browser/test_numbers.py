"""Numbers typed as people write them: read right, or refused in a sentence; never silently another number."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from app.drafts.numbers import read_number
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser

READ = {"1.234,5": "1234.5", ",25": "0.25"}
REFUSED = {"1,234": ("1234", "1.234"), "½": ()}


def write(page: Page, box: Locator, text: str) -> None:
    """Write over what is there by the keyboard, as people do."""
    box.focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_decimal_commas_are_read_or_refused(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.arrive(page, server, "data_model")
    field = page.locator('[class*="st-key-threshold-"]')
    box = field.locator("input")
    for text, number in READ.items():
        assert read_number(text) == float(number), "boxes of text read it alike"
        write(page, box, text)
        with acts.answered(page):
            page.keyboard.press("Enter")
        expect(box).to_have_value(number)
    for text, meanings in REFUSED.items():
        assert read_number(text) is None
        write(page, box, text)
        page.keyboard.press("Enter")
        for told in (f"“{text}”", *meanings, "0.25"):
            expect(field.get_by_role("alert")).to_contain_text(told)
        page.keyboard.press("Tab")
        expect(box).to_have_value("0.25")  # as it is used
    with acts.answered(page):
        write(page, box, "0,5")
        page.keyboard.press("Tab")
    expect(field.get_by_role("alert")).to_have_count(0)

    acts.go_to(page, server, "flipset", page.url.partition("?")[2])
    acts.open_settings(page)
    shuffles = page.locator(".st-key-with-flipset-permutations input")
    write(page, shuffles, "1.234")
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(shuffles).to_have_value("1234")
    write(page, shuffles, "0,5")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-with-flipset-permutations").get_by_role("alert")).to_contain_text("1234")
