"""Cards of the data doctor in a browser: each mends the table, and what was mended stands in the report."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched
from tests.browser.test_saved import download

pytestmark = pytest.mark.browser

N = 400


def people() -> pd.DataFrame:
    """Draw people of whom nothing is wrong."""
    rng = np.random.default_rng(0)
    skill = rng.normal(size=N).round(2)
    return pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], N),
            "skill": skill,
            "town": rng.choice(["A", "B", "C"], N),
            "paid": np.where(skill + rng.normal(size=N) > 0, "yes", "no"),
        }
    )


def all_wrong() -> pd.DataFrame:
    """Draw people of whom much is wrong: each column but the four has one thing to mend."""
    rng = np.random.default_rng(1)
    frame = people()
    told = rng.random(N) < 0.97
    wives = frame["sex"].where(rng.random(N) < 0.95, "female").map({"female": "wife", "male": "husband"})
    frame = frame.assign(
        nr=np.arange(7, N + 7),
        gender=frame["sex"].map({"female": 0, "male": 1}),
        bar1=np.where(told & (frame["paid"] == "yes"), 5.0, 1.0) + frame["skill"] / 10,
        relationship=wives,
        town=frame["town"].mask(frame.index % 7 == 0, "a "),
        debt=(90 * rng.random(N)).round(1).astype(object),
        wealth=(10 * frame["skill"]).mask(frame.index == 3, 1e308),
        age=(40 + 9 * frame["skill"]).round().mask(frame.index == 5, -66).astype(int),
        education=np.arange(N) % 4 + 1,
    )
    frame.loc[8, "debt"] = "inf"
    return frame


def start(server: Server, watched: Watched, path: Path, favorable: str = "yes") -> Page:
    page = watched.page
    acts.open_app(page, server.url)
    acts.upload(page, path)
    if favorable:
        settle_outcome(page, favorable)
    return page


def settle_outcome(page: Page, favorable: str = "yes") -> None:
    acts.open_tab(page, "Decision")
    acts.train_on(page, "paid", favorable)


def mend(page: Page, server: Server, kind: str, way: int = 0) -> Mapping[str, Any]:
    """Click what mends a thing found, see that it is found no more, and return the data section then."""
    key = re.sub(r"\W", "-", kind)
    card = page.locator(f".st-key-found-{key}")
    acts.open_tab(page, "Quality")
    expect(card).to_be_visible(timeout=acts.SLOW)
    said = card.inner_text().split("\n")[0]
    with acts.answered(page):
        page.locator(f".st-key-mend-{key}-{way} button").click()
    expect(page.get_by_text(f"({kind})", exact=False)).to_be_visible(timeout=acts.SLOW)
    acts.settle(page)
    expect(card).to_have_count(0)
    assert not page.locator('[class*="st-key-problem-"]').count()
    token = re.search(r"w=([0-9a-f]{32})", page.url)[1]  # type: ignore[index]
    draft = json.loads((server.home / "workspaces" / token / "draft.json").read_text())
    data: Mapping[str, Any] = draft["spec"]["data"]
    assert data["mended"][-1].startswith(said)
    return data


def test_much_that_is_wrong_with_one_table_is_mended_card_by_card_and_stands_in_the_report(
    server: Server, watched: Watched, tmp_path: Path
) -> None:
    all_wrong().to_csv(tmp_path / "people.csv", index=False)
    page = start(server, watched, tmp_path / "people.csv")
    data = mend(page, server, "words among numbers")
    assert data["read"]["missing"] == ["inf"]
    data = mend(page, server, "infinite")
    assert data["recode"]["wealth"] == {"map": {"1e+308": None}}
    data = mend(page, server, "impossible")
    assert data["recode"]["age"] == {"map": {"-66": None}}
    data = mend(page, server, "spellings")
    assert data["recode"]["town"] == {"map": {"a": "A"}}
    data = mend(page, server, "row numbers")
    assert "nr" not in data["features"]
    data = mend(page, server, "same attribute")
    assert data["protected"] == ["sex"]
    assert "gender" not in data["features"]
    data = mend(page, server, "gives the label away")
    assert "bar1" not in data["features"]
    data = mend(page, server, "proxies of sex")
    assert set(data["features"]) == {"skill", "town", "debt", "wealth", "age", "education"}
    data = mend(page, server, "codes")
    assert data["kinds"] == {"education": "categorical"}
    assert page.locator('[class*="st-key-found-"]').count() == 0
    acts.to_page(page, "Groups", ".st-key-run button")
    acts.run(page)
    acts.finding(page)
    folders = (server.home / "runs").glob("*/*/results.json")
    results = json.loads(max(folders, key=lambda each: each.stat().st_mtime).read_text())
    assert results["spec"]["data"]["mended"] == data["mended"]
    assert set(data["mended"]) <= set(results["data"]["notes"])
    acts.to_page(page, "Report & saved audits", ".st-key-open")
    report = html.unescape(download(page, "HTML", tmp_path).read_text(encoding="utf-8"))
    assert [said for said in data["mended"] if said not in report] == []
