"""Tables from upload to finding in Chromium: ten unknown ones, and a large one.

    python -m benchmarks.journeys [NAME …]
    python -m benchmarks.journeys large

What is clicked, how often, and how long it takes. A journey takes what is proposed, mends what a card offers,
answers what is asked, and reads the headline of *At a glance*: it arrives where badge and group are those
that the table was drawn with. docs/ten-tables.md gets the record between its marks, but for that of `large`.
Printed are the seconds of each step. Needs Chromium and Playwright.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Locator

from benchmarks.measuring import asked
from benchmarks.serving import ROOT, Served, browsing, served
from benchmarks.ten_tables import ALL, TABLES, write_table
from tests.browser import acts

_MARKS = ("<!-- journeys: python -m benchmarks.journeys -->", "<!-- end of journeys -->")
_SLOW = 300_000


class Journey:
    """A visitor's way from a table to its finding; a choice in a list counts as two clicks.

    `seconds` go from the upload to the headline; `arrived` says whether headline and badge are those that the
    table was drawn with.
    """

    def __init__(self, browser: Browser, app: Served, name: str, folder: Path) -> None:
        self.name, self.known, self.clicks = name, ALL[name], 0
        self.page = page = acts.visit(browser).new_page()
        self._began = self._last = time.monotonic()
        page.goto(app.url, wait_until="commit")
        page.wait_for_selector("text=Start with an example")
        self._did("first paint", 0)
        acts.settle(page)
        path = write_table(name, folder)
        self._began = self._last = time.monotonic()
        acts.upload(page, path, ask=True)
        self._did("upload until the first question")
        for _ in range(6):  # take what each card offers first
            if (cards := page.locator('[class*="st-key-mend-"] button')).count():
                self._click(cards.first)
        self._answer()
        self._mend_until_ready()
        self._click(page.locator(".st-key-next button"))
        page.wait_for_selector(".st-key-run-groups button", timeout=_SLOW)
        self._click(page.locator(".st-key-run-groups button"))
        page.wait_for_selector(".st-key-finding", timeout=_SLOW)
        page.wait_for_selector(".js-plotly-plot .point, .js-plotly-plot .points", timeout=_SLOW)
        acts.settle(page)
        self._did("until the finding", 0)
        self.seconds = self._last - self._began
        self.headline = page.locator(".st-key-finding").inner_text()
        self.badge = page.locator(".st-key-verdict").first.inner_text()
        group = self.known.group.casefold()
        self.arrived = self.known.badge in self.badge and group in self.headline.casefold()
        for link, mark in (("Flipsets", ".st-key-run button"), ("Data & model", ".st-key-next button")) * 2:
            page.get_by_role("link", name=link).click()
            page.wait_for_selector(mark)
            page.wait_for_selector(acts.AT_REST)
            self._did(f"switch to {link}", 0)
            acts.settle(page)
            self._last = time.monotonic()
        page.context.close()

    def _did(self, what: str, clicks: int = 1) -> None:
        now, self.clicks = time.monotonic(), self.clicks + clicks
        print(f"{self.name:16} {now - self._last:6.2f} s  {what}", flush=True)
        self._last = now

    def _click(self, button: Locator) -> None:
        what = button.inner_text().strip()
        with acts.answered(self.page):
            button.click()
        self._did(what)

    def _choose(self, key: str, option: str) -> None:
        acts.choose(self.page, key, option)
        self._did(f"open a list, choose {option}", 2)

    def _answer(self) -> None:
        """Answer the questions: what is proposed is taken where it is right."""
        self.page.wait_for_selector(".st-key-answer button, .st-key-next button", timeout=_SLOW)
        for _ in range(5):
            if not self.page.locator(".st-key-answer button").count():
                return
            question = self.page.get_by_role("heading", level=2).first.inner_text()
            if "decided" in question:
                boxes = self.page.locator(
                    '[class*="st-key-predicted-"] input, [class*="st-key-label-"] input'
                )
                if self.known.outcome not in {box.input_value() for box in boxes.all()}:
                    self._choose("predicted-", self.known.outcome)
                chosen = self.page.locator('[class*="st-key-favorable-"]')
                if not chosen.get_by_role("button", name=f"Remove {self.known.good}").count():
                    self._choose("favorable-", self.known.good)
                    self.page.keyboard.press("Escape")
                    acts.settle(self.page)
            elif "happened" in question:
                for column, good in self.known.truth.items():
                    self._choose("label-", column)
                    self._choose("truth-", good)
            self._click(self.page.locator(".st-key-answer button"))

    def _mend_until_ready(self) -> None:
        """Mend what the page says must be mended, until it says that it is ready."""
        for _ in range(6):
            self.page.wait_for_selector(".st-key-next", timeout=_SLOW)
            first = self.page.locator('[class*="st-key-mend-first-"] button')
            said = first.or_(self.page.locator('text="Ready to audit."'))
            said.or_(self.page.locator("text=/allow groups, rule sets/")).first.wait_for(timeout=_SLOW)
            acts.settle(self.page)
            if not first.count():
                return self._did("until ready", 0)
            self._click(first.first)
        raise AssertionError(f"{self.name} is never ready")


def record(journeys: list[Journey], before: str = "") -> str:
    """Return journeys as a table in Markdown; those of `before` stay that were not taken again."""
    rows = {line.split("|")[1].strip(): line for line in before.splitlines() if line.startswith("| ")}
    for each in journeys:
        arrives, minutes = "yes" if each.arrived else "**no**", f"{each.seconds / 60:.1f}"
        said = f"{each.badge.splitlines()[0]}: {each.headline.splitlines()[0]}"
        rows[each.name] = f"| {each.name} | {arrives} | {each.clicks} | {minutes} | {said} |"
    lines = ["| table | arrives | clicks | minutes | At a glance says |", "|---|---|--:|--:|---|"]
    return "\n".join([*lines, *(rows[name] for name in TABLES if name in rows)])


if __name__ == "__main__":
    names, file = asked(__doc__, words=list(TABLES)).words, ROOT / "docs" / "ten-tables.md"
    with served() as app, browsing() as browser, tempfile.TemporaryDirectory() as place:
        journeys = [Journey(browser, app, name, Path(place)) for name in names]
    head, _, rest = file.read_text(encoding="utf-8").partition(_MARKS[0])
    before, _, tail = rest.partition(_MARKS[1])
    file.write_text(f"{head}{_MARKS[0]}\n\n{record(journeys, before)}\n\n{_MARKS[1]}{tail}", encoding="utf-8")
