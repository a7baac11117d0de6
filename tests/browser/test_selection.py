"""People selected on one page stay selected on all, in the link too, and can become a group."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from audits.runs.executors.pool import InlineExecutor
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_people_selected_on_one_page_are_so_on_all_and_become_a_group(
    server: Server, watched: Watched
) -> None:
    page = watched.page
    acts.arrive(page, server, "flipset")
    acts.shuffles(page, 0)
    acts.run(page)
    acts.finding(page)
    bars = page.locator(".st-key-figure-flipset-marginals .barlayer .trace").first.locator(".point")
    bars.first.scroll_into_view_if_needed()
    place = bars.nth(3).bounding_box() or {}
    with acts.answered(page):  # what takes drags lies above the bars
        page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] - 4)
    chip = page.locator(".st-key-selection-chip button").first
    words = chip.inner_text()
    people = int(re.search(r": (\d+) people", words)[1])  # type: ignore[index]
    assert "female" in words
    acts.in_address(page, "people=")
    acts.open_tab(page, "People")
    expect(page.get_by_text(f"of {people} selected")).to_be_visible()

    acts.to_page(page, "Groups", ".st-key-run button")
    expect(chip).to_have_text(words)
    page.reload()
    expect(chip).to_have_text(words, timeout=acts.SLOW)
    acts.settle(page)
    with page.expect_download() as download:
        page.locator(".st-key-selection-csv button").click()
    assert len(download.value.path().read_text().splitlines()) == people + 1

    page.locator(".st-key-selection-group button").first.click()
    with acts.answered(page):
        page.locator(".st-key-group-name input").fill("young, with short hair")
        page.locator(".st-key-group-name input").press("Enter")
    with acts.answered(page):
        page.locator(".st-key-group-compare button").click()
    expect(page.locator(".st-key-selection-chip")).to_have_count(0)
    assert "people=" not in page.url
    acts.run(page)
    acts.finding(page)
    token = re.search(r"w=([0-9a-f]{32})", page.url)[1]  # type: ignore[index]
    folder = server.home / "workspaces" / token
    spec = json.loads((folder / "draft.json").read_text())["spec"]
    assert spec["data"]["protected"] == ["gender", "young, with short hair"]
    audits = [{"groups": {"by": ["young, with short hair"]}}]
    found = InlineExecutor().submit({**spec, "audits": audits}, folder).result()  # as the command line would
    sizes = {row.group: row.n for row in found.audits[0].result.table}
    assert sizes.pop("young, with short hair") == people
    assert list(sizes.values()) == [2000 - people]


def test_what_was_taken_back_can_be_clicked_again(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.arrive(page, server, "groups")
    acts.run(page)
    acts.finding(page)
    chip = page.locator(".st-key-selection-chip button").first
    acts.open_tab(page, "Who are they?")
    point = page.locator('[class*="st-key-figure-group-rates"] .scatterlayer .point').first
    for _ in range(2):  # a browser tells nothing of a click on what it holds to be selected
        box = _at_rest(page, point)
        acts.click_at(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(chip).to_contain_text("people")
        with acts.answered(page):
            chip.click()
        expect(chip).to_have_count(0)


def _at_rest(page: Page, place: Locator) -> FloatRect:
    """Return where something is, once the page has been drawn and what is above it has its height."""
    acts.settle(page)
    before: FloatRect | None = None
    for _ in range(120):
        place.scroll_into_view_if_needed()
        now = place.bounding_box()
        if now is not None and now == before:
            return now
        before = now
        page.wait_for_timeout(500)
    raise AssertionError("what is to be clicked does not come to rest")
