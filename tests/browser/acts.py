"""What a visitor does, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from app.data_model.model_choice import WAYS
from app.drafts import drafts
from app.workspaces.workspace import Workspace, new_token
from audits.data.samples import CATALOG

SLOW = 180_000
PRESS = 80
"""Milliseconds from press to release: a table on a busy machine takes no notice of what is quicker."""
WIDTHS = """[document.documentElement, document.querySelector('[data-testid="stMain"]')]
    .map((each, place) => [each.scrollWidth, place ? each.clientWidth : innerWidth])"""
"""Of the window and of the page in it: how wide the content is, and how wide it may be."""
COUNT_RUNS = """
    window.scriptRuns = 0;
    window.messagesSent = 0;
    window.messagesReceived = 0;
    window.lastReceived = 0;
    window.lastChange = 0;
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...said) {
        window.messagesSent += 1;
        window.lastChange = Date.now();
        if (!this.heard) this.addEventListener("message", () => {
            window.messagesReceived += 1;
            window.lastReceived = Date.now();
        });
        this.heard = true;
        return send.apply(this, said);
    };
    new MutationObserver(changes => changes.forEach(change => {
        if (change.target.getAttribute("data-test-script-state") === "running") window.scriptRuns += 1;
    })).observe(document, {attributes: true, subtree: true, attributeFilter: ["data-test-script-state"]});
    new MutationObserver(() => { window.lastChange = Date.now(); })
        .observe(document, {attributes: true, childList: true, characterData: true, subtree: true});
"""
"""Has a page count what it asks and hears of the server, and how often its script began to run."""
_ANSWERED = """before => window.scriptRuns > before[1]
    || (window.messagesReceived > before[2] && Date.now() - window.lastReceived > 200)"""
"""A short run is over before the page shows that it runs."""
AT_REST = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_STILL = """() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
    && Date.now() - Math.max(window.lastReceived ?? 0, window.lastChange ?? 0) > 200"""
WINDOW: Any = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True}
CALM = """
    addEventListener("DOMContentLoaded", () => {
        const style = document.createElement("style");
        style.textContent = "*, ::before, ::after { animation-iteration-count: 1 !important; }";
        document.head.append(style);
    });
"""
"""Ends what would move for ever: to paint it again and again, without a graphics card, takes a core."""
_OF_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""axe's rules, of those that it looks at by default, that hang on the scheme."""
_MILD = (
    *("aria-allowed-role", "empty-heading", "empty-table-header", "form-field-multiple-labels"),
    *("heading-order", "image-redundant-alt", "landmark-banner-is-top-level"),
    *("landmark-contentinfo-is-top-level", "landmark-main-is-top-level", "landmark-no-duplicate-banner"),
    *("landmark-no-duplicate-contentinfo", "landmark-no-duplicate-main", "landmark-one-main"),
    *("landmark-unique", "page-has-heading-one", "presentation-role-conflict", "region"),
    *("scope-attr-valid", "skip-link", "table-duplicate-name"),
)
"""axe's rules whose findings are minor or moderate, which nobody asks for: a fifth of its time."""


def visit(browser: Browser) -> BrowserContext:
    """Return a browser of one visitor, whose pages tell when they are answered."""
    return counting(browser.new_context(**WINDOW))


def counting(context: BrowserContext) -> BrowserContext:
    """Have the pages of a context tell when they are answered."""
    context.add_init_script(COUNT_RUNS)
    context.add_init_script(CALM)
    return context


def settle(page: Page) -> None:
    """Wait until the script has run, and nothing has come and nothing has changed for a moment."""
    page.wait_for_selector(AT_REST, timeout=SLOW)
    with suppress(NotInTime):  # a page that follows a run changes all the time
        page.wait_for_function(_STILL, timeout=2_000)
    page.wait_for_selector(AT_REST, timeout=SLOW)


@contextmanager
def answered(page: Page) -> Iterator[None]:
    """Wait until what is done in the block has been answered: a busy server takes its time to begin."""
    before = page.evaluate("[window.messagesSent, window.scriptRuns, window.messagesReceived]")
    yield
    with suppress(NotInTime):  # nothing was changed, so nothing is asked; or it joined a run under way
        page.wait_for_function("before => window.messagesSent > before[0]", arg=before, timeout=1_500)
        page.wait_for_function(_ANSWERED, arg=before, timeout=10_000)
    settle(page)


