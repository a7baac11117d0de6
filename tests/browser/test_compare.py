"""A second model compared with the first in Chromium: chosen, run, shown at both widths, taken away."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched


def test_a_second_model_beside_the_first(server: Server, watched: Watched, artefacts: Path) -> None:
    page = watched.page
    acts.arrive(page, server, "compare")
    expect(page.locator(".st-key-second-model")).to_be_visible()
    acts.run(page)
    assert acts.finding(page)
    for tab, name in ((None, "slope"), (None, "decided"), ("Every audit", "change-0")):
        if tab is not None:
            acts.open_tab(page, tab)
        expect(page.locator(f".st-key-figure-{name} .main-svg").first).to_be_visible()
    assert not acts.serious(page)
    acts.narrow_and_shoot(page, artefacts, "compare", 3600, last=True)
