"""A table of wages brought by somebody new: asked, compared in dollars, looked at on two widths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("playwright.sync_api", reason="browser tests need Playwright")

from playwright.sync_api import Page

from tests.browser import acts


def _wages(folder: Path) -> Path:
    """Write wages of which women get about a tenth less, on a logarithmic scale."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["female", "male"], 1200)
    schooling = rng.integers(8, 19, 1200)
    wage = np.exp(1.8 + 0.06 * schooling - 0.2 * (sex == "female") + rng.normal(0, 0.3, 1200)).round(2)
    table = pd.DataFrame({"sex": sex, "schooling": schooling, "wage": wage})
    table.to_csv(folder / "wages.csv", index=False)
    return folder / "wages.csv"


def test_pay_gap(visit: Page, tmp_path: Path) -> None:
    """A pay gap is asked for without a cut, and stated in the unit of the pay."""
    acts.upload(visit, _wages(tmp_path), ask=True)
    acts.shoot(visit, tmp_path / "1-asked.png")
    visit.get_by_label("Counted in").fill("$ an hour")
    with acts.answered(visit):
        visit.keyboard.press("Enter")
    for _ in range(3):
        with acts.answered(visit):
            visit.locator(".st-key-answer button").click()
    acts.shoot(visit, tmp_path / "2-ready.png")
    acts.to_page(visit, "Groups", ".st-key-run button")
    acts.run(visit)
    said = acts.finding(visit)
    acts.shoot(visit, tmp_path / "3-found.png")
    assert "$" in said
