"""The folder of a run's results: what may be replaced there, and what never."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from audits.errors import InputError, os_failure, os_refusal
from audits.runs.documents import dump_yaml

if TYPE_CHECKING:
    from audits.runs.result import RunResult

_CONTENTS = ".evenhand"
"""File in a results folder that lists the files that Evenhand wrote there."""


def results_folder(out: Path | None, spec: Path) -> Path:
    """Return the folder for the results of `spec`, after making sure that it can be used.

    Parameters
    ----------
    out : Path or None
        The folder asked for; by default ``SPEC-results`` in the current folder.

    Raises
    ------
    InputError
        If it is a file, cannot be written to, or holds anything while not being a former result.
    """
    folder = Path(f"{spec.stem}-results") if out is None else out
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError("--out", "must be a folder", str(folder))
        if folder.is_dir() and any(folder.iterdir()) and not (folder / _CONTENTS).is_file():
            raise InputError(
                "--out",
                "must be empty, new, or hold earlier results",
                str(folder),
                "its files were not written by Evenhand: choose another folder",
            )
    except OSError as error:
        raise InputError("--out", f"cannot be looked into ({error.strerror})", str(folder)) from None
    nearest = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    with os_refusal("--out", "must be a folder that can be written to", str(folder), f"look at {nearest}"):
        Path(tempfile.mkdtemp(prefix=".probe-", dir=nearest)).rmdir()  # permissions alone do not tell
    return folder


def publish(result: RunResult, folder: Path) -> list[str]:
    """Write results.json, report.html and the tables into `folder`; return their names.

    All is written aside first, then moved in, so that a failure leaves former results as they were.
    Files of former results that this run does not have are removed; anything else stays.

    Raises
    ------
    RunFailed
        If they cannot be written, as on a full disk.
    """
    from audits.reports.html import render_report

    with os_failure(f"The results could not be written to {folder}; earlier ones are unchanged"):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder, ignore_cleanup_errors=True) as held:
            aside = Path(held)
            result.save(aside)
            result.write_tables(aside / "tables")
            page = render_report(result, spec_text=dump_yaml(result.spec))
            (aside / "report.html").write_text(page, encoding="utf-8")
            names = sorted(path.relative_to(aside).as_posix() for path in aside.rglob("*") if path.is_file())
            for name in _former(folder):
                (folder / name).unlink(missing_ok=True)
            (folder / _CONTENTS).write_text("\n".join(names) + "\n", encoding="utf-8")
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (aside / name).replace(folder / name)
    return names


def _former(folder: Path) -> list[str]:
    """Return the files of former results, none of which may lie outside the folder."""
    contents = folder / _CONTENTS
    names = contents.read_text(encoding="utf-8").splitlines() if contents.is_file() else []
    inside = folder.resolve()
    return [name for name in names if (folder / name).parent.resolve().is_relative_to(inside)]
