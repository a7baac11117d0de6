"""docs/papers.md has ours beside every published number, and what it names exists."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _made():
    spec = importlib.util.spec_from_file_location("make_papers", ROOT / "docs" / "make_papers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAPERS = _made().papers()


@pytest.mark.parametrize("name", PAPERS)
def test_rows_name_what_exists_and_a_published_number_has_ours_and_why_it_differs(name: str):
    """Ours stands beside every number, or the row says that it was not run; what is no yes has a reason."""
    for row in PAPERS[name]["rows"]:
        path, _, test = row.test.partition("::")
        assert all((ROOT / each).is_file() for each in (*row.where, path)), row
        assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), test
        if row.published == "–":
            assert (row.drawn, row.reproduced) == ("–", "–"), row
            continue
        assert row.reproduced in {"yes", "pattern", "in part", "no", "not run"}, row
        assert row.reproduced == "not run" or "–" not in (row.ours, row.drawn), row
        assert row.reproduced == "yes" or row.why != "–", row


def test_the_page_is_what_is_made():
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == _made().page(), "run make docs"
