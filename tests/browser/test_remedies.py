"""The parts of a gap and the frontier of a mitigation on their pages, at both widths."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from benchmarks.serving import Served
from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.browser.test_every_page import TALLEST, too_large


def _shown(page: Page, name: str, tab: str, artefacts: Path) -> None:
    """Hold that the open tab is no higher than two screens and no wider than a phone; save its picture."""
    found = too_large(page, f"{name}, {tab}", TALLEST)
    acts.shoot(page, artefacts / f"{name}-{tab.lower().split()[0]}.png")
    assert not found, "\n".join(found)


def test_the_parts_of_a_gap(server: Server, watched: Watched, artefacts: Path) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "loans")
    address = page.url.partition("?")[2]
    page.goto(Served(server.url, server.pid).page("explain", f"{address}&with-explain-attribution=true"))
    acts.run(page)
    acts.finding(page)
    acts.open_tab(page, "Which features?")
    expect(page.locator(".st-key-figure-explain-attribution .main-svg").first).to_be_visible()
    _shown(page, "explain", "Which features?", artefacts)


def test_the_frontier_of_a_mitigation(server: Server, watched: Watched, artefacts: Path) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "law_school")  # whose model is trained here
    address = page.url.partition("?")[2]
    page.goto(Served(server.url, server.pid).page("mitigation", f"{address}&with-mitigation-also=%7B%7D"))
    acts.run(page)
    acts.finding(page)
    acts.open_tab(page, "Accuracy and gap")
    expect(page.locator(".st-key-figure-mitigation-frontier .main-svg").first).to_be_visible()
    _shown(page, "mitigation", "Accuracy and gap", artefacts)
    assert not acts.serious(page)
