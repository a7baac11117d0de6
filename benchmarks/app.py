"""A table of 200,000 rows and 41 columns on the pages, in Chromium, from upload to the first finding.

``python -m benchmarks.app`` prints the seconds of each step beside its limit: until the first question, for
an answer, until all is ready, and until the finding. Needs Playwright and Chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser

from benchmarks.measuring import clocked
from benchmarks.serving import Served, browsing, served
from tests.browser import acts

ROWS = 200_000


def table(rows: int) -> pd.DataFrame:
    """Return people of whom women are approved ten points less often."""
    rng = np.random.default_rng(41)
    sex = rng.choice(["female", "male"], rows)
    columns = {"sex": sex, "race": rng.choice(["a", "b", "c"], rows), "age": rng.integers(18, 80, rows)}
    columns |= {f"x{k}": rng.normal(size=rows).round(3) for k in range(25)}
    columns |= {f"kind{k}": rng.choice(["low", "middle", "high"], rows) for k in range(12)}
    columns["approved"] = np.where(rng.random(rows) < np.where(sex == "female", 0.4, 0.5), "yes", "no")
    return pd.DataFrame(columns)


def measure(browser: Browser, app: Served, path: Path) -> None:
    """Take a table to its finding, and print each step's seconds."""
    page = acts.visit(browser).new_page()
    acts.open_app(page, app.url)
    with clocked(f"upload of {path.stat().st_size / 1e6:.0f} MB to the first question"):
        acts.upload(page, path, ask=True)
    answer = page.locator(".st-key-answer button")
    while answer.inner_text() != "Finish":
        with clocked("an answer", "(limit 0.5 s)"), acts.answered(page):
            answer.click()
    with clocked("ready after the last answer", "(limit 5 s)"):
        answer.click()
        page.get_by_text("Ready to audit.").wait_for(timeout=300_000)
    page.locator(".st-key-next button").click()
    page.locator(".st-key-run-groups button").click(timeout=300_000)
    with clocked("first finding", "(limit 15 s)"):
        page.wait_for_selector(".st-key-finding", timeout=300_000)


if __name__ == "__main__":
    with served() as app, browsing() as browser, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        table(ROWS).to_csv(path, index=False)
        measure(browser, app, path)
