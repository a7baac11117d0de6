"""A skipped test fails where all are asked for, and only there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest

def test_lacks():
    pytest.skip("the shared data is not beside the checkout")

@pytest.mark.skipif(True, reason="Chromium is not there")
def test_marked():
    raise AssertionError

def test_allowed():
    pytest.skip("an accelerator is there; the fallback cannot be seen")

@pytest.mark.xfail(reason="known")
def test_expected():
    raise AssertionError

def test_passes():
    pass
"""


@pytest.mark.parametrize(
    ("variable", "ended"),
    [("", "1 passed, 3 skipped, 1 xfailed"), ("1", "1 failed, 1 passed, 1 skipped, 1 xfailed, 1 error")],
)
def test_skips_fail_where_all_are_asked_for(variable: str, ended: str, tmp_path: Path):
    (tmp_path / "test_some.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.nothing_skipped", "-p", "no:cacheprovider", "-q", "."],
        cwd=tmp_path,
        env={**os.environ, "EVENHAND_ALL_TESTS": variable, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended in done.stdout, done.stdout + done.stderr
    assert ("shared data" in done.stdout) == bool(variable)
