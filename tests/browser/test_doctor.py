"""Each card of the data doctor in a browser: its button mends the table, and what was mended is told on."""

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
    assert not page.locator('[class*="st-key-problem-"]').filter(has_not_text="The label is missing").count()
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
    page.get_by_role("link", name="Report & saved audits").click()
    page.wait_for_selector(".st-key-open", timeout=acts.SLOW)
    acts.settle(page)
    report = html.unescape(download(page, "HTML", tmp_path).read_text(encoding="utf-8"))
    assert [said for said in data["mended"] if said not in report] == []


def test_a_second_header_becomes_the_names(server: Server, watched: Watched, tmp_path: Path) -> None:
    rows = "\n".join(f"{k % 2 + 1},{k % 37},{k * 7 % 61},{k // 2 % 2}" for k in range(N))
    (tmp_path / "people.csv").write_text(f"X1,X2,X3,Y\nsex,skill,amount,paid\n{rows}\n")
    page = start(server, watched, tmp_path / "people.csv", "")
    assert page.locator(".st-key-found-words-among-numbers").count() == 0
    assert mend(page, server, "second header")["read"] == {"skip_rows": 1}
    settle_outcome(page, "1")
    expect(page.locator(".st-key-next button")).to_be_enabled(timeout=acts.SLOW)


def test_another_sheet_of_a_workbook_is_read(server: Server, watched: Watched, tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "people.xlsx") as book:
        pd.DataFrame({"read me": ["of this file"] * 3}).to_excel(book, sheet_name="Notes", index=False)
        people().to_excel(book, sheet_name="People", index=False)
    page = start(server, watched, tmp_path / "people.xlsx", "")
    assert mend(page, server, "sheets")["read"] == {"sheet": "People"}
    settle_outcome(page)
    acts.open_tab(page, "Table")
    page.wait_for_selector("text=400 rows and 4 columns", timeout=acts.SLOW)
    page.get_by_text("Read it differently").click()
    acts.settle(page)
    expect(page.get_by_role("textbox", name="Sheet of a workbook")).to_have_value("People")


@pytest.mark.parametrize("mark", [",", "."])
def test_numbers_with_decimal_commas_and_marks_of_thousands(
    server: Server, watched: Watched, tmp_path: Path, mark: str
) -> None:
    written = [f"{20_000 + 3_000 * skill:,.2f} €" for skill in people()["skill"]]
    if mark == ",":
        written = [each.translate(str.maketrans(",.", ".,")) for each in written]
    people().assign(income=written).to_csv(tmp_path / "people.csv", index=False, sep=";")
    page = start(server, watched, tmp_path / "people.csv")
    assert mend(page, server, "written numbers")["read"] == {"decimal": mark}
    acts.open_tab(page, "Table")
    page.get_by_text("Read it differently").click()
    page.get_by_role("button", name="Read again").click()  # what the form does not change, stays
    acts.settle(page)
    expect(page.locator(".st-key-found-written-numbers")).to_have_count(0)
    expect(page.locator(".st-key-next button")).to_be_enabled(timeout=acts.SLOW)


def test_predictions_that_copy_the_label_are_audited_without_one(
    server: Server, watched: Watched, tmp_path: Path
) -> None:
    people().assign(y_pred=lambda each: each["paid"]).to_csv(tmp_path / "people.csv", index=False)
    page = start(server, watched, tmp_path / "people.csv", favorable="")
    acts.choose(page, "label-", "paid")  # the decisions stay those of y_pred
    acts.say_good(page, "yes")
    data = mend(page, server, "label equals predictions")
    assert "label" not in data
    assert data["favorable"] == "yes"
    expect(page.locator(".st-key-next button")).to_be_enabled(timeout=acts.SLOW)


def test_fractional_weights_equal_rows_and_identifiers(
    server: Server, watched: Watched, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    codes = [f"K{each}" for each in rng.integers(10**9, size=N)]
    frame = people().assign(w=rng.uniform(0.3, 3, N).round(3), code=codes)
    frame = pd.concat([frame, frame.iloc[: N // 2]])
    frame.to_csv(tmp_path / "people.csv", index=False)
    page = start(server, watched, tmp_path / "people.csv")
    assert mend(page, server, "equal rows")["repeated"] == "drop"
    acts.open_tab(page, "Rows")
    acts.choose(page, "weights-", "w")
    assert mend(page, server, "fractional weights")["weights"] == {"column": "w", "kind": "sampling"}
    acts.open_tab(page, "Columns")
    grid = page.locator('[class*="st-key-columns-"] [data-testid="stDataFrame"]')
    cell = {"x": 325, "y": 36 + 5 * 33 + 16}
    grid.click(position=cell)  # of the last column, the code; the key ticks it as a feature
    with acts.answered(page):
        page.keyboard.press("Space")
    data = mend(page, server, "identifiers")
    assert data["features"] == ["skill", "town"]
