"""A monitor in real Chromium: made from an audit, sent predictions by HTTP and by file, its alarm seen to."""

from __future__ import annotations

import csv
import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from app.monitor.dashboard import TABS
from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database
from tests.browser import acts
from tests.browser.conftest import Server, Watched

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "hiring.csv"
LIVE = 15_000


def post(url: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_from_the_audit_to_an_alarm_dealt_with(server: Server, watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    acts.arrive(page, server, "sensitivity")
    acts.run(page)
    acts.finding(page)

    acts.open_tab(page, "Who is flagged?")
    page.locator('.stMain a[href*="monitor"]').click()
    page.wait_for_selector(".st-key-create-monitor", timeout=acts.SLOW)
    acts.settle(page)
    # by the keyboard alone, here and where an alarm is seen to and files are given
    acts.tab_to(page, '[aria-label="Name"]')
    page.keyboard.type("hiring *desk*")
    acts.tab_to(page, '[aria-label="People per false alarm"]')
    page.keyboard.press("Control+a")
    page.keyboard.type("1000")
    acts.tab_to(page, '[data-testid="stFormSubmitButton"] button')
    page.keyboard.press("Enter")
    page.wait_for_selector(".stMain code", timeout=acts.SLOW)  # the token
    acts.settle(page)
    expect(page.get_by_role("heading", name="hiring *desk*")).to_be_visible()  # no Markdown
    token = page.locator("code").first.inner_text().strip()
    command = page.locator("code", has_text="curl").text_content() or ""
    page.locator(".st-key-token-copied button").click()
    expect(page.get_by_text(token)).to_have_count(0)
    address = command.split()[3]
    assert address.startswith(f"{server.url}/api/v1/monitors/")
    columns = list(json.loads(command.partition(" -d '")[2].rstrip("'"))["rows"][0])
    with EXAMPLE.open() as opened:
        rows = [{name: float(row[name]) for name in columns} for row in csv.DictReader(opened)][:400]
    answer = post(address, token, {"rows": rows})
    loud = [row for row, told in zip(rows, answer["rows"], strict=True) if told["flagged"]]

    # live: nothing on the page is touched from here until the alarm
    finding = page.locator(".st-key-counted")
    expect(finding).to_contain_text(f"{answer['flagged']} of 400", timeout=LIVE)
    expect(page.locator(".st-key-fit-monitor-chart .js-plotly-plot")).to_be_visible()
    page.get_by_role("tab", name=TABS[1]).click()
    expect(page.locator(".st-key-fit-monitor-drift .js-plotly-plot")).to_be_visible()
    page.get_by_role("tab", name=TABS[0]).click()
    before = len(answer["alarms"])  # the example's first people are not like all of them
    answer = post(address, token, {"rows": loud, "ids": [f"desk {k}" for k in range(len(loud))]})
    assert answer["alarms"]
    waiting = re.compile(rf"\({before + len(answer['alarms'])}\b")
    expect(page.get_by_role("heading", name=waiting)).to_be_visible(timeout=LIVE)
    acts.settle(page)

    person = 400 + len(loud)
    acts.choose(page, "flagged-", str(person))
    card = page.locator(".st-key-person-card")
    expect(card).to_contain_text(f"{person} (desk {len(loud) - 1})")
    assert not acts.serious(page)
    acts.fits(page)
    later = post(address, token, {"rows": loud[:1]})
    expect(finding).to_contain_text(f"{401 + len(loud)} ", timeout=LIVE)
    expect(card).to_contain_text(f"{person} (desk")  # still the one chosen

    page.locator('.st-key-alarm-0 [class*="-people"] button').click()
    everyone = page.locator(".st-key-all-flagged button")
    expect(everyone).to_be_visible(timeout=LIVE)
    with acts.answered(page):
        everyone.click()
    acts.tab_to(page, '.st-key-alarm-0 [aria-label="Note"]', 160)
    page.keyboard.type("asked the desk")
    acts.tab_to(page, '.st-key-alarm-0 [class*="-done"] button')
    page.keyboard.press("Enter")
    kept = Monitors(Database(f"sqlite:///{server.home / 'evenhand.sqlite'}"))
    expect(page.locator(".st-key-alarm-0")).to_have_count(0, timeout=LIVE)
    first = kept.alarm(address.split("/")[-2], 0)
    assert first.note == "asked the desk"
    assert kept.waiting(address.split("/")[-2])[0] == before + len(answer["alarms"] + later["alarms"]) - 1

    good, bad = tmp_path / "monday.csv", tmp_path / "tuesday.csv"
    write(good, rows[:50])
    write(bad, [*rows[:3], {**rows[3], columns[0]: "many"}])
    page.locator(".st-key-score-file summary").click()
    acts.tab_to(page, '[class*="st-key-give-files"] button')
    given: list[str] = []  # a form sent before its files have arrived is sent without them
    page.on("requestfinished", lambda sent: given.append(sent.method) if "upload_file" in sent.url else None)
    page.locator('[class*="st-key-give-files"] input[type=file]').set_input_files([str(good), str(bad)])
    expect(page.get_by_text("tuesday.csv")).to_be_visible()
    while given.count("PUT") < 2:
        page.wait_for_timeout(100)
    acts.tab_to(page, '[data-testid="stFormSubmitButton"] button', 250)
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile(r"monday\.csv: 50 "))).to_be_visible(timeout=acts.SLOW)
    refused = page.get_by_text("tuesday.csv: row 4, ")
    expect(refused).to_contain_text(columns[0])
    expect(refused).to_contain_text("0 of ")


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as opened:
        table = csv.DictWriter(opened, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
