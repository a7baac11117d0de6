"""The report is one file, offline, escaped, and shows the result's numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from audits.drawing.style import finish
from audits.records import Exhibit
from audits.reports import render_report
from audits.reports.blocks import Document, Figure, grid
from audits.reports.html import MAX_BYTES, html_of
from audits.runs.result import AuditResult, RunResult
from audits.stats.vocabulary import DataWords
from tests.flipset.conftest import audited, draw_crowd, subject_of

NASTY = "</script><img src=x onerror=alert(1)> =1+1 $x$ "


def run_of(result: Any) -> RunResult:
    data = {"rows_read": 100, "rows_used": 90, "excluded": {f"a reason {NASTY}": 10}, "sha256": "0" * 64}
    data |= {"rows_trained": 0, "rows_audited": 90}
    model = {"name": NASTY, "sha256": "1" * 64, "notes": [NASTY]}
    audits = (AuditResult("flipset", result.options, result),)
    return RunResult("0.1.0", {"seed": 0, "note": NASTY}, data, model, audits)


@pytest.fixture(scope="module")
def nasty() -> str:
    frame = draw_crowd(40, 40).data.frame.rename(columns={"x0": NASTY})
    frame["group"] = frame["group"].map({"a": NASTY, "b": "b" * 400})
    subject = subject_of(frame, features=(NASTY, "x1"))
    result = audited(subject, source={"group": NASTY}, target={"group": "b" * 400}, permutations=19)
    return render_report(run_of(result))


def test_text_from_data_cannot_become_markup(nasty):
    assert "<img src=x" not in nasty
    # every script element is ours: the library, the drawing function, and one call a figure
    assert nasty.count("<script>") == nasty.count("</script>")


def test_nothing_is_loaded_from_elsewhere(nasty):
    outside = re.sub(r"<script>.*?</script>", "", nasty, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", outside)
    assert "default-src 'none'" in nasty
    assert nasty.count("plotly.js v") == 1


def test_no_button_of_a_figure_sends_the_data_away(nasty):
    drawer = re.search(r"Plotly\.newPlot\(name, [^)]*\)", nasty[nasty.index("function draw") :])
    assert drawer is not None
    assert '"modeBarButtonsToRemove":["sendChartToCloud"]' in drawer[0]


def test_the_file_stays_small_whatever_the_tables_hold():
    """80 tables of 200 wide rows are cut further, and say so; nothing is left out in silence."""
    frame = pd.DataFrame({"group": ["g" * 60] * 300} | {f"rate {k}": [1 / 3 + k] * 300 for k in range(12)})
    figure = go.Figure(go.Bar(x=[1 / 3], y=["a"]))
    block = Figure(Exhibit("key", "heading", "caption", lambda: figure, lambda: frame), "figure", grid(frame))
    text = html_of(Document("title", "subtitle", (block,) * 80))
    assert 5_000_000 < len(text.encode()) < MAX_BYTES
    [shown] = set(re.findall(r"\b(\d+) of 300\b", text))
    assert int(shown) < 200
    assert "200 of 300" in html_of(Document("title", "subtitle", (block,)))


def test_what_figures_share_is_written_once_and_their_numbers_stay():
    figure = finish(go.Figure(go.Scatter(x=[1 / 3, 2e-9], y=[123456789.0, 5])), height=200, alt="")
    exhibit = Exhibit("key", "heading", "caption", lambda: figure, lambda: pd.DataFrame({"a": [1.0]}))
    block = Figure(exhibit, "figure", grid(pd.DataFrame()))
    text = html_of(Document("title", "subtitle", (block, block, block)))
    one = html_of(Document("title", "subtitle", (block,)))
    assert len(text) - len(one) < 2 * 2500, "Plotly's template alone is 7,000 characters"
    drawn = json.loads(re.search(r'draw\("figure", (\{.*?\})\);</script>', text).group(1))
    assert "template" not in drawn["layout"]
    assert drawn["data"][0]["x"] == [0.333333, 2e-9]
    assert drawn["data"][0]["y"] == [123457000.0, 5]
    assert figure.data[0].x[0] == 1 / 3, "the figure itself stays exact"


def test_figures_name_groups_in_the_words_of_the_data() -> None:
    words = DataWords(groups={"group": {"a": "early birds", "b": "night owls"}})
    result = audited(draw_crowd(40, 40), source={"group": "a"}, target={"group": "b"}, permutations=19)
    run = run_of(result)
    spoken = replace(run, audits=(replace(run.audits[0], words=words),))
    drawn = re.findall(r'aria-label="([^"]*)"', render_report(spoken))
    assert any("early birds" in alt for alt in drawn)
    assert not any("early birds" in alt for alt in re.findall(r'aria-label="([^"]*)"', render_report(run)))
