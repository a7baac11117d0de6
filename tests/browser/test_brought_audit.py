"""The page of an audit that another package brings: opened, set, run, and its people looked at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from audits.stats.badges import ICONS
from tests.brought.installing import install_example
from tests.browser import acts
from tests.browser.conftest import Server, Watched, started

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app, started where the example package lies beside the project on the import path."""
    site = install_example(tmp_path_factory.mktemp("brought"))
    found = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    with started(tmp_path_factory, PYTHONPATH=found) as server:
        yield server


def test_a_brought_audit_is_chosen_run_and_read(server: Server, watched: Watched, artefacts: Path) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "hiring")
    with acts.answered(page):
        page.get_by_test_id("stSidebar").locator('a[href*="top_scores"]').click()
    expect(page).to_have_url(re.compile(r"/top_scores\?"))
    best = page.locator(".st-key-with-top_scores-best input")
    expect(best).to_have_value("0.2")
    with acts.answered(page):
        best.fill("0.3")
        best.press("Enter")
    expect(page).to_have_url(re.compile(r"with-top_scores-best=0\.3"))
    with acts.answered(page):
        page.get_by_test_id("stSidebar").locator(".st-key-run button").click()
    found = page.locator(".st-key-finding")
    expect(found).to_contain_text("30%", timeout=acts.SLOW)
    expect(page.locator(".st-key-verdict")).to_contain_text(re.compile("|".join(ICONS.values())))
    expect(page.locator(".js-plotly-plot .point").first).to_be_visible()
    said = found.inner_text()
    acts.shoot(page, artefacts / "brought-1280.png")
    page.reload()  # the address alone leads back to choices and result
    acts.settle(page)
    expect(page.locator(".st-key-finding")).to_have_text(said, timeout=acts.SLOW)
    expect(best).to_have_value("0.3")
    page.set_viewport_size({"width": 400, "height": 900})
    acts.settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
