"""Transport flows and Recourse in real Chromium: from a run down to one person, under the mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from app.outcome_transport.choices import _GROUPS
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_a_band_and_a_bar_open_their_people_and_their_matches(server: Server, watched: Watched) -> None:
    page = watched.page
    acts.arrive(page, server, "outcome_transport")
    acts.choose(page, "compare", _GROUPS)
    acts.shuffles(page, 19, "with-outcome_transport-permutations")
    acts.run(page)
    assert "women" in acts.finding(page)
    _a_band_selects_its_people(page)
    bar = page.locator(".st-key-fit-flow_matrix .point path").first
    bar.scroll_into_view_if_needed()
    acts.settle(page)
    across, top, bottom = _middle(bar)
    acts.click_at(page, across, (top + bottom) / 2)
    expect(page.locator(".st-key-selection-chip")).to_contain_text(" people", timeout=acts.SLOW)
    acts.open_tab(page, "People")
    expect(page.locator(".st-key-flow-people")).to_be_visible(timeout=acts.SLOW)
    assert page.locator(".st-key-flow-from input").input_value() == "women, hired"
    page.locator(".st-key-flow-people .dvn-scroller").click(position={"x": 18, "y": 52}, delay=acts.PRESS)
    expect(page.locator(".st-key-person-card")).to_be_visible(timeout=acts.SLOW)
    assert not acts.serious(page)
    acts.fits(page, last=True)
    acts.open_tab(page, "Who are they?")
    expect(page.locator(".st-key-wide-flows")).to_be_hidden()
    expect(page.locator(".st-key-fit-flow_matrix .js-plotly-plot")).to_be_visible()


def _a_band_selects_its_people(page: Page) -> None:
    bands = page.locator(".st-key-wide-flows .sankey-link")
    bands.first.scroll_into_view_if_needed()
    across, down = page.evaluate(
        """([across, top, bottom]) => {
            for (let down = top; down < bottom; down += 3)
                if (document.elementFromPoint(across, down)?.closest(".sankey-link")) return [across, down];
        }""",
        _middle(page.locator(".st-key-wide-flows .figure")),
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


def test_recourse_in_two_clicks_and_alpha_by_mouse_keys_and_link(server: Server, watched: Watched) -> None:
    page = watched.page
    asked: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda sent: asked.append(sent)))
    acts.arrive(page, server, "recourse")
    acts.run(page)
    assert "turned down" in acts.finding(page)
    expect(page.locator(".st-key-fit-recourse-needed .js-plotly-plot")).to_be_visible()
    acts.open_tab(page, "Step by step")
    slider = page.locator(".st-key-fit-recourse-reclassified")
    slider.locator(".slider-rail-touch-rect").wait_for(state="attached")
    slider.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    told = slider.locator(".slider-label").first
    so_far = len(asked)
    assert so_far, "what the page asks of the server is seen"
    for place in (0.75, 0.5):
        _slide(page, slider, place)
    acts.in_address(page, "alpha=0.5")
    slider.locator(".figure").focus()
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("55%", timeout=5_000)
    acts.in_address(page, "alpha=0.55")
    assert len(asked) == so_far, "the slider moves in the browser alone"
    page.reload()
    expect(told).to_contain_text("55%", timeout=acts.SLOW)
    acts.settle(page)
    acts.open_tab(page, "People")
    page.locator(".st-key-recourse-people .dvn-scroller").click(position={"x": 18, "y": 52}, delay=acts.PRESS)
    expect(page.locator(".st-key-person-card")).to_be_visible(timeout=acts.SLOW)
    own = page.locator(".st-key-fit-person-path")
    acts.settle(page)
    own.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)  # the figure below the table takes its place
    _slide(page, own, 0.25)
    assert not acts.serious(page)
    acts.fits(page, last=True)


def _slide(page: Page, figure: Locator, place: float) -> None:
    across, top, bottom = _middle(rail := figure.locator(".slider-rail-touch-rect"))
    width = (rail.bounding_box() or {"width": 0.0})["width"]
    page.mouse.click(across + (place - 0.5) * width, (top + bottom) / 2)
    expect(figure.locator(".slider-label").first).to_contain_text(f"{100 * place:g}%", timeout=5_000)
