"""A table of wages brought by someone new: asked, compared in dollars, looked at on two widths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from app.data_model.model_choice import WAYS
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def _wages(folder: Path) -> Path:
    """Write wages of which women get about a fifth less, on a logarithmic scale."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["female", "male"], 1200)
    schooling = rng.integers(8, 19, 1200)
    wage = np.exp(1.8 + 0.06 * schooling - 0.2 * (sex == "female") + rng.normal(0, 0.3, 1200)).round(2)
    table = pd.DataFrame({"sex": sex, "schooling": schooling, "wage": wage})
    table.to_csv(folder / "wages.csv", index=False)
    return folder / "wages.csv"


def test_a_pay_gap_is_asked_for_without_a_cut(
    server: Server, watched: Watched, tmp_path: Path, artefacts: Path
) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.upload(page, _wages(tmp_path), ask=True)
    expect(page.get_by_role("radio", name=WAYS["number"])).to_have_attribute("aria-checked", "true")
    page.locator('[class*="st-key-amount-unit-"] input').fill("$ an hour")
    with acts.answered(page):
        page.keyboard.press("Enter")
    for _ in range(3):
        with acts.answered(page):
            page.locator(".st-key-answer button").click()
    acts.to_page(page, "Groups", ".st-key-run button")
    acts.run(page)
    assert "$" in acts.finding(page)
    for tab, name in ((None, "groups-deciding"), ("Distribution", "groups-quantiles_sex")):
        if tab is not None:
            acts.open_tab(page, tab)
        expect(page.locator(f".st-key-figure-{name} .main-svg").first).to_be_visible()
    acts.narrow_and_shoot(page, artefacts, "amounts", 3600, last=True)
