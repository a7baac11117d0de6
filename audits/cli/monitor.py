"""``monitor``: bundles of runs, rows measured or replayed by them, tables sent, and windows audited."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from audits.cli.parameters import SETTINGS, Annotate, Executor, FailOn, Json, Junit, Summary, Told
from audits.cli.report import finished_run
from audits.cli.text import count_of, write_file
from audits.errors import InputError, RunFailed, os_refusal

if TYPE_CHECKING:
    from audits.monitor.bundle import MonitorBundle

_SEND_SECONDS = 300.0

monitor = typer.Typer(
    help="Watch a deployed model: measure new people, replay past ones, send rows.", **SETTINGS
)
Bundle = Annotated[Path, Argument(metavar="BUNDLE", help="folder that `monitor export` wrote")]
Rows = Annotated[Path, Argument(metavar="ROWS", help="CSV, TSV, Parquet, Arrow, XLSX or JSON lines")]


@monitor.command()
def export(
    folder: Annotated[
        Path,
        Argument(metavar="DIR", help="folder that `run --out` wrote; or a spec with predictions"),
    ],
    out: Annotated[Path, Option(metavar="BUNDLE", help="folder for the bundle")],
    note: Annotated[str, Option(metavar="TEXT", help="saved in the bundle")] = "",
) -> str:
    """Write a bundle from a finished run's sensitivity audit, or from a spec with predictions."""
    from audits.monitor.recoding import with_values, written_words

    made, section = _bundle(folder, note)
    bundle = with_values(made, section)
    with os_refusal("--out", "cannot be written", str(out)):
        bundle.save(out)
    reads = ", ".join(bundle.reads)
    said = " ".join([f"Rows have the columns {reads}.", *written_words(bundle)])
    return f"Written to {out}: monitor.json, monitor.safetensors. {said}"


def _bundle(folder: Path, note: str) -> tuple[MonitorBundle, dict[str, Any]]:
    """Return what the first audit that monitors are made of gives one, and the spec's data."""
    if folder.is_file():
        from audits.cli.specs import read_spec
        from audits.monitor.bundle import MonitorBundle
        from audits.runs.execute import prepared_subject

        spec = read_spec(folder)
        return MonitorBundle.of_predictions(prepared_subject(spec), note=note), spec.to_dict()["data"]
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


@monitor.command()
def score(
    bundle: Bundle,
    rows: Rows,
    out: Annotated[Path | None, Option(metavar="FILE", help="where to write them (default: printed)")] = None,
) -> str:
    """Measure the rows of a table; prints one JSON line per row."""
    from audits.data import read_table
    from audits.monitor.bundle import MonitorBundle
    from audits.monitor.recoding import frame_as_audited

    made = MonitorBundle.load(bundle)
    if made.audited is None:
        advice = "hold the table against it with `monitor replay`, or make it from a sensitivity audit"
        raise InputError("BUNDLE", "carries no model that could measure rows", str(bundle), advice)
    # columns that the bundle does not read are passed over: the table is the user's own
    frame = frame_as_audited(made, read_table(rows).frame)
    found = made.score(frame)
    look = made.look(found)
    for note in () if look is None else look.notes:  # as the HTTP API says it under notes
        print(f"evenhand: {note}", file=sys.stderr)
    lines = [
        json.dumps({"row": int(row), **told}, ensure_ascii=False)
        for row, told in zip(frame.index, found.described(), strict=True)
    ]
    if out is None:
        return "\n".join(lines)
    told = write_file(out, "\n".join(lines) + "\n")
    return f"{int(found.flagged.sum()):,} of {count_of(len(frame), 'row')} above the threshold. {told}"


@monitor.command("replay")
def replay_report(
    bundle: Bundle,
    rows: Rows,
    against: Annotated[Path | None, Option(metavar="BUNDLE", help="a second bundle to compare with")] = None,
    people_between: Annotated[float, Option(help="people between false alarms")] = 100_000.0,
    as_json: Json = False,
) -> str:
    """Say when a monitor would have raised an alarm on a past table, oldest first."""
    from audits.data import read_table
    from audits.monitor.batches import Batch
    from audits.monitor.bundle import MonitorBundle
    from audits.monitor.monitors import MAX_PEOPLE
    from audits.monitor.recoding import people_in_order
    from audits.monitor.replay import Replay, compare_alarms, replay

    frame = read_table(rows).frame

    def of(place: Path) -> Replay:
        made = MonitorBundle.load(place)
        read = people_in_order(made, frame)
        parts = (read.iloc[start : start + MAX_PEOPLE] for start in range(0, len(read), MAX_PEOPLE))
        batches = (Batch.of("", made, made.score(part), made.sent_of(part)) for part in parts)
        return replay(made, batches, people_between=people_between)

    found = [of(place) for place in (bundle, against) if place is not None]
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


