"""The individual-fairness page in real Chromium: δ, the angle, one person, and a model of a number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.loss_ratio.conftest import people

pytestmark = pytest.mark.browser


def _bring(page: Page, url: str, file: Path) -> None:
    acts.open_app(page, url)
    acts.upload(page, file)


def _to_page(page: Page) -> None:
    page.get_by_role("link", name="Individual fairness").click()
    page.wait_for_selector(".st-key-run button", timeout=acts.SLOW)
    acts.settle(page)


def _drag(page: Page, key: str, presses: int) -> None:
    """Move a slider by its keys."""
    knob = page.locator(f".st-key-{key} input[type=range]").first
    knob.focus()
    with acts.answered(page):
        for _ in range(abs(presses)):
            knob.press("ArrowRight" if presses > 0 else "ArrowLeft")


def test_tolerance_angle_and_one_person(
    server: Server, watched: Watched, artefacts: Path, tmp_path: Path
) -> None:
    page = watched.page
    file = tmp_path / "hired.csv"
    people(400)[["hair", "skill", "sex", "hired"]].to_csv(file, index=False)
    _bring(page, server.url, file)
    acts.choose(page, "label-", "hired")
    page.locator('[class*="st-key-favorable-"] input').first.click()
    page.get_by_role("option", name="yes", exact=True).click()
    page.keyboard.press("Escape")  # the open list hides the rest
    acts.settle(page)
    _to_page(page)
    acts.run(page)
    assert "above the tolerance of 1.25" in acts.finding(page)
    expect(page.locator(".st-key-verdict")).to_contain_text("Difference found")
    expect(page.get_by_text("Other models of these two features")).to_be_visible()
    image = page.locator(".st-key-figure-loss-ratio-map .hm image").first
    before = image.get_attribute("xlink:href")
    _drag(page, "angle", 3)
    expect(page.locator(".st-key-angle")).to_contain_text("20")
    expect(image).not_to_have_attribute("xlink:href", before or "", timeout=acts.SLOW)
    # the last tolerance on the slider lies above T; nothing is run for it
    page.locator(".st-key-delta input[type=range]").first.press("End")
    expect(page.locator(".st-key-numbers")).to_contain_text(
        "not wholly above the tolerance", timeout=acts.SLOW
    )
    expect(page.locator(".st-key-verdict")).not_to_contain_text("Difference found")
    expect(page.locator(".st-key-run button").first).to_be_disabled()  # the same run answers
    acts.settle(page)  # a list that is open while the page is drawn anew closes
    page.locator(".st-key-person").scroll_into_view_if_needed()  # a list that scrolls with its page closes
    acts.settle(page)
    page.locator(".st-key-person input").click()
    page.get_by_role("option").first.click()
    acts.settle(page)
    expect(page.get_by_text("changing only what should not matter moves the score")).to_be_visible(
        timeout=acts.SLOW
    )
    assert "person=" in page.url
    assert not acts.serious(page)
    acts.narrow_and_shoot(page, artefacts, "individual", 6000, last=True)


def test_a_model_of_a_number_and_comparable_people(
    server: Server, watched: Watched, artefacts: Path, tmp_path: Path
) -> None:
    page = watched.page
    file = tmp_path / "paid.csv"
    frame = people(400).drop(columns="hired")
    noise = np.random.default_rng(0).normal(size=400)
    frame.assign(pay=(30 + 4 * frame["skill"] - 3 * frame["hair"] + noise).round(2)).to_csv(file, index=False)
    _bring(page, server.url, file)
    acts.choose(page, "label-", "pay")
    with acts.answered(page):
        page.locator('[class*="st-key-bound-"] input').fill("28")
        page.locator('[class*="st-key-bound-"] input').press("Enter")
    acts.choose(page, "predict-", "the number itself")
    _to_page(page)
    acts.run(page)
    assert "tied to sex" in acts.finding(page)
    expect(page.locator(".st-key-ratio-people")).to_be_visible(timeout=acts.SLOW)
    acts.choose(page, "metric", "what comparable people differ in")
    acts.choose(page, "comparable", "job")
    with acts.answered(page):
        page.locator(".st-key-factors input").fill("1")
        page.locator(".st-key-factors input").press("Enter")
    expect(page.get_by_text("Earlier result", exact=False).first).to_be_visible(timeout=acts.SLOW)
    acts.run(page)
    expect(page.locator(".st-key-numbers").first).to_contain_text("people of the same job", timeout=acts.SLOW)
    expect(page.locator(".st-key-delta")).to_be_visible(timeout=acts.SLOW)  # no earlier result any more
    acts.settle(page)
    acts.narrow_and_shoot(page, artefacts, "individual-number", 5200, last=True)
