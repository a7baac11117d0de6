"""Times and memory of the app in real Chromium: first paint, page switch with Adult loaded, the web process.

Run with ``python -m benchmarks.app`` beside the shared data; needs Playwright and Chromium. With ``--views``
it prints, of the bundled *Loans*, the processor time that the web process takes for each view: on a busy
machine that says more than the clock. With ``--large`` it takes a generated table of 200,000 rows and 41
columns from upload to finding.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.serving import CHROMIUM, FLAGS, PAGES, ROOT, Served, served
from tests.browser import acts

DATA = ROOT.parent / "shared" / "data"
ADULT = (
    "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, "
    "capital-gain, capital-loss, hours-per-week, native-country, income"
)
REPEATS = 5
SEEN = """
    window.seen = {};
    addEventListener("click", () => { window.seen.clicked = Date.now(); }, true);
    new MutationObserver(changes => {
        window.seen.last = Date.now();
        const here = changes.map(({target}) => target.closest ? target : target.parentElement);
        const ends = box => box.getBoundingClientRect();
        const inView = box => !box || (ends(box).top < innerHeight && ends(box).bottom > 0);
        const there = here.filter(each => each?.isConnected);
        const figures = there.map(each => each.closest(".figure, #js-plotly-tester"));
        if ([...new Set(figures)].some(inView)) window.seen.inView = Date.now();
        for (const [name, mark] of [["finding", ".st-key-finding"], ["figure", ".js-plotly-plot .main-svg"]])
            if (!(name in window.seen) && document.querySelector(mark)) window.seen[name] = Date.now();
    }).observe(document, {attributes: true, characterData: true, childList: true, subtree: true});
"""
"""Has a page note when it changed last, and what is in view of it, and when finding and first figure came."""


def main() -> None:
    """Measure and print, each against its limit."""
    if "--views" in sys.argv:
        with served() as app:
            views(app)
        return
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


def views(app: Served) -> None:
    """Print seconds of processor time and of the clock for what a visitor of *Loans* looks at."""
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.add_init_script(SEEN)
        acts.open_app(page, app.url)
        acts.open_example(page, "loans")
        address = page.url.partition("?")[2]
        page.goto(app.page("groups", address))
        page.wait_for_selector(".st-key-run button")
        acts.run(page)
        acts.finding(page)
        print("                                    processor    clock   (median of", REPEATS, "tries)")
        drawn = ".st-key-figure-group-rates .main-svg >> nth=0"
        fresh = [
            browser.new_context(viewport={"width": 1280, "height": 900}).new_page() for _ in range(REPEATS)
        ]
        told("first useful paint", [timed(app, lambda p=each: first(p, app.url)) for each in fresh])
        told(
            "overview of 5,000 people", [timed(app, lambda: there(page, app, address, drawn)) for _ in fresh]
        )
        told("a choice: largest gap first", [timed(app, lambda: chosen(page)) for _ in fresh])
        gaps = []
        for _ in fresh:
            there(page, app, address, drawn)
            gaps.append(shown_in(page))
        print(f"from its finding to the first figure {statistics.median(gaps):13.2f} s    (limit 1 s)")
        seen, last = (statistics.median(each) for each in zip(*(changed(page) for _ in fresh), strict=True))
        print(f"from a choice to the last change in view {seen:9.2f} s    (limit 0.3 s)")
        print(f"from a choice to the last change     {last:13.2f} s")
        for name in PAGES:
            shown = [timed(app, lambda name=name: there(page, app, address, "h1", name)) for _ in range(2)]
            told(f"page {name}, before a run", shown)
        browser.close()


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
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(acts.COUNT_RUNS)
        acts.open_app(page, app.url)
        _, read = timed(app, lambda: acts.upload(page, path, ask=True))
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
        browser.close()


def first(page: Page, url: str) -> None:
    """Open the app as a new visitor."""
    page.goto(url, wait_until="commit")
    page.wait_for_selector("text=Start with an example")


def shown_in(page: Page) -> float:
    """Return the seconds from the sentence of a result to its first figure."""
    seen = page.evaluate("seen")
    return max(0.0, seen["figure"] - seen["finding"]) / 1000


def changed(page: Page) -> tuple[float, ...]:
    """Return the seconds from the click to the last change that follows it: in view, and anywhere."""
    page.locator(".st-key-by-gap").evaluate("choice => choice.scrollIntoView()")  # its figure is in view
    chosen(page)
    seen = page.evaluate("seen")
    return tuple((seen[name] - seen["clicked"]) / 1000 for name in ("inView", "last"))


def there(page: Page, app: Served, address: str, drawn: str, name: str = "groups") -> None:
    """Open a page and wait for what is drawn on it, and until its script rests."""
    page.goto(app.page(name, address))
    page.wait_for_selector(drawn, timeout=60_000)
    acts.settle(page)


def chosen(page: Page) -> None:
    """Change the order of the groups."""
    page.locator(".st-key-by-gap label").first.click()
    acts.settle(page)


def timed(app: Served, act: Callable[[], None]) -> tuple[float, float]:
    """Return seconds of the web process's processor time, and of the clock, that `act` takes."""
    before, began = processor(app.pid), time.perf_counter()
    act()
    return processor(app.pid) - before, time.perf_counter() - began


def told(what: str, times: list[tuple[float, float]]) -> None:
    """Print the medians."""
    work, clock = (statistics.median(each) for each in zip(*times, strict=True))
    print(f"{what:34s} {work:8.2f} s {clock:8.2f} s")


def processor(pid: int) -> float:
    """Return seconds that a process has computed, its threads included and its children not."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
    settle(page)
    acts.train_on(page, "income", ">50K")
    page.wait_for_selector(".st-key-next button:not([disabled])", timeout=60_000)
    return time.perf_counter() - began


def choose(page: Page, key: str, option: str) -> None:
    """Choose in a select box."""
    settle(page)
    box = page.locator(f'[class*="st-key-{key}"] input').first
    for _ in range(4):  # a page drawn again closes the list
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
