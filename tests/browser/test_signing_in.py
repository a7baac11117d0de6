"""Signing in with a real OIDC provider, in real Chromium: who sees what, and what a link shows."""

from __future__ import annotations

import importlib
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from app.saved.runs import _ALONE
from audits.runs.storage.audit_log import AuditLog
from benchmarks.serving import served
from tests.browser import acts
from tests.browser.conftest import Server

provider_package = pytest.importorskip("oidc_provider_mock", reason="signing in needs an OIDC provider")
provider = importlib.import_module("oidc_provider_mock._app")
pytestmark = pytest.mark.browser
SIGN_IN = ".st-key-sign-in button"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start the app so that people sign in with a provider started beside it."""
    with provider_package.run_server_in_thread() as running:
        found = f"http://localhost:{running.server_port}/.well-known/openid-configuration"
        settings = {
            "EVENHAND_AUTH": "oidc",
            "EVENHAND_OIDC_URL": found,
            "EVENHAND_OIDC_CLIENT_ID": "evenhand",
            "EVENHAND_OIDC_CLIENT_SECRET": "secret",
            "EVENHAND_OIDC_REDIRECT": "http://localhost:{port}/oauth2callback",
            "EVENHAND_OIDC_COOKIE_SECRET": "a secret that nobody will ever guess",
            "EVENHAND_AUDITORS": "ada@example.org",
            "AUTHLIB_INSECURE_TRANSPORT": "1",
        }
        with served(tmp_path_factory.mktemp("home"), **settings) as server:
            # the provider sends people back to this name of the same server
            yield replace(server, url=server.url.replace("127.0.0.1", "localhost"))


def sign_in(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.locator(SIGN_IN).click(timeout=acts.SLOW)
    page.get_by_placeholder("sub").fill(name)
    page.get_by_role("button", name="Authorize").first.click()
    page.wait_for_selector(f"text={name}", timeout=acts.SLOW)
    acts.settle(page)


@pytest.mark.parametrize("wrong", [{"exp": 1_700_000_000}, {"aud": ["another application"]}])
def test_a_token_that_is_expired_or_of_or_for_another_signs_nobody_in(
    guarded: Server, browser: Browser, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]
) -> None:
    claims = provider.OpenIDCode.get_compatible_claims
    monkeypatch.setattr(
        provider.OpenIDCode, "get_compatible_claims", lambda *given: {**claims(*given), **wrong}
    )
    context = acts.visit(browser)
    page = context.new_page()
    try:
        page.goto(guarded.url)
        page.locator(SIGN_IN).click(timeout=acts.SLOW)
        page.get_by_placeholder("sub").fill("ada@example.org")
        page.get_by_role("button", name="Authorize").first.click()
        expect(page.locator(SIGN_IN)).to_be_visible(timeout=acts.SLOW)
        assert context.request.get(f"{guarded.url}/media/a.csv").status == 401
    finally:
        context.close()


def test_people_sign_in_and_see_what_is_theirs_or_shared(guarded: Server, browser: Browser) -> None:
    for path in ("/media/a.csv", "/_stcore/upload_file/a/b"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(guarded.url + path)
    contexts = [acts.visit(browser) for _ in range(2)]
    ada, bob = (context.new_page() for context in contexts)
    try:
        sign_in(ada, guarded.url, "ada@example.org")
        expect(ada.get_by_text("ada@example.org · auditor")).to_be_visible()
        acts.open_data_of(ada, "loans")
        hers = ada.url
        ada.get_by_role("link", name="Report & saved audits", exact=True).click()
        ada.locator(".st-key-share summary").click(timeout=acts.SLOW)
        acts.settle(ada)
        ada.locator(".st-key-share-make button").click()
        shown = ada.locator("code", has_text="/glance?share=").first
        expect(shown).to_be_visible(timeout=acts.SLOW)
        link = (shown.text_content() or "").strip()

        sign_in(bob, guarded.url, "bob@example.org")
        expect(bob.get_by_text("bob@example.org · viewer")).to_be_visible()
        bob.goto(hers)
        acts.settle(bob)
        expect(bob.locator(".st-key-open-hiring")).to_be_visible(timeout=acts.SLOW)
        assert "w=" in bob.url
        assert bob.url.split("w=")[1][:32] != hers.split("w=")[1][:32], "her address is not his to open"

        bob.goto(link)
        expect(bob.locator('[class*="st-key-note-"]').first).to_be_visible(timeout=acts.SLOW)
        expect(bob.locator(".st-key-finding")).to_be_visible(timeout=acts.SLOW)
        assert hers.split("w=")[1][:32] not in bob.content()
        bob.get_by_role("link", name=re.compile("Groups$")).first.click()
        button = bob.locator(".st-key-run button").first
        expect(button).to_be_visible(timeout=acts.SLOW)
        expect(button).to_be_disabled()

        with acts.answered(ada):
            ada.locator('[class*="st-key-revoke-"] button').first.click()
        bob.goto(link)
        expect(bob.locator('[class*="st-key-problem-"]').first).to_be_visible(timeout=acts.SLOW)

        with acts.answered(ada):
            ada.get_by_text(_ALONE).click()
        ada.locator(".st-key-share-make button").click()
        shown = ada.locator("code", has_text="/report/").first
        expect(shown).to_be_visible(timeout=acts.SLOW)
        bob.goto((shown.text_content() or "").strip())
        expect(bob.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=acts.SLOW)
        assert "w=" not in bob.url
        with pytest.raises(Error, match="sandboxed"):
            bob.evaluate("document.cookie")  # its scripts see nothing of the server's pages
        with acts.answered(ada):
            ada.locator('[class*="st-key-revoke-"] button').first.click()
        assert contexts[1].request.get(bob.url).status == 404

        ada.locator(".st-key-sign-out button").click()
        ada.get_by_role("button", name="End session").click(timeout=acts.SLOW)  # of the provider's own page
        expect(ada.locator(SIGN_IN)).to_be_visible(timeout=acts.SLOW)
        ada.goto(hers)
        expect(ada.locator(SIGN_IN)).to_be_visible(timeout=acts.SLOW)
        assert contexts[0].request.get(f"{guarded.url}/media/a.csv").status == 401
        assert contexts[1].request.get(f"{guarded.url}/media/a.csv").status == 404
    finally:
        for context in contexts:
            context.close()
    log = AuditLog(Path(guarded.home))
    assert log.check()
    seen = {(entry["who"], entry["act"]) for entry in log.entries()}
    assert {
        ("ada@example.org", "shared"),
        ("bob@example.org", "opened"),
        ("ada@example.org", "revoked"),
    } <= seen
