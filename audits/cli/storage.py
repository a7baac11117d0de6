"""``backup``, ``restore`` and ``erase``: what is kept, copied, laid out again, and taken out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from audits.cli.text import count_of

if TYPE_CHECKING:
    from audits.runs.storage.backup import CopySize

CopyFile = Annotated[Path, Argument(metavar="FILE.tar.gz")]


def backup(file: CopyFile) -> str:
    """Copy EVENHAND_HOME and the database into a file, while servers run."""
    from audits.runs.storage.audit_log import AuditLog
    from audits.runs.storage.backup import backup
    from audits.runs.storage.store import home

    copied = backup(file)
    AuditLog(home()).note("backed up")
    return f"{_words(copied)} are in {file}. It holds people's data: keep it like {home()}."


def restore(file: CopyFile) -> str:
    """Restore a backup into an empty EVENHAND_HOME and an empty database."""
    from audits.runs.storage.audit_log import AuditLog
    from audits.runs.storage.backup import restore
    from audits.runs.storage.store import home

    copied = restore(file)
    AuditLog(home()).note("restored")
    return f"{_words(copied)} were restored in {home()}."


def erase(
    person: Annotated[str, Option(metavar="VALUE", help="the person's value in that column")],
    column: Annotated[
        str | None, Option(metavar="NAME", help="that column (default: the one that specs name as person)")
    ] = None,
    look: Annotated[bool, Option("--look", help="only list what would be removed")] = False,
) -> str:
    """Remove a person's rows from uploads and monitors; delete audits made with them."""
    from audits.runs.storage.erasure import erase_person

    told = erase_person(person, column=column, look=look)
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
    return "\n".join(
        [*lines, "Copies made before (`evenhand backup`, HOME/backups) still hold what they held."]
    )


def _words(copied: CopySize) -> str:
    rows, files = count_of(copied.rows, "row"), count_of(copied.files, "file")
    return f"{rows} of the database and {files} ({copied.size / 1e6:,.1f} MB)"
