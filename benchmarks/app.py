"""Times and memory of the app in real Chromium: first paint, page switch with Adult loaded, the web process.

Run with ``python -m benchmarks.app`` beside the shared data; needs Playwright and Chromium. With ``--large``
it takes a generated table of 200,000 rows and 41 columns from upload to finding.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, Page

from benchmarks.measuring import SHARED, adult_names, clocked, memory
from benchmarks.serving import Served, browsing, served
from tests.browser import acts

REPEATS = 5
RUN = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def main() -> None:
    """Measure and print, each against its limit."""
    with served() as app, browsing() as browser, tempfile.TemporaryDirectory() as folder:
        if "--large" in sys.argv:
            large(browser, app, Path(folder))
        else:
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


def large(browser: Browser, app: Served, folder: Path) -> None:
    """Print the times of a large table of decisions: read, a choice, ready, the first finding."""
    rng, rows = np.random.default_rng(41), 200_000
    sex = rng.choice(["female", "male"], rows)
    table = {"sex": sex, "race": rng.choice(["a", "b", "c"], rows), "age": rng.integers(18, 80, rows)}
    table |= {f"x{k}": rng.normal(size=rows).round(3) for k in range(25)}
    table |= {f"kind{k}": rng.choice(["low", "middle", "high"], rows) for k in range(12)}
    table["approved"] = np.where(rng.random(rows) < np.where(sex == "female", 0.4, 0.5), "yes", "no")
    path = folder / "large.csv"
    pd.DataFrame(table).to_csv(path, index=False)
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


def load_adult(page: Page) -> None:
    """Upload both files of Adult, name the columns, choose label and favorable value."""
    files = [SHARED / name for name in ("adult.data", "adult.test")]
    page.locator('[class*="st-key-upload-"] input[type=file]').set_input_files(files)
    page.get_by_text("Import settings").click()
    page.get_by_role("textbox", name="Column names").fill(", ".join(adult_names()))
    page.get_by_role("button", name="Read again").click()
    page.wait_for_selector("text=48,842 rows and 15 columns", timeout=60_000)
    page.locator(".st-key-skip-questions button").click()
    acts.settle(page)
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
