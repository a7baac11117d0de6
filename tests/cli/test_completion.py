"""What a shell completes, asked of bash itself."""

from __future__ import annotations

import subprocess

import pytest


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
    ],
)
def test_bash_completes(cli, words, found):
    assert completed(cli("completion", "bash").out, *words) == found
