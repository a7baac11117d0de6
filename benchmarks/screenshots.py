"""Screenshots of every page in five states at two widths, kept under ``docs/screenshots``.

Run with ``make screenshots`` or ``python -m benchmarks.screenshots [FOLDER] [--pages flipset groups]``; needs
Playwright and Chromium. The states: nothing brought yet, settled and not run, a result, something wrong,
and a result of a table with twenty groups whose names are sixty letters long. They are of bundled examples
and of tables made here, and to be looked at one by one. README's picture,
``docs/at-a-glance.png``, is the upper part of one.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as BrowserError

from benchmarks.measuring import asked
from benchmarks.serving import PAGES, ROOT, Served, browsing, served
from tests.browser import acts
from tests.browser.test_texts_apart import LONG, table

WIDTHS = (1280, 400)
SHOWN = ("glance", "result")  # whose upper part README shows
SEEN = {"x": 0, "y": 0, "width": 1280, "height": 860}
_TALLEST = 9_000
_QUALITY = 24  # of WebP: text stays legible, and all of them stay near 6 MB
_NOT_RUN = {"data_model", "monitor", "saved"}
_RUNS = 900_000  # ms that an audit may take
STATES = ("empty", "settled", "result", "error", "hard")


def main() -> None:
    """Walk through the pages in each state, and save what they look like."""
    given = asked(__doc__, words=[str(ROOT / "docs" / "screenshots")], pages=list(PAGES), states=list(STATES))
    folder = Path(given.words[0])
    folder.mkdir(parents=True, exist_ok=True)
    with served() as app, browsing() as browser:
        for state in given.states:
            for name, page in visited(browser, app, state, given.pages):
                if (name, state) == SHOWN:
                    page.screenshot(path=ROOT / "docs" / "at-a-glance.png", clip=SEEN)
                shoot(page, folder, f"{name}-{state}")
    sizes = [path.stat().st_size for path in folder.glob("*.webp")]
    print(f"{len(sizes)} screenshots, {sum(sizes) / 1e6:.1f} MB, in {folder}")


def _written(folder: Path, state: str) -> Path:
    """Write people who all have the same outcome, or of twenty groups with names of sixty letters."""
    if state == "hard":
        name, people = (
            "a-long-name-of-a-file-that-somebody-exported.csv",
            pd.read_csv(table(folder) / "hard.csv"),
        )
        people = people.rename(columns={LONG: "ethnicity_as_it_is_stated_in_the_application_form"})
    else:
        name, rng = "everybody-is-hired.csv", np.random.default_rng(0)
        people = pd.DataFrame({"sex": rng.choice(["f", "m"], 80), "years": rng.integers(0, 20, 80)})
        people = people.assign(hired=1, prediction=1)
    people.to_csv(folder / name, index=False)
    return folder / name


def visited(browser: Browser, app: Served, state: str, pages: list[str]) -> Iterator[tuple[str, Page]]:
    """Bring the browser into a state on each of the pages, one after another."""
    page = acts.visit(browser).new_page()
    acts.open_app(page, app.url)
    if state in {"settled", "result"}:
        acts.open_data_of(page, "loans")
    elif state in {"error", "hard"}:
        acts.upload(page, _written(Path(tempfile.mkdtemp()), state))
        acts.choose(page, "label-", "hired")
        acts.say_good(page, "1")
    address = page.url.partition("?")[2]
    for name in pages:
        with suppress(BrowserError):
            page.goto(app.page(name, address))
            acts.settle(page)
            if state in {"result", "error", "hard"} and name not in _NOT_RUN:
                _run(page)
            yield name, page
    page.context.close()


def _run(page: Page) -> None:
    """Run what the page offers with its defaults, and wait for what comes of it."""
    ended = '.st-key-finding:not(.st-key-earlier *), .stMain [class*="st-key-problem-"]'
    with suppress(BrowserError):  # what cannot be run says so
        page.locator(f".st-key-run button, {ended}").first.wait_for(timeout=120_000)
        if page.locator(".st-key-run button").count():
            acts.run(page)
        page.wait_for_selector(ended, timeout=_RUNS)
    acts.settle(page)


def shoot(page: Page, folder: Path, name: str) -> None:
    """Save the whole page at each width as WebP."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        acts.settle(page)
        tall = page.locator('[data-testid="stMain"]').evaluate("e => e.scrollHeight")
        page.set_viewport_size({"width": width, "height": min(max(int(tall), 700), _TALLEST)})
        acts.settle(page)
        with suppress(BrowserError):  # what is still being loaded has its place kept
            page.wait_for_function("!document.querySelector('[data-testid=\"stSkeleton\"]')", timeout=120_000)
        page.wait_for_timeout(600)  # figures are drawn after the script has run
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        image.save(folder / f"{name}-{width}.webp", quality=_QUALITY, method=6)
    page.set_viewport_size({"width": 1280, "height": 900})


if __name__ == "__main__":
    main()
