"""What a shell completes, asked of the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

AT_A_TERMINAL = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


def completed(script: str, *words: str) -> list[str]:
    line = " ".join(f"'{word}'" for word in words)
    asked = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _evenhand; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["evenhand", "base"], ["baseline"]),
        (["evenhand", "runs", "com"], ["compare"]),
        (["evenhand", "run", "audit.yaml", "--fail"], ["--fail-on"]),
        (["evenhand", "run", "audit.yaml", "--fail-on", ""], ["evidence", "material", "gate"]),
        (["evenhand", "runs", "start", "--fail-on", "g"], ["gate"]),
        (["evenhand", "completion", "z"], ["zsh"]),
        (["evenhand", "run", "audit"], []),  # names of files are the shell's own
        (["evenhand", "run", ""], []),
    ],
)
def test_bash_completes(cli, words, found):
    assert completed(cli("completion", "bash").out, *words) == found


@pytest.mark.parametrize("shell", [name for name in AT_A_TERMINAL if shutil.which(name)])
def test_typed_at_a_terminal(cli, tmp_path, shell):
    """A shell as it starts without anybody's settings, in a folder with a spec."""
    (tmp_path / "script").write_text(cli("completion", shell).out, encoding="utf-8")
    (tmp_path / "audit.yaml").touch()
    child, terminal = pty.fork()
    if not child:
        os.chdir(tmp_path)
        os.execvpe(AT_A_TERMINAL[shell][0], AT_A_TERMINAL[shell], os.environ | {"TERM": "dumb"})
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
    shown, until = "", time.monotonic() + 30
    while whole not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0, until - time.monotonic()))
        assert ready, f"{whole!r} is not in {shown!r}"
        shown += re.sub(r"\x1b\[[?0-9;]*\w", "", os.read(terminal, 1 << 16).decode())
    return shown
