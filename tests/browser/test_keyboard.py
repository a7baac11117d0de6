"""Pages by keyboard alone: run, read, change, choose; every control has its turn, and focus is seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.serving import Served
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


def test_the_overview_is_run_and_read_without_a_mouse(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.tab_to(page, ".st-key-open-hiring")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-next-top button")).to_be_enabled(timeout=acts.SLOW)
    acts.settle(page)
    page.goto(Served(server.url, server.pid).page("groups", page.url.partition("?")[2]))
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.settle(page)
    acts.tab_to(page, ".st-key-run")
    page.keyboard.press("Enter")
    finding = acts.finding(page)

    acts.tab_to(page, '[data-testid="stSlider"]')
    with acts.answered(page):
        for _ in range(10):
            page.keyboard.press("ArrowRight")
    assert acts.finding(page) != finding, "the threshold moves by arrows"
    acts.tab_to(page, ".st-key-table-group-rates")
    with acts.answered(page):
        page.keyboard.press("Space")
    shown = page.locator(".st-key-table-group-rates input")
    expect(shown).to_be_checked()
    with acts.answered(page):
        page.keyboard.press("Space")
    expect(shown).not_to_be_checked()

    for _ in range(3):
        names, turns, unseen = walk(page)
        left = page.evaluate("() => document.querySelectorAll('[data-turn]').length")
        if left == len(names):  # nothing was drawn anew on the way
            break
    assert len(names) > 20
    assert not [name for place, name in enumerate(names) if place not in turns], "reached by no tab"
    assert not unseen, "focus is not seen"


def test_people_are_chosen_asked_about_and_runs_compared_without_a_mouse(
    server: Server, watched: Watched
) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.tab_to(page, ".st-key-open-hiring")
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-question-1", timeout=acts.SLOW)
    acts.settle(page)
    acts.tab_to(page, 'a[href*="/flipset"]')
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.shuffles(page, 0)
    acts.tab_to(page, ".st-key-run")
    page.keyboard.press("Enter")
    acts.finding(page)

    chip = page.locator(".st-key-selection-chip button").first
    pick(page, ".st-key-select-flipset-marginals")
    expect(chip).to_contain_text("female")
    acts.tab_to(page, '[data-testid="stDataFrame"] canvas', 120)
    page.keyboard.press("Tab")
    acts.settle(page)
    assert "person=" not in page.url, "to pass a table by opens nobody"
    page.keyboard.press("Shift+Tab")
    with acts.answered(page):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".st-key-person-card")).to_be_in_viewport()
    acts.tab_to(page, ".st-key-what-if")
    with acts.answered(page):
        page.keyboard.press("Space")
    said = page.locator(".st-key-what-if-said")
    expect(said).to_contain_text("As known", timeout=60_000)
    acts.tab_to(page, '[class*="st-key-if-"] [data-testid="stNumberInputField"]')
    page.keyboard.press("Control+a")
    page.keyboard.type("21,5")
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(said).to_contain_text("With work_years 21.5 instead of", timeout=60_000)
    acts.tab_to(page, ".st-key-selection-chip", 120)
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(chip).to_have_count(0)

    acts.tab_to(page, 'a[href^="groups"]', 160)
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-run-bar", timeout=acts.SLOW)
    expect(page.locator("h1")).to_have_text("Groups")
    acts.settle(page)
    acts.tab_to(page, ".st-key-run")
    page.keyboard.press("Enter")
    acts.finding(page)
    acts.tab_to(page, '[data-testid="stSlider"]')
    with acts.answered(page):
        page.keyboard.press("ArrowRight")
    acts.tab_to(page, ".st-key-keep-thresholds")
    with acts.answered(page):
        page.keyboard.press("Enter")
    expect(page.locator(".st-key-keep-thresholds")).to_have_count(0, timeout=60_000)
    acts.finding(page)

    acts.tab_to(page, 'a[href^="saved"]', 160)
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-open", timeout=acts.SLOW)
    acts.settle(page)
    assert "people=" not in page.url, "nobody was selected on the way"
    pick(page, ".st-key-open")
    pick(page, ".st-key-against", 2)  # the list begins with “(none)”, which is chosen
    expect(page.get_by_text("before is the other run, after this one")).to_be_visible()
    page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); }")
    acts.tab_to(page, '[data-testid="stDownloadButton"]', 120)
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".html")


def pick(page: Page, selector: str, down: int = 1) -> None:
    """Choose what is listed next in a box, `down` keys from where its list opens."""
    acts.tab_to(page, selector, 120)
    for _ in range(down):
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(300)
    with acts.answered(page):
        page.keyboard.press("Enter")