@monitor.command()
def send(
    url: Annotated[str, Argument(metavar="URL", help="http(s)://server/api/v1/monitors/ID")],
    rows: Rows,
    identity: Annotated[str | None, Option("--id", metavar="COLUMN", help="column with your own ids")] = None,
    score: Annotated[
        str | None, Option(metavar="COLUMN", help="column with the deployed model's scores")
    ] = None,
    decision: Annotated[
        str | None, Option(metavar="COLUMN", help="column with its decisions: 1 or true is favorable")
    ] = None,
    person: Annotated[
        str | None, Option(metavar="COLUMN", help="column that says whom a row is about")
    ] = None,
    protected: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="groups that the model does not read; may be repeated"),
    ] = None,
) -> str:
    """Send a table to a monitor on a server, such as a nightly batch."""
    from audits.data import read_table
    from audits.data.values import truth_values
    from audits.monitor.client import Monitor

    token = os.environ.get("EVENHAND_MONITOR_TOKEN", "")
    if not token:
        raise InputError("EVENHAND_MONITOR_TOKEN", "must hold a token of the monitor that may send")
    frame = read_table(rows).frame
    wanted = {"ids": identity, "scores": score, "decisions": decision, "persons": person}
    said = {name: column for name, column in wanted.items() if column is not None}
    named = [*said.values(), *(protected or ())]
    lacking = [column for column in named if column not in frame.columns]
    if lacking:
        raise InputError("ROWS", "lacks columns", lacking)
    beside: dict[str, Any] = {name: truth_values(frame[column]) for name, column in said.items()}
    groups = {name: frame[name] for name in protected or ()}
    try:
        client = Monitor(url, token, most_waiting=max(len(frame), 1))
    except ValueError as error:
        raise InputError("URL", str(error).removeprefix("url ")) from None
    client.send(frame.drop(columns=named), **beside, protected=groups)
    if not client.close(_SEND_SECONDS):
        raise RunFailed(f"The monitor could not be reached: {client.problem}")
    if client.refused:
        raise InputError(rows.name, f"was not stored completely: {client.problem}")
    return f"{count_of(client.sent, 'row')} sent."


@monitor.command()
def window(
    identity: Annotated[
        str, Argument(metavar="ID", help="its id, as its page shows it; the first digits are enough")
    ],
    out: Annotated[Path, Option(metavar="DIR", help="for table, spec and results")],
    last: Annotated[int | None, Option(metavar="N", help="the last N people")] = None,
    since: Annotated[
        str | None, Option(metavar="DATE", help="from this date on, in UTC unless it has a time zone")
    ] = None,
    until: Annotated[str | None, Option(metavar="DATE", help="up to this date")] = None,
    audit: Annotated[list[str] | None, Option(metavar="NAME", help="groups, rule_sets …")] = None,
    outcomes: Annotated[bool, Option("--outcomes", help="with outcomes, if they are known")] = False,
    executor: Executor = "process",
    fail_on: FailOn = None,
    junit: Junit = None,
    summary: Summary = None,
    annotate: Annotate = False,
) -> Told:
    """Audit what a monitor on this machine received: the last N people, or a range of dates."""
    from audits.cli.run import Wishes, run
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
    watched = monitors.get(found[0])
    rows = needs_rows(audit) if audit else watched.keeps_rows
    times = {"since": moment("--since", since), "until": moment("--until", until)}
    taken = take_window(monitors, watched.id, last=last, outcomes=outcomes, rows=rows, **times)
    name = file_name(watched)
    spec, notes = window_spec(watched, taken, name, audit or [], outcomes=outcomes)
    path = out / "window.yaml"
    with os_refusal("--out", "cannot be written", str(out)):
        out.mkdir(parents=True, exist_ok=True)
        taken.frame.to_parquet(out / name, index=False)
        path.write_text(dump_yaml(spec), encoding="utf-8")
    status, told = run(path, out / "results", Wishes(executor, fail_on, junit, summary, annotate))
    return status, f"{' '.join([taken.sentence, *notes])}\n\n{told}"