def in_address(page: Page, text: str) -> None:
    """Wait until the address holds `text`: it is written after what it says is shown."""
    expect(page).to_have_url(re.compile(re.escape(text)), timeout=SLOW)


def click_at(page: Page, across: float, down: float) -> None:
    """Move the mouse there, rest and click, as people do: tables and figures miss what is quicker."""
    page.mouse.move(across + 20, down + 20)
    page.mouse.move(across, down, steps=4)
    page.wait_for_timeout(400)
    with answered(page):
        page.mouse.click(across, down, delay=PRESS)


def arrive(page: Page, server: Any, name: str, example: str = "hiring", query: str = "") -> None:
    """Come to a page with an example of one's own, as by a link: two pages less to draw than as a visitor."""
    space = Workspace(new_token(), server.home)
    space.save_draft(drafts.from_sample(space, CATALOG[example]))
    go_to(page, server, name, f"w={space.token}&{query}")


def go_to(page: Page, server: Any, name: str, query: str) -> None:
    """Follow a link to a page."""
    page.goto(server.page(name, query))
    page.wait_for_selector("h1", timeout=SLOW)
    settle(page)


def open_app(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(".st-key-open-hiring", timeout=SLOW)
    settle(page)


def choose(page: Page, key: str, option: str) -> None:
    """Choose in the select box whose key begins with `key`."""
    box = page.locator(f'[class*="st-key-{key}"] input').first
    if box.count() and not box.is_visible():
        open_settings(page)
    listed = page.get_by_role("option", name=option, exact=True).first
    for _ in range(4):  # a page drawn again closes the list
        box.click()
        box.fill(option)
        try:
            with answered(page):
                listed.click(timeout=4_000)
            return
        except NotInTime:
            settle(page)
    raise AssertionError(f"{option!r} is not offered in {key!r}")


def train_on(page: Page, label: str, good: str = "") -> None:
    """Have a model trained here on a label, and say which of its values is good for the person."""
    way = page.get_by_role("radio", name=WAYS["train"])
    if way.get_attribute("aria-checked") != "true":
        with answered(page):
            way.click()
    choose(page, "label-", label)
    if good:
        say_good(page, good)


def say_good(page: Page, good: str) -> None:
    """Say which value is good for the person, unless it is proposed."""
    kept = page.locator('[class*="st-key-favorable-"]').get_by_role("button", name=f"Remove {good}")
    if not kept.count():
        choose(page, "favorable-", good)
        page.keyboard.press("Escape")  # an open list hides the rest; in a closed one it clears the choice
    settle(page)


def open_example(page: Page, name: str) -> None:
    """Open an example, which lands At a glance."""
    page.locator(f".st-key-open-{name} button").click()
    page.wait_for_selector(".st-key-question-1", timeout=SLOW)
    settle(page)


def open_data_of(page: Page, name: str) -> None:
    """Open an example, and go back to its data."""
    open_example(page, name)
    to_page(page, "Data & model", ".st-key-next button")
    expect(page.locator(".st-key-next button")).to_be_enabled(timeout=SLOW)


def to_page(page: Page, name: str, selector: str) -> None:
    """Follow the link to a page, which may have a badge before its title, until `selector` is there."""
    link = page.get_by_test_id("stSidebar").get_by_role(
        "link", name=re.compile(rf"^(\W )?{re.escape(name)}$")
    )
    link.click()
    page.wait_for_selector(selector, timeout=SLOW)
    settle(page)


def open_tab(page: Page, name: str) -> None:
    """Open a tab of a result page, which draws the open one alone."""
    tab = page.get_by_role("tab", name=name, exact=True)
    tab.scroll_into_view_if_needed()
    with answered(page):
        tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


def unfold(page: Page) -> None:
    """Open all that is folded in the open tab: it is drawn once opened."""
    folded = page.locator('[role="tabpanel"] [class*="st-key-fold-"] details:not([open]) > summary')
    for _ in range(folded.count()):
        with answered(page):
            folded.first.click()


def tab_to(page: Page, selector: str, most: int = 80) -> None:
    """Press Tab until what is selected has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.closest(wanted) !== null", selector):
            return
    raise AssertionError(f"{selector} is not reached by {most} tabs")


def upload(page: Page, *files: Path, ask: bool = False) -> None:
    """Bring a table; unless it is to `ask` its questions, skip them."""
    page.locator('[class*="st-key-upload-"] input[type=file]').set_input_files([str(file) for file in files])
    page.wait_for_selector('.st-key-skip-questions, [class*="st-key-problem-"]', timeout=SLOW)
    settle(page)
    skip = page.locator(".st-key-skip-questions button")
    try:
        skip.wait_for(timeout=5_000)  # a page that is drawn again is without it for a moment
    except NotInTime:
        return  # a table that cannot be read
    if not ask:
        with answered(page):
            skip.click()
        page.wait_for_selector(".st-key-next", timeout=SLOW)


def to_flipsets(page: Page) -> None:
    """Go to the flipsets; from the data once they are told."""
    if (following := page.locator(".st-key-next button")).count():
        expect(following).to_be_enabled(timeout=SLOW)
    to_page(page, "Flipsets", ".st-key-run button")


def open_settings(page: Page) -> None:
    """Unfold the choices at the side, which fold once there is a result, and what folds within them."""
    folded = page.locator(".st-key-settings details:not([open]) > summary:visible")
    while folded.count():
        folded.first.click()
        page.wait_for_timeout(400)


def shuffles(page: Page, number: int, key: str = "with-flipset-permutations") -> None:
    """Set how often groups are shuffled for the level of chance: many make a long run, none a short one."""
    box = page.locator(f".st-key-{key} input")
    open_settings(page)
    with answered(page):
        box.fill(str(number))
        box.press("Enter")


def run(page: Page) -> None:
    """Have the page's audit run, unless it has been, as `groups` has on an example."""
    ready = ".st-key-run button:enabled, .st-key-finding:not(.st-key-earlier *), .st-key-running"
    page.wait_for_selector(ready, timeout=SLOW)
    settle(page)
    if page.locator(".st-key-run button").last.is_enabled():
        page.locator(".st-key-run button").last.click()


def finding(page: Page) -> str:
    """Wait for the finding and return it; an earlier result, grayed, is not it."""
    own = ".st-key-finding:not(.st-key-earlier *)"
    page.wait_for_selector(f'{own}, .main [class*="st-key-problem-"]', timeout=SLOW)
    settle(page)
    # a page keeps a number and its per-cent sign in one line
    return page.locator(own).inner_text().replace("\u00a0", " ")


def serious(page: Page) -> list[str]:
    """What axe finds serious in the scheme that is shown, and of colors in the other, which stays.

    A line each. Nothing else that axe judges hangs on the scheme. Grids that draw on a canvas hide a table of
    their own from it.
    """
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    mild = {name: {"enabled": False} for name in _MILD}
    found = []
    grounds = {"light": 255, "dark": 20}
    schemes = list(grounds)
    if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"):
        schemes.reverse()
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        # the theme follows a moment later
        page.wait_for_function(
            "red => getComputedStyle(document.querySelector('[data-testid=\"stApp\"]')).backgroundColor"
            ".startsWith(`rgb(${red},`)",
            arg=grounds[scheme],
        )
        settle(page)
        looked_at = {"rules": mild} if scheme == schemes[0] else {"runOnly": _OF_COLOURS}
        violations = page.evaluate(
            "async options => (await axe.run(document, options)).violations",
            {"resultTypes": ["violations"], "preload": False, **looked_at},  # no rule of these loads anything
        )
        found += [
            f"{page.url.split('?')[0]}, {scheme}: {each['id']}: {node['html'][:160]}"
            for each in violations
            if each["impact"] in {"serious", "critical"}
            for node in each["nodes"][:3]
        ]
    return found


def fits(page: Page, *, last: bool = False) -> None:
    """Hold that nothing overflows at either width.

    As the last of a test it leaves the page at the other width: figures would be drawn again for nobody.
    """
    now = page.viewport_size or WINDOW["viewport"]
    for width in sorted((1280, 400), key=lambda width: width != now["width"]):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        # figures take the new width a moment later; what never does is told below
        with suppress(NotInTime):
            page.wait_for_function(f"() => {WIDTHS}.every(([inner, outer]) => inner <= outer)", timeout=5_000)
        page.wait_for_timeout(100)
        found = page.evaluate(WIDTHS)
        assert all(inner <= outer for inner, outer in found), f"{page.url} overflows at {width} px: {found}"
    if not last:
        page.set_viewport_size({"width": 1280, "height": 900})
        settle(page)
