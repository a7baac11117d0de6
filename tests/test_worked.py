"""The examples that docs show with answers run, and their pages and notebooks hold what was answered."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["first_audit", "where_a_gap_comes_from"])
def test_an_example_is_shown_with_what_it_answers(monkeypatch, name):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import worked

    here, path = Path.cwd(), ROOT / "examples" / f"{name}.py"
    found = worked.executed(path)
    assert Path.cwd() == here
    code = [cell for cell in found if not cell.prose]
    assert found[0].prose
    printed = "".join(cell.printed for cell in code)
    page, scripts = worked.page(path.stem, found)
    assert all(html.escape(line) in page for line in printed.splitlines())
    assert len(scripts) == sum(worked.PLOTLY in cell.shown for cell in code) >= 1
    notebook = json.loads(worked.notebook(found))
    shown = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in shown] == list(range(1, len(code) + 1))
    texts = ["".join(text) for cell in shown for each in cell["outputs"] for text in each.get("text", [])]
    assert "".join(texts) == printed
    if name == "first_audit":
        assert "−38.2 points" in printed
        assert "not sure" not in printed, "the rates lie 38 points apart: nothing may call that unsure"
