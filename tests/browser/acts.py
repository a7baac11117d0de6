"""What a visitor does, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime

__all__ = [
    "COUNT_RUNS",
    "answered",
    "choose",
    "finding",
    "narrow_and_shoot",
    "open_app",
    "open_example",
    "run",
    "settle",
    "to_flipsets",
    "upload",
]

SLOW = 180_000
COUNT_RUNS = """
    window.scriptRuns = 0;
    new MutationObserver(changes => changes.forEach(change => {
        if (change.target.getAttribute("data-test-script-state") === "running") window.scriptRuns += 1;
    })).observe(document, {attributes: true, subtree: true, attributeFilter: ["data-test-script-state"]});
"""
"""Has a page count how often its script began to run; for `answered`."""


def settle(page: Page) -> None:
    """Wait until the script has run and the page has been drawn."""
    still = '[data-testid="stApp"][data-test-script-state="notRunning"]'
    for _ in range(10):
        page.wait_for_selector(still, timeout=SLOW)
        page.wait_for_timeout(250)
        if page.locator(still).count():  # no run has begun meanwhile
            return


@contextmanager
def answered(page: Page) -> Iterator[None]:
    """Wait until what is done in the block has been answered: a busy server takes its time to begin."""
    before = page.evaluate("window.scriptRuns ?? null")
    yield
    if before is not None:
        with suppress(NotInTime):  # nothing was changed, so nothing runs
            page.wait_for_function("before => window.scriptRuns > before", arg=before, timeout=3_000)
    settle(page)


def open_app(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector("text=Start with an example", timeout=SLOW)
    settle(page)


def choose(page: Page, key: str, option: str) -> None:
    """Choose in the select box whose key begins with `key`."""
    box = page.locator(f'[class*="st-key-{key}"] input').first
    listed = page.get_by_role("option", name=option, exact=True).first
    for _ in range(4):  # a page drawn anew closes the list
        box.click()
        box.fill(option)
        try:
            with answered(page):
                listed.click(timeout=4_000)
            return
        except NotInTime:
            settle(page)
    raise AssertionError(f"{option!r} is not offered in {key!r}")


def open_example(page: Page, name: str) -> None:
    page.locator(f".st-key-open-{name} button").click()
    expect(page.locator(".st-key-next-top button")).to_be_enabled(timeout=SLOW)
    settle(page)


def upload(page: Page, *files: Path) -> None:
    page.locator('[class*="st-key-upload-"] input[type=file]').set_input_files([str(file) for file in files])
    page.wait_for_selector('.st-key-next, [class*="st-key-problem-"]', timeout=SLOW)
    settle(page)


def to_flipsets(page: Page) -> None:
    expect(page.locator(".st-key-next-top button")).to_be_enabled(timeout=SLOW)
    page.locator(".st-key-next-top button").click()
    page.wait_for_selector(".st-key-run button", timeout=SLOW)
    settle(page)


def shuffles(page: Page, number: int) -> None:
    """Set how often groups are shuffled for the level of chance: many make a long run."""
    box = page.locator(".st-key-shuffles input")
    if not box.is_visible():
        page.get_by_text("More options").click()
    with answered(page):
        box.fill(str(number))
        box.press("Enter")


def run(page: Page) -> None:
    expect(page.locator(".st-key-run button")).to_be_enabled(timeout=SLOW)
    page.locator(".st-key-run button").click()


def finding(page: Page) -> str:
    """Wait for the finding and return it with what folds below; an earlier result, greyed, is not it."""
    own = ".st-key-finding:not(.st-key-earlier *)"
    page.wait_for_selector(f'{own}, .main [class*="st-key-problem-"]', timeout=SLOW)
    settle(page)
    numbers = page.locator(".st-key-numbers:not(.st-key-earlier *)")
    if page.get_by_text("In numbers, and how they came").count():
        numbers.first.wait_for(state="attached", timeout=SLOW)
    folded = [numbers.first.text_content() or ""] if numbers.count() else []
    return "\n".join([page.locator(own).inner_text(), *folded])


def narrow_and_shoot(page: Page, folder: Path, name: str, height: int = 2600) -> None:
    """Save the page at both widths, and hold that nothing overflows at either."""
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": height if width == 1280 else int(height * 1.4)})
        settle(page)
        page.wait_for_timeout(700)
        page.screenshot(path=folder / f"{name}-{width}.png")
        inner = page.locator('[data-testid="stMain"]').evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert inner[0] <= inner[1], f"{name} overflows at {width} px: {inner}"
    page.set_viewport_size({"width": 1280, "height": 900})
    settle(page)
