"""What a shell completes, asked of the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AT_A_TERMINAL = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("base", {"baseline"}),
        ("runs com", {"compare"}),
        ("run audit.yaml --fail", {"--fail-on"}),
        ("run audit.yaml --fail-on ", {"evidence", "material", "gate"}),
        ("runs start --fail-on g", {"gate"}),
        ("completion z", {"zsh"}),
    ],
)
def test_what_a_shell_is_told(words, found):
    asked = {"_EVENHAND_COMPLETE": "complete_bash", "COMP_WORDS": f"evenhand {words}"}
    asked["COMP_CWORD"] = str(len(words.split(" ")))
    done = subprocess.run(
        [sys.executable, "-m", "audits"], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert set(done.stdout.split()) == found, done.stderr


@pytest.mark.parametrize("shell", [name for name in AT_A_TERMINAL if shutil.which(name)])
def test_typed_at_a_terminal(cli, tmp_path, shell):
    """A shell as it starts without anybody's settings, in a folder with a spec."""
    (tmp_path / "script").write_text(cli("completion", shell).out, encoding="utf-8")
    (tmp_path / "audit.yaml").touch()
    (tmp_path / "evenhand").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m audits "$@"\n')
    (tmp_path / "evenhand").chmod(0o755)
    asked = os.environ | {"TERM": "dumb", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    child, terminal = pty.fork()
    if not child:
        os.chdir(tmp_path)
        os.execvpe(AT_A_TERMINAL[shell][0], AT_A_TERMINAL[shell], asked)
    try:
        assert "command not found" not in typed(terminal, ". ./script; echo re''ady\n", "ready")
        for keys, whole in (
            ("evenhand base\t", "evenhand baseline "),
            ("evenhand runs com\t", "evenhand runs compare "),
            ("evenhand report . --template fo\t", "--template four_fifths "),
            ("evenhand run aud\t", "run audit.yaml "),
            ("evenhand run audit.yaml --fail-on ma\t", "--fail-on material "),
        ):
            typed(terminal, f"\x15{keys}", whole)
    finally:
        os.close(terminal)  # hangs up
        os.waitpid(child, 0)


def typed(terminal: int, keys: str, whole: str) -> str:
    """Type, and read what is shown until `whole` is; fails where it never is."""
    os.write(terminal, keys.encode())
    shown, until = "", time.monotonic() + 120
    while whole not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0, until - time.monotonic()))
        assert ready, f"{whole!r} is not in {shown!r}"
        shown += re.sub(r"\x1b\[[?0-9;]*\w", "", os.read(terminal, 1 << 16).decode())
    return shown
