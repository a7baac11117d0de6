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
from playwright.sync_api import Page

from benchmarks.serving import ROOT, Served, browsing, served
from tests.browser import acts

DATA = ROOT.parent / "shared" / "data"
ADULT = (
    "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, "
    "capital-gain, capital-loss, hours-per-week, native-country, income"
)
REPEATS = 5


def main() -> None:
    """Measure and print, each against its limit."""
    if "--large" in sys.argv:
        with served() as app, tempfile.TemporaryDirectory() as folder:
            large(app, Path(folder))
        return
    if not DATA.is_dir():
        sys.exit(f"the shared data is not beside the checkout ({DATA})")
    with served() as app:
        measure(app.url, app.pid)


def measure(url: str, pid: int) -> None:
    """Print each figure beside its limit."""
    with browsing() as browser:
        paints = [first_paint(browser.new_context().new_page(), url) for _ in range(REPEATS)]
        print(f"first paint, first visitor             {paints[0]:6.2f} s    (limit 3 s)")
        print(f"first paint, later visitors, median    {statistics.median(paints[1:]):6.2f} s    (limit 3 s)")
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        print(f"Adult, two files: upload to settled    {load_adult(page, url):6.2f} s")
        print(f"web process with Adult loaded          {memory(pid, 'VmRSS'):6.0f} MB   (limit 600 MB)")
        there, back = zip(*[switch(page) for _ in range(REPEATS)], strict=True)
        print(f"switch to Flipsets, median             {statistics.median(there):6.2f} s    (limit 0.5 s)")
        print(f"switch to Data & model, median         {statistics.median(back):6.2f} s    (limit 0.5 s)")
        print(f"web process after the switches         {memory(pid, 'VmRSS'):6.0f} MB   (limit 600 MB)")
        print(f"web process, most it ever held         {memory(pid, 'VmHWM'):6.0f} MB")


def large(app: Served, folder: Path) -> None:
    """Print the times of a large table of decisions: read, a choice, ready, the first finding."""
    rng, rows = np.random.default_rng(41), 200_000
    sex = rng.choice(["female", "male"], rows)
    table = {"sex": sex, "race": rng.choice(["a", "b", "c"], rows), "age": rng.integers(18, 80, rows)}
    table |= {f"x{k}": rng.normal(size=rows).round(3) for k in range(25)}
    table |= {f"kind{k}": rng.choice(["low", "middle", "high"], rows) for k in range(12)}
    table["approved"] = np.where(rng.random(rows) < np.where(sex == "female", 0.4, 0.5), "yes", "no")
    path = folder / "large.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(acts.COUNT_RUNS)
        acts.open_app(page, app.url)
        began = time.perf_counter()
        acts.upload(page, path, ask=True)
        read = time.perf_counter() - began
        print(f"upload of {path.stat().st_size / 1e6:.0f} MB to the first question {read:6.2f} s")
        answer = page.locator(".st-key-answer button")
        while answer.inner_text() != "Finish":
            began = time.perf_counter()
            with acts.answered(page):
                answer.click()
            seconds = time.perf_counter() - began
            print(f"an answer                              {seconds:6.2f} s    (limit 0.5 s)")
        began = time.perf_counter()
        answer.click()
        page.get_by_text("Ready to audit.").wait_for(timeout=300_000)
        print(f"ready after the last answer            {time.perf_counter() - began:6.2f} s    (limit 5 s)")
        page.locator(".st-key-next button").click()
        page.locator(".st-key-run-groups button").click(timeout=300_000)
        began = time.perf_counter()
        page.wait_for_selector(".st-key-finding", timeout=300_000)
        print(f"first finding                          {time.perf_counter() - began:6.2f} s    (limit 15 s)")


def first_paint(page: Page, url: str) -> float:
    """Return the seconds from asking for the app to seeing its text."""
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector("text=Start with an example")
    seconds = time.perf_counter() - began
    page.context.close()
    return seconds


def load_adult(page: Page, url: str) -> float:
    """Upload both files of Adult, name the columns, choose label and favorable value."""
    page.goto(url)
    page.wait_for_selector("text=Start with an example")
    began = time.perf_counter()
    files = [str(DATA / name) for name in ("adult.data", "adult.test")]
    page.locator('[class*="st-key-upload-"] input[type=file]').set_input_files(files)
    page.get_by_text("Import settings").click()
    names = page.get_by_role("textbox", name="Column names")
    names.fill(ADULT)
    page.get_by_role("button", name="Read again").click()
    page.wait_for_selector("text=48,842 rows and 15 columns", timeout=60_000)
    page.locator(".st-key-skip-questions button").click()
    acts.settle(page)
    acts.train_on(page, "income", ">50K")
    page.wait_for_selector(".st-key-next button:not([disabled])", timeout=60_000)
    return time.perf_counter() - began


def switch(page: Page) -> tuple[float, float]:
    """Return the seconds to the Flipsets page and back, each until the script has run."""
    times = []
    for name, mark in (("Flipsets", ".st-key-run button"), ("Data & model", ".st-key-next button")):
        acts.settle(page)
        began = time.perf_counter()
        page.get_by_role("link", name=name).click()
        page.wait_for_selector(mark)
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        times.append(time.perf_counter() - began)
    return times[0], times[1]


def memory(pid: int, field: str) -> float:
    """Return a figure of ``/proc/PID/status`` in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1000
    raise LookupError(field)


if __name__ == "__main__":
    main()
