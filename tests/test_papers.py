"""docs/papers.md has every numbered item of the five papers, and what it names exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXTS = ROOT.parent / "shared" / "papers"
NUMBERED = re.compile(
    r"\b(figure|fig\.|table|algorithm|theorem|corollary|definition|proposition|remark) ([a-c]?\d*\.?\d+)",
    re.IGNORECASE,
)


def _made():
    spec = importlib.util.spec_from_file_location("make_papers", ROOT / "docs" / "make_papers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAPERS = _made().papers()


@pytest.mark.shared
@pytest.mark.parametrize("name", PAPERS)
def test_no_numbered_item_is_left_out(name: str):
    """What a text numbers, less what it cites of others; a section may stand beside it, a figure in parts."""
    if not TEXTS.is_dir():
        pytest.skip("the papers' texts are not beside the checkout")
    text = (TEXTS / PAPERS[name]["text"]).read_text(encoding="utf-8")
    kinds = {"fig.": "figure"}
    found = {
        f"{kinds.get(kind.lower(), kind.lower())} {number.lower()}" for kind, number in NUMBERED.findall(text)
    }
    stated = {row.item.lower().partition(",")[0] for row in PAPERS[name]["rows"]}
    assert {item for item in stated if not item.startswith(("section", "appendix"))} == found


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
