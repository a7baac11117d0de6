"""``backup``, ``restore`` and ``erase``: what is kept, copied, laid out again, and taken out."""

from __future__ import annotations

from pathlib import Path

from audits.cli.words import counted
from audits.runs.storage.audit_log import AuditLog
from audits.runs.storage.backup import Copied, backup, restore
from audits.runs.storage.erasure import Erased, erase_person
from audits.runs.storage.store import home

__all__ = ["backed_up", "erased", "restored"]


def backed_up(target: Path) -> str:
    """Copy everything into a file."""
    copied = backup(target)
    AuditLog(home()).note("backed up")
    return f"{_words(copied)} are in {target}. It holds people's data: keep it like {home()}."


def restored(source: Path) -> str:
    """Lay out a copy in an empty home folder."""
    copied = restore(source)
    AuditLog(home()).note("restored")
    return f"{_words(copied)} were laid out in {home()}."


def erased(person: str, column: str | None, *, look: bool) -> str:
    """Take one person out; say what was done, and where nothing could be."""
    return "\n".join(_told(erase_person(person, column=column, look=look), look))


def _words(copied: Copied) -> str:
    rows, files = counted(copied.rows, "row"), counted(copied.files, "file")
    return f"{rows} of the database and {files} ({copied.size / 1e6:,.1f} MB)"


def _told(told: Erased, look: bool) -> list[str]:
    would = "would be" if look else "were"
    rows = sum(told.files.values())
    lines = [
        f"{counted(rows, 'row')} of {counted(len(told.files), 'file')}, "
        f"{counted(len(told.audits), 'saved audit')} of these files and "
        f"{counted(told.measured, 'row')} of monitors {would} taken out."
    ]
    lines += [f"  {name}: {counted(number, 'row')}" for name, number in told.files.items()]
    lines += [
        f"Not touched: {name} holds it in {', '.join(columns)}; --column names it if that is the person."
        for name, columns in told.elsewhere.items()
    ]
    lines += [f"Not read: {name}: {why}" for name, why in told.unread.items()]
    return [*lines, "Copies made before (`evenhand backup`, HOME/backups) still hold what they held."]
