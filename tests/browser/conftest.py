"""The real server on a free port with a home of its own, and real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need Playwright")

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright  # noqa: E402

from benchmarks.serving import CHROMIUM, FLAGS, served  # noqa: E402
from benchmarks.serving import Served as Server  # noqa: E402
from tests.browser import acts  # noqa: E402

expect.set_options(timeout=30_000)  # two servers, two browsers and their workers share two cores

# a page that lives for seconds does not repay what optimises its scripts, and collects garbage, beside them
_SHORT_LIVED = ["--js-flags=--no-turbofan --no-maglev --single-threaded-gc"]


@dataclass
class Watched:
    """A page, with what went wrong in it."""

    page: Page
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start the app as `make run` does; every visit has a workspace of its own, to which nothing is known."""
    with served(tmp_path_factory.mktemp("home")) as found:
        yield found


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where a browser keeps scripts that it has compiled: twice as fast as anew."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def visitor(profile: Path) -> Iterator[BrowserContext]:
    """Start Debian's Chromium; no longer than a module, as other tests have event loops of their own."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not there; browser tests did not run")
    with sync_playwright() as engine:
        context = engine.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS + _SHORT_LIVED, **acts.WINDOW
        )
        yield acts.counting(context)
        context.close()


@pytest.fixture(scope="module")
def browser(visitor: BrowserContext) -> Browser:
    """Return the browser, in which others visit who share nothing."""
    assert visitor.browser is not None
    return visitor.browser


@pytest.fixture
def watched(server: Server, visitor: BrowserContext) -> Iterator[Watched]:
    """Open a fresh visit; afterwards nothing may have broken, and no request may have left the host."""
    visitor.clear_cookies()
    seen = Watched(visitor.new_page())
    watch(seen, server.url)
    yield seen
    for page in visitor.pages[1:]:
        page.evaluate("location.origin === 'null' || localStorage.clear()")
        page.close()
    assert not seen.foreign, f"requests off the host: {seen.foreign}"
    assert not seen.errors, f"errors in the browser's console: {seen.errors}"


def watch(seen: Watched, url: str) -> None:
    """Note errors and requests to other hosts."""
    seen.page.on("console", lambda message: seen.errors.append(message.text) if is_error(message) else None)
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    seen.page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((url, url.replace("http", "ws"), "data:", "blob:"))
            else seen.foreign.append(request.url)
        ),
    )


def is_error(message: ConsoleMessage) -> bool:
    """Tell what broke from streamlit's own search for its base address below a page's address."""
    probe = re.search(r":\d+/[a-z_]+/_stcore/", str(message.location.get("url", "")))
    return message.type == "error" and probe is None
