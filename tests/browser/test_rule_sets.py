"""The rule-set page in real Chromium: the planted group, one group's page, and training against it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from app.widgets.subject import TRAINED
from audits.stats.badges import ICONS
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_the_planted_group_is_first_confirmed_and_opens_with_a_click(
    server: Server, watched: Watched, artefacts: Path
) -> None:
    page = watched.page
    acts.open_app(page, server.url)
    acts.open_example(page, "loans")
    acts.to_page(page, "Rule sets", ".st-key-run button")
    acts.run(page)
    assert "Velian" in acts.finding(page)
    expect(page.locator(".st-key-verdict")).to_contain_text(ICONS["difference"])
    with acts.answered(page):
        page.locator(".st-key-leaderboard .dvn-scroller").click(position={"x": 18, "y": 52}, delay=acts.PRESS)
    acts.in_address(page, "people=")
    acts.open_tab(page, "What sets them apart?")
    acts.unfold(page)
    expect(page.locator('[class*="-conditions"] .js-plotly-plot').first).to_be_visible(timeout=acts.SLOW)
    assert not acts.serious(page)
    acts.narrow_and_shoot(page, artefacts, "rule-sets-group", 4600, last=True)
    page.reload()
    assert "Velian" in acts.finding(page)
    expect(page.locator('[class*="-conditions"] .js-plotly-plot').first).to_be_visible(timeout=acts.SLOW)


def test_texts_are_brought_learned_audited_and_treated(
    server: Server, watched: Watched, tmp_path: Path, artefacts: Path, shared_data: Path
) -> None:
    """A part of the toxicity templates, one term always called toxic: from the file to training again."""
    with gzip.open(shared_data / "wiki_sentence_templates.csv.gz", "rt", encoding="utf-8") as file:
        frame = pd.read_csv(file).iloc[::12].drop(columns="template")
    held = frame["phrase"].str.contains(r"\bmuslim\b", case=False)
    frame.loc[held & (np.arange(len(frame)) % 3 > 0), "toxicity"] = "toxic"
    frame.to_csv(tmp_path / "templates.csv", index=False)
    page = watched.page
    acts.open_app(page, server.url)
    acts.upload(page, tmp_path / "templates.csv")
    acts.train_on(page, "toxicity", "nontoxic")
    acts.choose(page, "train-", TRAINED["text"])
    acts.to_page(page, "Rule sets", ".st-key-run button")
    acts.run(page)
    assert "“muslim”" in acts.finding(page)
    acts.open_tab(page, "Train again")
    page.locator(".st-key-mitigate button").click()
    expect(page.locator(".st-key-mitigated")).to_be_visible(timeout=acts.SLOW)
    acts.settle(page)
    acts.narrow_and_shoot(page, artefacts, "rule-sets-texts-mitigated", 4000, last=True)
