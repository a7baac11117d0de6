"""The report is one file, offline, escaped, and shows the result's numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from audits.reports import render_report
from audits.runs.result import AuditResult, RunResult
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
