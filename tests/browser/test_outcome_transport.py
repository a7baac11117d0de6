"""Transport flows and Recourse in real Chromium: from a run down to one person, under the mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def to_page(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).click()
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.settle(page)


def _a_band_selects_its_people(page: Page) -> None:
    bands = page.locator(".st-key-wide-outcome_transport .sankey-link")
    bands.first.scroll_into_view_if_needed()
    across, down = page.evaluate(
        """([across, top, bottom]) => {
            for (let down = top; down < bottom; down += 3)
                if (document.elementFromPoint(across, down)?.closest(".sankey-link")) return [across, down];
        }""",
        _middle(page.locator(".st-key-wide-outcome_transport .figure")),
    )
    page.mouse.move(across, down)
    expect(page.locator(".figure.of-people")).to_be_visible()
    acts.click_at(page, across, down)
    expect(page.locator(".st-key-selection-chip")).to_contain_text(" people", timeout=acts.SLOW)
    page.locator(".st-key-selection-chip button").first.click()
    expect(page.locator(".st-key-selection-chip")).to_have_count(0, timeout=acts.SLOW)
    acts.settle(page)


def _middle(figure: Locator) -> tuple[float, float, float]:
    """Return where the middle of a figure is, across, and its upper and lower end."""
    box = figure.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"], box["y"] + box["height"]


def test_recourse_in_two_clicks_and_alpha_under_the_mouse(
    server: Server, watched: Watched, artefacts: Path
) -> None:
    page = watched.page
    asked: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda sent: asked.append(sent)))
    acts.open_app(page, server.url)
    acts.open_example(page, "hiring")
    to_page(page, "Recourse")
    acts.run(page)
    assert "rejected people" in acts.finding(page)
    page.set_viewport_size({"width": 1280, "height": 2400})
    acts.settle(page)
    slider = page.locator(".st-key-fit-recourse-steps")
    rail = slider.locator(".slider-rail-touch-rect")
    rail.wait_for(state="attached")
    box = rail.bounding_box()
    assert box is not None
    told = slider.locator(".slider-label").first
    before, so_far = told.text_content(), len(asked)
    assert so_far, "what the page asks of the server is seen"
    for place in (0.75, 0.5, 0.25):
        page.mouse.click(box["x"] + place * box["width"], box["y"] + box["height"] / 2)
        expect(told).not_to_have_text(before or "", timeout=5_000)
        before = told.text_content()
        assert f"{100 * place:g} % of the way:" in (before or "")
    assert len(asked) == so_far, "the slider moves in the browser alone"
    page.locator(".st-key-recourse-people .dvn-scroller").click(position={"x": 18, "y": 52}, delay=acts.PRESS)
    expect(page.locator(".st-key-person-card")).to_contain_text("Fewest columns", timeout=acts.SLOW)
    own = page.locator(".st-key-fit-person-path")
    acts.settle(page)
    own.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)  # the figure below the table takes its place
    for place in (0.25, 0.75):
        box = own.locator(".slider-rail-touch-rect").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + place * box["width"], box["y"] + box["height"] / 2)
        expect(own.locator(".slider-label").first).to_contain_text(
            f"{100 * place:g} % of the way: score", timeout=5_000
        )
    acts.narrow_and_shoot(page, artefacts, "recourse", 3400)
    assert not acts.serious(page)
    # nothing to change: said in a sentence, and the way out of it is on the page
    page.get_by_label("Clear all").first.click()
    expect(page.locator(".main, [data-testid=stMain]").first).to_contain_text(
        "at least one column", timeout=acts.SLOW
    )


def _clicked_again(page: Page, place: Locator, x: float | None = None, y: float | None = None) -> None:
    """Hold that what was clicked answers again once the box says another subgroup."""
    target = page.locator(".st-key-flow-to input")
    shown = target.input_value()
    other = next(name for name in ("male, favorable", "male, unfavorable") if name not in shown)
    acts.choose(page, "flow-to", other)
    expect(target).not_to_have_value(shown)
    _click(page, place, x, y)
    expect(target).to_have_value(shown)


def _click(page: Page, place: Locator, x: float | None = None, y: float | None = None) -> None:
    place.scroll_into_view_if_needed()
    acts.settle(page)
    box = place.bounding_box()
    assert box is not None
    acts.click_at(page, box["x"] + (x or box["width"] / 2), box["y"] + (y or box["height"] / 2))
