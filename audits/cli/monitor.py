"""``monitor``: bundles of runs, rows measured or replayed by them, tables sent, and windows audited."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.cli.report import finished_run
from audits.cli.text import count_of, write_file
from audits.errors import InputError, RunFailed

if TYPE_CHECKING:
    from audits.monitor.bundle import MonitorBundle

_SEND_SECONDS = 300.0

__all__ = ["export", "replay_report", "score", "send", "window"]


def export(folder: Path, out: Path, note: str) -> str:
    """Write the bundle of the sensitivity audit in the run `folder` into the folder `out`.

    Where `folder` is a spec, the bundle is of its people and predictions, without the model.

    Raises
    ------
    InputError
        If the folder holds no finished run with a sensitivity audit, its model cannot be carried along, or
        `out` cannot be written.
    """
    from audits.monitor.recoding import with_values, written_words

    made, section = _bundle(folder, note)
    bundle = with_values(made, section)
    try:
        bundle.save(out)
    except OSError as error:
        raise InputError("--out", f"cannot be written ({error.strerror})", str(out)) from None
    reads = ", ".join(bundle.reads)
    said = " ".join([f"Rows have the columns {reads}.", *written_words(bundle)])
    return f"Written to {out}: monitor.json, monitor.safetensors. {said}"


def _bundle(folder: Path, note: str) -> tuple[MonitorBundle, dict[str, Any]]:
    """Return what the first audit that monitors are made of gives one, and the spec's data."""
    if folder.is_file():
        return _of_predictions(folder, note)
    from audits.records import resolve
    from audits.runs.registry import AUDITS

    found = finished_run(folder)
    able = {audit.name: audit.bundle for audit in AUDITS.having("bundle")}
    for each in found.audits:
        if each.name in able:
            return resolve(able[each.name])(each.result, note=note), found.spec["data"]
    named = " or ".join(able)
    advice = "add one to the spec's audits, or name the spec itself: its predictions are watched then"
    raise InputError("DIR", f"must hold a {named} audit", str(folder), advice)


def _of_predictions(path: Path, note: str) -> tuple[MonitorBundle, dict[str, Any]]:
    from audits.monitor.bundle import MonitorBundle
    from audits.runs.documents import load_document
    from audits.runs.execute import prepared_subject
    from audits.runs.source.fetch import fetch_data
    from audits.runs.spec import parse_spec

    folder = path.absolute().parent
    spec = parse_spec(fetch_data(load_document(path), folder, path.stem), folder)
    return MonitorBundle.of_predictions(prepared_subject(spec), note=note), spec.to_dict()["data"]


def score(folder: Path, rows: Path, out: Path | None) -> str:
    """Measure the rows of a table by the bundle in `folder`; return one JSON line a row, or write them.

    Columns that the bundle does not read are passed over, as the table is your own. What is odd about values,
    such as months for years, is said on standard error, as the HTTP API says it under ``notes``.

    Raises
    ------
    InputError
        If the bundle or the table cannot be read, a column is missing, or a value is wrong.
    """
    from audits.data import read_table
    from audits.monitor.bundle import MonitorBundle
    from audits.monitor.recoding import frame_as_audited

    bundle = MonitorBundle.load(folder)
    if bundle.audited is None:
        advice = "hold the table against it with `monitor replay`, or make it from a sensitivity audit"
        raise InputError("BUNDLE", "carries no model that could measure rows", str(folder), advice)
    frame = frame_as_audited(bundle, read_table(rows).frame)
    found = bundle.score(frame)
    look = bundle.look(found)
    for note in () if look is None else look.notes:
        print(f"evenhand: {note}", file=sys.stderr)
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
    told = write_file(out, "\n".join(lines) + "\n")
    return f"{int(found.flagged.sum()):,} of {count_of(len(frame), 'row')} above the threshold. {told}"


