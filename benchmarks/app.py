"""Times and memory of the app in real Chromium: first paint, page switch with Adult loaded, the web process.

Run with ``python -m benchmarks.app`` beside the shared data; needs Playwright and Chromium.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.serving import CHROMIUM, FLAGS, ROOT, served

DATA = ROOT.parent / "shared" / "data"
ADULT = (
    "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, "
    "capital-gain, capital-loss, hours-per-week, native-country, income"
)
REPEATS = 5


def main() -> None:
    """Measure and print, each against its limit."""
    if not DATA.is_dir():
        sys.exit(f"the shared data is not beside the checkout ({DATA})")
    with served() as app:
        measure(app.url, app.pid)


def measure(url: str, pid: int) -> None:
    """Print each figure beside its limit."""
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
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
        browser.close()


def first_paint(page: Page, url: str) -> float:
    """Return the seconds from asking for the app to seeing its text."""
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector("text=Start with an example")
    seconds = time.perf_counter() - began
    page.context.close()
    return seconds


def load_adult(page: Page, url: str) -> float:
    """Upload both files of Adult, name the columns, choose label and favourable value."""
    page.goto(url)
    page.wait_for_selector("text=Start with an example")
    began = time.perf_counter()
    files = [str(DATA / name) for name in ("adult.data", "adult.test")]
    page.locator('[class*="st-key-upload-"] input[type=file]').set_input_files(files)
    page.get_by_text("Read it differently").click()
    names = page.get_by_role("textbox", name="Column names")
    names.fill(ADULT)
    page.get_by_role("button", name="Read again").click()
    page.wait_for_selector("text=48,842 rows and 15 columns", timeout=60_000)
    choose(page, "label-", "income")
    choose(page, "favorable-", ">50K")
    page.keyboard.press("Escape")
    page.wait_for_selector(".st-key-next-top button:not([disabled])", timeout=60_000)
    return time.perf_counter() - began


def choose(page: Page, key: str, option: str) -> None:
    """Choose in a select box."""
    settle(page)
    box = page.locator(f'[class*="st-key-{key}"] input').first
    for _ in range(4):  # a page drawn anew closes the list
        box.click()
        box.fill(option)
        try:
            page.get_by_role("option", name=option, exact=True).first.click(timeout=4_000)
            break
        except NotInTime:
            settle(page)
    settle(page)


def switch(page: Page) -> tuple[float, float]:
    """Return the seconds to the Flipsets page and back, each until the script has run."""
    times = []
    for name, mark in (("Flipsets", ".st-key-run button"), ("Data & model", ".st-key-next button")):
        settle(page)
        began = time.perf_counter()
        page.get_by_role("link", name=name).click()
        page.wait_for_selector(mark)
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        times.append(time.perf_counter() - began)
    return times[0], times[1]


def settle(page: Page) -> None:
    """Wait until the script rests."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
    page.wait_for_timeout(400)


def memory(pid: int, field: str) -> float:
    """Return a figure of ``/proc/PID/status`` in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1000
    raise LookupError(field)


if __name__ == "__main__":
    main()
