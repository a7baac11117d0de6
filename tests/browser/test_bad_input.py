"""What visitors do wrong: one sentence each, and the app goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser


def test_an_empty_file_and_then_names_that_are_shown_as_they_are(
    server: Server, watched: Watched, tmp_path: Path
) -> None:
    page = watched.page
    page.on("dialog", lambda dialog: watched.errors.append(f"a dialog opened: {dialog.message}"))
    (tmp_path / "empty.csv").write_bytes(b"")
    race = "**race** <b>x</b> $\\alpha$ :smile:"
    group, other = "<img src=x onerror=alert(1)> www.evil.example :red[hot]", "B" + " long" * 80
    lines = [f'"{race}",{"long name " * 40},"=cmd|A0",hired']
    lines += [
        f'"{(group, other)[k % 2]}",{(k * 37) % 100 + 20 * (k % 2)},{k % 5},{(k // 2 + k) % 2}'
        for k in range(300)
    ]
    (tmp_path / "nasty.csv").write_text("\n".join(lines) + "\n")
    acts.open_app(page, server.url)
    acts.upload(page, tmp_path / "empty.csv")
    expect(page.locator('[class*="st-key-problem-"]').first).to_contain_text("empty.csv", timeout=acts.SLOW)
    assert "Traceback" not in page.content()
    acts.upload(page, tmp_path / "nasty.csv")
    acts.train_on(page, "hired", "1")
    acts.to_flipsets(page)
    acts.run(page)
    found = acts.finding(page)
    assert group[:28] in found or other[:8] in found  # a long name is cut in a sentence
    assert page.locator('.st-key-finding a, .st-key-finding img, a[href*="evil"]').count() == 0
    acts.fits(page, last=True)
