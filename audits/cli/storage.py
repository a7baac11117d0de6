"""``backup``, ``restore`` and ``erase``: what is kept, copied, laid out again, and taken out."""

from __future__ import annotations

from pathlib import Path

from audits.cli.text import count_of
from audits.runs.storage.audit_log import AuditLog
from audits.runs.storage.backup import CopySize, backup, restore
from audits.runs.storage.erasure import Erasure, erase_person
from audits.runs.storage.store import home

__all__ = ["backed_up", "erase_report", "restore_report"]


def backed_up(target: Path) -> str:
    """Copy everything into a file."""
    copied = backup(target)
    AuditLog(home()).note("backed up")
    return f"{_words(copied)} are in {target}. It holds people's data: keep it like {home()}."


def restore_report(source: Path) -> str:
    """Lay out a copy in an empty home folder."""
    copied = restore(source)
    AuditLog(home()).note("restored")
    return f"{_words(copied)} were restored in {home()}."


def erase_report(person: str, column: str | None, *, look: bool) -> str:
    """Take one person out; say what was done, and where nothing could be."""
    return "\n".join(_erasure_lines(erase_person(person, column=column, look=look), look))


def _words(copied: CopySize) -> str:
    rows, files = count_of(copied.rows, "row"), count_of(copied.files, "file")
    return f"{rows} of the database and {files} ({copied.size / 1e6:,.1f} MB)"


def _erasure_lines(told: Erasure, look: bool) -> list[str]:
    would = "would be" if look else "were"
    rows = sum(told.files.values())
    lines = [
        f"{count_of(rows, 'row')} of {count_of(len(told.files), 'file')}, "
        f"{count_of(len(told.audits), 'saved audit')} of these files and "
        f"{count_of(told.measured, 'row')} of monitors {would} taken out."
    ]
    lines += [f"  {name}: {count_of(number, 'row')}" for name, number in told.files.items()]
    lines += [
        f"Not touched: {name} holds it in {', '.join(columns)}; --column names it if that is the person."
        for name, columns in told.elsewhere.items()
    ]
    lines += [f"Not read: {name}: {why}" for name, why in told.unread.items()]
    return [*lines, "Copies made before (`evenhand backup`, HOME/backups) still hold what they held."]
