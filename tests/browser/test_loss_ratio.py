"""The individual-fairness page in real Chromium: a model of a number, and comparable people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.data_model.outcome import _TAKEN
from app.loss_ratio.choices import _METRICS
from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.loss_ratio.conftest import people

pytestmark = pytest.mark.browser


def _bring(page: Page, url: str, file: Path) -> None:
    acts.open_app(page, url)
    acts.upload(page, file)


def test_a_model_of_a_number_and_comparable_people(
    server: Server, watched: Watched, artefacts: Path, tmp_path: Path
) -> None:
    page = watched.page
    file = tmp_path / "paid.csv"
    frame = people(400).drop(columns="hired")
    noise = np.random.default_rng(0).normal(size=400)
    frame.assign(pay=(30 + 4 * frame["skill"] - 3 * frame["hair"] + noise).round(2)).to_csv(file, index=False)
    _bring(page, server.url, file)
    acts.train_on(page, "pay")
    with acts.answered(page):  # a column of this name is proposed as an amount
        page.get_by_role("radio", name=_TAKEN["cut"]).click()
    with acts.answered(page):
        page.locator('[class*="st-key-bound-"] input').fill("28")
        page.locator('[class*="st-key-bound-"] input').press("Enter")
    acts.choose(page, "predict-", "the number itself")
    acts.to_page(page, "Individual fairness", ".st-key-run button")
    acts.run(page)
    first = acts.finding(page)
    assert "sex" in first
    acts.open_tab(page, "People")
    expect(page.locator(".st-key-ratio-people")).to_be_visible(timeout=acts.SLOW)
    acts.choose(page, "metric", _METRICS["factor"])
    acts.choose(page, "comparable", "job")
    expect(page.locator(".st-key-earlier")).to_be_visible(timeout=acts.SLOW)
    acts.run(page)
    expect(page.locator(".st-key-earlier")).to_have_count(0, timeout=acts.SLOW)
    assert acts.finding(page) != first
    assert not acts.serious(page)
    acts.narrow_and_shoot(page, artefacts, "individual-number", 5200, last=True)
