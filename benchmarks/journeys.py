"""Tables from upload to finding in Chromium: ten unknown ones, and a large one.

    python -m benchmarks.journeys [NAME …]
    python -m benchmarks.journeys large

What is clicked, how often, and how long it takes. A journey takes what is proposed, mends what a card offers,
answers what is asked, and reads the headline of *At a glance*: it arrives where badge and group are those
that the table was drawn with. docs/ten-tables.md gets the record between its marks. Of a
table of 200,000 rows and 41 columns the seconds of each step are printed beside its limit: until the first
question, for an answer, until all is ready, and until the finding. Needs Chromium and Playwright.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, Locator, Page

from benchmarks.measuring import asked, clocked
from benchmarks.serving import ROOT, Served, browsing, served
from benchmarks.ten_tables import TABLES, Known, write_table
from tests.browser import acts

_MARKS = ("<!-- journeys: python -m benchmarks.journeys -->", "<!-- end of journeys -->")
_SLOW = 300_000


@dataclass
class Journey:
    """What a visitor clicked on the way to a finding, each in words (a choice in a list counts as two).

    `seconds` go from the upload to the headline; `arrived` says whether headline and badge are those that the
    table was drawn with.
    """

    name: str
    clicks: list[str] = field(default_factory=list)
    seconds: float = 0.0
    headline: str = ""
    badge: str = ""
    arrived: bool = False


def travel(browser: Browser, app: Served, name: str, folder: Path) -> Journey:
    """Take one table to its finding as a new visitor does."""
    known, made = TABLES[name], Journey(name)
    page = acts.visit(browser).new_page()
    acts.open_app(page, app.url)
    begun = time.monotonic()

    acts.upload(page, write_table(name, folder), ask=True)
    made.clicks.append("choose the file")
    _mend(page, made)
    _answer(page, made, known)
    _until_ready(page, made)
    _click(page, made, page.locator(".st-key-next button"))
    page.wait_for_selector(".st-key-run-groups button", timeout=_SLOW)
    _click(page, made, page.locator(".st-key-run-groups button"))
    page.wait_for_selector(".st-key-finding", timeout=_SLOW)
    page.wait_for_selector(".js-plotly-plot .point, .js-plotly-plot .points", timeout=_SLOW)
    acts.settle(page)
    made.seconds = time.monotonic() - begun
    made.headline = page.locator(".st-key-finding").inner_text()
    made.badge = page.locator(".st-key-verdict").first.inner_text()
    made.arrived = known.badge in made.badge and known.group.casefold() in made.headline.casefold()
    page.context.close()
    return made


def _click(page: Page, made: Journey, button: Locator) -> None:
    made.clicks.append(button.inner_text().strip())
    with acts.answered(page):
        button.click()


def _choose(page: Page, made: Journey, key: str, option: str) -> None:
    acts.choose(page, key, option)
    made.clicks += [f"open a list, choose {option}", ""]


def _mend(page: Page, made: Journey) -> None:
    """Take what each card offers first."""
    for _ in range(6):
        cards = page.locator('[class*="st-key-mend-"] button')
        if not cards.count():
            return
        _click(page, made, cards.first)


def _answer(page: Page, made: Journey, known: Known) -> None:
    """Answer the questions: what is proposed is taken where it is right."""
    for _ in range(5):
        if not page.locator(".st-key-answer button").count():
            return
        asked = page.get_by_role("heading", level=2).first.inner_text()
        if "decided" in asked:
            _decision(page, made, known)
        elif "happened" in asked:
            for column, good in known.truth.items():
                _choose(page, made, "label-", column)
                _choose(page, made, "truth-", good)
        _click(page, made, page.locator(".st-key-answer button"))


def _decision(page: Page, made: Journey, known: Known) -> None:
    boxes = page.locator('[class*="st-key-predicted-"] input, [class*="st-key-label-"] input')
    if known.outcome not in {box.input_value() for box in boxes.all()}:
        _choose(page, made, "predicted-", known.outcome)
    chosen = page.locator('[class*="st-key-favorable-"]')
    if not chosen.get_by_role("button", name=f"Remove {known.good}").count():
        _choose(page, made, "favorable-", known.good)
        page.keyboard.press("Escape")
        acts.settle(page)


def _until_ready(page: Page, made: Journey) -> None:
    """Mend what the page says must be mended, until it says that it is ready."""
    for _ in range(6):
        page.wait_for_selector(".st-key-next", timeout=_SLOW)
        first = page.locator('[class*="st-key-mend-first-"] button')
        said = first.or_(page.locator('text="Ready to audit."'))
        said.or_(page.locator("text=/allow groups, rule sets/")).first.wait_for(timeout=_SLOW)
        acts.settle(page)
        if not first.count():
            return
        _click(page, made, first.first)
    raise AssertionError(f"{made.name} is never ready")


def record(journeys: list[Journey], before: str = "") -> str:
    """Return journeys as a table in Markdown; those of `before` stay that were not taken again."""
    rows = {line.split("|")[1].strip(): line for line in before.splitlines() if line.startswith("| ")}
    for each in journeys:
        arrives, minutes = "yes" if each.arrived else "**no**", f"{each.seconds / 60:.1f}"
        said = f"{each.badge.splitlines()[0]}: {each.headline.splitlines()[0]}"
        rows[each.name] = f"| {each.name} | {arrives} | {len(each.clicks)} | {minutes} | {said} |"
    lines = ["| table | arrives | clicks | minutes | At a glance says |", "|---|---|--:|--:|---|"]
    return "\n".join([*lines, *(rows[name] for name in TABLES if name in rows)])


def large_table(rows: int = 200_000) -> pd.DataFrame:
    """Return people of whom women are approved ten points less often."""
    rng = np.random.default_rng(41)
    sex = rng.choice(["female", "male"], rows)
    columns = {"sex": sex, "race": rng.choice(["a", "b", "c"], rows), "age": rng.integers(18, 80, rows)}
    columns |= {f"x{k}": rng.normal(size=rows).round(3) for k in range(25)}
    columns |= {f"kind{k}": rng.choice(["low", "middle", "high"], rows) for k in range(12)}
    columns["approved"] = np.where(rng.random(rows) < np.where(sex == "female", 0.4, 0.5), "yes", "no")
    return pd.DataFrame(columns)


def large(browser: Browser, app: Served, folder: Path) -> None:
    """Take a large table to its finding, and print each step's seconds."""
    path = folder / "large.csv"
    large_table().to_csv(path, index=False)
    page = acts.visit(browser).new_page()
    acts.open_app(page, app.url)
    with clocked(f"upload of {path.stat().st_size / 1e6:.0f} MB to the first question"):
        acts.upload(page, path, ask=True)
    answer = page.locator(".st-key-answer button")
    while answer.inner_text() != "Finish":
        with clocked("an answer", "(limit 0.5 s)"), acts.answered(page):
            answer.click()
    with clocked("ready after the last answer", "(limit 5 s)"):
        answer.click()
        page.get_by_text("Ready to audit.").wait_for(timeout=300_000)
    page.locator(".st-key-next button").click()
    page.locator(".st-key-run-groups button").click(timeout=300_000)
    with clocked("first finding", "(limit 15 s)"):
        page.wait_for_selector(".st-key-finding", timeout=300_000)


if __name__ == "__main__":
    given, file, journeys = asked(__doc__, words=list(TABLES)), ROOT / "docs" / "ten-tables.md", []
    with served() as app, browsing() as browser, tempfile.TemporaryDirectory() as place:
        if given.words == ["large"]:
            raise SystemExit(large(browser, app, Path(place)))
        for name in given.words:
            journeys.append(travel(browser, app, name, Path(place)))
            print(journeys[-1], flush=True)
    head, _, rest = file.read_text(encoding="utf-8").partition(_MARKS[0])
    before, _, tail = rest.partition(_MARKS[1])
    file.write_text(f"{head}{_MARKS[0]}\n\n{record(journeys, before)}\n\n{_MARKS[1]}{tail}", encoding="utf-8")
