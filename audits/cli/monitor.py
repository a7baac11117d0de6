"""``monitor``: a monitor's bundle from a finished run, and rows measured by it, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from audits.cli.words import counted
from audits.errors import InputError, RunFailed

if TYPE_CHECKING:
    from audits.sensitivity import SensitivityResult

__all__ = ["export", "score"]


def export(folder: Path, out: Path, note: str) -> str:
    """Write the bundle of the sensitivity audit in the run `folder` into the folder `out`.

    Raises
    ------
    InputError
        If the folder holds no finished run with a sensitivity audit, its model cannot be carried along, or
        `out` cannot be written.
    """
    from audits.sensitivity import MonitorBundle

    bundle = MonitorBundle.of(_audit(folder), note=note)
    try:
        bundle.save(out)
    except OSError as error:
        raise InputError("--out", f"cannot be written ({error.strerror})", str(out)) from None
    reads = ", ".join(bundle.reads)
    return f"Written to {out}: monitor.json, monitor.safetensors. Rows have the columns {reads}."


def _audit(folder: Path) -> SensitivityResult:
    from audits.runs.result import RunResult

    if not (folder / "results.json").is_file():
        raise InputError(
            "DIR", "must hold a finished run", str(folder), "give the folder that `run --out` wrote"
        )
    try:
        found = RunResult.load(folder)
    except RunFailed as error:
        raise InputError("DIR", f"must hold a finished run: {str(error).rstrip('.')}", str(folder)) from None
    for each in found.audits:
        if each.name == "sensitivity":
            return each.result
    raise InputError("DIR", "must hold a sensitivity audit", str(folder), "add one to the spec's audits")


def score(folder: Path, rows: Path, out: Path | None) -> str:
    """Measure the rows of a table by the bundle in `folder`; return one JSON line a row, or write them.

    Columns that the bundle does not read are passed over, as the table is your own.

    Raises
    ------
    InputError
        If the bundle or the table cannot be read, a column is missing, or a value is wrong.
    """
    from audits.data import read_table
    from audits.sensitivity import MonitorBundle

    bundle = MonitorBundle.load(folder)
    frame = read_table(rows).frame
    found = bundle.score(frame)
    lines = []
    for place, row in enumerate(frame.index):
        line = {
            "row": int(row),
            "sensitivity": float(found.sensitivity[place]),
            "flagged": bool(found.flagged[place]),
            "score": float(found.score[place]),
            "top": dict(found.top(place)),
        }
        if place in found.unseen:
            line["unseen"] = found.unseen[place]
        lines.append(json.dumps(line, ensure_ascii=False))
    if out is None:
        return "\n".join(lines)
    try:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError("--out", f"cannot be written ({error.strerror})", str(out)) from None
    flagged = f"{int(found.flagged.sum()):,} of {counted(len(frame), 'row')}"
    return f"{flagged} above the threshold. Written to {out}."
