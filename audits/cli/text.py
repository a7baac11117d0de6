"""Text that is safe and clear on a terminal."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audits.errors import os_refusal

if TYPE_CHECKING:
    from audits.runs.headline import RunFinding
    from audits.runs.result import RunResult

_WIDTH = 100


def called_as() -> str:
    """Return what this command line was called by: sentences name it so, to be typed again."""
    return "evenhand" if Path(sys.argv[0]).stem == "evenhand" else "python -m audits"


def printable(text: str) -> str:
    r"""Return `text` with every control character, which data may bring along, written out.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)


def one_line(text: str) -> str:
    """Return `text` on one line, printable."""
    return printable(" ".join(text.split()))


def wrap(text: str, indent: str = "") -> str:
    """Return `text` in lines of at most 100 signs."""
    return textwrap.fill(one_line(text), _WIDTH, initial_indent=indent, subsequent_indent=indent)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows, the head first, as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def write_file(path: Path, content: str | bytes, option: str = "--out", *, also: bool = False) -> str:
    """Write a file, below what it holds where `also` so; say where it lies.

    Raises
    ------
    InputError
        If it cannot be written; names the `option` that asked for it.
    """
    with os_refusal(option, "cannot be written", str(path)):
        if option != "--out":  # a pipeline may name a folder that is not there yet
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if also else "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    return f"Written to {path}."


def count_of(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 row``, ``7,214 rows``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def lines_of_findings(result: RunResult) -> list[str]:
    """Word what a run found: its headline, and each finding with its badge, the largest first."""
    said = result.headline()
    asked = [] if said.asked is None else ["", *_finding_lines("You asked. ", said.asked)]
    lines = ["", *_finding_lines("", said.leads), *asked]
    for each in result.findings():
        audit = each.audit
        name = "search" if each.place is None else f"{each.place + 1}. {audit.name}"
        lines += ["", f"{name}: {each.badge_text}", wrap(each.sentence, "   ")]
        notes = [audit.result.finding, each.across.note, *(f"Note: {note}" for note in audit.result.warnings)]
        lines += [wrap(note, "   ") for note in notes if note and note != audit.headline]
    return lines


def _finding_lines(begin: str, finding: RunFinding) -> list[str]:
    return [wrap(f"{begin}{finding.badge_text}"), wrap(finding.sentence)]
