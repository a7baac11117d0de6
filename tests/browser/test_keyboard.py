"""Pages by keyboard alone: run, read, change, choose; every control has its turn, and focus is seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser

MARK = """
() => {
    const kinds = ["button", "a[href]", "input:not([type=file])", "textarea", "[tabindex='0']"];
    const found = [...document.querySelectorAll(kinds.join())].filter(each => {
        const box = each.getBoundingClientRect(), style = getComputedStyle(each);
        return !each.disabled && each.tabIndex >= 0 && box.width > 0 && style.visibility !== "hidden"
            && !each.closest('.modebar, [aria-hidden="true"], [inert], .js-plotly-plot')
            && !each.matches('[data-testid="stButtonGroup"] button ~ button');  // arrows move within a group
    });
    document.querySelectorAll("[data-turn]").forEach(each => delete each.dataset.turn);
    found.forEach((each, place) => each.dataset.turn = place);
    const named = each => each.getAttribute("aria-label") || each.innerText || each.id;
    return found.map(each => `${each.tagName} ${named(each)}`);
}
"""
FOCUSED = """
() => {
    const at = document.activeElement;
    let seen = false;
    for (let each = at, up = 0; each && up < 5; each = each.parentElement, up += 1) {
        const style = getComputedStyle(each);
        seen ||= (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
            || style.boxShadow !== "none"
            || (up > 0 && each.matches(":focus-within") && style.borderColor === "rgb(0, 114, 178)");
    }
    return [at.dataset.turn ?? "", seen || at.tagName === "CANVAS" || at === document.body];
}
"""


def walk(page: Page) -> tuple[list[str], set[int], list[str]]:
    """Press Tab through the whole page: its controls, which had their turn, and where focus was not seen."""
    acts.settle(page)
    page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); }")
    names = page.evaluate(MARK)
    turns, unseen = set(), []
    for _ in range(len(names) + 90):  # figures' tools and cells of tables have turns, too
        page.keyboard.press("Tab")
        turn, seen = page.evaluate(FOCUSED)
        if turn:
            turns.add(int(turn))
            if not seen:
                unseen.append(names[int(turn)])
    return names, turns, unseen


def test_groups_are_read_and_changed_without_a_mouse(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.arrive(page, server, "glance")
    acts.tab_to(page, 'a[href^="groups"]')
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Groups", timeout=acts.SLOW)
    acts.finding(page)
    first = page.locator(".stMain").get_by_role("tab").first.inner_text()

    acts.tab_to(page, ".st-key-menu-group-rates")
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-table-group-rates", timeout=acts.SLOW)
    acts.tab_to(page, ".st-key-table-group-rates", most=300)  # menus stand behind the page
    with acts.answered(page):
        page.keyboard.press("Space")
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-exhibit-group-rates [data-testid=stDataFrame]")).to_be_visible()

    for _ in range(3):
        names, turns, unseen = walk(page)
        left = page.evaluate("() => document.querySelectorAll('[data-turn]').length")
        if left == len(names):  # nothing was drawn again on the way
            break
    assert len(names) > 20
    assert not [name for place, name in enumerate(names) if place not in turns], "reached by no tab"
    assert not unseen, "focus is not seen"

    acts.tab_to(page, '[role="tab"]', 120)
    page.keyboard.press("ArrowRight")
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Threshold", exact=True)).to_have_attribute("aria-selected", "true")
    acts.open_tab(page, first)
    _choose_people(page)


def test_the_demo_goes_by_arrow_keys(server: Server, watched: Watched) -> None:
    page = watched.page
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{server.url}/tour")
    title = page.locator(".st-key-tour-title")
    title.wait_for(timeout=acts.SLOW)
    acts.settle(page)
    titles = [title.inner_text()]
    for step in range(1, 6):
        if step > 1:
            with acts.answered(page):
                page.keyboard.press("ArrowRight")
            expect(title).not_to_have_text(titles[-1])
            titles.append(title.inner_text())
        inner, outer = page.evaluate(acts.WIDTHS)[1]
        assert inner <= outer, f"step {step} overflows a phone"
    acts.fits(page)
    assert len(set(titles)) == 5
    acts.in_address(page, "step=5")
    with acts.answered(page):
        page.keyboard.press("ArrowLeft")
    expect(title).to_have_text(titles[-2])
    page.reload()
    expect(title).to_have_text(titles[-2], timeout=acts.SLOW)  # the address carries the step
    acts.settle(page)
    expect(page.locator(".tour-sentence")).to_contain_text("33 of 68 declined")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    acts.tab_to(page, ".st-key-presenting")
    with acts.answered(page):
        page.keyboard.press("Space")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    with acts.answered(page):
        page.keyboard.press("ArrowRight")
    expect(title).to_have_text(titles[-1])
    assert not acts.serious(page)


def _choose_people(page: Page) -> None:
    """Select a group's people from the menu of the rates, and let go of them."""
    acts.tab_to(page, ".st-key-menu-group-rates", 160)
    page.keyboard.press("Enter")
    chip = page.locator(".st-key-selection-chip button").first
    pick(page, ".st-key-select-group-rates")
    expect(chip).to_be_visible()
    page.keyboard.press("Escape")
    acts.tab_to(page, ".st-key-selection-chip", 160)
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(chip).to_have_count(0)


def pick(page: Page, selector: str, down: int = 1) -> None:
    """Choose what is listed next in a box, `down` keys from where its list opens."""
    acts.tab_to(page, selector, 120)
    for _ in range(down):
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(300)
    with acts.answered(page):
        page.keyboard.press("Enter")
