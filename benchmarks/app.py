"""Times and memory of the app in real Chromium: first paint, page switch with Adult loaded, the web process.

Run with ``python -m benchmarks.app`` beside the shared data; needs Playwright and Chromium.
"""

from __future__ import annotations

import statistics
import time

from playwright.sync_api import Browser, Page

from benchmarks.measuring import SHARED, adult_names, clocked, memory
from benchmarks.serving import Served, browsing, served
from tests.browser import acts

REPEATS = 5
RUN = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def main() -> None:
    """Measure and print, each against its limit."""
    with served() as app, browsing() as browser:
        measure(browser, app)


def measure(browser: Browser, app: Served) -> None:
    """Print each figure beside its limit."""
    for visitor in range(REPEATS):
        page = browser.new_context().new_page()
        with clocked("first paint, " + ("later visitor" if visitor else "first visitor"), "(limit 3 s)"):
            page.goto(app.url, wait_until="commit")
            page.wait_for_selector("text=Start with an example")
        page.context.close()
    page = acts.visit(browser).new_page()
    acts.open_app(page, app.url)
    with clocked("Adult, two files: upload to settled"):
        load_adult(page)
    print(f"web process with Adult loaded          {memory(app.pid, 'VmRSS'):6.0f} MB   (limit 600 MB)")
    there, back = zip(*[switch(page) for _ in range(REPEATS)], strict=True)
    print(f"switch to Flipsets, median             {statistics.median(there):6.2f} s    (limit 0.5 s)")
    print(f"switch to Data & model, median         {statistics.median(back):6.2f} s    (limit 0.5 s)")
    print(f"web process after the switches         {memory(app.pid, 'VmRSS'):6.0f} MB   (limit 600 MB)")
    print(f"web process, most it ever held         {memory(app.pid, 'VmHWM'):6.0f} MB")


def load_adult(page: Page) -> None:
    """Upload both files of Adult, name the columns, choose label and favorable value."""
    files = [SHARED / name for name in ("adult.data", "adult.test")]
    page.locator('[class*="st-key-upload-"] input[type=file]').set_input_files(files)
    page.get_by_text("Import settings").click()
    page.get_by_role("textbox", name="Column names").fill(", ".join(adult_names()))
    with acts.answered(page):
        page.get_by_role("button", name="Read again").click()
    page.wait_for_selector("text=48,842 rows and 15 columns", timeout=60_000)
    with acts.answered(page):
        page.locator(".st-key-skip-questions button").click()
    acts.train_on(page, "income", ">50K")
    page.wait_for_selector(".st-key-next button:not([disabled])", timeout=60_000)


def switch(page: Page) -> list[float]:
    """Return the seconds to the Flipsets page and back, each until the script has run."""
    times = []
    for name, mark in (("Flipsets", ".st-key-run button"), ("Data & model", ".st-key-next button")):
        acts.settle(page)
        began = time.perf_counter()
        page.get_by_role("link", name=name).click()
        page.wait_for_selector(mark)
        page.wait_for_selector(RUN)
        times.append(time.perf_counter() - began)
    return times


if __name__ == "__main__":
    main()
