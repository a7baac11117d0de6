"""What a shell completes, asked of the shells themselves."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("base", {"baseline"}),
        ("run audit.yaml --fail", {"--fail-on"}),
        ("run audit.yaml --fail-on ", {"evidence", "material", "gate"}),
    ],
)
def test_what_a_shell_is_told(words, found):
    asked = {"_EVENHAND_COMPLETE": "complete_bash", "COMP_WORDS": f"evenhand {words}"}
    asked["COMP_CWORD"] = str(len(words.split(" ")))
    done = subprocess.run(
        [sys.executable, "-m", "audits"], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert set(done.stdout.split()) == found, done.stderr
