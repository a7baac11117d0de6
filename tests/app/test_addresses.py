"""What an address is completed to before its page loads: a workspace, and the page's present name."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.pages import view_of
from app.serving import api
from audits.options import options_of
from audits.runs.registry import AUDITS


@pytest.fixture
def browser(tmp_path, monkeypatch) -> TestClient:
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    answer = Route("/{rest:path}", lambda request: PlainTextResponse(str(request.url)))
    return TestClient(Starlette(routes=[answer], middleware=[Middleware(api.WholeAddress)]))


def come_to(browser: TestClient, address: str) -> tuple[str, dict[str, list[str]]]:
    """Return path and choices of where the browser ends up."""
    found = urlsplit(browser.get(address).text)
    return found.path, parse_qs(found.query)


@pytest.mark.parametrize(
    ("old", "now", "by"),
    [("overview", "groups", "groups-by"), ("flipsets", "flipset", "by"), ("individual", "loss_ratio", "by")],
)
def test_links_of_earlier_versions_open_the_page_with_their_choices(browser, old: str, now: str, by: str):
    assert view_of(now), "a page of today"
    assert view_of(old) is None
    kept = {"w": ["abc"], by: ["race", "sex"], "cut": ["0.5"], "other": ["a&b"]}
    for slash in ("", "/"):
        assert come_to(browser, f"/{old}{slash}?w=abc&by=race&by=sex&cut=0.5&other=a%26b") == (
            f"/{now}",
            kept,
        )
    assert come_to(browser, f"/{old}?share=secret") == (f"/{now}", {"share": ["secret"]})
    path, added = come_to(browser, f"/{old}?by=race")
    assert (path, added[by], len(added["w"])) == (f"/{now}", ["race"], 1)


def test_an_address_without_a_workspace_gets_one_and_others_stay(browser: TestClient):
    path, added = come_to(browser, "/flipset?by=race")
    assert (path, added.keys()) == ("/flipset", {"by", "w"})
    for stays in ("/flipset?w=abc", "/nothing?by=race", "/static/individual", "/groups?w=abc&fewest=true"):
        assert come_to(browser, stays) == (urlsplit(stays).path, parse_qs(urlsplit(stays).query))


def test_choices_of_earlier_versions_keep_their_values(browser: TestClient):
    own = {"with-recourse-fewest": ["false"], "with-recourse-ways_people": ["40"]}
    old = "/recourse?w=abc&fewest=false&ways-people=40&by=sex"
    assert come_to(browser, old) == ("/recourse", {"w": ["abc"], **own, "by": ["sex"]})
    values = {"fewest": ["false"], "steps": ["2"], "level": ["a-b"]}
    named = {f"with-recourse-{name}": value for name, value in values.items()}
    before = "/recourse?w=abc&with-fewest=false&yaml-steps=2&with-level=a-b"
    assert come_to(browser, before) == ("/recourse", {"w": ["abc"], **named})
    options = {option.name for option in options_of(AUDITS["recourse"].options)}
    former = AUDITS["recourse"].pages.former_choices.values()
    assert {name.removeprefix("with-") for name in former} <= options
