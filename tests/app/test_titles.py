"""What runs and their files are called."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.saved.runs import file_stem


@pytest.mark.parametrize(
    ("title", "begins"),
    [
        ("loans.csv · Flipset: female → male · at 0.75", "loans.csv-flipset-female-male-at-0.75-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("Löhne 2024", "löhne-2024-"),
        ("…", "audit-"),
        ("x" * 200, "x" * 60 + "-"),
    ],
)
def test_its_files_are_named_like_it_and_stay_in_their_folder(title: str, begins: str) -> None:
    stem = file_stem(SimpleNamespace(title=title, created=1_700_000_000.0, id="0123456789abcdef"))
    assert stem.startswith(begins)
    assert stem.endswith("-01234567")
    assert "/" not in stem
    assert ".." not in stem
