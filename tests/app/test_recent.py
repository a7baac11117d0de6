"""The workspaces of a browser: remembered in a cookie, and only those that the server gave out."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.workspaces.visits import COOKIE, RemembersVisits, recent_workspaces
from app.workspaces.workspace import Workspace, issue_token, new_token


@pytest.fixture
def browser(tmp_path, monkeypatch) -> TestClient:
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    monkeypatch.delenv("EVENHAND_AUTH", raising=False)
    answer = Route("/{rest:path}", lambda _: PlainTextResponse("page"))
    return TestClient(Starlette(routes=[answer], middleware=[Middleware(RemembersVisits)]))


def test_a_workspace_is_found_again_without_its_address(browser: TestClient, monkeypatch) -> None:
    def visited(query: str) -> str:
        browser.get(f"/?w={query}")
        return browser.cookies.get(COOKIE) or ""

    first, second, empty = issue_token(), issue_token(), issue_token()
    for token, name in ((first, "credit"), (second, "compas")):
        visited(token)
        Workspace(token).save_draft({"id": "1", "source": {"name": name}, "spec": {}})
    cookie = visited(empty)
    found = recent_workspaces(cookie, but=empty)
    assert [space.draft()["source"]["name"] for space in found] == ["compas", "credit"]
    assert [space.token for space in recent_workspaces(cookie, but=second)] == [first]
    Workspace(second).forget()
    assert visited(first).split(".") == [first], "what is gone is forgotten"
    assert recent_workspaces(first, but="")
    monkeypatch.setenv("EVENHAND_AUTH", "proxy")
    assert recent_workspaces(first, but="") == [], "where people sign in, the browser is not asked"


def test_a_link_plants_no_token_and_no_script_reads_the_cookie(browser: TestClient) -> None:
    assert "set-cookie" not in browser.get(f"/?w={new_token()}").headers
    assert "set-cookie" not in browser.get("/?w=../../etc").headers
    told = browser.get(f"/?w={issue_token()}").headers["set-cookie"]
    assert "HttpOnly" in told
    assert "SameSite=Lax" in told
    assert recent_workspaces("../..; x=1." + "g" * 32, but="") == []


@pytest.mark.parametrize(
    ("scheme", "forwarded", "secure"),
    [("http", "", False), ("https", "", True), ("http", "HTTPS, http", True), ("http", "http", False)],
)
def test_the_cookie_of_pages_behind_tls_travels_by_tls_alone(browser, scheme, forwarded, secure) -> None:
    address = f"{scheme}://evenhand.example/?w={issue_token()}"
    headers = {"X-Forwarded-Proto": forwarded} if forwarded else {}
    told = browser.get(address, headers=headers).headers["set-cookie"]
    assert ("; Secure" in told) == secure