def replay_report(
    folder: Path, rows: Path, against: Path | None, people_between: float, *, as_json: bool = False
) -> str:
    """Run a table through the monitor of the bundle in `folder`; say when it would have alarmed.

    Raises
    ------
    InputError
        If a bundle or the table cannot be read, a column is missing, or a value is wrong.
    """
    from audits.data import read_table
    from audits.monitor.batches import Batch
    from audits.monitor.bundle import MonitorBundle
    from audits.monitor.monitors import MAX_PEOPLE
    from audits.monitor.recoding import frame_as_audited
    from audits.monitor.replay import Replay, compare_alarms, replay

    frame = read_table(rows).frame

    def of(place: Path) -> Replay:
        bundle = MonitorBundle.load(place)
        read = frame_as_audited(bundle, frame)
        parts = (read.iloc[start : start + MAX_PEOPLE] for start in range(0, len(read), MAX_PEOPLE))
        batches = (Batch.of("", bundle, bundle.score(part), bundle.sent_of(part)) for part in parts)
        return replay(bundle, batches, people_between=people_between)

    found = [of(place) for place in (folder, against) if place is not None]
    if as_json:
        told: dict[str, Any] = {"replays": [dataclasses.asdict(each) for each in found]}
        if len(found) == 2:
            told["compared"] = compare_alarms(*found)
        return json.dumps(told, indent=1, ensure_ascii=False)
    lines = found[0].sentences()
    if len(found) == 2:
        alarms = compare_alarms(*found)
        head = "First alarm of each condition, at person:" if alarms else "No condition alarms in either."
        lines += ["", f"{against}:", *found[1].sentences(), "", head]
        for row in alarms:
            at = ["never" if row[name] is None else f"{row[name] + 1:,}" for name in ("first", "second")]
            lines.append(f"  {row['about']}: {at[0]}; {at[1]}")
    return "\n".join(lines)


def send(url: str, rows: Path, identity: str | None, score: str | None) -> str:
    """Send a table to a monitor of a server, with the token in ``EVENHAND_MONITOR_TOKEN``.

    Raises
    ------
    InputError
        If there is no token, the table cannot be read, or the server refuses rows.
    RunFailed
        If the server could not be reached for five minutes.
    """
    from audits.data import read_table
    from audits.monitor.client import Monitor

    token = os.environ.get("EVENHAND_MONITOR_TOKEN", "")
    if not token:
        raise InputError("EVENHAND_MONITOR_TOKEN", "must hold a token of the monitor that may send")
    frame = read_table(rows).frame
    said = {name: column for name, column in (("ids", identity), ("scores", score)) if column is not None}
    lacking = [column for column in said.values() if column not in frame.columns]
    if lacking:
        raise InputError("ROWS", "lacks columns", lacking)
    beside: dict[str, Any] = {name: frame.pop(column).tolist() for name, column in said.items()}
    try:
        client = Monitor(url, token, most_waiting=max(len(frame), 1))
    except ValueError as error:
        raise InputError("URL", str(error).removeprefix("url ")) from None
    client.send(frame, **beside)
    if not client.close(_SEND_SECONDS):
        raise RunFailed(f"The monitor could not be reached: {client.problem}")
    if client.refused:
        raise InputError(rows.name, f"was not stored completely: {client.problem}")
    return f"{count_of(client.sent, 'row')} sent."


def window(
    identity: str,
    out: Path,
    audits: list[str],
    *,
    last: int | None,
    since: str | None,
    until: str | None,
    outcomes: bool,
) -> tuple[Path, str]:
    """Write what a monitor of this home folder received as a table, and the spec that audits it, into `out`.

    Returns the spec's path, and in words which people are looked at.

    Raises
    ------
    InputError
        If there is no such monitor, or the window or an audit cannot be.
    """
    from audits.monitor.monitors import Monitors
    from audits.monitor.windows import file_name, moment, needs_rows, take_window, window_spec
    from audits.runs.documents import dump_yaml
    from audits.runs.storage.database import database

    monitors = Monitors(database())
    known = monitors.identities()
    found = [each for each in known if each == identity] or [e for e in known if e.startswith(identity)]
    if len(found) != 1 or not identity:
        there = ", ".join(each[:12] for each in known[:20]) or "none"
        raise InputError("ID", "must name one monitor", identity, f"there are: {there}")
    monitor = monitors.get(found[0])
    rows = needs_rows(audits) if audits else monitor.keeps_rows
    times = {"since": moment("--since", since), "until": moment("--until", until)}
    taken = take_window(monitors, monitor.id, last=last, outcomes=outcomes, rows=rows, **times)
    name = file_name(monitor)
    spec, notes = window_spec(monitor, taken, name, audits, outcomes=outcomes)
    path = out / "window.yaml"
    try:
        out.mkdir(parents=True, exist_ok=True)
        taken.frame.to_parquet(out / name, index=False)
        path.write_text(dump_yaml(spec), encoding="utf-8")
    except OSError as error:
        raise InputError("--out", f"cannot be written ({error.strerror})", str(out)) from None
    return path, " ".join([taken.sentence, *notes])
